"""Histories of long recordings, kept in a temporary file except for the part in use.

A check reads the exchanges in order, and may keep some of them. An exchange that it keeps becomes
an empty shell, which is filled again when it is looked at. So memory does not grow with a history,
but with what checks make of it.
"""

from __future__ import annotations

import os
import weakref
from array import array
from collections import deque
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, fields
from sys import getrefcount
from typing import Any, cast, overload

from assay.history import AnsweredCall, Event, Exchange, History, Subject, Submitted, Wire
from assay.traffic.exchange_records import (
    Record,
    call_of,
    instant_of,
    message_of,
    outcome_of,
    pack,
    record_of,
    unpack,
)
from assay.traffic.stored_wire import StoredWire, WireStore, nameless_file, setters

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
