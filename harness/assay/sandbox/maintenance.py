"""When the bank is closed: every Sunday from 02:00 to 06:00 on its wall clock.

On the nights of a clock change as well: it is the clock on the wall that counts, so
the closure lasts three or five hours then. Not for the control API, which always works.
"""

from collections.abc import Callable
from datetime import datetime
from typing import TypeAlias

from assay.sandbox.days import local

__all__ = ["SUNDAY", "Closed", "sunday_night"]

#: Is the bank closed at this moment?
Closed: TypeAlias = Callable[[datetime], bool]

SUNDAY = 6


def sunday_night(now: datetime) -> bool:
    """Close on Sunday from 02:00 until just before 06:00, local wall clock."""
    wall = local(now)
    return wall.weekday() == SUNDAY and 2 <= wall.hour < 6  # noqa: PLR2004
