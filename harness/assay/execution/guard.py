"""What stands between a call that is ready and the target.

Every call of a run passes here, whoever made it up: a probe, a journey, a bent field, a
schema, the doctor. What may not be sent raises `CannotArrange`, so that an obligation
stays unverified and its reason says what would allow it. Nothing is ever sent twice.

Where the world is one of real customers, accesses without the customer are counted in the
ledger, before they are sent. Of a quota only the calendar day is known here: one by the
hour is bounded by `budget.batch` alone.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime, tzinfo
from typing import TYPE_CHECKING, Protocol
from urllib.parse import urlsplit
from uuid import uuid4

from assay.binding.encode import Access, HttpRequest
from assay.binding.target import Role, Target
from assay.contract.model import Operation
from assay.errors import CannotArrange
from assay.execution.limits import check_written
from assay.history import Call
from assay.judging.verdict import Standing, Verdict
from assay.planning.obligation import BoundClause
from assay.planning.plan import Plan

if TYPE_CHECKING:
    from assay.execution.ledger import QuotaUse

__all__ = ["LIVE_BREAKER", "Customer", "Guard", "QuotaRecord", "customer_of", "quotas"]

#: So many failures in a row end a run on a live bank, if the profile says nothing else.
LIVE_BREAKER = 5
#: What a probe of a quota wants of a day.
UNTOUCHED = "a day on which nobody has called"
#: The first status of those that say that the target failed.
FAILED = 500


def quotas(ruled: Mapping[str, Mapping[str, BoundClause]]) -> dict[str, int]:
    """Return how many accesses a day contracts allow without the customer, by operation."""
    found: dict[str, int] = {}
    for clauses in ruled.values():
        for clause in clauses.values():
            for operation, limit in clause.kind.daily_limits().items():
                found[operation] = min(found.get(operation, limit), limit)
    return found


@dataclass(frozen=True, slots=True, kw_only=True)
class Customer:
    """A customer: `name` as a reader knows him, `key` as the ledger does."""

    name: str
    key: str


def customer_of(target: Target, access: Access, subject: str, owns: list[str]) -> Customer:
    """Return whose accesses those of a subject are; `owns` are the keys of his things.

    A role is known by the first thing that it lists, so that it may be renamed. Roles that
    call with one token are one customer to the bank.
    """
    role = next((one for one in target.fixtures.roles if one.name == access.id), None)
    if role is None:
        return Customer(name=subject, key=access.id or min(owns, default=subject))
    return Customer(name=role.name, key=_known_by(role, target))


def _known_by(role: Role, target: Target) -> str:
    if target.auth.token_env and role.token_env is None:
        return f"token:{target.auth.token_env}"
    return role.owns[0].key if role.owns else role.name


class QuotaRecord(Protocol):
    """Where accesses are written down: a ledger, or what only pretends to be one."""

    def gone(self, use: QuotaUse) -> int:
        """Return how many were spent."""
        ...

    def spend(self, use: QuotaUse, *, most: int | None, run: str, at: datetime) -> bool:
        """Write one down if fewer than `most` are; tell whether it was."""
        ...


@dataclass(slots=True, kw_only=True)
class Guard:
    """The gates of one run. `stopped` says why nothing more is sent, once that is so.

    `spent` are the accesses without the customer, by customer's name and operation.
    `limits` are the quotas of the contracts, None while nobody has told them.
    """

    target: Target
    book: QuotaRecord | None = None
    run: str = field(default_factory=lambda: uuid4().hex)
    limits: Mapping[str, int] | None = None
    zones: Mapping[str, tzinfo] = field(default_factory=dict[str, tzinfo])
    calls: int = 0
    failures: int = 0
    stopped: str = ""
    spent: Counter[tuple[str, str]] = field(default_factory=Counter[tuple[str, str]])

    def learn(self, plan: Plan) -> None:
        """Take in what the contracts say of quotas, and whose day it is."""
        self.limits = quotas(plan.ruled)
        self.zones = {
            operation: contract.zone
            for contract in plan.contracts.values()
            if contract.zone
            for operation in contract.operations
        }

    def going(self) -> None:
        """Do nothing, unless the run was stopped.

        Raises:
            CannotArrange: it was.

        """
        if self.stopped:
            raise CannotArrange(f"a target that answers: {self.stopped}")

    def count(self) -> None:
        """Count a call, or a signature, that is about to be made.

        Raises:
            CannotArrange: that would be one too many.

        """
        most = self.target.budget.calls
        if most is not None and self.calls >= most:
            raise CannotArrange(f"1 more call; 0 of {most} left (budget.calls)")
        self.calls += 1

    def admit(
        self,
        call: Call,
        operation: Operation,
        request: HttpRequest,
        who: Callable[[], Customer],
        now: Callable[[], datetime],
    ) -> None:
        """Let a call through, which is about to be sent, and count it.

        Raises:
            CannotArrange: it must not be sent; the text says what would allow it.
            TargetError: the ledger cannot be written.

        """
        self.going()
        if operation.writes or operation.grants:
            check_written(call, operation, request, self.target)
        self.count()
        if self.target.has_real_customers and absent(call, request, self.target):
            self._spend(operation.id, who(), now())

    def bound(self, operation: str) -> int | None:
        """Return how many accesses a day are allowed, None for any number.

        Of a live bank whose quotas nobody has told, none are.
        """
        if self.target.budget.batch is not None:
            return self.target.budget.batch
        if not self.target.is_live:
            return None
        return 0 if self.limits is None else self.limits.get(operation)

    def use(self, operation: str, who: Customer, at: datetime) -> QuotaUse:
        """Return what an access now counts against."""
        from assay.execution.ledger import QuotaUse  # noqa: PLC0415 -- SQLite only for real customers

        parts = urlsplit(self.target.base_url)
        zone = self.zones.get(operation) or self.target.zone or UTC
        return QuotaUse(
            target=f"{parts.scheme}://{parts.netloc}{parts.path}".rstrip("/").lower(),
            customer=who.key,
            method=operation,
            day=at.astimezone(zone).date(),
        )

    def _spend(self, operation: str, who: Customer, at: datetime) -> None:
        most = self.bound(operation)
        if self.book is not None:
            use = self.use(operation, who, at)
            if not self.book.spend(use, most=most, run=self.run, at=at):
                raise CannotArrange(held_back(1, operation, 0, most or 0, who.name))
        elif most is not None:
            raise CannotArrange(f"a ledger of accesses of {operation} (--ledger)")
        self.spent[who.name, operation] += 1

    def told(self) -> dict[str, object]:
        """Return what a record keeps: what was spent, and what stopped the run, if anything."""
        spent = [
            {"customer": name, "operation": operation, "accesses": number}
            for (name, operation), number in sorted(self.spent.items())
        ]
        found: dict[str, object] = {}
        if spent:
            found["spent"] = spent
        if self.stopped:
            found["stopped"] = self.stopped
        return found

    def see(self, status: int, trouble: str) -> None:
        """Take in what came of a call; too many failures in a row end the run."""
        self.failures = self.failures + 1 if trouble or status >= FAILED else 0
        most = self.target.safety.breaker or (LIVE_BREAKER if self.target.is_live else None)
        if most is not None and self.failures >= most:
            self.stopped = (
                f"the run was stopped after {self.failures} failures in a row (safety.breaker)"
            )


def held_back(needed: int, operation: str, left: int, most: int, name: str) -> str:
    """Say that a budget does not allow so many more accesses."""
    more = "1 more access" if needed == 1 else f"{needed} more accesses"
    return (
        f"{more} of {operation} without the customer today; "
        f"{left} of {most} left (budget.batch, {name})"
    )


def is_held_back(verdict: Verdict) -> bool:
    """Whether a budget, or what is left of a day, let an obligation stay open."""
    return verdict.standing is Standing.UNVERIFIED and any(
        word in verdict.reason for word in ("(budget.", UNTOUCHED)
    )


def absent(call: Call, request: HttpRequest, target: Target) -> bool:
    """Whether the bank takes a request for one without the customer.

    What the request says counts, and not only what the call meant: a header that somebody
    bent marks nothing.
    """
    mark = target.presence
    if mark is None:
        return not call.present
    said = [value for name, value in request.headers if name.lower() == mark.header.lower()]
    return bool(said) if mark.absent else said != [mark.value]
