"""A random sequence while it runs: the steps so far, and what is possible next.

It knows which requests can be signed and changed and which pages remain, and performs
what the caller chooses (see `fuzzing.engine`). The history is judged whenever it is four
times as long as when it was judged last, and at the end, so that all judging together
costs little more than the last one.

Closing steps make the history conclusive: a check reports a violation only beside a
control, and only of a request whose result it knows. So varied calls are repeated
without variation, requests are read, and the fixture is asked what was executed.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from datetime import date
from typing import Protocol, TypeVar, cast

from assay.contract.model import Contract, Json, Operation
from assay.errors import CannotArrange
from assay.fuzzing.sequences.abstract_step import (
    AbstractStep,
    After,
    OwnedRef,
    RelativeDay,
    RequestRef,
    leaves,
    map_leaves,
)
from assay.fuzzing.sequences.actions import OTHER, SELF
from assay.fuzzing.sequences.concretize import Concretizer, MissingReference
from assay.history import (
    Accepted,
    Advance,
    Arrange,
    Authorise,
    Call,
    Event,
    Exchange,
    Inquire,
    Step,
    Submit,
    Withdraw,
)
from assay.rules.steps import MOST_PAGES, Part, perform_all

R = TypeVar("R")

#: The number of events before the first judgement: shorter histories show little.
FIRST_JUDGED = 64
#: The growth of the history before the next judgement.
GROWTH = 4
#: At the end of a sequence, the last of the missing controls are sent, and the last
#: requests are read.
CLOSING_CONTROLS, CLOSING_READS = 4, 3


class SequenceTarget(Protocol):
    """The target's side of a sequence: performs its steps and judges the history."""

    def perform(self, step: Step) -> Event:
        """Perform a step, or raise `CannotArrange`."""
        ...

    def judge(self, sequence: Sequence[AbstractStep]) -> None:
        """Judge what happened so far; raise what ends the search if something is broken."""
        ...

    def end(self) -> None:
        """Close the fixture."""
        ...


