"""Readings of a recording: alternatives where it leaves the course of events open.

A recording may be less than what happened. Times are equal, or contradict the order of the entries;
they lack an offset; entries are missing, or listed twice; a filter removed a header. Each of these
allows several readings. A verdict stands only if every reading gives it, so that what a recording
lacks is never evidence.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime, timedelta
from itertools import count, pairwise
from typing import Generic, TypeVar, cast
from zlib import crc32

from assay.contract.model import Json, Operation
from assay.history import Cause, Event, Exchange, History, Indeterminate, Malformed, Subject
from assay.rules.lifecycle.request_queries import same_value
from assay.traffic.clocks import later
from assay.traffic.recorded_entries import RecordedEntry, bank_time, is_skewed

T = TypeVar("T")

#: How many random orders are tried where the order is unknown.
ORDERS = 6
#: The hours by which the clock of a time without an offset may differ from the one assumed.
OFFSETS = [hours for hours in range(-14, 15) if hours]
#: The longest period of a limit: a day of 25 hours.
LONGEST = timedelta(hours=25)
DAY = timedelta(days=1)
MISSING_EXCHANGE = "this exchange may be missing from the recording"
_UNKNOWN = Indeterminate(cause=Cause.TRANSPORT, why=MISSING_EXCHANGE)


# -- orders and times ------------------------------------------------------------
def readings(entries: Sequence[RecordedEntry]) -> Iterator[Sequence[RecordedEntry]]:
    """Yield the entries in every order and at all times that the recording allows; by time first.

    An entry that is listed twice, with the same time, happened once. Where the bank's answers have
    another time (`Date`) than the entries, either may be that of the calls.
    """
    if _has_one_order(entries):
        yield entries
        if any(map(is_skewed, entries)):
            yield by_bank_time(entries)
        return
    listed = _once(entries)
    by_time = sorted(listed, key=lambda entry: entry.at)
    yield by_time
    times = Counter(entry.at for entry in listed)
    if any(count > 1 for count in times.values()):
        yield from _any_time(by_time, times)
    if not _in_order(listed):
        yield from _any_order(listed, by_time)
    if not all(entry.zoned for entry in listed):
        for hours in OFFSETS:
            moved = [_moved(entry, hours) for entry in listed]
            yield sorted(moved, key=lambda entry: entry.at)
    if any(map(is_skewed, listed)):
        yield by_bank_time(listed)


def _has_one_order(entries: Sequence[RecordedEntry]) -> bool:
    """Whether the times leave one order only: each is known, and after the one before."""
    in_order = all(one.at < other.at for one, other in pairwise(entries))
    return in_order and all(entry.zoned for entry in entries)


def by_bank_time(entries: Iterable[RecordedEntry]) -> list[RecordedEntry]:
    """Return entries at the times of the bank's answers, where these are certainly other times."""
    moved = (
        replace(entry, at=(bank_time(entry) or entry.at) if is_skewed(entry) else entry.at)
        for entry in entries
    )
    return sorted(moved, key=lambda entry: entry.at)


def _once(entries: Sequence[RecordedEntry], *, at_any_time: bool = False) -> list[RecordedEntry]:
    """Return entries without those that repeat an earlier one."""
    kept: list[RecordedEntry] = []
    seen: set[tuple[object, ...]] = set()
    for entry in entries:
        time = None if at_any_time else entry.at
        likeness = time, entry.wire, entry.lost, entry.body_lost
        if likeness not in seen:
            seen.add(likeness)
            kept.append(entry)
    return kept


def _in_order(entries: Sequence[RecordedEntry]) -> bool:
    """Whether entries are listed as the calls began, or as they ended."""
    begins = [entry.at for entry in entries]
    ends = [entry.at + timedelta(milliseconds=entry.ms) for entry in entries]
    return any(all(a <= b for a, b in pairwise(moments)) for moments in (begins, ends))


def _any_order(
    listed: Sequence[RecordedEntry], by_time: Sequence[RecordedEntry]
) -> Iterator[list[RecordedEntry]]:
    """Yield the entries in other orders: the times may belong to other entries."""
    orders = [listed, listed[::-1], by_time[::-1], *_shuffles(listed)]
    for order in orders:
        yield _timed(order)
    once = _once(listed, at_any_time=True)
    if len(once) < len(listed):
        yield _timed(once)
        yield sorted(once, key=lambda entry: entry.at)


