"""Detection of credentials that a target never accepts.

A refusal for want of a token looks like one that the contract demands. Where a target says which it
is, or never once accepted what was sent, nothing is concluded from a refusal.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass, field, replace

from assay.binding.target import Auth, AuthKind, Target
from assay.contract.model import Operation
from assay.history import Cause, Exchange, Indeterminate, Wire
from assay.judging.verdict import Standing, Verdict
from assay.planning.plan import Plan
from assay.transport.auth.diagnostics import place, place_of

__all__ = ["CredentialWatch", "discount_untaken", "not_taken", "parties", "provided"]

UNAUTHORIZED, FORBIDDEN = 401, 403
#: What a target says that does not take a token (RFC 6750, 3.1), under which status.
SAYS: Mapping[tuple[int, str], str] = {
    (UNAUTHORIZED, "invalid_token"): "it is not known, or has expired",
    (FORBIDDEN, "insufficient_scope"): "its scope is not enough",
}
#: The scheme, and no other scheme's parameters before the error.
_ERROR = re.compile(r'(?:^|,)\s*bearer\s(?:[^"]|"[^"]*")*?\berror\s*=\s*"?([a-z_]+)', re.IGNORECASE)


def not_taken(operation: Operation, wire: Wire, target: Target) -> Indeterminate | None:
    """Return why a target rejected our token, if it says that it did; None otherwise."""
    auth = target.auth.of(by_provider=operation.by_provider)
    if wire.status not in {UNAUTHORIZED, FORBIDDEN} or not _shown(auth, wire):
        return None
    for name, value in wire.headers:
        found = _ERROR.search(value[:2048]) if name.lower() == "www-authenticate" else None
        if found and (why := SAYS.get((wire.status, found[1].lower()))):
            scope = wire.status == FORBIDDEN
            where = _where(target, by_provider=operation.by_provider, scope=scope)
            said = f"{wire.status} {found[1].lower()}: {why}"
            return Indeterminate(cause=Cause.AUTH, why=f"{Cause.AUTH.value} ({said}): {where}")
    return None


def _shown(auth: Auth, wire: Wire) -> bool:
    """Whether a request shows what the profile says, and not a customer's own credentials."""
    header = auth.header.lower() if auth.kind is AuthKind.KEY else "authorization"
    return any(
        name.lower() == header and not value.lower().startswith("basic ")
        for name, value in wire.request_headers
    )


def _where(target: Target, *, by_provider: bool, scope: bool = False) -> str:
    """Name the line that says with what calls are authenticated."""
    section = place(target, by_provider=by_provider)
    auth = target.auth.of(by_provider=by_provider)
    if scope and auth.oauth and auth.oauth.scope:
        return place_of(target, *section, "scope")
    if auth.token_env:
        return place_of(target, *section, "token_env")
    return place_of(target, *section)


def provided(plan: Plan) -> frozenset[str]:
    """Return the operations that third parties call with credentials of their own."""
    every = (one for contract in plan.contracts.values() for one in contract.operations.values())
    return frozenset(one.id for one in every if one.by_provider)


def parties(plan: Plan) -> frozenset[bool]:
    """Return who acts in a plan's trials: customers (False), third parties (True)."""
    asked = [plan.contracts[name] for name in {trial.contract for trial in plan.trials}]
    return frozenset(one.by_provider for contract in asked for one in contract.operations.values())


@dataclass(slots=True, kw_only=True)
class CredentialWatch:
    """Notices a party whose calls were never accepted, and some refused with a 401.

    A party is the customers' (False) or the third party's own (True). `provided` are the operations
    that third parties call with their own credentials, `foreign` the calls that carried only a
    customer's own credentials.
    """

    provided: Collection[str] = ()
    taken: set[bool] = field(default_factory=set[bool])
    refused: set[bool] = field(default_factory=set[bool])
    foreign: set[int] = field(default_factory=set[int])

    def see(self, exchange: Exchange) -> None:
        """Take an exchange in."""
        if exchange.call.credentials:
            self.foreign.add(exchange.n)
            return
        party = exchange.call.operation in self.provided
        if exchange.accepted:
            self.taken.add(party)
        elif exchange.wire.status == UNAUTHORIZED:
            self.refused.add(party)

    def untaken(self) -> frozenset[bool]:
        """Return the parties whose credentials were never taken."""
        return frozenset(self.refused - self.taken)


def discount_untaken(
    verdicts: Iterable[Verdict],
    watch: CredentialWatch,
    operations: Mapping[int, str],
    target: Target,
) -> tuple[Verdict, ...]:
    """Take back every verdict that rests on calls with credentials never accepted."""
    untaken = watch.untaken()
    if not untaken:
        return tuple(verdicts)
    return tuple(_discount(one, untaken, watch, operations, target) for one in verdicts)


def _discount(
    verdict: Verdict,
    untaken: frozenset[bool],
    watch: CredentialWatch,
    operations: Mapping[int, str],
    target: Target,
) -> Verdict:
    if verdict.standing not in {Standing.CONFORMS, Standing.VIOLATES}:
        return verdict
    cited = {n for one in verdict.evidence for n in one.exchanges if n in operations}
    parties = {operations[n] in watch.provided for n in cited - watch.foreign} & untaken
    if not parties:
        return verdict
    where = _where(target, by_provider=max(parties))
    reason = f"the target never accepted the credentials of the target file (401): {where}"
    return replace(verdict, standing=Standing.INDETERMINATE, reason=reason)
