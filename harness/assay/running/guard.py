"""Guard that admits or refuses each call just before it is sent.

Every call of a run passes here: of a probe, a random sequence, a mutated field, a schema case, the
doctor. A call that must not be sent raises `CannotArrange`: the obligation stays unverified, and
its reason says what would allow the call. No call is ever repeated.

For real customers, accesses without the customer are counted in the ledger before they are sent.
Only quotas per calendar day are known here: one per hour is bounded by `budget.batch` alone.

What a request may write is decided by its content, not by what a call meant to put there. A value
that cannot be read with certainty is not sent to a live bank.
"""

from __future__ import annotations

import json
import os
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime, tzinfo
from decimal import Decimal
from hashlib import sha256
from threading import Lock
from typing import TYPE_CHECKING, Any, Final, cast
from urllib.parse import parse_qs, urlsplit
from uuid import uuid4

from assay.binding.model.origin import place_of
from assay.binding.model.pointer import MISSING, find, steps
from assay.binding.model.request_parts import RequestParts
from assay.binding.model.target import OperationBinding, Place, Role, Spelling, Target
from assay.binding.wire.encode import BARE, Access, HttpRequest
from assay.binding.wire.values import RequestValues, sent
from assay.contract.model import Capability, Json, Operation
from assay.contract.scalars import number_of
from assay.errors import CannotArrange, Shortage
from assay.fixtures.providers import Customers, customers_of, has_real_customers
from assay.fixtures.waiting import waits_at_once
from assay.history import Call
from assay.journal.codec import Accesses
from assay.journal.typed_values import record_of
from assay.planning.plan import Plan, read_only
from assay.planning.remedies import ALLOW_WRITES, REMEDIES
from assay.rules.obligation import BoundClause
from assay.rules.rule import NO_BANKS
from assay.rules.verdict import Standing, Verdict

if TYPE_CHECKING:
    from assay.running.ledger import Ledger, QuotaUse

__all__ = [
    "FINAL",
    "LIVE_BREAKER",
    "MADE",
    "Customer",
    "Guard",
    "check_offered",
    "customer_for",
    "customer_of",
    "item_of",
    "quotas",
]

#: Failures in a row that end a run on a live bank, unless the target file says otherwise.
LIVE_BREAKER = 5
ZERO = Decimal(0)
#: The weight of a request that was made, and of one that was signed or needs no signature.
MADE, FINAL = 1, 1_000
#: What a probe of a quota needs; the operation follows.
UNUSED_DAY = "a day with no earlier call of"
#: What the ledger calls a request, a consent or a signature: each uses something of a customer.
ANY_USE = "*"
#: What it calls a request about an item that was signed, or needs no signature.
FINAL_USE = "*final"
#: The key with what the fixture provider can arrange.
_OFFERS: Final = ("fixtures", "offers")
#: The first status that reports a failure of the target.
FAILED = 500


def quotas(clauses: Mapping[str, Mapping[str, BoundClause]]) -> dict[str, int]:
    """Return the daily quotas of contracts for accesses without the customer, by operation."""
    limits: dict[str, int] = {}
    for bound_clauses in clauses.values():
        for clause in bound_clauses.values():
            for operation, named in clause.kind.facts().call_limits.items():
                for limit in named:
                    if limit.daily and not limit.attended:
                        limits[operation] = min(limits.get(operation, limit.number), limit.number)
    return limits


@dataclass(frozen=True, slots=True, kw_only=True)
class Customer:
    """A customer: `name` is for people, `keys` for the ledger.

    Two of them are one customer to the bank if they share any key. `earlier` are the keys under
    which earlier versions may have counted.
    """

    name: str
    keys: frozenset[str] = field(repr=False)
    earlier: frozenset[str] = field(default=frozenset(), repr=False)


def customer_of(target: Target, access: Access, subject: str, owns: Sequence[str]) -> Customer:
    """Return the customer whose accesses those of a subject are; `owns` are the keys of its items.

    A token and a login are among the keys, so that an entry with any other name and other items is
    the same customer to the ledger, as it is to the bank.
    """
    roles = target.fixtures.roles
    role = next((role for role in roles if role.name == access.id), None)
    if role is not None:
        return customer_for(role, target)
    secrets = [access.token, access.login, *access.tokens.values(), *access.secrets.values()]
    # Nobody is known by the name that a probe gives, unless nothing else is known.
    name = access.id or ("" if owns or any(secrets) else subject)
    customer = _customer(subject, name, owns, secrets)
    return replace(customer, earlier=frozenset({access.id or min(owns, default=subject)}))


