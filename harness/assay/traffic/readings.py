"""Readings of a recording: other orders and times of its entries, where it leaves them open.

Times are equal, or contradict the order of the entries; they lack an offset, or differ from those of
the bank's answers; entries are listed twice. Each of these allows several readings. A verdict stands
only if every reading gives it.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from email.utils import parsedate_to_datetime
from itertools import count, pairwise
from zlib import crc32

from assay.rules.state.calendar import leaves_room
from assay.traffic.har import RecordedEntry

#: How many random orders are tried where the order is unknown.
ORDERS = 6
#: The hours by which the clock of a time without an offset may differ from the one assumed.
OFFSETS = [hours for hours in range(-14, 15) if hours]
DAY = timedelta(days=1)
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


def later(instant: datetime, by: timedelta) -> datetime:
    """Return a later instant, or the same where time ends."""
    moved = instant + by
    return moved if leaves_room(moved) else instant
