"""Mutants of the maintenance windows of account information and of payments.

Those of account information that end late do so on ordinary Sundays only, because the
night of a clock change has an obligation of its own; one mutant breaks both. The clock
never changes on a Monday, so payments have no such obligation.
"""

from collections.abc import Callable
from dataclasses import replace
from datetime import UTC, datetime, time, timedelta

from assay.sandbox.calendar import MONDAY, PARIS, SUNDAY, Closed, local, monday_night, sunday_night
from assay.sandbox.mutants.mutant import Change, breaking, breaking_pis


def _clock(hour: int, minute: int = 0) -> time:
    return time(hour, minute)


def _closed(closed: Closed) -> Change:
    return lambda bank: replace(bank, closed=closed)


def _on(days: Callable[[int], bool], start: time, end: time) -> Closed:
    """Close on some weekdays (Monday is 0) between two wall clock times."""

    def closed(now: datetime) -> bool:
        wall = local(now)
        return days(wall.weekday()) and start <= wall.time() < end

    return closed


def _sunday(day: int) -> bool:
    return day == SUNDAY


def _any_day(_day: int) -> bool:
    return True


def _changes_clock(now: datetime) -> bool:
    """Return whether the clock changes on this local day."""
    midnight = datetime.combine(local(now).date(), time(), PARIS)
    return midnight.utcoffset() != (midnight + timedelta(days=1)).utcoffset()


def _late(end: time) -> Closed:
    """End late, except on the nights of a clock change."""
    usual = _on(_sunday, _clock(2), end)
    return lambda now: (sunday_night if _changes_clock(now) else usual)(now)


def _four_hours_from_two(now: datetime) -> bool:
    """Close for four hours from 02:00, whatever the clock does."""
    two = datetime.combine(local(now).date(), _clock(2), PARIS).astimezone(UTC)
    return local(now).weekday() == SUNDAY and two <= now < two + timedelta(hours=4)


def _hours_after_midnight(now: datetime) -> bool:
    """Close from two to six hours after midnight."""
    midnight = datetime.combine(local(now).date(), time(), PARIS).astimezone(UTC)
    since = now - midnight
    return (
        local(now).weekday() == SUNDAY
        and timedelta(hours=2) <= since < timedelta(hours=6)
        and local(now).hour >= 2  # noqa: PLR2004
    )


def _and_by_night(days: Callable[[int], bool]) -> Closed:
    night = _on(days, _clock(2), _clock(6))
    return lambda now: night(now) or sunday_night(now)


def _and_at_three(now: datetime) -> bool:
    return _on(_any_day, _clock(3), _clock(3, 15))(now) or sunday_night(now)


MAINTENANCE = (
    breaking(
        "maintenance.from-midnight",
        "maintenance/before",
        "closed from Sunday 00:00",
        _closed(_on(_sunday, _clock(0), _clock(6))),
    ),
    breaking(
        "maintenance.a-minute-early",
        "maintenance/before",
        "closed from Sunday 01:59",
        _closed(_on(_sunday, _clock(1, 59), _clock(6))),
    ),
    breaking(
        "maintenance.a-minute-late",
        "maintenance/after",
        "closed until Sunday 06:01, except on the nights of a clock change",
        _closed(_late(_clock(6, 1))),
    ),
    breaking(
        "maintenance.until-seven",
        "maintenance/after",
        "closed until Sunday 07:00, except on the nights of a clock change",
        _closed(_late(_clock(7))),
    ),
    breaking(
        "maintenance.always-until-seven",
        "maintenance/after maintenance/short-night",
        "closed until Sunday 07:00",
        _closed(_on(_sunday, _clock(2), _clock(7))),
    ),
    breaking(
        "maintenance.every-night",
        "maintenance/other-days",
        "closed every night from 02:00 to 06:00",
        _closed(_and_by_night(_any_day)),
    ),
    breaking(
        "maintenance.at-three",
        "maintenance/other-days",
        "closed for a quarter of an hour at 03:00 every night",
        _closed(_and_at_three),
    ),
    breaking(
        "maintenance.four-hours",
        "maintenance/short-night",
        "closed for four hours from 02:00, even if the clock is set forward",
        _closed(_four_hours_from_two),
    ),
    breaking(
        "maintenance.hours-after-midnight",
        "maintenance/short-night",
        "closed until six hours after midnight, even if the clock is set forward",
        _closed(_hours_after_midnight),
    ),
)


def _monday(now: datetime, start: time, end: time) -> bool:
    wall = local(now)
    return wall.weekday() == MONDAY and start <= wall.time() < end


def _from_midnight(now: datetime) -> bool:
    return _monday(now, time(0), time(6))


def _a_minute_early(now: datetime) -> bool:
    return _monday(now, time(1, 59), time(6))


def _a_minute_late(now: datetime) -> bool:
    return _monday(now, time(2), time(6, 1))


def _until_seven(now: datetime) -> bool:
    return _monday(now, time(2), time(7))


def _sunday_too(now: datetime) -> bool:
    return sunday_night(now) or monday_night(now)


def _every_night(now: datetime) -> bool:
    return 2 <= local(now).hour < 6  # noqa: PLR2004


CLOSING_FAULTS = tuple(
    breaking_pis(f"maintenance.{name}", f"maintenance/{facet}", f"closed {says}", closed=closed)
    for name, facet, says, closed in (
        ("from-midnight", "before", "from Monday 00:00", _from_midnight),
        ("a-minute-early", "before", "from Monday 01:59", _a_minute_early),
        ("a-minute-late", "after", "until Monday 06:01", _a_minute_late),
        ("until-seven", "after", "until Monday 07:00", _until_seven),
        ("sunday-too", "other-days", "on Sunday as well", _sunday_too),
        ("every-night", "other-days", "every night", _every_night),
    )
)