def customer_for(role: Role, target: Target, environ: Mapping[str, str] = os.environ) -> Customer:
    """Return a listed customer; the secrets of a plan need not be set."""
    owns = [owned.key for owned in role.owns]
    shared = None if role.token_env else target.auth.token_env
    own = (*role.token_envs.values(), *role.secret_envs.values())
    named = [role.token_env or shared, role.login_env, *own]
    secrets = [environ.get(name) for name in named if name]
    customer = _customer(role.name, role.name, owns, secrets)
    return replace(customer, earlier=customer.earlier | {f"token:{shared}"})


def same_customers(target: Target) -> Mapping[str, str]:
    """Return the first name of each listed customer: several entries can be one to the bank."""
    groups: list[tuple[frozenset[str], list[str]]] = []
    for role in target.fixtures.roles:
        keys, names = customer_for(role, target).keys, [role.name]
        same = [group for group in groups if not keys.isdisjoint(group[0])]
        groups = [group for group in groups if group not in same]
        for known, before in same:
            keys, names = keys | known, [*before, *names]
        groups.append((keys, names))
    return {name: names[0] for _, names in groups for name in names}


def waiting_customers(target: Target) -> Mapping[str, str]:
    """Return the first name of each customer for whom one trial waits until another has ended.

    It is the same name for all where no two trials wait at the same time, and there is none where
    no two share a customer.
    """
    return same_customers(target) if waits_at_once(target) else {"": ""}


def _customer(name: str, id_: str, owns: Sequence[str], secrets: Iterable[str | None]) -> Customer:
    """Return a customer whom a name, all items and all secrets identify, in whatever spelling."""
    keys = {f"owns:{''.join(key.split()).casefold()}" for key in owns}
    hashes = (
        sha256(secret.strip().encode("utf-8", "surrogatepass")).hexdigest()
        for secret in secrets
        if secret
    )
    keys |= {f"secret:{each}" for each in hashes} | ({f"name:{id_}"} if id_ else set())
    return Customer(name=name, keys=frozenset(keys), earlier=frozenset((id_, *owns)))


def item_of(key: str) -> Customer:
    """Return an item of a customer, as the ledger counts it."""
    return Customer(name=key, keys=frozenset({f"item:{key}"}))


