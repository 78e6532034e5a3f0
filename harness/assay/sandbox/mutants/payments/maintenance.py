"""Faults of the maintenance window of payments: too early, too late, other days.

The clock is never changed on a Monday, so there are no short nights to go wrong in.
"""

from datetime import datetime, time

from assay.sandbox.days import local
from assay.sandbox.maintenance import MONDAY, monday_night, sunday_night
from assay.sandbox.mutants.payments.change import breaking_pis

__all__ = ["CLOSING_FAULTS"]


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