def _timed(order: Sequence[RecordedEntry]) -> list[RecordedEntry]:
    """Return entries in this order, with their own times in order of time."""
    times = sorted(entry.at for entry in order)
    return [replace(entry, at=at) for entry, at in zip(order, times, strict=True)]


def _shuffles(entries: Sequence[RecordedEntry]) -> Iterator[list[RecordedEntry]]:
    """Yield the entries in several orders without a pattern, the same ones every time."""
    for seed in range(ORDERS):
        marks = [crc32(b"%d %d" % (seed, place)) for place in range(len(entries))]
        yield [entry for _, _, entry in sorted(zip(marks, count(), entries, strict=False))]


def _any_time(
    by_time: Sequence[RecordedEntry], times: Mapping[datetime, int]
) -> Iterator[list[RecordedEntry]]:
    """Yield entries of equal times in other orders, and apart: one time is no time."""
    for order in (by_time, by_time[::-1], *_shuffles(by_time)):
        yield sorted(order, key=lambda entry: entry.at)
        for day in (DAY, -DAY):
            apart: list[RecordedEntry] = []
            passed: Counter[datetime] = Counter()
            for entry in order:
                tied = times[entry.at] > 1
                apart.append(replace(entry, at=later(entry.at, passed[entry.at] * day)))
                passed[entry.at] += tied
            yield sorted(apart, key=lambda entry: entry.at)


def _moved(entry: RecordedEntry, hours: int) -> RecordedEntry:
    moved = later(entry.at, timedelta(hours=hours))
    return entry if entry.zoned else replace(entry, at=moved)


# -- what is missing -------------------------------------------------------------
def with_gaps(
    history: History, operations: Mapping[str, Operation], limits: Mapping[str, int]
) -> History:
    """Return a history with everything that may be missing from its recording, outcome unknown.

    Before every call, there may be a consent to everything or to nothing, another request of the
    same content, and a change or an end of the request that the call is about. A header may be
    missing: what is marked as made without the customer, and accepted beyond the limit of such
    calls, may have been made with the customer. A body of size 0 may be one that was not recorded.
    """
    keys = _keys(history, operations)
    return HistoryWithGaps(
        whole=history, around=lambda: _Gaps(operations=operations, keys=keys), limits=limits
    )


@dataclass(frozen=True, slots=True)
class _Repeatable(Generic[T]):
    """What a function yields, as often as it is read."""

    make: Callable[[], Iterator[T]]

    def __iter__(self) -> Iterator[T]:
        """Begin again."""
        return self.make()


class HistoryWithGaps(History):
    """A history whose events are made whenever they are read: it is many times as long as another."""

    __slots__ = ("_around", "_limits", "_whole")

    _whole: History
    _around: Callable[[], _Gaps]
    _limits: Mapping[str, int]

    def __init__(
        self, *, whole: History, around: Callable[[], _Gaps], limits: Mapping[str, int]
    ) -> None:
        for name, value in (("_whole", whole), ("_around", around), ("_limits", limits)):
            object.__setattr__(self, name, value)

    @property
    def events(self) -> tuple[Event, ...]:  # pyright: ignore[reportIncompatibleVariableOverride]
        """All events, made again for each reader: a check reads them one after the other."""
        return cast("tuple[Event, ...]", _Repeatable(self._made))

    @property
    def exchanges(self) -> tuple[Exchange, ...]:
        """The exchanges, made again for each reader."""
        made = _Repeatable(lambda: (each for each in self._made() if isinstance(each, Exchange)))
        return cast("tuple[Exchange, ...]", made)

    @property
    def subjects(self) -> dict[str, Subject]:
        """The subjects of the whole history."""
        return self._whole.subjects

    def _made(self) -> Iterator[Event]:
        gaps, count = self._around(), 0
        for exchange in _attended(self._whole, self._limits):
            if not isinstance(exchange, Exchange):
                count += 1
                yield exchange
                continue
            for call in gaps.before(exchange):
                count += 1
                yield replace(call, n=-count)
            if exchange.call.malformed is Malformed.EMPTY and not _has_length(exchange):
                exchange = replace(exchange, outcome=_UNKNOWN)  # noqa: PLW2901 -- the same call
            count += 1
            yield exchange
            gaps.note(exchange)


def _has_length(exchange: Exchange) -> bool:
    return exchange.wire.request_header("content-length") is not None


