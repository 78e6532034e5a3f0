"""Random draws: the same for the same seed, whatever else is installed or imported."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from random import Random
from typing import TypeAlias, TypeVar

V = TypeVar("V")


class Dice(Random):
    """A random generator with the decisions that a sequence takes."""

    def one_in(self, n: int) -> bool:
        """Return True once in n times."""
        return self.randrange(n) == 0

    def weighted(self, table: Sequence[V], weights: Iterable[int]) -> V:
        """Return one of a table; one with a weight of 2 is twice as likely as one with 1."""
        return self.choices(table, [*weights])[0]


#: Draws a value.
Draw: TypeAlias = Callable[[Dice], V]


def dice(*seed: object) -> Dice:
    """Return the generator of a seed."""
    return Dice(repr(seed))


def one_of(table: Sequence[V]) -> Draw[V]:
    """Draw one of a table, which must not be empty."""
    return lambda dice: dice.choice(table)


def of_number(first: int, last: int, make: Callable[[int], V]) -> Draw[V]:
    """Draw a whole number between two, both included, and make a value of it."""
    return lambda dice: make(dice.randint(first, last))
