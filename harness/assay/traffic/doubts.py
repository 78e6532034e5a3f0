"""Doubts about a recording: histories that it allows, in each of which a violation must be found.

Calls and headers may be missing, tokens may belong to other callers, and the clock of a bank may
show another time than that of the recorder. A violation that one of these explains is none, so that
what a recording lacks is never evidence.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime, timedelta
from itertools import accumulate, chain
from typing import Generic, TypeAlias, TypeVar, cast
from zlib import crc32

from assay.binding.wire.encode import Access
from assay.contract.model import Contract, Json, Operation
from assay.history import (
    AnsweredCall,
    Cause,
    Event,
    Exchange,
    History,
    Indeterminate,
    Malformed,
    Subject,
    Submitted,
)
from assay.rules.lifecycle.request_queries import same_value
from assay.rules.rule import facts_of
from assay.traffic.callers import UNKNOWN_CALLER
from assay.traffic.har import RecordedEntry
from assay.traffic.har_to_history import RecordedHistory
from assay.traffic.judge import DoubtedHistory
from assay.traffic.readings import later

T = TypeVar("T")
#: A call in a history.
AnyCall: TypeAlias = Exchange | Submitted
#: Returns when a call was made by another clock, by its number and the recorded time.
Clock: TypeAlias = Callable[[int, datetime], datetime]

#: Why a violation does not decide: something may be missing, the times may be others than those of
#: the bank's clock, or the tokens do not distinguish callers.
MISSING = "but a call or a header may be missing from this recording (pass `--complete` if none is)"
CLOCK_UNKNOWN = (
    "but this bank's clock can be moved and may differ from the times in the recording (pass"
    " `--bank-clock` if it does not)"
)
CALLERS_UNKNOWN = (
    "but this recording does not show with certainty which callers its tokens belong to"
)


@dataclass(frozen=True, slots=True, kw_only=True)
class RecordingDoubts:
    """What is not certain of one recording.

    `complete` says that no call is missing, `bank_clock` that the times are those of the bank, and
    `marked` that a header says which calls are made with the customer. `read` reads the recording
    again, with a change to each entry.
    """

    recorded: RecordedHistory
    operations: Mapping[str, Operation]
    contracts: Sequence[Contract]
    complete: bool
    bank_clock: bool
    marked: bool
    read: Callable[[Callable[[RecordedEntry], RecordedEntry]], History]

    def histories(self) -> Iterator[DoubtedHistory]:
        """Yield the histories in each of which a violation must be found, each made when needed."""
        history = self.recorded.history
        if not self.complete:
            yield from self._gaps(history)
        for other in other_callers(history, self.recorded.access, self.operations):
            yield DoubtedHistory(history=other, why=CALLERS_UNKNOWN)
        if not self.bank_clock:
            for moved in (*other_clocks(history, self.contracts), *self._other_modes()):
                yield DoubtedHistory(history=moved, why=CLOCK_UNKNOWN)

    def _gaps(self, history: History) -> Iterator[DoubtedHistory]:
        known = (facts_of(each).limits(attended=False).items() for each in self.contracts)
        limits = {name: limit for limits in known for name, limit in limits}
        # Without any mark, a filter may have removed the header from every call.
        for each in (limits, *([] if self.marked else [dict.fromkeys(limits, 0)])):
            gaps = with_gaps(history, self.operations, each)
            yield DoubtedHistory(history=gaps, why=MISSING)

    def _other_modes(self) -> Iterator[History]:
        """Yield the history by clocks on which other days are to come: that may tell modes apart."""
        if any(operation.due for operation in self.operations.values()):
            yield from map(self.read, (_moved(shifted(by)) for by in (-FAR, FAR)))


def _moved(clock: Clock) -> Callable[[RecordedEntry], RecordedEntry]:
    return lambda entry: replace(entry, at=clock(0, entry.at))


# -- What is missing ----------------------------------------------------------------------------
#: The longest period of a limit: a day of 25 hours.
LONGEST = timedelta(hours=25)
MISSING_EXCHANGE = "this exchange may be missing from the recording"
_UNKNOWN = Indeterminate(cause=Cause.TRANSPORT, why=MISSING_EXCHANGE)


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


# -- Other callers that the tokens of a recording may belong to ----------------------------------
# A recording distinguishes callers by their tokens. Where it does not show how a token was obtained, two
# tokens may be those of two TPPs, or one TPP's before and after a renewal; and the tokens that are
# used for the same account may be one customer's. A call without its token may be anybody's.
#: What stands for an account that all callers without a token use.
_NO_TOKEN = ""


def other_callers(
    history: History, access: Mapping[int, Access], operations: Mapping[str, Operation]
) -> Iterator[History]:
    """Yield a history with other TPPs, and one with fewer customers, if there can be any."""
    by_tpp = {name for name, operation in operations.items() if operation.by_tpp}

    def token(event: AnsweredCall) -> str | None:
        return access[event.n].token if event.n in access else None

    def of_another_tpp(event: AnyCall) -> AnyCall:
        if event.call.operation not in by_tpp:
            return event
        by = f"{event.call.by} {tpps.setdefault(token(event) or str(event.n), len(tpps))}"
        return replace(event, call=replace(event.call, by=by))

    tpps: dict[str, int] = {}
    own = (each for each in history.exchanges if each.call.operation in by_tpp)
    if len({token(each) or each.n for each in own}) > 1:
        yield with_changed_calls(history, of_another_tpp)
    customers = _same_customers(history, operations)
    if customers:

        def of_one_customer(event: AnyCall) -> AnyCall:
            subject = customers.get(event.call.subject, event.call.subject)
            return replace(event, call=replace(event.call, subject=subject))

        yield with_changed_calls(history, of_one_customer)


def _same_customers(history: History, operations: Mapping[str, Operation]) -> Mapping[str, str]:
    """Return the first of several customers who may be one, by each of the others.

    They used the same account, or no token.
    """
    first: dict[str, str] = {}
    others: dict[str, str] = {}

    def found(name: str) -> str:
        while name in others:
            name = others[name]
        return name

    for exchange in history.exchanges:
        operation = operations.get(exchange.call.operation)
        if operation is None or operation.by_tpp or operation.request:
            continue
        subject = exchange.call.subject
        keys = [_NO_TOKEN] if subject.startswith(UNKNOWN_CALLER) else []
        for key in (*keys, *used_keys(exchange, operation)) if exchange.accepted else keys:
            one, other = found(first.setdefault(key, subject)), found(subject)
            if one != other:
                others[other] = one
    return {name: found(name) for name in others}


# -- Clocks of a bank whose times a recording does not show --------------------------------------
# A recorder writes the time of its own machine. Where the clock of a bank can be moved, as that of a
# sandbox, a call may have come on any day of the bank: earlier or later, days after the call before,
# on the same day as all others, or in announced hours of maintenance.
#: How far a clock may be from that of the recorder; the weekday is the same.
FAR = timedelta(weeks=143)
#: How much time may pass between two calls, in seconds, and how many clocks run so.
STEPS = (0, 0, 180, 3600, 90_000, 17_300_000)
RUNS = 8
#: The time, in seconds, after which such a clock begins again: other customers have other clocks.
_LONGEST = 50_000_000_000
_HALF_HOUR = timedelta(minutes=30)
_HALF_HOURS_A_WEEK = 7 * 48


def other_clocks(history: History, contracts: Iterable[Contract]) -> Iterator[History]:
    """Yield a history by other clocks that the bank may have had."""
    first = next((exchange.at for exchange in history.exchanges), None)
    if first is None:
        return
    count = len(history.exchanges)
    instants = [first, *_in_closed_hours(contracts, first)]
    running = (_running(first, seed, count) for seed in range(RUNS))
    for clock in chain((shifted(-FAR), shifted(FAR)), map(_standing, instants), running):
        yield with_changed_calls(history, _by(clock))


def _by(clock: Clock) -> Callable[[AnyCall], AnyCall]:
    return lambda event: replace(event, at=clock(event.n, event.at))


def with_changed_calls(history: History, change: Callable[[AnyCall], AnyCall]) -> History:
    """Return a history in which each call is changed."""
    changed = (
        change(each) if isinstance(each, Exchange | Submitted) else each for each in history.events
    )
    return History(events=tuple(changed))


def shifted(by: timedelta) -> Clock:
    """Return a clock that is ahead of the recorder's, or behind."""
    return lambda _, at: later(at, by)


def _standing(instant: datetime) -> Clock:
    """Return a clock that stands still, but for what keeps calls in their order."""
    return lambda n, _: later(instant, timedelta(microseconds=n))


def _running(first: datetime, seed: int, count: int) -> Clock:
    """Return a clock that was moved on between many calls, the same every time."""
    steps = (STEPS[crc32(b"%d %d" % (seed, n)) % len(STEPS)] + 1 for n in range(count))
    passed = [*accumulate(steps, initial=0)]
    return lambda n, _: later(first, timedelta(seconds=passed[min(n, count)] % _LONGEST))


def _in_closed_hours(contracts: Iterable[Contract], first: datetime) -> Iterator[datetime]:
    """Yield an instant at which the interface of each contract is announced to be closed."""
    begin = first.astimezone(UTC).replace(minute=0, second=0, microsecond=0)
    for contract in contracts:
        week = (begin + n * _HALF_HOUR for n in range(_HALF_HOURS_A_WEEK))
        instant = next(filter(facts_of(contract).closed_at, week), None)
        if instant is not None:
            yield instant
