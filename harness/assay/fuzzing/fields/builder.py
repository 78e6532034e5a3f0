"""Builder of a generated sequence: its customers, what they own, and the steps so far."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import TypeVar, cast

from hypothesis.strategies import integers

from assay.contract.model import Json
from assay.fuzzing.sequences.abstract_step import AbstractStep, Moment, OwnedRef, changed
from assay.fuzzing.sequences.actions import OTHER, SELF
from assay.history import Advance, Arrange, Call, Step

V = TypeVar("V")

#: The customer of a sequence, and the owner of other things.
PSU, ANOTHER = "psu", "another"
#: A draw that decides several things: see `Dice`. For larger numbers Hypothesis would
#: prefer the small ones.
DICE = integers(0, 2**24 - 1)
#: A linear congruential generator of 64 bits (Knuth's MMIX), of which the upper half is
#: used.
_FACTOR, _SUMMAND, _MODULUS, _HALF = 6364136223846793005, 1442695040888963407, 2**64, 2**32


@dataclass(slots=True)
class Dice:
    """One drawn number from which any number of decisions follow.

    Hypothesis likes to repeat in an example what it has drawn there before; five of six
    sequences would be little more than such repetitions. A single draw cannot be
    repeated, so one of these makes all decisions of a sequence.
    """

    state: int

    def below(self, n: int) -> int:
        """Return a number from 0 to n - 1."""
        self.state = (self.state * _FACTOR + _SUMMAND) % _MODULUS
        return self.state // _HALF % n

    def one_in(self, n: int) -> bool:
        """Decide what comes true once in n times."""
        return self.below(n) == 0

    def pick(self, table: Sequence[V]) -> V:
        """Return one of a table, which must not be empty."""
        return table[self.below(len(table))]


@dataclass(slots=True, kw_only=True)
class ScenarioBuilder:
    """A story while it is made up. `others` are the households that somebody else can be of.

    `things` tells of each thing that the customer owns whether it is an ordinary one.
    """

    others: Sequence[AbstractStep] = ()
    story: list[AbstractStep] = field(default_factory=list[AbstractStep])
    things: tuple[bool, ...] = ()
    met: bool = False

    def meet(self, household: AbstractStep) -> None:
        """Bring the customer of the story into being."""
        holdings = cast("Arrange", household.step).holdings
        self.things = tuple(not one.traits for one in holdings for _ in range(one.count))
        self.story.append(household.subjects({SELF: PSU}))

    @property
    def ordinary(self) -> list[int]:
        """The things that are in no state of their own, by their number; or all of them."""
        every = list(range(len(self.things)))
        return [n for n in every if self.things[n]] or every

    def wait(self, moment: Moment) -> None:
        """Let time pass."""
        self.story.append(AbstractStep(step=Advance(), moment=moment))

    def tell(self, call: Call, page: int | None = None) -> int:
        """Tell a call about what is there, and return its place in the story."""
        arguments = cast("dict[str, Json]", changed(call.arguments, self._there))
        told = AbstractStep(step=replace(call, arguments=arguments), page=page)
        if OTHER in told.names and self.others and not self.met:
            self.met = True
            self.story.append(self.others[0].subjects({SELF: ANOTHER}))
        self.story.append(told.subjects({SELF: PSU, OTHER: ANOTHER}))
        return len(self.story) - 1

    def add(self, step: Step, request: int | None = None) -> None:
        """Tell any other step."""
        self.story.append(AbstractStep(step=step, request=request))

    def _there(self, value: Json) -> Json:
        """Count on from the last thing that is owned to the first."""
        if isinstance(value, OwnedRef) and value.of == SELF:
            return OwnedRef(SELF, value.n % max(len(self.things), 1))
        return value
