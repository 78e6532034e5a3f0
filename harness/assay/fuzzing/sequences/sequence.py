"""A random sequence under way: the steps so far, and what is possible next.

It knows which requests can be signed and changed and which pages remain, and performs
what the caller chooses (see `machine`). The history is judged whenever it is four times
as long as when it was judged last, and at the end, so that all judging together costs
little more than the last one.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import Protocol

from assay.contract.model import Contract, Json
from assay.errors import CannotArrange
from assay.fuzzing.sequences.abstract_step import AbstractStep, OwnedRef, changed
from assay.fuzzing.sequences.actions import OTHER, SELF
from assay.fuzzing.sequences.closing_reads import closing_reads, plainly
from assay.fuzzing.sequences.concretize import Concretizer, MissingReference
from assay.history import Accepted, Arrange, Call, Event, Exchange, Step
from assay.rules.steps import MOST_PAGES

#: The number of events before the first judgement: shorter histories show little.
FIRST_JUDGED = 64
#: The growth of the history before the next judgement.
GROWTH = 4


class SequenceTarget(Protocol):
    """The other side of a journey: a target to play with, and who judges what it did."""

    def perform(self, step: Step) -> Event:
        """Perform a step, or raise `CannotArrange`."""
        ...

    def judge(self, story: Sequence[AbstractStep]) -> None:
        """Judge what happened so far; raise what ends the search if something is broken."""
        ...

    def end(self) -> None:
        """Give the world back."""
        ...


@dataclass(slots=True, kw_only=True)
class SequenceBuilder:
    """A journey under way: what was told so far, and what can be told of next.

    `made` are the places of the steps that made a request, `pages` those of the calls
    whose answers named a page that nobody has turned to, `asked` that of the last call.
    `inquire` says that the world can tell what was carried out.
    """

    contract: Contract
    player: SequenceTarget
    telling: Concretizer
    inquire: bool = False
    story: list[AbstractStep] = field(default_factory=list[AbstractStep])
    customers: list[str] = field(default_factory=list[str])
    made: list[int] = field(default_factory=list[int])
    pages: list[int] = field(default_factory=list[int])
    asked: int | None = None
    happened: int = 0
    judged: int = 0

    def tell(self, told: AbstractStep) -> None:
        """Perform one more step; what cannot be told or arranged is no part of the story."""
        try:
            reply = self.player.perform(self.telling.step(told))
        except (MissingReference, CannotArrange):
            return
        place = len(self.story)
        self.story.append(told)
        self.telling.note(reply)
        self.happened += 1
        if isinstance(told.step, Arrange):
            self.customers.append(told.step.subject)
        if isinstance(reply, Exchange):
            self._called(place, told, reply)

    def _called(self, place: int, told: AbstractStep, exchange: Exchange) -> None:
        operation = self.contract.operations[exchange.call.operation]
        if told.page in self.pages:
            self.pages.remove(told.page)
        else:
            self.asked = place
        if isinstance(exchange.outcome, Accepted):
            if operation.makes and exchange.item and exchange.item.key:
                self.made.append(place)
            if exchange.outcome.next:
                self.pages.append(place)

    def meet(self, household: AbstractStep) -> None:
        """Bring one more customer into being."""
        name = f"psu-{len(self.customers) + 1}"
        self.tell(household.subjects({SELF: name}))

    def say(self, word: AbstractStep, pick: int) -> None:
        """Say a word about one of the customers, of his things, and of the requests."""
        count = len(self.customers)
        pick, which = divmod(pick, count)
        name = self.customers[-1 - which]
        other = self.customers[which - 1] if count > 1 else name
        told = word.subjects({SELF: name, OTHER: other})
        pick, nth = divmod(pick, max(len(self.made), 1))
        if self.made:
            place = self.made[-1 - nth]
            told = told.moved(lambda _: place)
        self.tell(self._about(told, pick))

    def _about(self, told: AbstractStep, pick: int) -> AbstractStep:
        """Let a call that is about one thing be about another of the same owner's."""
        step = told.step
        if not isinstance(step, Call):
            return told

        def other(value: Json) -> Json:
            if isinstance(value, OwnedRef) and value.of in self.telling.subjects:
                count = len(self.telling.subjects[value.of].owns)
                return OwnedRef(value.of, (value.n + pick) % count) if count else value
            return value

        arguments = {
            name: value if isinstance(value, list | tuple) else changed(value, other)
            for name, value in step.arguments.items()
        }
        return replace(told, step=replace(step, arguments=arguments))

    def again(self, times: int = 1) -> None:
        """Ask the last question once more, or some times more."""
        for _ in range(times):
            if self.asked is not None:
                self.tell(self.story[self.asked])

    def turn(self) -> None:
        """Turn pages until they end; nobody's page has to come first."""
        for _ in range(MOST_PAGES):
            if not self.pages:
                return
            place = self.pages[-1]
            self.tell(AbstractStep(step=self.story[place].step, page=place))

    def plainly(self) -> None:
        """Ask the last question once more, with nothing bent."""
        told = self.story[self.asked] if self.asked is not None else None
        if told is not None and isinstance(told.step, Call):
            control = plainly(told, told.step, self.contract.operations[told.step.operation])
            if control is not None:
                self.tell(control)

    def judge(self) -> None:
        """Have it judged, if there is enough new."""
        if self.happened >= max(GROWTH * self.judged, FIRST_JUDGED):
            self._judge()

    def end(self) -> None:
        """Close the story, have the whole judged, and give the world back."""
        try:
            if self.happened > self.judged:
                last = closing_reads(self.contract, self.story, self.made, inquire=self.inquire)
                for told in (*last,):
                    self.tell(told)
                self._judge()
        finally:
            self.player.end()

    def _judge(self) -> None:
        self.judged = self.happened
        self.player.judge(self.story)
