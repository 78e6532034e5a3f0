"""Limits of policies, and the bank's calendar: local time, maintenance windows and the depth of the history.

The bank is in Paris. Moments are kept in UTC, because Python compares two moments of one
zone by their wall clock time and gets the night of a clock change wrong; :func:`local`
converts them for the bank. Account information is closed on Sundays, payments on Mondays,
from 02:00 to 06:00 local wall clock time (three or five hours on the night of a clock
change). The history goes back 90 local days. Nothing here advances time.
"""

from calendar import monthrange
from collections.abc import Callable
from dataclasses import dataclass, replace
from datetime import UTC, date, datetime, timedelta
from typing import Generic, TypeAlias, TypeVar
from zoneinfo import ZoneInfo

# Wherever the bank compares a measured value with a limit, it calls a `Threshold`. So a fault of a
# limit is another value of the same class: one unit less or more, the edge on the other side, never
# or always passed.
#: What is compared: a number (of accesses, days, minutes) or a length of time.
Measure = TypeVar("Measure", int, timedelta)


@dataclass(frozen=True, slots=True, kw_only=True)
class Threshold(Generic[Measure]):
    """A limit that a measured value passes or does not pass."""

    limit: Measure
    #: Whether a value at the limit has passed it, as every greater value has.
    inclusive: bool
    #: The step in which the document counts.
    unit: Measure

    def __call__(self, value: Measure) -> bool:
        """Return whether a value has passed the limit."""
        return value >= self.limit if self.inclusive else value > self.limit

    @property
    def last(self) -> Measure:
        """The greatest whole number of units that has not passed the limit."""
        return self.limit - self.unit if self.inclusive else self.limit


PARIS = ZoneInfo("Europe/Paris")

#: Moments outside these years are refused, so that zone conversions stay safe.
_YEARS = range(2000, 2101)


def local(moment: datetime) -> datetime:
    """Return a moment in the bank's local time."""
    return moment.astimezone(PARIS)


def today(moment: datetime) -> date:
    """Return the bank's local day at a moment."""
    return moment.astimezone(PARIS).date()


def months_before(day: date, months: int) -> date:
    """Subtract calendar months; the day is limited to the length of the month."""
    year, month = divmod(day.year * 12 + day.month - 1 - months, 12)
    return date(year, month + 1, min(day.day, monthrange(year, month + 1)[1]))


def parse_day(text: str) -> date | None:
    """Parse ``YYYY-MM-DD``; None for anything else."""
    if len(text) != len("2026-09-16") or not text[4] == text[7] == "-":
        return None
    try:
        return date.fromisoformat(text)
    except ValueError:
        return None


def parse_moment(text: str) -> datetime | None:
    """Parse an ISO 8601 moment with offset, as UTC; None for anything else."""
    try:
        moment = datetime.fromisoformat(text)
    except ValueError:
        return None
    if moment.tzinfo is None or moment.year not in _YEARS:
        return None
    return moment.astimezone(UTC)


#: Returns whether the bank is closed at a moment.
Closed: TypeAlias = Callable[[datetime], bool]

MONDAY, SUNDAY = 0, 6


@dataclass(frozen=True, slots=True, kw_only=True)
class Closing:
    """Closed on some days of the week between two wall clock times, in minutes of the day."""

    #: Days of the week; Monday is 0.
    days: frozenset[int]
    begun: Threshold[int]
    over: Threshold[int]

    def __call__(self, now: datetime) -> bool:
        """Return whether the bank is closed at a moment."""
        wall = local(now)
        minute = wall.hour * 60 + wall.minute
        return wall.weekday() in self.days and self.begun(minute) and not self.over(minute)


#: Closed on Sundays from 02:00 to 06:00 local time.
SUNDAY_NIGHT = Closing(
    days=frozenset({SUNDAY}),
    begun=Threshold(limit=2 * 60, inclusive=True, unit=1),
    over=Threshold(limit=6 * 60, inclusive=True, unit=1),
)
#: Closed on Mondays from 02:00 to 06:00 local time.
MONDAY_NIGHT = replace(SUNDAY_NIGHT, days=frozenset({MONDAY}))


@dataclass(frozen=True, slots=True, kw_only=True)
class Span:
    """The moment of a reading, and the requested days."""

    now: datetime
    asked: date | None
    #: The requested last day, if any.
    until: date | None = None
    #: The local day on which the history of the item began to be kept; None if unknown.
    opened: date | None = None
    #: The number of the page.
    page: int = 1


#: Returns the oldest day shown.
Depth: TypeAlias = Callable[[Span], date]
#: Returns the first and last day to show, given the requested ones; None is no limit.
Period: TypeAlias = Callable[[date | None, date | None], tuple[date | None, date | None]]
#: Returns the oldest day of the extended history mode; None refuses the mode.
Extended: TypeAlias = Callable[[Span], date | None]


@dataclass(frozen=True, slots=True, kw_only=True)
class History:
    """Shows a number of days back from the current day, whatever was requested."""

    #: Whether a day is no longer shown, given its age in days.
    too_old: Threshold[int]
    #: Returns the current day.
    today: Callable[[datetime], date] = today

    def __call__(self, span: Span) -> date:
        """Return the oldest day shown."""
        return self.today(span.now) - timedelta(days=self.too_old.last)


#: Shows today and the 90 days before.
NINETY_DAYS = History(too_old=Threshold(limit=90, inclusive=False, unit=1))


def requested_range(first: date | None, last: date | None) -> tuple[date | None, date | None]:
    """Show the requested range, both days included."""
    return first, last


def not_supported(_span: Span) -> None:
    """Refuse the extended history mode."""
