"""`no-credentials`: a call that carries the customer's credentials is rejected.

The credentials replace the token of the call: in HTTP Basic, in the query and the headers, and
in the body where there is one; or a token is requested for them. The control is the same call with
its token. If the call is served without a token and without credentials, it is not served for the
credentials, so nothing is certain.

A target may ignore credentials beside a valid token, which it does not know, or refuse them. But
they have no effect: they sign no request, and open nothing for which there is no consent.

The TPP: it never sends the customer's credentials.
Sending them in any call is a breach. Not sending them counts only for the operations of the
clause, whose credentials the target file binds.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator
from dataclasses import dataclass, replace

from assay.contract.model import Capability, Operation
from assay.history import (
    Authorised,
    Call,
    CredentialPlace,
    Effects,
    Exchange,
    History,
    State,
    Token,
)
from assay.rules import parameters, steps
from assay.rules.facets import Facts
from assay.rules.lifecycle import request_steps
from assay.rules.lifecycle.tracker import Lifecycle, lifecycle_of_operation
from assay.rules.queries import ordinary, plain, question
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
#: The facet and the scenario of credentials beside a valid token.
BESIDE_FACET = "beside-token"
_BESIDE = "the customer's credentials beside the token"
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
        beside = Facet(
            id=BESIDE_FACET,
            description="the customer's credentials beside a valid token have no effect",
            scenario=Scenario(id=BESIDE_FACET),
            needs=frozenset[Capability]().union(
                *(call_needs(each, self.grant, Capability.CREDENTIALS) for each in self.operations)
            ),
        )
        return (
            *of_operations,
            *((beside,) if self._signed_here or self._consented else ()),
            Facet(
                id=GRANT_FACET,
                description="the customer's password obtains no token that gives access",
                scenario=Scenario(id=GRANT_FACET),
                needs=call_needs(first, self.grant, Capability.CREDENTIALS),
                requires=bound(first, "token-endpoint", if_missing=Standing.NOT_APPLICABLE),
            ),
        )

    @property
    def _signed_here(self) -> Operation | None:
        """The operation that makes a request which customers sign."""
        makes = (each for each in self.operations if each.makes and not each.grants)
        return next((each for each in makes if self._lifecycle(each).signed), None)

    @property
    def _consented(self) -> tuple[Operation, ...]:
        """The operations whose data need a consent for the thing that they are about."""
        reads = (each for each in self.operations if each.about and not each.request)
        return tuple(reads) if self.grant and self.grant.grants else ()

    def _lifecycle(self, operation: Operation) -> Lifecycle:
        return lifecycle_of_operation(self.contract, operation)

    def refusing(self) -> Collection[str]:
        """Return the facets that expect a refusal."""
        return [each.id for each in self.operations]

    def accepts_variation(self, scenario: Scenario) -> bool:
        """Whether a bank may take a call with credentials, which it ignores beside a token."""
        return scenario.id == BESIDE_FACET

    def probe(self, scenario: Scenario) -> Script:
        """Make a call with its token, then with none, then with credentials in each place."""
        if scenario.id == BESIDE_FACET:
            yield from self._beside_token()
            return
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

    def _beside_token(self) -> Script:
        """Use each operation with credentials beside the token, and look at the result."""
        if self._signed_here is not None:
            lifecycle = self._lifecycle(self._signed_here)
            psu = yield from request_steps.customer(lifecycle)
            plain = request_steps.request(lifecycle, psu)
            control = yield from steps.send(plain)
            made = yield from steps.send(_beside(plain))
            for operation in self.operations:
                if operation.request and not operation.makes:
                    about = request_steps.call_about(operation, control)
                    change = operation.changes and request_steps.plain_change(lifecycle, control)
                    call = change or about
                    yield from request_steps.send_if_any(call and _beside(call))
            yield from request_steps.inquire()
            for each in (control, made):
                yield from request_steps.read(lifecycle, each)
        if not self._consented:
            return
        name = "psu" if self._signed_here is None else "reader"
        owner = steps.owners(self.contract, self._consented[0])[0]
        psu = yield from steps.customer(name, owner, None, count=2, days=(1,))
        first, second = (owned.key for owned in psu.owns[:2])
        yield from steps.grant(self.grant, name, first)
        for operation in self._consented:
            yield from steps.send(steps.ask(operation, name, first))
            other = steps.ask(operation, name, second, "about something without a consent")
            yield from steps.send(other)
            yield from steps.send(_beside(other))

    def check(self, history: History) -> Iterator[Evidence]:
        """Judge every call with credentials whose control was answered."""
        yield from self._check_signed(history)
        yield from self._check_consented(history)
        yield from self._check_in_place_of_token(history)

    def _check_signed(self, history: History) -> Iterator[Evidence]:
        """Judge whether a request that was sent with credentials, and never signed, was executed."""
        named = {each.id for each in self.operations if each.request and self._signed_here}
        used: dict[str, Exchange] = {}
        signed: set[str] = set()
        exempt = False
        for event in history.events:
            states: dict[str, State | None] = {}
            numbers: set[int] = set()
            if isinstance(event, Authorised):
                signed.add(event.step.request)
            elif isinstance(event, Effects):
                states = dict.fromkeys((each.request for each in event.done or ()), State.DONE)
            elif isinstance(event, Exchange) and event.call.operation in named:
                states = {item.key: item.state for item in event.items if item.key}
                numbers = {event.n}
                if _is_beside(event.call):
                    about = self.contract.operations[event.call.operation].about or ""
                    keys = {*states, str(event.call.arguments.get(about, ""))} - {"", *used}
                    used |= dict.fromkeys(keys, event)
                    states = {key: state for key, state in states.items() if state is State.DONE}
            # A request that was sent with the token alone shows whether credentials make a difference.
            others = states.keys() - used.keys() - signed
            exempt = exempt or any(states[key] is State.DONE for key in others)
            for key in used.keys() & states.keys() - signed if not exempt else ():
                done = states[key] is State.DONE
                if states[key] is not None:
                    yield Evidence(
                        facet=BESIDE_FACET,
                        agreement=DISAGREES if done else AGREES,
                        expected="that a request which nobody signed is not executed",
                        seen="it was executed" if done else "it was not executed",
                        exchanges=tuple(sorted({used[key].n, *numbers})),
                        variation=used[key].call.variation,
                    )

    def _check_consented(self, history: History) -> Iterator[Evidence]:
        """Judge calls with credentials that were refused without, and nothing came in between.

        The control is a call of the same customer about something else, which was served.
        """
        named = {each.id for each in self._consented}
        served: set[tuple[str, str]] = set()
        refused: set[tuple[object, ...]] = set()
        for exchange in history.exchanges:
            call = exchange.call
            asked = (*question(call), call.by, call.present, call.alias)
            if self.grant and call.operation == self.grant.id:
                refused.clear()
            elif call.operation in named and _is_beside(call) and asked in refused:
                why = "it is without the credentials, too"
                if (call.subject, call.operation) in served:
                    yield must_be_refused(BESIDE_FACET, exchange, why)
            elif call.operation in named and plain(call):
                served |= {(call.subject, call.operation)} if exchange.accepted else set()
                withheld = exchange.refused and not exchange.items
                (refused.add if withheld else refused.discard)(asked)

    def _check_in_place_of_token(self, history: History) -> Iterator[Evidence]:
        """Judge every call with credentials and no token whose control was answered."""
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
            instead = call.credentials and not _is_beside(call)
            if instead and controlled and call.operation in named:
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


def _beside(call: Call) -> Call:
    """Return a call with the customer's credentials beside its token."""
    variation = f"{call.variation}, with {_BESIDE}" if call.variation else _BESIDE
    return replace(
        call, credentials=True, credentials_in=CredentialPlace.BESIDE, variation=variation
    )


def _is_beside(call: Call) -> bool:
    return call.credentials and call.credentials_in is CredentialPlace.BESIDE


def _places(operation: Operation) -> Iterator[CredentialPlace]:
    """Yield the places of a request that can carry credentials."""
    yield CredentialPlace.BASIC
    if operation.method in {"PUT", "POST", "PATCH"}:
        yield CredentialPlace.BODY
    yield CredentialPlace.PARAMETERS
