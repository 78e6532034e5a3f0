"""How long a customer may take at the screens: 4 minutes a screen, 30 minutes in all.

A timer gives the moment from which it is too late, that moment included: a request
exactly four minutes after the last one comes too late. Time is the world's own clock.
Not about what being too late means: see :mod:`assay.sandbox.payments.states`.
"""

from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import TypeAlias

__all__ = ["Times", "Until", "after_first", "after_last"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Times:
    """When the first screen was shown, and when the last request came."""

    first: datetime
    last: datetime


#: From when on it is too late.
Until: TypeAlias = Callable[[Times], datetime]


def after_last(**span: int) -> Until:
    """So long after the last activity."""
    length = timedelta(**span)
    return lambda times: times.last + length


def after_first(**span: int) -> Until:
    """So long after the first screen, whatever happened since."""
    length = timedelta(**span)
    return lambda times: times.first + length
