"""Histories of long recordings, kept in a temporary file except for the part in use.

A check reads the exchanges in order, and may keep some of them. An exchange that it keeps becomes
an empty shell, which is filled again when it is looked at. So memory does not grow with a history,
but with what checks make of it.
"""

from __future__ import annotations

import marshal
import os
import pickle
import weakref
from array import array
from collections import deque
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, fields
from datetime import UTC, date, datetime, timedelta
from enum import Enum
from sys import getrefcount, intern
from types import MappingProxyType
from typing import Any, TypeAlias, cast, overload

from assay.history import (
    Accepted,
    AnsweredCall,
    Call,
    Cause,
    CredentialPlace,
    Detail,
    ErrorBody,
    Event,
    Exchange,
    History,
    Indeterminate,
    Item,
    Malformed,
    Outcome,
    Rejected,
    ShownError,
    State,
    Subject,
    Submitted,
    Token,
    Unavailable,
    Wire,
)
from assay.traffic.stored_wire import StoredWire, WireRecord, WireStore, nameless_file, setters

#: The longest history that is in memory, and how many exchanges of a part of a longer one are.
KEPT = 30_000
#: How many exchanges are read at once, and from how much of the file, in bytes.
BLOCK, MOST_READ = 256, 4 * 1024 * 1024
#: How many of the exchanges that a check keeps are filled again at the same time.
FILLED = 2048
#: How much is collected before it is written, in bytes.
_BUFFER = 256 * 1024
#: How often an exchange is referred to that only its reader has: by a variable, and by the count.
_UNUSED = 2


