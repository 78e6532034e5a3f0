"""Local days: their edges, the odd ones, and hours of the week.

Pure arithmetic in a zone; no clock is read here.
"""

from __future__ import annotations

from datetime import UTC, date, datetime, time, timedelta
from zoneinfo import ZoneInfo

DAY = timedelta(days=1)
ORDINARY = timedelta(hours=24)
#: Names of the days of the week, Monday first, as contracts spell them.
WEEKDAYS = ("monday", "tuesday", "wednesday", "thursday", "friday", "saturday", "sunday")


def at(day: date, hour: time, zone: ZoneInfo) -> datetime:
    """Return the instant at which local clocks show this time on this day."""
    return datetime.combine(day, hour, zone)


def length(day: date, zone: ZoneInfo) -> timedelta:
    """Return how long a local day lasts: 23, 24 or 25 hours."""
    begin, end = at(day, time(0), zone), at(day + DAY, time(0), zone)
    return end.astimezone(UTC) - begin.astimezone(UTC)


def next_day(
    after: datetime,
    zone: ZoneInfo,
    *,
    weekday: int | None = None,
    longer: bool = False,
    shorter: bool = False,
) -> date | None:
    """Return the first local day after this one that fits, within 400 days."""
    today = after.astimezone(zone).date()
    for n in range(1, 400):
        day = today + n * DAY
        if weekday is not None and day.weekday() != weekday:
            continue
        span = length(day, zone) if longer or shorter else ORDINARY
        if (not longer or span > ORDINARY) and (not shorter or span < ORDINARY):
            return day
    return None
