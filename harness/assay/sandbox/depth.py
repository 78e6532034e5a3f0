"""How far back the history goes: 90 days, counted on the bank's own calendar.

And which days a third party has asked for; of these it gets what is within the 90.
"""

from collections.abc import Callable
from dataclasses import dataclass
from datetime import date, datetime, timedelta
from typing import TypeAlias

from assay.sandbox.days import today

__all__ = ["Depth", "Extended", "Period", "Span", "as_asked", "ninety_days", "not_supported"]


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
