"""Corrections of evidence and verdicts: maintenance, static answers, credentials, waivers.

Evidence against a target is doubtful if it was gathered in announced maintenance hours. A verdict
is taken back if it rests on an operation whose answers never change, or on credentials that the
target never accepted: a refusal for lack of a token looks like one that the contract demands. A
waiver changes the verdict on the obligation that it names. Nothing here does I/O.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Iterable, Mapping
from dataclasses import dataclass, field, replace
from datetime import datetime

from assay.binding.security import shown_token
from assay.binding.target import Auth, Target
from assay.contract.model import Operation
from assay.history import AnsweredCall, Cause, Exchange, Indeterminate, Wire
from assay.planning.plan import Plan
from assay.rules.facets import Facts
from assay.rules.verdict import DECIDED, Agreement, Evidence, Standing, Verdict
from assay.transport.auth.diagnostics import place, place_of

UNAUTHORIZED, FORBIDDEN = 401, 403
#: Errors with which a target rejects a token (RFC 6750, section 3.1), by status.
TOKEN_ERRORS: Mapping[tuple[int, str], str] = {
    (UNAUTHORIZED, "invalid_token"): "the token is unknown or has expired",
    (FORBIDDEN, "insufficient_scope"): "the scope of the token is too narrow",
}
#: The error of the Bearer scheme, not one among the parameters of another scheme.
_BEARER_ERROR = re.compile(
    r'(?:^|,)\s*bearer\s(?:[^"]|"[^"]*")*?\berror\s*=\s*"?([a-z_]+)', re.IGNORECASE
)


def soften(evidence: Evidence, exchanges: Mapping[int, AnsweredCall], facts: Facts) -> Evidence:
    """Return evidence as unclear where it shows nothing.

    It does not if a varied request differs from its control in more than the variation, nor if
    it disagrees in announced maintenance hours.
    """
    for n in evidence.exchanges:
        if n in exchanges and exchanges[n].confounded:
            seen = f"{evidence.seen}; not judged: {exchanges[n].confounded}"
            return replace(evidence, agreement=Agreement.UNCLEAR, seen=seen)
    if evidence.agreement is not Agreement.DISAGREES:
        return evidence
    instants: list[datetime] = [exchanges[n].at for n in evidence.exchanges if n in exchanges]
    if not any(map(facts.closed_at, instants)):
        return evidence
    seen = f"{evidence.seen}, during the announced maintenance hours"
    return replace(evidence, agreement=Agreement.UNCLEAR, seen=seen)


# -- support ---------------------------------------------------------------------
def discount_unsupported(
    verdicts: Iterable[Verdict], recorded: Mapping[str, Verdict], rests_on: Mapping[str, str]
) -> tuple[Verdict, ...]:
    """Take back that something is refused if it was not seen that it can be accepted."""
    return tuple(
        _discount_unsupported(verdict, recorded.get(rests_on.get(verdict.obligation, "")))
        for verdict in verdicts
    )


def _discount_unsupported(verdict: Verdict, support: Verdict | None) -> Verdict:
    if verdict.standing is not Standing.CONFORMS or support is None:
        return verdict
    # What does not apply to this bank, another bank of the group would show.
    if support.standing in {Standing.CONFORMS, Standing.NOT_APPLICABLE}:
        return verdict
    reason = f"the refusal proves nothing: {support.obligation} does not conform"
    return replace(verdict, standing=Standing.INDETERMINATE, reason=reason)


# -- credentials -----------------------------------------------------------------
def rejected_token(operation: Operation, wire: Wire, target: Target) -> Indeterminate | None:
    """Return why a target rejected our token, if its response says so; None otherwise."""
    auth = target.auth.of(by_tpp=operation.by_tpp)
    if wire.status not in {UNAUTHORIZED, FORBIDDEN} or not _shows_token(auth, wire):
        return None
    for name, value in wire.headers:
        match = _BEARER_ERROR.search(value[:2048]) if name.lower() == "www-authenticate" else None
        if match and (meaning := TOKEN_ERRORS.get((wire.status, match[1].lower()))):
            scope = wire.status == FORBIDDEN
            where = credentials_place(target, by_tpp=operation.by_tpp, scope=scope)
            error = f"{wire.status} {match[1].lower()}: {meaning}"
            return Indeterminate(cause=Cause.AUTH, why=f"{Cause.AUTH.value} ({error}): {where}")
    return None


def _shows_token(auth: Auth, wire: Wire) -> bool:
    """Whether a request has the token of the target file, and not a customer's own credentials."""
    headers, body = wire.request_headers, wire.request_body
    return shown_token(auth, wire.method, wire.url, headers, body) is not None


