"""`no-credentials`: a call that carries the customer's credentials is rejected.

The credentials take the place of the provider's own authorisation, spelt as the
profile says. The control is the same request, properly authorised.

The TPP: the customer's credentials are never sent.
Judged are the operations that the clause names, which the profile says how to trick;
anywhere else credentials count as such, and their absence shows nothing.
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
OWED = "that the customer's credentials are not sent"


@dataclass(frozen=True, slots=True, kw_only=True)
class NoCredentials(Kind):
    """Operations that must reject calls with the credentials of a customer."""

    name = "no-credentials"

    operations: tuple[Operation, ...] = parameters.operations()
    owner: str = parameters.derived(lambda contract, _: steps.roots(contract)[0].id)

    def bars_credentials(self, operation: str) -> bool:
        """Whether it is one of the operations of this clause."""
        return any(operation == one.id for one in self.operations)

    def facets(self) -> tuple[Facet, ...]:
        """One facet an operation."""
        return tuple(
            Facet(
                id=operation.id,
                description=f"{operation.id} is refused with the customer's credentials alone",
                scenario=Scenario(id=operation.id),
                needs=needs(Capability.PSU, Capability.CREDENTIALS)
                | consent(operation)
                | needs(*([Capability.WRITE] if operation.request else [])),
                requires=(BindingRequirement(operation=operation.id, feature="credentials"),),
            )
            for operation in self.operations
        )

    def probe(self, scenario: Scenario) -> Script:
        """Call properly, then with the customer's credentials instead."""
        operation = next(one for one in self.operations if one.id == scenario.id)
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
        """Judge every call with credentials whose proper twin was answered."""
        known = {
            (one.call.subject, one.call.operation, one.call.present)
            for one in history.exchanges
            if one.accepted and ordinary(one.call)
        }
        named = {operation.id for operation in self.operations}
        for exchange in history.exchanges:
            call = exchange.call
            controlled = (call.subject, call.operation, call.present) in known
            if call.credentials and controlled and call.operation in named:
                yield must_be_refused(
                    call.operation,
                    exchange,
                    "it carries the customer's credentials",
                    controlled=True,
                )

    def tpp_facet(self) -> TppFacet:
        """Return the one obligation of the TPP."""
        return TppFacet(
            id=TPP_FACET,
            description="the customer's credentials are never sent",
            requires=tuple(
                BindingRequirement(operation=one.id, feature="credentials")
                for one in self.operations
            ),
        )

    def check_tpp(self, history: History) -> Iterator[Evidence]:
        """Judge every call of the contract."""
        named = {one.id for one in self.operations}
        for one in history.exchanges:
            if one.call.credentials and one.call.operation in self.contract.operations:
                yield tpp_evidence(TPP_FACET, DISAGREES, one, OWED, "they were sent")
            elif one.call.operation in named:
                yield tpp_evidence(TPP_FACET, AGREES, one, OWED, "they were not")