@dataclass(slots=True, kw_only=True)
class SequenceBuilder:
    """A sequence while it runs: the steps so far, and what is possible next.

    `made` are the places of the steps that made a request, `pages` those of the calls
    with a next page that was not requested yet, `last_call` that of the last call.
    `inquire` says that the fixture can report what was executed.
    """

    contract: Contract
    target: SequenceTarget
    concretizer: Concretizer
    inquire: bool = False
    steps: list[AbstractStep] = field(default_factory=list[AbstractStep])
    customers: list[str] = field(default_factory=list[str])
    made: list[int] = field(default_factory=list[int])
    pages: list[int] = field(default_factory=list[int])
    last_call: int | None = None
    performed: int = 0
    judged: int = 0

    def perform(self, abstract_step: AbstractStep) -> Event | None:
        """Perform one more step; one that cannot be performed is left out of the sequence."""
        try:
            return self._perform(abstract_step)
        except (MissingReference, CannotArrange):
            return None

    def play(self, script: Part[R]) -> R:
        """Perform the concrete steps of a script as steps of the sequence.

        Raises:
            CannotArrange: the target does not offer what a step takes.

        """
        return perform_all(script, self._play)

    def _play(self, step: Step) -> Event:
        if isinstance(step, Advance) and step.to is None:
            return self.target.perform(step)
        return self._perform(abstracted(step, self.concretizer))

    def _perform(self, abstract_step: AbstractStep) -> Event:
        reply = self.target.perform(self.concretizer.step(abstract_step))
        place = len(self.steps)
        self.steps.append(abstract_step)
        self.concretizer.note(reply)
        self.performed += 1
        if isinstance(abstract_step.step, Arrange):
            self.customers.append(abstract_step.step.subject)
        if isinstance(reply, Exchange):
            self._note_call(place, abstract_step.page, reply)
        return reply

    def _note_call(self, place: int, page: int | None, exchange: Exchange) -> None:
        operation = self.contract.operations[exchange.call.operation]
        if page in self.pages:
            self.pages.remove(page)
        else:
            self.last_call = place
        if isinstance(exchange.outcome, Accepted):
            if operation.makes and exchange.item and exchange.item.key:
                self.made.append(place)
            if exchange.outcome.next:
                self.pages.append(place)

    def add_customer(self, household: AbstractStep) -> None:
        """Create one more customer."""
        name = f"psu-{len(self.customers) + 1}"
        self.perform(household.subjects({SELF: name}))

    def act(self, action: AbstractStep, pick: int) -> None:
        """Perform an action for one of the customers, their things, and their requests."""
        count = len(self.customers)
        pick, which = divmod(pick, count)
        name = self.customers[-1 - which]
        other = self.customers[which - 1] if count > 1 else name
        assigned = action.subjects({SELF: name, OTHER: other})
        pick, nth = divmod(pick, max(len(self.made), 1))
        if self.made:
            place = self.made[-1 - nth]
            assigned = assigned.moved(lambda _: place)
        self.perform(self._with_thing(assigned, pick))

    def _with_thing(self, abstract_step: AbstractStep, pick: int) -> AbstractStep:
        """Return a call that is about one thing for another thing of the same owner."""
        step = abstract_step.step
        if not isinstance(step, Call):
            return abstract_step

        def shifted(value: Json) -> Json:
            if isinstance(value, OwnedRef) and value.of in self.concretizer.subjects:
                count = len(self.concretizer.subjects[value.of].owns)
                return OwnedRef(value.of, (value.n + pick) % count) if count else value
            return value

        arguments = {
            name: value if isinstance(value, list | tuple) else map_leaves(value, shifted)
            for name, value in step.arguments.items()
        }
        return replace(abstract_step, step=replace(step, arguments=arguments))

    def repeat_call(self, times: int = 1) -> None:
        """Repeat the last call."""
        for _ in range(times):
            if self.last_call is not None:
                self.perform(self.steps[self.last_call])

    def repeat_control(self) -> None:
        """Repeat the last call without variation."""
        if self.last_call is not None:
            control = control_of(self.contract, self.steps[self.last_call])
            if control is not None:
                self.perform(control)

    def read_pages(self) -> None:
        """Request further pages until they end."""
        for _ in range(MOST_PAGES):
            if not self.pages:
                return
            place = self.pages[-1]
            self.perform(AbstractStep(step=self.steps[place].step, page=place))

    def judge(self) -> None:
        """Judge the sequence if it has grown enough."""
        if self.performed >= max(GROWTH * self.judged, FIRST_JUDGED):
            self._judge()

    def end(self, *, closing: bool = True) -> None:
        """Perform the closing steps, judge the whole sequence, and close the fixture."""
        try:
            if self.performed > self.judged:
                last = closing_steps(self.contract, self.steps, self.made, inquire=self.inquire)
                for abstract_step in (*last,) if closing else ():
                    self.perform(abstract_step)
                self._judge()
        finally:
            self.target.end()

    def _judge(self) -> None:
        self.judged = self.performed
        self.target.judge(self.steps)


# -- closing steps ---------------------------------------------------------------
def closing_steps(
    contract: Contract, sequence: Sequence[AbstractStep], made: Sequence[int], *, inquire: bool
) -> Iterator[AbstractStep]:
    """Yield the closing steps of a sequence whose requests were made at these places."""
    sent = {repr(abstract_step) for abstract_step in sequence}
    controls: dict[str, AbstractStep] = {}
    for abstract_step in reversed(sequence):
        if abstract_step.page is None:
            control = control_of(contract, abstract_step)
            if control is not None and repr(control) not in sent:
                controls.setdefault(repr(control), control)
    yield from [*controls.values()][:CLOSING_CONTROLS]
    read = next((operation for operation in contract.operations.values() if operation.shows), None)
    for place in made[-CLOSING_READS:]:
        step = sequence[place].step
        if read is not None and read.about and isinstance(step, Call):
            arguments = {read.about: RequestRef(place)}
            yield AbstractStep(
                step=Call(operation=read.id, subject=step.subject, by=step.by, arguments=arguments)
            )
    if inquire:
        yield AbstractStep(step=Inquire())