@dataclass(slots=True, kw_only=True)
class Guard:
    """The limits of one run, and how much of them is used.

    `stopped` says why nothing more is sent, if the run was stopped. `spent` are the accesses without the
    customer, by customer's name and operation. `written` has the number of requests that were made
    (""), and the sums of their arguments. `limits` are the quotas of the contracts, None until they
    are known. A dry run is `unbounded`: nothing is limited, or recorded in a ledger.
    """

    target: Target
    book: Ledger | None = None
    run: str = field(default_factory=lambda: uuid4().hex)
    limits: Mapping[str, int] | None = None
    zones: Mapping[str, tzinfo] = field(default_factory=dict[str, tzinfo])
    paths: Mapping[str, str] = field(default_factory=dict[str, str])
    calls: int = 0
    written: dict[str, Decimal] = field(default_factory=dict[str, Decimal])
    unbounded: bool = False
    failures: int = 0
    stopped: str = ""
    spent: Counter[tuple[str, str]] = field(default_factory=Counter[tuple[str, str]])
    #: Several threads may call at the same time.
    _lock: Lock = field(default_factory=Lock)

    def learn(self, plan: Plan) -> None:
        """Take in the quotas of the contracts, and the time zones of their calendar days."""
        self.limits = quotas(plan.clauses)
        self.learn_operations(plan)

    def learn_operations(self, plan: Plan) -> None:
        """Take in the time zones of the contracts, and the paths of their operations."""
        self.paths = {
            operation.id: operation.path
            for contract in plan.contracts.values()
            for operation in contract.operations.values()
        }
        self.zones = {
            operation: contract.zone
            for contract in plan.contracts.values()
            if contract.zone
            for operation in contract.operations
        }

    def check_running(self) -> None:
        """Check that the run was not stopped.

        Raises:
            CannotArrange: it was.

        """
        if self.stopped:
            raise CannotArrange(f"a target that answers: {self.stopped}")

    def count(self) -> None:
        """Count a call or a signature before it is made.

        Raises:
            CannotArrange: the budget has no call left.

        """
        most = self.target.budget.calls
        with self._lock:
            if most is not None and self.calls >= most and not self.unbounded:
                raise CannotArrange(
                    f"1 more call; 0 of {most} left (budget.calls)", Shortage.BUDGET
                )
            self.calls += 1

    def admit(  # noqa: PLR0917 -- the target only where it is another one
        self,
        call: Call,
        operation: Operation,
        request: HttpRequest,
        who: Callable[[], Customer],
        now: Callable[[], datetime],
        target: Target | None = None,
    ) -> None:
        """Admit a call before it is sent, and count it; `target` has another binding of it.

        Raises:
            CannotArrange: it must not be sent; the text says what would allow it.
            TargetError: the ledger cannot be written.

        """
        self.check_running()
        if operation.writes or operation.grants:
            check_written(call, operation, request, target or self.target)
            self._count_written(operation, request, target or self.target)
        self.count()
        if has_real_customers(self.target) and absent(call, request, self.target):
            # A live bank keeps real time, whatever the target file or a fixture says.
            at = datetime.now(UTC) if self.target.is_live else now()
            self._spend(operation.id, who(), at)

    @property
    def most_written(self) -> Mapping[str, Decimal]:
        """How many requests a run makes at most (""), and the sums of their arguments."""
        requests, total = self.target.most_requests, self.target.safety.total
        number = {} if requests is None else {"": Decimal(requests)}
        return number | {name: Decimal(limit) for name, limit in total.items()}

    def check_limits(self, added: Mapping[str, Decimal]) -> None:
        """Check that so many more requests, of these sums, are within the limits of the run.

        Raises:
            CannotArrange: they are not; the text names the key of `safety` that says so.

        """
        for name, limit in self.most_written.items():
            more, rest = added.get(name, ZERO), limit - self.written.get(name, ZERO)
            if more > rest:
                noun = f"of {name}" if name else "request" if more == 1 else "requests"
                key = "total" if name else "requests"
                left = f"{max(rest, ZERO)} of {limit} left (safety.{key})"
                raise CannotArrange(f"{more} more {noun}; {left}")

    def add_written(self, added: Mapping[str, Decimal]) -> None:
        """Count requests that are made, or planned."""
        for name, number in added.items():
            self.written[name] = self.written.get(name, ZERO) + number

    def _count_written(self, operation: Operation, request: HttpRequest, target: Target) -> None:
        added = amounts(operation, request, target)
        with self._lock:
            if not self.unbounded:
                self.check_limits(added)
            self.add_written(added)

    def note_use(
        self, who: Customer, items: Mapping[str, int], now: Callable[[], datetime]
    ) -> None:
        """Record that something of a listed customer was used, and how much of which items.

        A later run prefers what was used less.

        Raises:
            TargetError: the ledger cannot be written.

        """
        if self.book is None or customers_of(self.target) is not Customers.LISTED:
            return
        at = now()
        uses = [self.use(ANY_USE, who, at)]
        for key, weight in items.items():
            method = FINAL_USE if weight >= FINAL else ANY_USE
            uses.append(self.use(method, item_of(key), at))
        self.book.note(uses, run=self.run)

    def used_earlier(self, who: Customer, at: datetime) -> int:
        """Return how much of a listed customer or item was used that day by earlier runs."""
        if self.book is None:
            return 0
        final = self.book.used(self.use(FINAL_USE, who, at))
        return self.book.used_in_all(self.use(ANY_USE, who, at)) + (FINAL - 1) * final

    def bound(self, operation: str) -> int | None:
        """Return how many accesses a day are allowed, None for any number.

        A live bank whose quotas are not known allows none.
        """
        if self.target.budget.batch is not None:
            return self.target.budget.batch
        if not self.target.is_live:
            return None
        return 0 if self.limits is None else self.limits.get(operation)

    def use(self, operation: str, who: Customer, at: datetime) -> QuotaUse:
        """Return the quota that an access at an instant counts against."""
        from assay.running.ledger import QuotaUse  # noqa: PLC0415 -- SQLite only for real customers

        binding = self.target.operations.get(operation)
        path = (binding and binding.path) or self.paths.get(operation, "")
        # The path of an operation may begin in the base URL or after it.
        bases = {base.rstrip("/") for base in (self.target.base_url, *self.target.hosts)}
        places = {place_of(base + end) for base in bases for end in ("", path)}
        return QuotaUse(
            targets=tuple(sorted(places)),
            customers=tuple(sorted(who.keys)),
            earlier=tuple(sorted(who.earlier)),
            method=operation,
            at=at,
            zone=self.zones.get(operation) or self.target.zone,
            later=self.target.is_live,
        )

    def _spend(self, operation: str, who: Customer, at: datetime) -> None:
        most = self.bound(operation)
        if self.book is not None:
            use = self.use(operation, who, at)
            if not self.book.spend(use, most=most, run=self.run):
                needed = held_back(1, operation, 0, most or 0, who.name)
                raise CannotArrange(needed, Shortage.BUDGET)
        elif most is not None and not self.unbounded:
            raise CannotArrange(f"a ledger of accesses of {operation} (--ledger)")
        with self._lock:
            self.spent[who.name, operation] += 1

    @property
    def accesses(self) -> tuple[Accesses, ...]:
        """The accesses without the customer so far."""
        return tuple(
            Accesses(customer=name, operation=operation, accesses=number)
            for (name, operation), number in sorted(self.spent.items())
        )

    def summary(self) -> dict[str, object]:
        """Return the part of the journal's footer with the accesses and what stopped the run."""
        spent = record_of(self.accesses)
        summary: dict[str, object] = {"spent": spent} if spent else {}
        if self.stopped:
            summary["stopped"] = self.stopped
        return summary

    def see(self, status: int, trouble: str) -> None:
        """Take in the result of a call; too many failures in a row stop the run."""
        most = self.target.safety.breaker or (LIVE_BREAKER if self.target.is_live else None)
        with self._lock:
            self.failures = self.failures + 1 if trouble or status >= FAILED else 0
            # What fails in other lanes meanwhile does not stop it once more.
            if most is not None and self.failures >= most and not self.stopped:
                self.stopped = (
                    f"the run was stopped after {self.failures} failures in a row (safety.breaker)"
                )