@dataclass(slots=True, weakref_slot=True, eq=False)
class ExchangeStore:
    """The exchanges of a recording, numbered from 1, in a temporary file without a name.

    Those that cannot be packed stay in memory as they are, and so do submissions, which have numbers,
    too.
    """

    messages: WireStore | None = None
    _short: list[Exchange | Submitted] = field(default_factory=list["Exchange | Submitted"])
    _file: int = field(default_factory=nameless_file)
    _waiting: bytearray = field(default_factory=bytearray)
    _written: int = 0
    _ends: array[int] = field(default_factory=lambda: array("Q", [0]))
    _operations: array[int] = field(default_factory=lambda: array("H"))
    _codes: dict[str, int] = field(default_factory=dict[str, int])
    _unpacked: dict[int, Exchange | Submitted] = field(
        default_factory=dict[int, "Exchange | Submitted"]
    )
    _submissions: set[int] = field(default_factory=set[int])
    _filled: deque[StoredExchange] = field(default_factory=deque["StoredExchange"])

    def __post_init__(self) -> None:
        """Close the file with the store."""
        weakref.finalize(self, os.close, self._file)

    def __len__(self) -> int:
        """Return how many exchanges there are."""
        return len(self._short) or len(self._operations)

    def append(self, exchange: Exchange | Submitted) -> None:
        """Keep the next exchange or submission.

        Raises:
            OSError: the disk is full.

        """
        if not self._operations and len(self._short) < KEPT:
            self._short.append(exchange)
            return
        for each in (*self._short, exchange):
            self._keep(each)
        self._short.clear()

    def _keep(self, exchange: Exchange | Submitted) -> None:
        packed = self._packed(exchange) if isinstance(exchange, Exchange) else None
        if packed is None:
            self._unpacked[exchange.n] = exchange
        if isinstance(exchange, Submitted):
            self._submissions.add(exchange.n)
        operation = exchange.call.operation
        self._operations.append(self._codes.setdefault(operation, len(self._codes)))
        self._waiting += packed or b""
        self._ends.append(self._written + len(self._waiting))
        if len(self._waiting) > _BUFFER:
            self._write()

    def _packed(self, exchange: Exchange) -> bytes | None:
        wire = exchange.wire
        if not isinstance(wire, StoredWire) or exchange.confounded:
            return None
        self.messages = self.messages or wire.store
        if wire.store is not self.messages:
            return None
        return pack(record_of(exchange, wire.record()))

    def history(self) -> History:
        """Return the history of all exchanges; a short one is in memory."""
        if not self._operations:
            return History(events=tuple(self._short))
        return self.history_of(None, kept=0)

    def history_of(
        self, operations: frozenset[str] | None, kept: int, first: Sequence[Exchange] = ()
    ) -> StoredHistory:
        """Return the history of some operations, of which the `first` exchanges are kept."""
        calls = numbers = self.numbers(operations)
        if self._submissions:
            calls = array("L", (n for n in numbers if n not in self._submissions))
        exchanges = StoredExchanges(store=self, numbers=calls, kept=kept, _kept=[*first])
        if len(calls) == len(numbers):
            return StoredHistory(exchanges)
        return StoredHistory(exchanges, StoredExchanges(store=self, numbers=numbers))

    def _write(self) -> None:
        with memoryview(self._waiting) as waiting:
            done = 0
            while done < len(waiting):
                done += os.write(self._file, waiting[done:])
        self._written += len(self._waiting)
        self._waiting.clear()

    def numbers(self, operations: frozenset[str] | None) -> array[int] | range:
        """Return the numbers of the calls of some operations, or of all."""
        if operations is None:
            return range(1, len(self) + 1)
        codes = {code for name, code in self._codes.items() if name in operations}
        return array("L", (n for n, code in enumerate(self._operations, 1) if code in codes))

    def read(self, numbers: Sequence[int]) -> list[Exchange]:
        """Return some exchanges, in order."""
        if self._waiting:
            self._write()
        begin, end = self._ends[numbers[0] - 1], self._ends[numbers[-1]]
        near = end - begin <= MOST_READ
        packed = os.pread(self._file, end - begin, begin) if near else b""
        exchanges: list[Exchange] = []
        for n in numbers:
            if n in self._unpacked:
                exchanges.append(cast("Exchange", self._unpacked[n]))
            else:
                start, stop = self._ends[n - 1], self._ends[n]
                record = unpack(
                    packed[start - begin : stop - begin]
                    if near
                    else os.pread(self._file, stop - start, start)
                )
                shell = _new(StoredExchange)
                _set_n(shell, n)
                _set_store(shell, self)
                _set_record(shell, record)
                _set_call(shell, call_of(record))
                exchanges.append(shell)
        return exchanges

    def wire(self, record: Record) -> Wire:
        """Return the message of a record.

        Raises:
            LookupError: no message is in a file.

        """
        if self.messages is None:
            raise LookupError("no messages")
        return self.messages.wire(message_of(record))

    def unpacked(self) -> Collection[AnsweredCall]:
        """Return what could not be packed."""
        return self._unpacked.values()

    def fill(self, shell: StoredExchange) -> Record:
        """Return the record of an exchange that was emptied; the one filled first is emptied."""
        begin, end = self._ends[shell.n - 1], self._ends[shell.n]
        record = unpack(os.pread(self._file, end - begin, begin))
        _set_record(shell, record)
        self._filled.append(shell)
        if len(self._filled) > FILLED:
            self._filled.popleft().empty()
        return record


class StoredExchange(Exchange):
    """An exchange in an `ExchangeStore`. `replace` returns a plain one."""

    __slots__ = ("_record", "_store")

    _store: ExchangeStore
    _record: Record | None

    def __new__(cls, **values: Any) -> Any:
        """Return a plain exchange: only a store makes stored ones."""
        return Exchange(**values)

    def __getattr__(self, name: str) -> Any:
        """Fill in a part that is not there."""
        if name not in _PARTS:
            raise AttributeError(name)
        record = self._record or self._store.fill(self)
        value: object
        match name:
            case "at":
                value = instant_of(record)
            case "call":
                value = call_of(record)
            case "outcome":
                value = outcome_of(record)
            case "wire":
                value = self._store.wire(record)
            case "ms":
                value = record[1]
            case _:
                value = ""
        object.__setattr__(self, name, value)
        return value

    def empty(self) -> None:
        """Keep nothing but the number."""
        _set_record(self, None)
        for name in _LARGE:
            try:  # noqa: SIM105 -- this is done often
                _delete(self, name)
            except AttributeError:
                pass


