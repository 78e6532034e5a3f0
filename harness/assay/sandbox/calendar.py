"""The bank's calendar: it lives in Paris, whatever the machine's zone is.

Moments are kept in UTC, because Python compares two moments of one zone by their wall
clocks and gets the night of a clock change wrong; :func:`local` turns them into what
the bank's own clock on the wall shows. Not a scheduler: nothing here moves time.

When the bank is closed: Sunday, or Monday for payments, from 02:00 to 06:00.

On the nights of a clock change as well: it is the clock on the wall that counts, so
the closure lasts three or five hours then. Not for the control API, which always works.

How far back the history goes: 90 days, counted on the bank's own calendar.

And which days a third party has asked for; of these it gets what is within the 90.
"""

from calendar import monthrange
from collections.abc import Callable
from dataclasses import dataclass
from datetime import UTC, date, datetime, timedelta
from typing import TypeAlias
from zoneinfo import ZoneInfo

PARIS = ZoneInfo("Europe/Paris")

#: A moment outside of these years is refused: conversions between zones stay safe.
_YEARS = range(2000, 2101)


def local(moment: datetime) -> datetime:
    """Tell what the bank's wall clock shows at this moment."""
    return moment.astimezone(PARIS)


def today(moment: datetime) -> date:
    """Tell the bank's calendar day at this moment."""
    return moment.astimezone(PARIS).date()


def months_before(day: date, months: int) -> date:
    """Go back whole calendar months; the day is cut to the length of the month."""
    year, month = divmod(day.year * 12 + day.month - 1 - months, 12)
    return date(year, month + 1, min(day.day, monthrange(year, month + 1)[1]))


def parse_day(text: str) -> date | None:
    """Read ``YYYY-MM-DD`` and nothing else; None when it is not a day."""
    if len(text) != len("2026-09-16") or not text[4] == text[7] == "-":
        return None
    try:
        return date.fromisoformat(text)
    except ValueError:
        return None


def parse_moment(text: str) -> datetime | None:
    """Read an ISO 8601 moment with its offset, as UTC; None when it is not one."""
    try:
        moment = datetime.fromisoformat(text)
    except ValueError:
        return None
    if moment.tzinfo is None or moment.year not in _YEARS:
        return None
    return moment.astimezone(UTC)


#: Is the bank closed at this moment?
Closed: TypeAlias = Callable[[datetime], bool]

MONDAY, SUNDAY = 0, 6


def sunday_night(now: datetime) -> bool:
    """Close on Sunday from 02:00 until just before 06:00, local wall clock."""
    wall = local(now)
    return wall.weekday() == SUNDAY and 2 <= wall.hour < 6  # noqa: PLR2004


def monday_night(now: datetime) -> bool:
    """Close payment initiation on Monday, at the same hours."""
    wall = local(now)
    return wall.weekday() == MONDAY and 2 <= wall.hour < 6  # noqa: PLR2004


@dataclass(frozen=True, slots=True, kw_only=True)
class Span:
    """The moment of the reading, and the first day that was asked for, if any."""

    now: datetime
    asked: date | None


#: The oldest day shown.
Depth: TypeAlias = Callable[[Span], date]
#: The first and the last day to show, from those that were asked for; None: no limit.
Period: TypeAlias = Callable[[date | None, date | None], tuple[date | None, date | None]]
#: The oldest day shown in the extended history mode; None refuses the mode.
Extended: TypeAlias = Callable[[Span], date | None]


def ninety_days(span: Span) -> date:
    """Show today and the 90 days before, whatever was asked for."""
    return today(span.now) - timedelta(days=90)


def as_asked(first: date | None, last: date | None) -> tuple[date | None, date | None]:
    """Show both of the days that were asked for, and those between them."""
    return first, last


def not_supported(_span: Span) -> None:
    """Refuse the extended history mode."""
