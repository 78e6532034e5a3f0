"""Entries of a recording, and the time of the bank that an answer shows."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from email.utils import parsedate_to_datetime

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