#: The parts that are taken out of an empty shell.
_LARGE = ("call", "outcome", "at", "wire")
_delete = object.__delattr__
_PARTS = tuple(each.name for each in fields(Exchange) if each.name != "n")
_new = object.__new__
_set_n, _set_call, _set_store, _set_record = setters(
    StoredExchange, ("n", "call", "_store", "_record")
)


@dataclass(slots=True, kw_only=True, eq=False)
class StoredExchanges(Sequence[Exchange]):
    """Exchanges of a store in their order; the first of them are `kept`, the others read again."""

    store: ExchangeStore
    numbers: Sequence[int]
    kept: int = 0
    _kept: list[Exchange] = field(default_factory=list[Exchange])

    def part(self, operations: frozenset[str]) -> StoredHistory:
        """Return the history of some operations; what is kept here is kept there."""
        first = [each for each in self._kept if each.call.operation in operations]
        return self.store.history_of(operations, KEPT, first)

    def __len__(self) -> int:
        """Return how many there are."""
        return len(self.numbers)

    @overload
    def __getitem__(self, place: int) -> Exchange: ...

    @overload
    def __getitem__(self, place: slice) -> StoredExchanges: ...

    def __getitem__(self, place: int | slice) -> Exchange | StoredExchanges:
        """Return the exchange at a place, or some of them."""
        if isinstance(place, slice):
            return StoredExchanges(store=self.store, numbers=self.numbers[place])
        n = self.numbers[place]
        return self.store.read((n,))[0]

    def __iter__(self) -> Iterator[Exchange]:
        """Yield them; what the reader keeps of a block is emptied with the next one."""
        numbers, kept = self.numbers, self._kept
        yield from kept
        for begin in range(len(kept), len(numbers), BLOCK):
            block = self.store.read(numbers[begin : begin + BLOCK])
            if begin == len(kept) < self.kept:
                kept += block
                yield from block
                continue
            yield from block
            while block:
                exchange = block.pop()
                if getrefcount(exchange) > _UNUSED and isinstance(exchange, StoredExchange):
                    exchange.empty()


class StoredHistory(History):
    """A history whose exchanges are in a store; `events` are they and the submissions, if any are."""

    __slots__ = ("_events", "_exchanges")

    _exchanges: StoredExchanges
    _events: StoredExchanges

    def __init__(self, exchanges: StoredExchanges, events: StoredExchanges | None = None) -> None:
        for name, value in (("_exchanges", exchanges), ("_events", events or exchanges)):
            object.__setattr__(self, name, value)

    @property
    def exchanges(self) -> tuple[Exchange, ...]:
        """The exchanges, in a sequence."""
        return cast("tuple[Exchange, ...]", self._exchanges)

    @property
    def events(self) -> tuple[Event, ...]:  # pyright: ignore[reportIncompatibleVariableOverride]
        """The exchanges and submissions: there are no other events."""
        return cast("tuple[Event, ...]", self._events)

    @property
    def subjects(self) -> dict[str, Subject]:
        """There are none."""
        return {}

    def part(self, operations: frozenset[str]) -> StoredHistory:
        """Return the history of the calls of some operations."""
        return self._exchanges.part(operations)

    def unpacked(self) -> Collection[AnsweredCall]:
        """Return what is in memory, among it all that is confounded."""
        return self._exchanges.store.unpacked()

    def by_number(self) -> Mapping[int, AnsweredCall]:
        """Return the exchanges and submissions of the store by number."""
        return _Numbered(self._exchanges.store)


