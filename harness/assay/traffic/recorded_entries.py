"""Entries of a long recording: some numbers of each in memory, and the message in a file."""

from __future__ import annotations

from array import array
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from email.utils import parsedate_to_datetime
from typing import overload

from assay.history import Wire
from assay.rules.state.calendar import leaves_room
from assay.traffic.stored_wire import WireStore


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


_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
_MICROSECOND = timedelta(microseconds=1)


@dataclass(slots=True, eq=False)
class RecordedEntries(Sequence[RecordedEntry]):
    """The entries of a recording, in the order of the file. Each is made when it is read.

    `one_order` says that the times leave one order only: each is known, and after the one before;
    `skewed` that the bank's clock showed another time in an answer.
    """

    one_order: bool = True
    skewed: bool = False
    _store: WireStore = field(default_factory=WireStore)
    _at: array[int] = field(default_factory=lambda: array("q"))
    _ms: array[float] = field(default_factory=lambda: array("d"))
    _places: array[int] = field(default_factory=lambda: array("Q", [0]))
    _rest: array[int] = field(default_factory=lambda: array("L"))
    _kinds: dict[tuple[object, ...], int] = field(default_factory=dict[tuple[object, ...], int])
    _by_code: list[tuple[str, int, bool, str, bool, bool]] = field(
        default_factory=list[tuple[str, int, bool, str, bool, bool]]
    )

    def append(self, entry: RecordedEntry) -> None:
        """Keep the next entry.

        Raises:
            OSError: the disk is full.

        """
        at, wire = (entry.at - _EPOCH) // _MICROSECOND, entry.wire
        self.one_order = self.one_order and entry.zoned and (not self._at or self._at[-1] < at)
        self.skewed = self.skewed or is_skewed(entry)
        self._at.append(at)
        self._ms.append(entry.ms)
        self._places.append(self._places[-1] + self._store.add(wire))
        rest = wire.method, wire.status, wire.truncated, entry.lost, entry.body_lost, entry.zoned
        code = self._kinds.setdefault(rest, len(self._by_code))
        if code == len(self._by_code):
            self._by_code.append(rest)
        self._rest.append(code)

    def __len__(self) -> int:
        """Return how many there are."""
        return len(self._at)

    @overload
    def __getitem__(self, place: int) -> RecordedEntry: ...

    @overload
    def __getitem__(self, place: slice) -> list[RecordedEntry]: ...

    def __getitem__(self, place: int | slice) -> RecordedEntry | list[RecordedEntry]:
        """Return the entry at a place, or some of them."""
        if isinstance(place, slice):
            return [self._entry(n) for n in range(*place.indices(len(self)))]
        return self._entry(range(len(self))[place])

    def __iter__(self) -> Iterator[RecordedEntry]:
        """Yield them in the order of the file."""
        return map(self._entry, range(len(self)))

    def _entry(self, n: int) -> RecordedEntry:
        method, status, truncated, lost, body_lost, zoned = self._by_code[self._rest[n]]
        place = self._places[n]
        wire = self._store.wire((place, self._places[n + 1] - place, method, status, truncated, ()))
        return RecordedEntry(
            at=_EPOCH + timedelta(microseconds=self._at[n]),
            wire=wire,
            ms=self._ms[n],
            lost=lost,
            body_lost=body_lost,
            zoned=zoned,
        )
