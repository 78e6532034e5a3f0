"""Entries of a recording, with their messages in a temporary file, and the bank's time in an answer.

A recording is larger than memory, and its headers and bodies are most of it. What every rule reads
of a message (method, status) stays in memory.
"""

from __future__ import annotations

import os
import pickle
import tempfile
import weakref
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from email.utils import parsedate_to_datetime
from typing import Any

from assay.history import Wire
from assay.rules.state.calendar import leaves_room


@dataclass(frozen=True, slots=True, kw_only=True)
class RecordedEntry:
    """A recorded request with its response; `ms` are milliseconds.

    `lost` says why the response is unknown, `body_lost` that the body of the request is missing,
    `zoned` that the time has an offset.
    """

    at: datetime
    wire: Wire
    ms: float = 0.0
    lost: str = ""
    body_lost: bool = False
    zoned: bool = True


#: How far the time of an answer, in whole seconds, may be outside of its call's.
TOLERANCE = timedelta(seconds=2)
#: The longest `Age` of an answer, in digits: some thirty years.
_MAX_DIGITS = 9


def bank_time(entry: RecordedEntry) -> datetime | None:
    """Return when the bank answered by its own clock: `Date`, and the `Age` of a kept answer."""
    date, age = entry.wire.header("date"), entry.wire.header("age") or "0"
    if date is None or len(date) > len("Wednesday, 00-Jan-0000 00:00:00 +0000"):
        return None
    try:
        moment = parsedate_to_datetime(date)
        kept = int(age) if age.isdigit() and len(age) <= _MAX_DIGITS else 0
        moment = moment.astimezone(UTC) + timedelta(seconds=kept)
    except (ValueError, OverflowError):
        return None
    return moment if leaves_room(moment) else None


def is_skewed(entry: RecordedEntry) -> bool:
    """Whether the bank answered, by its own clock, at no time that the call took."""
    answered = bank_time(entry)
    if answered is None:
        return False
    latest = entry.at + timedelta(milliseconds=entry.ms) + TOLERANCE
    return not entry.at - TOLERANCE <= answered <= latest


#: The parts of a message that are in the file.
_STORED = ("url", "request_headers", "request_body", "headers", "body")


class WireStore:
    """A temporary file without a name, which is gone when nothing refers to it any more."""

    def __init__(self) -> None:
        self._file = tempfile.TemporaryFile()  # noqa: SIM115 -- closed with the store
        self._last: tuple[int, Mapping[str, Any]] = (-1, {})
        weakref.finalize(self, self._file.close)

    def keep(self, wire: Wire) -> StoredWire:
        """Return a message that is equal to another one, and is in the file.

        Raises:
            OSError: the disk is full.

        """
        place, parts = (
            self._file.seek(0, os.SEEK_END),
            {name: getattr(wire, name) for name in _STORED},
        )
        pickle.dump(parts, self._file)
        self._last = place, parts
        return StoredWire.at(self, place, wire, wire.links)

    def read(self, place: int) -> Mapping[str, Any]:
        """Return the parts of a message; the last one is at hand."""
        if self._last[0] != place:
            self._file.seek(place)
            self._last = place, pickle.load(self._file)  # noqa: S301 -- written by this process
        return self._last[1]


class StoredWire(Wire):
    """A message in a `WireStore`: what is not set is read from the file. `replace` sets all."""

    __slots__ = ("_place", "_store")

    _store: WireStore
    _place: int

    @classmethod
    def at(cls, store: WireStore, place: int, wire: Wire, links: tuple[str, ...]) -> StoredWire:
        """Return the message at a place of a store; `wire` has what is not in the file."""
        stored = object.__new__(cls)
        for name, value in (
            *(("_store", store), ("_place", place), ("method", wire.method)),
            *(("status", wire.status), ("truncated", wire.truncated), ("links", links)),
        ):
            object.__setattr__(stored, name, value)
        return stored

    def __getattr__(self, name: str) -> Any:
        """Return a part that is in the file."""
        if name not in _STORED:
            raise AttributeError(name)
        return self._store.read(self._place)[name]

    def with_links(self, links: tuple[str, ...]) -> StoredWire:
        """Return this message with the links in its response."""
        return self.at(self._store, self._place, self, links)