def held_back(needed: int, operation: str, left: int, most: int, name: str) -> str:
    """Return the reason why a budget does not allow more accesses."""
    accesses = "1 more access" if needed == 1 else f"{needed} more accesses"
    return (
        f"{accesses} of {operation} without the customer today; "
        f"{left} of {most} left (budget.batch, {name})"
    )


def is_held_back(verdict: Verdict) -> bool:
    """Whether an obligation stayed unverified only for today's limits."""
    return verdict.standing is Standing.UNVERIFIED and verdict.shortage is not None


def absent(call: Call, request: HttpRequest, target: Target) -> bool:
    """Whether the bank regards a request as one without the customer.

    What the request says decides, not the intention of the call: a mutated mark marks nothing.
    """
    mark = target.presence
    if mark is None:
        return not call.present
    parts = RequestParts(request.method, request.url, request.headers, request.body)
    values = parts.values_at(mark)
    return bool(values) if mark.absent else values != [mark.value]


# -- What a target file offers, and what `safety` allows -----------------------------------------
def check_offered(call: Call, operation: Operation, target: Target) -> None:
    """Check that the target file offers what a call needs, whatever its facet requires.

    A consent changes something for the customer, and a call without the customer that
    nothing marks as such looks like one with the customer.

    Raises:
        CannotArrange: the target file does not offer it.

    """
    consents = operation.grants or (operation.writes and operation.about_consent)
    if consents and Capability.CONSENT not in target.fixtures.offers:
        raise CannotArrange(str(REMEDIES[Capability.CONSENT]), key=_OFFERS)
    if operation.writes and not consents and Capability.WRITE not in target.fixtures.offers:
        raise CannotArrange(str(REMEDIES[Capability.WRITE]), key=_OFFERS)
    if call.host is not None and call.host >= len(target.hosts):
        raise CannotArrange(str(REMEDIES[Capability.HOSTS]), key=("hosts",))
    if call.bank is not None and call.bank >= len(target.banks):
        raise CannotArrange(NO_BANKS, key=("banks",))
    if not call.present and target.presence is None:
        raise CannotArrange(str(REMEDIES[Capability.BATCH]), key=("presence",))


def check_written(call: Call, operation: Operation, request: HttpRequest, target: Target) -> None:
    """Check that a request which changes something may be sent.

    Raises:
        CannotArrange: it must not; the text names the key of `safety` that forbids it.

    """
    safety, live = target.safety, target.environment == "live"
    if read_only(target):
        raise CannotArrange(str(ALLOW_WRITES))
    if live and call.malformed is not None:
        raise CannotArrange(
            "a bank that is not live, because no malformed request is written to a live bank (safety)"
        )
    binding = target.operations.get(operation.id, BARE)
    for name in dict.fromkeys((*safety.only, *safety.most, *safety.total)):
        # A modification has only what it changes, and a cancellation nothing of the request.
        strict = live and bool(operation.makes) and not operation.about_consent
        if not strict and name not in argument_names(operation, binding):
            continue
        spelling = binding.arguments.get(name)
        values = [*_values(spelling, request)] if spelling else []
        if strict and (not values or any(value is MISSING for value in values)):
            raise CannotArrange(
                f"{name} in a place where it can be checked before sending (safety)"
            )
        for value in values:
            if spelling and value is not MISSING:
                _check_value(name, value, spelling, target, live=live)


