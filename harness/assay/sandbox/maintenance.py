"""When the bank is closed: Sunday, or Monday for payments, from 02:00 to 06:00.

On the nights of a clock change as well: it is the clock on the wall that counts, so
the closure lasts three or five hours then. Not for the control API, which always works.
"""

from collections.abc import Callable
from datetime import datetime
from typing import TypeAlias

from assay.sandbox.days import local

__all__ = ["MONDAY", "SUNDAY", "Closed", "monday_night", "sunday_night"]

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
