"""The limit of a policy, as a value.

Wherever the bank compares a measured value with a limit, it calls a :class:`Threshold`.
So a fault of a limit is another value of the same class: one unit less or more, the edge
on the other side, never or always passed.
"""

from dataclasses import dataclass
from datetime import timedelta
from typing import Generic, TypeVar

__all__ = ["Measure", "Threshold"]

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