@dataclass(frozen=True, slots=True)
class _Numbered(Mapping[int, AnsweredCall]):
    store: ExchangeStore

    def __getitem__(self, n: int) -> AnsweredCall:
        if not 1 <= n <= len(self.store):
            raise KeyError(n)
        return self.store.read((n,))[0]

    def __iter__(self) -> Iterator[int]:
        return iter(range(1, len(self.store) + 1))

    def __len__(self) -> int:
        return len(self.store)


# -- Exchanges of a recording encoded as bytes, so that its history can be kept in a file --------
# A record has everything but the message, whose place in its own store is noted. It is read many
# times, so objects are made without their constructors. What cannot be packed stays an object.
#: The parts of a record: instant, duration, call, outcome, message.
Record: TypeAlias = tuple[Any, ...]
#: The first byte of a record that only `pickle` can pack; none of `marshal` begins like that.
_PICKLED = b"\x80"
_FREQUENT = ("operation", "subject", "arguments", "present", "alias", "follow", "mode", "malformed")
#: The other fields of a call, with their defaults.
_RARE: Mapping[str, object] = {
    "credentials": False,
    "credentials_in": None,
    "bearer": None,
    "without": (),
    "varied": (),
    "invented": {},
    "by": "",
    "host": None,
    "consent": None,
    "generated": (),
    "variation": "",
}
_ENUMERATED: Mapping[str, type[Token | CredentialPlace]] = {
    "bearer": Token,
    "credentials_in": CredentialPlace,
}
_NONE_INVENTED: Mapping[str, str] = MappingProxyType({})
(_operation, _subject, _arguments, _present, _alias, _follow, _mode, _malformed) = setters(
    Call, _FREQUENT
)
_credentials, _credentials_in, _bearer, _without, _varied, *_last = setters(Call, _RARE)
_invented, _by, _host, _consent, _generated, _variation = _last
(_resource, _key, _on, _state, _accepted, _fields, _id, _digest, _content) = setters(
    Item, ("resource", "key", "on", "state", "accepted", "fields", "id", "digest", "content")
)
_STATES = {state.value: state for state in State}
_CAUSES = {cause.value: cause for cause in Cause}
_DETAILS = {detail.value: detail for detail in Detail}
_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
_MICROSECOND = timedelta(microseconds=1)
_REJECTED, _UNAVAILABLE = Rejected(), Unavailable()


def pack(record: Record) -> bytes | None:
    """Return a record as bytes; None if it has a value that would not come back as it is."""
    try:
        return marshal.dumps(record)
    except ValueError:
        pass
    try:
        packed = pickle.dumps(record)
        return packed if pickle.loads(packed) == record else None  # noqa: S301 -- packed above
    except (pickle.PickleError, TypeError, AttributeError, RecursionError):
        return None


def unpack(packed: bytes) -> Record:
    """Return the record that was packed."""
    if packed[:1] == _PICKLED:
        return cast("Record", pickle.loads(packed))  # noqa: S301 -- written by this process
    return cast("Record", marshal.loads(packed))  # noqa: S302 -- written by this process


# -- calls -----------------------------------------------------------------------
def record_of(exchange: Exchange, message: WireRecord) -> Record:
    """Return the record of an exchange; `message` says where its message is."""
    at = (exchange.at - _EPOCH) // _MICROSECOND
    call, outcome = _call_record(exchange.call), _outcome_record(exchange.outcome)
    return at, exchange.ms, call, outcome, message


def instant_of(record: Record) -> datetime:
    """Return when the exchange began, in UTC."""
    return _EPOCH + timedelta(microseconds=record[0])


def message_of(record: Record) -> WireRecord:
    """Return where its message is."""
    return cast("WireRecord", record[4])