def control_of(contract: Contract, abstract_step: AbstractStep) -> AbstractStep | None:
    """Return the control of a call: the same without variation; None where there is none."""
    step = abstract_step.step
    if not isinstance(step, Call):
        return None
    operation = contract.operations[step.operation]
    if not operation.available or operation.changes or operation.ends:
        return None
    control = Call(
        operation=step.operation,
        subject=step.subject,
        arguments={
            name: value
            for name, value in step.arguments.items()
            if _identifies(operation, name, value)
        },
        by=step.by,
        mode=step.mode if operation.makes else None,
    )
    return replace(abstract_step, step=control)


def _identifies(operation: Operation, name: str, value: Json) -> bool:
    """Whether an argument identifies a thing, and is not to be varied."""
    due = operation.due.argument if operation.due else None
    refers = all(isinstance(leaf, OwnedRef | RequestRef | RelativeDay) for leaf in leaves(value))
    names = {operation.about, operation.grants, operation.owned, due}
    return refers and name in names and not isinstance(value, Mapping)


# -- Abstraction of concrete steps, the inverse of `concretize` ----------------------------------
# What only the target can name, in the steps of a script that is performed, becomes a reference
# to the step from which it comes. So a script becomes a part of a sequence that can be replayed.
def abstracted(step: Step, so_far: Concretizer) -> AbstractStep:
    """Return a concrete step with references into the sequence that has run so far."""
    match step:
        case Call():
            arguments = cast(
                "Mapping[str, Json]",
                map_leaves(step.arguments, lambda value: _reference(value, so_far)),
            )
            bare: Step = replace(step, arguments=arguments, follow=None)
            return AbstractStep(step=bare, page=_page(step.follow, so_far))
        case Arrange():
            today = so_far.now.date()
            days = tuple(
                None
                if holding.entries is None
                else tuple((day - today).days for day in holding.entries)
                for holding in step.holdings
            )
            holdings = tuple(replace(holding, entries=()) for holding in step.holdings)
            return AbstractStep(step=replace(step, holdings=holdings), days=days)
        case Advance(to=to) if to is not None:
            return AbstractStep(step=Advance(), moment=After(to - so_far.now))
        case Authorise():
            bare = replace(step, request="", approval=None)
            return AbstractStep(step=bare, request=_made(so_far).get(step.request))
        case Withdraw() | Submit():
            bare = replace(step, request="")
            return AbstractStep(step=bare, request=_made(so_far).get(step.request))
        case _:
            return AbstractStep(step=step)


def _made(so_far: Concretizer) -> dict[str, int]:
    """Return the places of the steps that made or showed something, by its key."""
    places: dict[str, int] = {}
    for place, reply in enumerate(so_far.replies):
        if isinstance(reply, Exchange) and reply.item and reply.item.key:
            places.setdefault(reply.item.key, place)
    return places


def _page(follow: str | None, so_far: Concretizer) -> int | None:
    """Return the place of the call whose answer named a page."""
    for place, reply in enumerate(so_far.replies if follow else ()):
        match reply:
            case Exchange(outcome=Accepted(next=link)) if link == follow:
                return place
            case _:
                pass
    return None


def _reference(value: Json, so_far: Concretizer) -> Json:
    """Return the reference that a value stands for, or else the value itself."""
    if not isinstance(value, str):
        return value
    for subject in so_far.subjects.values():
        for n, thing in enumerate(subject.owns):
            if thing.key == value:
                return OwnedRef(of=subject.name, n=n)
    made = _made(so_far)
    if value in made:
        return RequestRef(made[value])
    with suppress(ValueError):
        return RelativeDay((date.fromisoformat(value) - so_far.now.date()).days)
    return value