def argument_names(operation: Operation, binding: OperationBinding) -> frozenset[str]:
    """Return the names of an operation's arguments in the contract."""
    special = (operation.grants, operation.about, operation.owned, operation.returns)
    return frozenset(name for name in (*operation.arguments, *binding.arguments, *special) if name)


def amounts(operation: Operation, request: HttpRequest, target: Target) -> dict[str, Decimal]:
    """Return how much a request adds to the limits of a run: to the number (""), and to the sums."""
    binding = target.operations.get(operation.id, BARE)
    added = {"": Decimal(bool(operation.makes))}
    for name in target.safety.total:
        spelling = binding.arguments.get(name)
        values = [*_values(spelling, request)] if spelling else []
        # In a body, the first is among the others, which have the same name.
        several = spelling and spelling.place is Place.BODY and len(values) > 1
        numbers = [_number(value, spelling) for value in values if spelling]
        known = [abs(number) for number in numbers[bool(several) :] if number is not None]
        added[name] = sum(known, Decimal(0))
    return added


def _check_value(name: str, value: Json, spelling: Spelling, target: Target, *, live: bool) -> None:
    safety = target.safety
    if name in safety.only:
        allowed: list[Json] = [*safety.only[name]]
        allowed += [sent(value_, spelling, RequestValues()) for value_ in safety.only[name]]
        items = cast("list[Json]", value) if isinstance(value, list) else [value]
        if not all(item in allowed or str(item) in allowed for item in items):
            raise CannotArrange(f"{name} to be listed in safety.only")
    for key, limits in (("most", safety.most), ("total", safety.total)):
        if name in limits:
            number = _number(value, spelling)
            if live if number is None else abs(number) > Decimal(limits[name]):
                raise CannotArrange(f"{name} of no more than {limits[name]} (safety.{key})")


def _number(value: Json, spelling: Spelling) -> Decimal | None:
    """Return the amount that a value on the wire is, in the main unit of its currency."""
    if isinstance(value, str):
        before, _, after = spelling.text.partition("{}")
        value = value.removeprefix(before).removesuffix(after)
    number = number_of(value)
    return None if number is None else number * (spelling.unit or 1)


def _values(spelling: Spelling, request: HttpRequest) -> Iterator[Json]:
    """Yield the value of a request at each place of an argument, `MISSING` without one."""
    match spelling.place:
        case Place.BODY:
            body = _body(request.body)
            for pointer in (spelling.name, *spelling.also):
                yield find(body, pointer)
                yield from _same_named(body, tuple(_members(pointer))[-2:])
        case Place.QUERY:
            query = parse_qs(urlsplit(request.url).query, keep_blank_values=True)
            yield from query.get(spelling.name) or (MISSING,)
        case Place.HEADER:
            yield from _header(spelling, request)
        case Place.PATH | Place.SCOPE | Place.BASE:
            yield MISSING  # only the bank knows where the value begins and ends


def _members(pointer: str) -> Iterator[str]:
    """Yield the member names in a pointer, without list indexes."""
    return (step for step in steps(pointer) if not step.isdecimal())


def _same_named(value: Json, names: tuple[str, ...], path: tuple[str, ...] = ()) -> Iterator[Json]:
    """Yield every value in members of these names, such as the amount of a second transfer."""
    if names and path[-len(names) :] == names:
        yield value
    if isinstance(value, dict):
        for name, member in cast("dict[str, Json]", value).items():
            yield from _same_named(member, names, (*path, name))
    elif isinstance(value, list):
        for item in cast("list[Json]", value):
            yield from _same_named(item, names, path)


def _header(spelling: Spelling, request: HttpRequest) -> Iterator[Json]:
    wanted = spelling.name.lower()
    values = [value for name, value in request.headers if name.lower() == wanted]
    yield from values or (MISSING,)


def _body(body: bytes) -> Json:
    """Read a body as JSON; one with a repeated member is ambiguous, and so unreadable."""

    def unique(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
        if len({name for name, _ in pairs}) < len(pairs):
            raise ValueError("repeated member")
        return dict(pairs)

    try:
        return json.loads(body, object_pairs_hook=unique, parse_float=Decimal)
    except (ValueError, RecursionError):
        return MISSING
