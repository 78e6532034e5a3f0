"""Messages of a recording that are kept in a temporary file, and read from it when they are used.

A recording is larger than memory, and its headers and bodies are most of it. What every rule reads
of a message (method, status) stays in memory.
"""

from __future__ import annotations

import marshal
import os
import tempfile
import weakref
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from typing import Any, TypeAlias, cast

from assay.history import Wire

#: The parts of a message in the file, in their order.
_STORED = ("url", "request_headers", "request_body", "headers", "body")
#: Place and length in the store, method, status, whether it is truncated, links.
WireRecord: TypeAlias = tuple[int, int, str, int, bool, tuple[str, ...]]
#: Sets one field of a value.
Setter: TypeAlias = Callable[[object, object], None]
#: How much is collected before it is written.
_BUFFER = 256 * 1024


def setters(made: type, names: Iterable[str]) -> tuple[Setter, ...]:
    """Return what sets these fields of a frozen value that is made without its constructor."""
    return tuple(getattr(made, name).__set__ for name in names)


def nameless_file() -> int:
    """Return a temporary file that the system removes when it is closed."""
    with tempfile.TemporaryFile() as file:
        return os.dup(file.fileno())


@dataclass(slots=True, weakref_slot=True, eq=False)
class WireStore:
    """A temporary file without a name, which is gone when nothing refers to it any more."""

    _file: int = field(default_factory=nameless_file)
    _waiting: bytearray = field(default_factory=bytearray)
    _written: int = 0
    _last: tuple[int, tuple[Any, ...]] = (-1, ())

    def __post_init__(self) -> None:
        """Close the file with the store."""
        weakref.finalize(self, os.close, self._file)

    def add(self, wire: Wire) -> int:
        """Write a message behind the others; return its length in the file.

        Raises:
            OSError: the disk is full.

        """
        parts = tuple(getattr(wire, name) for name in _STORED)
        packed = marshal.dumps(parts)
        self._last = self._written + len(self._waiting), parts
        self._waiting += packed
        if len(self._waiting) > _BUFFER:
            self._write()
        return len(packed)

    def keep(self, wire: Wire) -> StoredWire:
        """Return a message that is equal to another one, and is in the file.

        Raises:
            OSError: the disk is full.

        """
        place = self._written + len(self._waiting)
        length = self.add(wire)
        return self.wire((place, length, wire.method, wire.status, wire.truncated, wire.links))

    def _write(self) -> None:
        with memoryview(self._waiting) as waiting:
            done = 0
            while done < len(waiting):
                done += os.write(self._file, waiting[done:])
        self._written += len(self._waiting)
        self._waiting.clear()

    def wire(self, record: WireRecord) -> StoredWire:
        """Return a message by its record."""
        place, length, method, status, truncated, links = record
        stored = object.__new__(StoredWire)
        for setter, value in zip(
            _SETTERS, (self, place, length, method, status, truncated, links), strict=True
        ):
            setter(stored, value)
        return stored

    def read(self, place: int, length: int) -> tuple[Any, ...]:
        """Return the parts of a message; the last one is at hand."""
        if self._last[0] != place:
            if place + length > self._written:
                self._write()
            packed = os.pread(self._file, length, place)
            self._last = place, marshal.loads(packed)  # noqa: S302 -- written by this process
        return self._last[1]


class StoredWire(Wire):
    """A message in a `WireStore`. `replace` returns a plain one."""

    __slots__ = ("_length", "_place", "_store")

    _store: WireStore
    _place: int
    _length: int

    def __new__(cls, **fields: Any) -> Any:
        """Return a plain message: only a store makes stored ones."""
        return Wire(**fields)

    @classmethod
    def at(cls, store: WireStore, place: int, length: int, wire: Wire) -> StoredWire:
        """Return the message at a place of a store."""
        stored = object.__new__(cls)
        for name, value in (
            *(("_store", store), ("_place", place), ("_length", length), ("method", wire.method)),
            *(("status", wire.status), ("truncated", wire.truncated), ("links", wire.links)),
        ):
            object.__setattr__(stored, name, value)
        return stored

    def _part(self, index: int) -> Any:
        return self._store.read(self._place, self._length)[index]

    @property
    def url(self) -> str:  # pyright: ignore[reportIncompatibleVariableOverride]
        """The URL."""
        return cast("str", self._part(0))

    @property
    def request_headers(self) -> tuple[tuple[str, str], ...]:  # pyright: ignore[reportIncompatibleVariableOverride]
        """The headers of the request."""
        return cast("tuple[tuple[str, str], ...]", self._part(1))

    @property
    def request_body(self) -> bytes:  # pyright: ignore[reportIncompatibleVariableOverride]
        """The body of the request."""
        return cast("bytes", self._part(2))

    @property
    def headers(self) -> tuple[tuple[str, str], ...]:  # pyright: ignore[reportIncompatibleVariableOverride]
        """The headers of the response."""
        return cast("tuple[tuple[str, str], ...]", self._part(3))

    @property
    def body(self) -> bytes:  # pyright: ignore[reportIncompatibleVariableOverride]
        """The body of the response."""
        return cast("bytes", self._part(4))

    def with_links(self, links: tuple[str, ...]) -> StoredWire:
        """Return this message with the links in its response."""
        stored = StoredWire.at(self._store, self._place, self._length, self)
        object.__setattr__(stored, "links", links)
        return stored

    def unanswered(self) -> StoredWire:
        """Return this message without its response."""
        stored = UnansweredWire.at(self._store, self._place, self._length, self)
        for name, value in (("status", 0), ("links", ())):
            object.__setattr__(stored, name, value)
        return stored


class UnansweredWire(StoredWire):
    """A request in a `WireStore`, without the response that is in it."""

    __slots__ = ()

    @property
    def headers(self) -> tuple[tuple[str, str], ...]:  # pyright: ignore[reportIncompatibleVariableOverride]
        """There are none."""
        return ()

    @property
    def body(self) -> bytes:  # pyright: ignore[reportIncompatibleVariableOverride]
        """There is none."""
        return b""


_SETTERS = setters(
    StoredWire, ("_store", "_place", "_length", "method", "status", "truncated", "links")
)