def credentials_place(target: Target, *, by_tpp: bool, scope: bool = False) -> str:
    """Return the key and line of the target file that has the credentials of a party."""
    section = place(target, by_tpp=by_tpp)
    auth = target.auth.of(by_tpp=by_tpp)
    if scope and auth.oauth and auth.oauth.scope:
        return place_of(target, *section, "scope")
    if auth.token_env:
        return place_of(target, *section, "token_env")
    return place_of(target, *section)


def tpp_operations(plan: Plan) -> frozenset[str]:
    """Return the operations that TPPs call with credentials of their own."""
    return frozenset(
        operation.id
        for contract in plan.contracts.values()
        for operation in contract.operations.values()
        if operation.by_tpp
    )


def operations_on_requests(plan: Plan) -> tuple[frozenset[str], frozenset[str]]:
    """Return the operations that make requests, and those that are about one."""
    operations = [
        operation
        for contract in plan.contracts.values()
        for operation in contract.operations.values()
    ]
    making = frozenset(operation.id for operation in operations if operation.makes)
    about = frozenset(operation.id for operation in operations if operation.request)
    return making, about - making


def parties(plan: Plan) -> frozenset[bool]:
    """Return who acts in a plan's trials: customers (False), TPPs (True)."""
    contracts = [plan.contracts[name] for name in {trial.contract for trial in plan.trials}]
    return frozenset(
        operation.by_tpp for contract in contracts for operation in contract.operations.values()
    )


@dataclass(slots=True, kw_only=True)
class CredentialWatch:
    """Detects a party whose calls were never accepted, and some refused with a 401.

    A party is the customers (False) or the TPPs (True). `tpp_operations` are those that TPPs call
    with their own credentials; `without_token` are the calls that had not its own token.
    """

    tpp_operations: Collection[str] = ()
    accepted: set[bool] = field(default_factory=set[bool])
    refused: set[bool] = field(default_factory=set[bool])
    without_token: set[int] = field(default_factory=set[int])

    def see(self, exchange: Exchange) -> None:
        """Take in an exchange."""
        if not exchange.call.own_token:
            self.without_token.add(exchange.n)
            return
        party = exchange.call.operation in self.tpp_operations
        if exchange.accepted:
            self.accepted.add(party)
        elif exchange.wire.status == UNAUTHORIZED:
            self.refused.add(party)

    def rejected(self) -> frozenset[bool]:
        """Return the parties whose credentials were never accepted."""
        return frozenset(self.refused - self.accepted)


def discount_rejected(
    verdicts: Iterable[Verdict],
    watch: CredentialWatch,
    operations: Mapping[int, str],
    where: Callable[[bool], str],
) -> tuple[Verdict, ...]:
    """Take back every verdict that rests on calls with credentials never accepted.

    `where` says which key of the target file has the credentials of a party.
    """
    rejected = watch.rejected()
    if not rejected:
        return tuple(verdicts)
    return tuple(
        _discount_rejected(verdict, rejected, watch, operations, where) for verdict in verdicts
    )


def _discount_rejected(
    verdict: Verdict,
    rejected: frozenset[bool],
    watch: CredentialWatch,
    operations: Mapping[int, str],
    where: Callable[[bool], str],
) -> Verdict:
    if verdict.standing not in DECIDED:
        return verdict
    cited = {n for evidence in verdict.evidence for n in evidence.exchanges if n in operations}
    callers = {operations[n] in watch.tpp_operations for n in cited - watch.without_token}
    if not callers & rejected:
        return verdict
    named = where(max(callers & rejected))
    reason = f"the target never accepted the credentials of the target file (401): {named}"
    return replace(verdict, standing=Standing.INDETERMINATE, reason=reason)