def _keys(history: History, operations: Mapping[str, Operation]) -> Mapping[str, list[Json]]:
    """Return the keys of what the history shows of each customer's own, by customer.

    Anything else that a consent names has nothing to do with the customer. If nothing of a customer
    is shown, the consent names something of another customer.
    """
    keys: dict[str, dict[str, None]] = {}
    for exchange in history.exchanges:
        operation = operations.get(exchange.call.operation)
        if operation is None or operation.request:
            continue
        own = keys.setdefault(exchange.call.subject, {})
        own |= dict.fromkeys(used_keys(exchange, operation))
    some = next((key for own in keys.values() for key in own), None)
    others: list[Json] = [] if some is None else [some]
    return defaultdict(lambda: others, {name: [*own] for name, own in keys.items() if own})


def used_keys(exchange: Exchange, operation: Operation) -> Iterator[str]:
    """Yield the keys that a call names, or its answer shows."""
    yield from (item.key for item in exchange.items if item.key is not None)
    for name in (operation.about, operation.grants):
        value = exchange.call.arguments.get(name or "")
        values = value if isinstance(value, list | tuple) else (value,)
        yield from (key for key in values if isinstance(key, str))


def _attended(history: History, limits: Mapping[str, int]) -> Iterator[Event]:
    served: dict[tuple[str, str], list[datetime]] = {}
    for exchange in history.events:
        if not isinstance(exchange, Exchange):
            yield exchange
            continue
        call = exchange.call
        if call.present or not exchange.accepted or call.operation not in limits:
            yield exchange
            continue
        times = served.setdefault((call.subject, call.operation), [])
        recent = [at for at in times if exchange.at - at <= LONGEST]
        if len(recent) >= limits[call.operation]:
            yield replace(exchange, call=replace(call, present=True))
        else:
            served[call.subject, call.operation] = [*recent, exchange.at]
            yield exchange


@dataclass(slots=True, kw_only=True)
class _Gaps:
    """What may be missing; `sent` are the values with which each request was made or changed."""

    operations: Mapping[str, Operation]
    keys: Mapping[str, list[Json]]
    sent: dict[str, dict[str, Json]] = field(default_factory=dict[str, dict[str, Json]])

    def note(self, exchange: Exchange) -> None:
        """Process a call that was made."""
        operation, item = self.operations.get(exchange.call.operation), exchange.item
        if operation is None or not exchange.accepted:
            return
        if operation.makes and item is not None and item.key is not None:
            self.sent[item.key] = {**exchange.call.arguments}
        elif operation.changes:
            key = str(exchange.call.arguments.get(operation.about or ""))
            self.sent.setdefault(key, {}).update(exchange.call.arguments)

    def _as_sent(self, exchange: Exchange, key: str, names: Sequence[str]) -> bool:
        """Whether an answer shows all that can be changed as it was sent: no change is missing."""
        sent = self.sent.get(key)
        if sent is None or exchange.item is None:
            return False
        shown = exchange.item.fields
        named = [name for name in names if name in sent]
        return all(name in shown and same_value(sent[name], shown[name]) for name in named)

    def before(self, exchange: Exchange) -> Iterator[Exchange]:
        """Yield the calls that may be missing before another."""
        operation = self.operations.get(exchange.call.operation)
        if operation is None:
            return
        if operation.makes:
            yield _unknown(exchange)
        key = exchange.call.arguments.get(operation.about or "")
        for each in self.operations.values():
            if each.grants and not operation.by_tpp:
                for keys in (self.keys[exchange.call.subject], []):
                    granted: Mapping[str, Json] = {each.grants: keys}
                    yield _unknown(exchange, each, granted)
            elif (
                operation.request and each.about and operation.request in {each.changes, each.ends}
            ):
                if each.changes and self._as_sent(exchange, str(key), each.arguments):
                    continue
                changed = dict.fromkeys(each.arguments, MISSING_EXCHANGE)
                yield _unknown(exchange, each, {**changed, each.about: key})


def _unknown(
    exchange: Exchange,
    operation: Operation | None = None,
    arguments: Mapping[str, Json] | None = None,
) -> Exchange:
    """Return a call by the same caller, without an answer."""
    call = exchange.call
    if operation is not None and arguments is not None:
        call = replace(
            call,
            operation=operation.id,
            arguments=arguments,
            present=True,
            alias=None,
            mode=None,
            follow=None,
            without=(),
            credentials=False,
            malformed=None,
        )
    wire = replace(exchange.wire, status=0, headers=(), body=b"", links=())
    return replace(exchange, call=call, outcome=_UNKNOWN, wire=wire, ms=0.0)
