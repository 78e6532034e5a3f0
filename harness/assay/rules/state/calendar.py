"""Calendar arithmetic: local days and their edges, days of 23 or 25 hours, hours of the week.

Pure functions of a time zone; no clock is read here. Only this module makes datetimes with a zone
whose offset changes: Python compares and subtracts two of one zone by what the clocks show, so that
an hour is lost or found where clocks change. Instants have a fixed offset (`fixed`), and what
clocks show has none (`wall_time`).
"""

from __future__ import annotations

from calendar import monthrange
from datetime import UTC, date, datetime, time, timedelta, tzinfo
from zoneinfo import ZoneInfo

from assay.contract.model import Json
from assay.history.steps import fixed

DAY = timedelta(days=1)
ORDINARY = timedelta(hours=24)
#: The offsets from UTC of local clocks, worldwide.
WESTMOST, EASTMOST = timedelta(hours=12), timedelta(hours=14)
#: The years of days and instants from which days, months and the spans of contracts can be counted.
YEARS = range(1000, 9000)
#: The same in words, for messages.
OF_YEARS = f"of the years {YEARS[0]} to {YEARS[-1]}"
#: The number of the first day of the weekend.
SATURDAY = 5
#: Names of the weekdays, Monday first, as contracts spell them.
WEEKDAYS = ("monday", "tuesday", "wednesday", "thursday", "friday", "saturday", "sunday")


def is_banking_day(day: date) -> bool:
    """Whether banks settle payments in euro on a day: no weekend, and no closing day of T2.

    Source: the calendar of the Eurosystem's T2: 1 January, Good Friday, Easter Monday, 1 May, 25 and
    26 December.
    """
    closed = {(1, 1), (5, 1), (12, 25), (12, 26)}
    since_easter = (day - _easter(day.year)).days
    return (
        day.weekday() < SATURDAY
        and (day.month, day.day) not in closed
        and since_easter not in {-2, 1}
    )


def _easter(year: int) -> date:
    """Return Easter Sunday of the Gregorian calendar (the algorithm of Meeus, Jones and Butcher)."""
    century, rest = divmod(year, 100)
    moon = (19 * (year % 19) + century - century // 4 - (8 * century + 13) // 25 + 15) % 30
    sunday = (32 + 2 * (century % 4) + 2 * (rest // 4) - moon - rest % 4) % 7
    late = (year % 19 + 11 * moon + 22 * sunday) // 451
    month, day = divmod(moon + sunday - 7 * late + 114, 31)
    return date(year, month, day + 1)


def leaves_room(day: date) -> bool:
    """Whether days can be counted from a day or an instant, to and fro."""
    return day.year in YEARS


def local(moment: datetime, zone: tzinfo) -> datetime:
    """Return the same instant with the offset that a zone has then."""
    return fixed(moment.astimezone(zone))


def as_written(wall: datetime, zone: tzinfo) -> datetime:
    """Return what local clocks show with the offset that people write beside it."""
    return fixed(wall.replace(tzinfo=zone))


def at(day: date, hour: time, zone: tzinfo) -> datetime:
    """Return the instant at which local clocks first show this time on this day.

    Of a time that they skip, it is the instant at which they would show it if they did not.
    """
    return local(as_written(datetime.combine(day, hour), zone), zone)


def wall_time(moment: datetime, zone: tzinfo | None) -> datetime:
    """Return what local clocks show at an instant; in an unknown zone, what its offset says."""
    return (moment.astimezone(zone) if zone else moment).replace(tzinfo=None)


def local_day(moment: datetime, zone: tzinfo | None) -> date:
    """Return the local day of an instant; in an unknown zone, the one that its offset says."""
    return wall_time(moment, zone).date()


def dates(moment: datetime, zone: ZoneInfo | None) -> tuple[date, ...]:
    """Return the local dates that an instant may have: one, or several in an unknown zone."""
    if zone is not None:
        return (local_day(moment, zone),)
    utc = moment.astimezone(UTC)
    first, last = (utc - WESTMOST).date(), (utc + EASTMOST).date()
    return tuple(first + n * DAY for n in range((last - first).days + 1))


def within_a_day(moment: datetime, zone: ZoneInfo | None) -> date | datetime:
    """Return a key that two instants share only if they are certainly on one local day.

    It is the date, or the quarter of an hour where the zone is unknown: midnights of
    all zones lie between quarters.
    """
    if zone is not None:
        return local_day(moment, zone)
    utc = moment.astimezone(UTC)
    return utc.replace(minute=utc.minute - utc.minute % 15, second=0, microsecond=0)


def length(day: date, zone: ZoneInfo) -> timedelta:
    """Return how long a local day lasts: mostly 23, 24 or 25 hours, none where it is skipped."""
    return at(day + DAY, time(0), zone) - at(day, time(0), zone)


def next_day(
    after: datetime,
    zone: ZoneInfo,
    *,
    weekday: int | None = None,
    longer: bool = False,
    shorter: bool = False,
) -> date | None:
    """Return the first later local day that meets the condition, within 400 days."""
    today = local_day(after, zone)
    for n in range(1, 400):
        day = today + n * DAY
        if weekday is not None and day.weekday() != weekday:
            continue
        span = length(day, zone) if longer or shorter else ORDINARY
        if (not longer or span > ORDINARY) and (not shorter or timedelta(0) < span < ORDINARY):
            return day
    return None


#: The day from which to search whether a zone has a kind of day at all.
SOME_DAY = datetime(2026, 1, 1, tzinfo=UTC)


def never_longer(zone: ZoneInfo | None) -> str:
    """Return that a zone has no day of 25 hours; empty if it has one, or is unknown."""
    none = zone is not None and next_day(SOME_DAY, zone, longer=True) is None
    return f"the clocks of {zone} never change" if none else ""


def never_shorter(zone: ZoneInfo | None, weekday: int) -> str:
    """Return that clocks never skip an hour on a weekday; empty if they do, or that is unknown."""
    none = zone is not None and next_day(SOME_DAY, zone, weekday=weekday, shorter=True) is None
    return f"the clocks of {zone} never skip an hour on a {WEEKDAYS[weekday]}" if none else ""


def never_ahead(zone: ZoneInfo | None) -> str:
    """Return that a zone is never ahead of UTC; empty if it is, or is unknown."""
    if zone is None:
        return ""
    offsets = [at(date(2026, month, 1), time(12), zone).utcoffset() for month in (1, 7)]
    ahead = any(offset is not None and offset > timedelta(0) for offset in offsets)
    return "" if ahead else f"the day of {zone} never begins before that of UTC"


def months_before(day: date, months: int) -> date:
    """Return the same day of an earlier month, or that month's last day."""
    index = day.year * 12 + day.month - 1 - months
    year, month = divmod(index, 12)
    return date(year, month + 1, min(day.day, monthrange(year, month + 1)[1]))


def day_of(value: Json, *, whole: bool = False) -> date | None:
    """Return the day that a value begins with, or that is the `whole` value; None if there is none."""
    try:
        text = value if isinstance(value, str) else ""
        return date.fromisoformat(text if whole else text[:10])
    except ValueError:
        return None
