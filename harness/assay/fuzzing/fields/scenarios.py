"""Generated sequences with varied calls: reading accounts, and making requests.

In read sequences, a customer consents, and what they own is read, without variation and
varied, page by page. In write sequences, a valid request is made, then varied ones, and
each is read to see whether it was accepted, or rejected later; some are signed. Changes
and cancellations get a request of their own.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field, replace
from typing import cast

from assay.contract.model import Json, Operation
from assay.fuzzing.draws import Dice, Draw
from assay.fuzzing.fields.mutations import (
    FuzzableReads,
    FuzzableRequests,
    Mutation,
    Vary,
    unchanged,
)
from assay.fuzzing.sequences.abstract_step import (
    AbstractSequence,
    AbstractStep,
    Moment,
    OwnedRef,
    RelativeDay,
    RequestRef,
    map_leaves,
)
from assay.fuzzing.sequences.actions import OTHER, SELF
from assay.history import Advance, Arrange, Authorise, Call, Inquire, Step
from assay.rules.lifecycle.request_steps import DAYS_AHEAD

#: The customer of a sequence, and the owner of other things.
PSU, ANOTHER = "psu", "another"


# -- building a sequence -----------------------------------------------------------
@dataclass(slots=True, kw_only=True)
class ScenarioBuilder:
    """A sequence while it is generated. `others` are the possible other customers.

    `things` says of each thing that the customer owns whether it is an ordinary one.
    """

    others: Sequence[AbstractStep] = ()
    steps: list[AbstractStep] = field(default_factory=list[AbstractStep])
    things: tuple[bool, ...] = ()
    has_other: bool = False

    def add_customer(self, household: AbstractStep) -> None:
        """Create the customer of the sequence."""
        holdings = cast("Arrange", household.step).holdings
        self.things = tuple(
            not holding.traits for holding in holdings for _ in range(holding.count)
        )
        self.steps.append(household.subjects({SELF: PSU}))

    @property
    def ordinary(self) -> list[int]:
        """The numbers of the things that are in no state of their own; or of all things."""
        every = list(range(len(self.things)))
        return [n for n in every if self.things[n]] or every

    def wait(self, moment: Moment) -> None:
        """Let time pass."""
        self.steps.append(AbstractStep(step=Advance(), moment=moment))

    def call(self, call: Call, page: int | None = None) -> int:
        """Add a call about existing things, and return its place in the sequence."""
        arguments = cast("dict[str, Json]", map_leaves(call.arguments, self._existing))
        abstract_step = AbstractStep(step=replace(call, arguments=arguments), page=page)
        if OTHER in abstract_step.names and self.others and not self.has_other:
            self.has_other = True
            self.steps.append(self.others[0].subjects({SELF: ANOTHER}))
        self.steps.append(abstract_step.subjects({SELF: PSU, OTHER: ANOTHER}))
        return len(self.steps) - 1

    def add(self, step: Step, request: int | None = None) -> None:
        """Add any other step."""
        self.steps.append(AbstractStep(step=step, request=request))

    def _existing(self, value: Json) -> Json:
        """Wrap around at the last thing that is owned."""
        if isinstance(value, OwnedRef) and value.of == SELF:
            return OwnedRef(SELF, value.n % max(len(self.things), 1))
        return value


def _mutation(dice: Dice, table: Sequence[Mutation]) -> Mutation:
    """Return a mutation by its weight."""
    return dice.weighted(table, (mutation.weight for mutation in table))


# -- reading -----------------------------------------------------------------------
#: The most pages read of each answer.
PAGES = 3
#: The most varied calls in a read sequence.
QUESTIONS = 4
#: A customer with more entries than these is informative, ...
FEW = 3
#: ... and so is one with entries older than this many days, which comes as often.
AGE, LONG_AGO = 60, 4


def read_scenarios(fuzzable: FuzzableReads) -> Draw[AbstractSequence]:
    """Return the sequences in which a customer consents, and what they own is read."""
    weights = [_information(household) for household in fuzzable.households]

    def sequence(dice: Dice) -> AbstractSequence:
        builder = ScenarioBuilder(others=fuzzable.others)
        builder.add_customer(dice.weighted(fuzzable.households, weights))
        if fuzzable.moments and dice.one_in(4):
            builder.wait(dice.choice(fuzzable.moments))
        if fuzzable.grant and not dice.one_in(12):
            builder.call(_consent(fuzzable.grant, builder.ordinary))
        for _ in range(1 + dice.randrange(QUESTIONS)):
            _read(builder, dice, fuzzable)
        return tuple(builder.steps)

    return sequence


def _read(builder: ScenarioBuilder, dice: Dice, fuzzable: FuzzableReads) -> None:
    """Add a varied call beside the same call without variation."""
    mutation = _mutation(dice, fuzzable.mutations)
    operation, vary = mutation.operation, mutation.variations(dice)
    thing = dice.randrange(max(len(builder.things), 1))
    if operation.grants:
        # What a consent permits shows only in reading.
        plain = _consent(operation, [thing])
        builder.call(plain)
        builder.call(vary(plain))
        calls = [_about(dice.choice(fuzzable.lists), thing)]
    else:
        plain = _about(operation, thing)
        calls = [plain, vary(plain)]
        if dice.one_in(4):
            calls.reverse()
        if dice.one_in(4):
            calls.append(calls[0])
    for call in calls:
        place = builder.call(call)
        for _ in range(PAGES):
            place = builder.call(call, page=place)
    if operation.grants:
        builder.call(_consent(operation, builder.ordinary))


def _information(household: AbstractStep) -> int:
    """Return the weight of a customer: the more entries its things have, the more."""
    days = [day for entries in household.days for day in entries or ()]
    return 1 + (len(days) > FEW) + LONG_AGO * (min(days, default=0) < -AGE)


def _consent(grant: Operation, things: Iterable[int]) -> Call:
    keys = [OwnedRef(SELF, n) for n in things]
    return Call(operation=grant.id, subject=SELF, arguments={grant.grants or "": keys})


def _about(operation: Operation, thing: int) -> Call:
    arguments: dict[str, Json] = {operation.about: OwnedRef(SELF, thing)} if operation.about else {}
    return Call(operation=operation.id, subject=SELF, arguments=arguments)


# -- making requests ---------------------------------------------------------------
#: The most varied calls in a write sequence.
ROUNDS = 8
#: How often customers with ordinary things come, for each time that any other does.
USUAL = 8


def write_scenarios(fuzzable: FuzzableRequests) -> Draw[AbstractSequence]:
    """Return the sequences in which a customer makes requests, some of them varied."""
    usual = min(fuzzable.households, key=_size)
    households = (usual, *fuzzable.households)
    weights = [USUAL, *[1] * len(fuzzable.households)]
    create = fuzzable.lifecycle.create
    new = [mutation for mutation in fuzzable.mutations if mutation.operation is create]
    old = [mutation for mutation in fuzzable.mutations if mutation.operation is not create]
    # Operations that make a request matter most.
    tables = (new, new, old or new)

    def sequence(dice: Dice) -> AbstractSequence:
        builder = ScenarioBuilder(others=fuzzable.others)
        builder.add_customer(dice.weighted(households, weights))
        if fuzzable.moments and dice.one_in(12):
            builder.wait(dice.choice(fuzzable.moments))
        requests = _RequestSteps(fuzzable=fuzzable, builder=builder, dice=dice)
        control = requests.plain(
            dice.choice(fuzzable.modes) if dice.one_in(4) else fuzzable.modes[0]
        )
        if fuzzable.valid and dice.one_in(3):
            control = _mutation(dice, fuzzable.valid).variations(dice)(control)
        late = dice.one_in(5)
        made = None if late else builder.call(control)
        for _ in range(1 + dice.randrange(ROUNDS)):
            mutation = _mutation(dice, dice.choice(tables))
            vary = mutation.variations(dice)
            if mutation.operation is create:
                also = _mutation(dice, new).variations(dice) if dice.one_in(12) else unchanged
                requests.create(also(vary(control)), control)
            else:
                requests.about(mutation, vary, made)
        if late or dice.one_in(4):
            made = builder.call(control)
        if made is not None and dice.one_in(4):
            requests.sign(made)
        return tuple(builder.steps)

    return sequence


def _size(household: AbstractStep) -> tuple[int, bool]:
    step = cast("Arrange", household.step)
    return sum(holding.count for holding in step.holdings), step.segment is not None


@dataclass(slots=True, kw_only=True)
class _RequestSteps:
    """The steps around requests in a sequence that is generated."""

    fuzzable: FuzzableRequests
    builder: ScenarioBuilder
    dice: Dice

    def plain(self, mode: str | None) -> Call:
        """Return a request without variation."""
        create = self.fuzzable.lifecycle.create
        owned = {create.owned: OwnedRef(SELF, self.builder.ordinary[0])} if create.owned else {}
        call = Call(operation=create.id, subject=SELF, arguments={**owned}, mode=mode)
        return self._with_due_date(call)

    def _with_due_date(self, call: Call) -> Call:
        """Set or leave out the due date, as the mode requires."""
        due = self.fuzzable.lifecycle.create.due
        if due is None:
            return call
        arguments = {name: value for name, value in call.arguments.items() if name != due.argument}
        if self.fuzzable.lifecycle.deferred(call.mode):
            arguments[due.argument] = RelativeDay(DAYS_AHEAD)
        return replace(call, arguments=arguments)

    def create(self, call: Call, control: Call) -> None:
        """Make a varied request, and read it."""
        place = self.builder.call(call if call.mode == control.mode else self._with_due_date(call))
        self.read(place)
        if self.dice.one_in(12):
            self.sign(place)

    def about(self, mutation: Mutation, vary: Vary, made: int | None) -> None:
        """Make a varied call about a request, beside the same call without variation."""
        lifecycle, operation = self.fuzzable.lifecycle, mutation.operation
        if made is None or operation is not lifecycle.read:
            made = self.builder.call(self.plain(lifecycle.changeable_mode))
        plain = Call(
            operation=operation.id,
            subject=SELF,
            arguments={operation.about or "": RequestRef(made)},
            varied=self.fuzzable.varied if operation is lifecycle.change else (),
        )
        if operation is not lifecycle.end:
            self.builder.call(plain)
        # A change with a varied argument changes nothing else.
        self.builder.call(vary(plain if mutation.sort is None else replace(plain, varied=())))
        self.read(made)
        if operation is lifecycle.end and self.dice.one_in(2):
            self.builder.call(plain)
            self.read(made)

    def read(self, place: int) -> None:
        """Read a request, if it was made."""
        read = self.fuzzable.read
        if read:
            arguments: dict[str, Json] = {read.about or "": RequestRef(place)}
            self.builder.call(Call(operation=read.id, subject=SELF, arguments=arguments))

    def sign(self, place: int) -> None:
        """Let the customer sign a request, and read it."""
        if self.fuzzable.signs:
            self.builder.add(Authorise(subject=PSU, request="", approval=None), request=place)
            self.read(place)
            if self.fuzzable.inquires:
                self.builder.add(Inquire())
