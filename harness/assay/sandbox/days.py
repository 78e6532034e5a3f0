"""The bank's calendar: it lives in Paris, whatever the machine's zone is.

Moments are kept in UTC, because Python compares two moments of one zone by their wall
clocks and gets the night of a clock change wrong; :func:`local` turns them into what
the bank's own clock on the wall shows. Not a scheduler: nothing here moves time.
"""

from calendar import monthrange
from datetime import UTC, date, datetime
from zoneinfo import ZoneInfo

__all__ = ["PARIS", "local", "months_before", "parse_day", "parse_moment", "today"]

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
