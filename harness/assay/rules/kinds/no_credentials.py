"""`no-credentials`: a call that carries the customer's credentials is rejected.

The credentials replace the TPP's own authorisation, as the target file binds them. The
control is the same call, properly authorised.

The TPP: it never sends the customer's credentials.
Sending them in any call is a breach. Not sending them counts only for the operations of the
clause, whose credentials the target file binds.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace

from assay.contract.model import Capability, Operation
from assay.history import Call, History, Holding
from assay.judging.verdict import Evidence
from assay.rules import parameters, steps
from assay.rules.evidence import AGREES, DISAGREES, must_be_refused, tpp_evidence
from assay.rules.lifecycle import request_steps
from assay.rules.queries import ordinary
from assay.rules.rule import (
    BindingRequirement,
    Facet,
    Kind,
    Scenario,
    Script,
    TppFacet,
    consent,
    needs,
)

#: The TPP's obligation.
TPP_FACET = "none-sent"
OWED = "the customer's credentials are not sent"


@dataclass(frozen=True, slots=True, kw_only=True)
class NoCredentials(Kind):
    """Operations that must reject calls with the credentials of a customer."""

    name = "no-credentials"

    operations: tuple[Operation, ...] = parameters.operations()
    owner: str = parameters.derived(lambda contract, _: steps.roots(contract)[0].id)

    def bars_credentials(self, operation: str) -> bool:
        """Whether it is one of the operations of this clause."""
        return any(operation == each.id for each in self.operations)

    def facets(self) -> tuple[Facet, ...]:
        """Return one facet for each operation."""
        return tuple(
            Facet(
                id=operation.id,
                description=f"{operation.id} refuses a call authorised only by the customer's credentials",
                scenario=Scenario(id=operation.id),
                needs=needs(Capability.PSU, Capability.CREDENTIALS)
                | consent(operation)
                | needs(*([Capability.WRITE] if operation.request else [])),
                requires=(BindingRequirement(operation=operation.id, feature="credentials"),),
            )
            for operation in self.operations
        )

    def probe(self, scenario: Scenario) -> Script:
        """Make an authorised call, then one with the customer's credentials instead."""
        operation = next(each for each in self.operations if each.id == scenario.id)
        if operation.request:
            _, ready = yield from request_steps.prepare_call(self.contract, operation)
            if ready is None:
                return
            call = ready
        else:
            psu = yield from steps.arrange("psu", Holding(resource=self.owner))
            call = Call(
                operation=operation.id,
                subject="psu",
                arguments=steps.arguments(operation, psu.owns[0].key),
            )
        yield from steps.send(call)
        yield from steps.send(
            replace(
                call,
                credentials=True,
                variation="the customer's credentials instead of an authorisation",
            )
        )

    def check(self, history: History) -> Iterator[Evidence]:
        """Judge every call with credentials whose control was answered."""
        known = {
            (exchange.call.subject, exchange.call.operation, exchange.call.present)
            for exchange in history.exchanges
            if exchange.accepted and ordinary(exchange.call)
        }
        named = {operation.id for operation in self.operations}
        for exchange in history.exchanges:
            call = exchange.call
            controlled = (call.subject, call.operation, call.present) in known
            if call.credentials and controlled and call.operation in named:
                yield must_be_refused(
                    call.operation,
                    exchange,
                    "it is authorised by the customer's credentials",
                    controlled=True,
                )

    def tpp_facet(self) -> TppFacet:
        """Return the one obligation of the TPP."""
        return TppFacet(
            id=TPP_FACET,
            description="the customer's credentials are never sent",
            requires=tuple(
                BindingRequirement(operation=operation.id, feature="credentials")
                for operation in self.operations
            ),
        )

    def check_tpp(self, history: History) -> Iterator[Evidence]:
        """Judge every call of the contract."""
        named = {operation.id for operation in self.operations}
        for exchange in history.exchanges:
            if exchange.call.credentials and exchange.call.operation in self.contract.operations:
                yield tpp_evidence(TPP_FACET, DISAGREES, exchange, OWED, "it sends them")
            elif exchange.call.operation in named:
                yield tpp_evidence(TPP_FACET, AGREES, exchange, OWED, "it does not send them")