def _call_record(call: Call) -> Record:
    """Return the parts that calls of a recording have, and other parts that are not the default."""
    others: list[tuple[str, object]] = []
    for name, default in _RARE.items():
        value: object = getattr(call, name)
        if value != default:
            others.append((name, value.name if isinstance(value, Enum) else value))
    return (
        intern(call.operation),
        intern(call.subject),
        {intern(name): value for name, value in call.arguments.items()},
        call.present,
        call.alias,
        call.follow,
        call.mode,
        call.malformed.name if call.malformed else None,
        tuple(others),
    )


def call_of(record: Record) -> Call:
    """Return the call of a record."""
    operation, subject, arguments, present, alias, follow, mode, malformed, others = record[2]
    call = _new(Call)
    _operation(call, operation)
    _subject(call, subject)
    _arguments(call, arguments)
    _present(call, present)
    _alias(call, alias)
    _follow(call, follow)
    _mode(call, mode)
    _malformed(call, Malformed[malformed] if malformed else None)
    _credentials(call, False)
    _credentials_in(call, None)
    _bearer(call, None)
    _without(call, ())
    _varied(call, ())
    _invented(call, _NONE_INVENTED)
    _by(call, "")
    _host(call, None)
    _consent(call, None)
    _generated(call, ())
    _variation(call, "")
    for name, value in others:
        enumerated = _ENUMERATED.get(name)
        object.__setattr__(call, name, enumerated[value] if enumerated else value)
    return call


# -- outcomes --------------------------------------------------------------------
def _outcome_record(outcome: Outcome) -> Record:
    match outcome:
        case Accepted(items=items, values=values):
            return 0, _item_records(items), values, outcome.next, outcome.approval
        case Rejected(leaked=items, error=error):
            return 1, _item_records(items), _error_record(error)
        case Unavailable(leaked=items, error=error):
            return 2, _item_records(items), _error_record(error)
        case Indeterminate(cause=cause, why=why, detail=detail):
            return 3, cause.value, why, detail.value if detail else None


def outcome_of(record: Record) -> Outcome:
    """Return the outcome of a record."""
    parts = record[3]
    match parts[0]:
        case 0:
            _, items, values, following, approval = parts
            return Accepted(items=_items(items), values=values, next=following, approval=approval)
        case 1 | 2:
            kind, plain = (Rejected, _REJECTED) if parts[0] == 1 else (Unavailable, _UNAVAILABLE)
            _, items, error = parts
            bare = not items and error is None
            return plain if bare else kind(leaked=_items(items) or (), error=_error(error))
        case _:
            _, cause, why, detail = parts
            return Indeterminate(
                cause=_CAUSES[cause], why=why, detail=_DETAILS[detail] if detail else None
            )


def _error_record(error: ErrorBody | None) -> Record | None:
    if error is None:
        return None
    return error.located, tuple((each.fields, each.codes) for each in error.errors)


def _error(record: Record | None) -> ErrorBody | None:
    if record is None:
        return None
    located, errors = record
    shown = tuple(ShownError(fields=fields, codes=codes) for fields, codes in errors)
    return ErrorBody(located=located, errors=shown)


def _item_records(items: Iterable[Item] | None) -> Record | None:
    if items is None:
        return None
    return tuple(
        (
            item.resource,
            item.key,
            (item.on.year, item.on.month, item.on.day) if item.on else None,
            item.state.value if item.state else None,
            item.accepted,
            item.fields,
            item.id,
            item.digest,
            item.content,
        )
        for item in items
    )


def _items(records: Iterable[Record] | None) -> tuple[Item, ...] | None:
    return None if records is None else tuple(map(_item, records))


def _item(parts: Record) -> Item:
    resource, key, on, state, accepted, shown, own, digest, content = parts
    item = _new(Item)
    _resource(item, resource)
    _key(item, key)
    _on(item, date(*on) if on else None)
    _state(item, _STATES[state] if state else None)
    _accepted(item, accepted)
    _fields(item, shown)
    _id(item, own)
    _digest(item, digest)
    _content(item, content)
    return item
