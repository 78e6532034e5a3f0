"""`no-credentials`: a call that carries the customer's credentials is rejected.

The credentials replace the token of the call: in HTTP Basic, in the query and the headers, and
in the body where there is one; or a token is requested for them. The control is the same call with
its token. If the call is served without a token and without credentials, it is not served for the
credentials, so nothing is certain. Credentials beside a valid token show nothing: a target may
ignore what it does not know.

The TPP: it never sends the customer's credentials.
Sending them in any call is a breach. Not sending them counts only for the operations of the
clause, whose credentials the target file binds.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator
from dataclasses import dataclass, replace

from assay.contract.model import Capability, Operation
from assay.history import CredentialPlace, History, Token
from assay.rules import parameters, steps
from assay.rules.facets import Facts
from assay.rules.lifecycle import request_steps
from assay.rules.queries import ordinary
from assay.rules.refusing_kind import RefusingKind
from assay.rules.rule import (
    Calls,
    Facet,
    Purpose,
    Scenario,
    Scope,
    Script,
    TppFacet,
    bound,
    call_needs,
)
from assay.rules.verdict import (
    AGREES,
    DISAGREES,
    Evidence,
    Standing,
    doubt,
    must_be_refused,
    tpp_evidence,
)

#: The facet and the scenario of the token endpoint.
GRANT_FACET = "password-grant"
#: The TPP's obligation.
TPP_FACET = "none-sent"
OWED = "the customer's credentials are not sent"
SERVES_ANYONE = "but it is also refused without any token or credentials"


@dataclass(frozen=True, slots=True, kw_only=True)
class NoCredentials(RefusingKind):
    """Operations that must reject calls with the credentials of a customer."""

    name = "no-credentials"
    scope = Scope(calls=Calls.NAMED)
    purpose = Purpose.LIMIT

    operations: tuple[Operation, ...] = parameters.operations()
    grant: Operation | None = parameters.grant()

    def facts(self) -> Facts:
        """Return the operations: their calls have no credentials."""
        return Facts(without_credentials=frozenset(each.id for each in self.operations))

    def facets(self) -> tuple[Facet, ...]:
        """Return one facet for each operation, and one for the token endpoint."""
        of_operations = tuple(
            Facet(
                id=operation.id,
                description=f"{operation.id} refuses calls with the customer's credentials instead of a token",
                scenario=Scenario(id=operation.id),
                needs=call_needs(operation, self.grant, Capability.CREDENTIALS),
            )
            for operation in self.operations
        )
        first = self.operations[0]
        return (
            *of_operations,
            Facet(
                id=GRANT_FACET,
                description="the customer's password obtains no token that gives access",
                scenario=Scenario(id=GRANT_FACET),
                needs=call_needs(first, self.grant, Capability.CREDENTIALS),
                requires=bound(first, "token-endpoint", if_missing=Standing.NOT_APPLICABLE),
            ),
        )

    def refusing(self) -> Collection[str]:
        """Return the facets that expect a refusal."""
        return [each.id for each in self.operations]

    def probe(self, scenario: Scenario) -> Script:
        """Make a call with its token, then with none, then with credentials in each place."""
        by_grant = scenario.id == GRANT_FACET
        named = (each for each in self.operations if by_grant or each.id == scenario.id)
        operation = next(named)
        call = yield from request_steps.plain_call(self.contract, operation, self.grant, days=(1,))
        if call is None:
            return
        yield from steps.send(call)
        yield from steps.send(replace(call, bearer=Token.NONE, variation=Token.NONE.value))
        for place in (CredentialPlace.GRANT,) if by_grant else _places(operation):
            yield from steps.send(
                replace(
                    call,
                    credentials=True,
                    credentials_in=place,
                    variation=f"the customer's credentials in {place.value}, and no token",
                )
            )

    def check(self, history: History) -> Iterator[Evidence]:
        """Judge every call with credentials whose control was answered."""
        known: set[tuple[str, str, bool]] = set()
        open_to_all: set[tuple[str, str]] = set()
        for exchange in history.exchanges:
            call = exchange.call
            if exchange.accepted and ordinary(call):
                known.add((call.subject, call.operation, call.present))
            elif call.bearer is Token.NONE and not (call.credentials or exchange.refused):
                open_to_all.add((call.subject, call.operation))
        named = {operation.id for operation in self.operations}
        for exchange in history.exchanges:
            call = exchange.call
            controlled = (call.subject, call.operation, call.present) in known
            if call.credentials and controlled and call.operation in named:
                by_grant = call.credentials_in is CredentialPlace.GRANT
                evidence = must_be_refused(
                    GRANT_FACET if by_grant else call.operation,
                    exchange,
                    "it carries the customer's credentials instead of a token",
                    controlled=True,
                )
                anyone = (call.subject, call.operation) in open_to_all
                yield doubt(evidence, SERVES_ANYONE) if anyone else evidence

    def tpp_facet(self) -> TppFacet:
        """Return the one obligation of the TPP."""
        return TppFacet(
            id=TPP_FACET,
            description="the TPP never sends the customer's credentials",
            requires=tuple(
                each for operation in self.operations for each in bound(operation, "credentials")
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


def _places(operation: Operation) -> Iterator[CredentialPlace]:
    """Yield the places of a request that can carry credentials."""
    yield CredentialPlace.BASIC
    if operation.method in {"PUT", "POST", "PATCH"}:
        yield CredentialPlace.BODY
    yield CredentialPlace.PARAMETERS
