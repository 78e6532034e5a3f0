"""Generated sequences with varied calls: reading accounts, and making requests.

In read sequences, a customer consents and is asked for what they own, plainly and
varied, page by page. In write sequences, a valid request is made, then varied ones, and
each is read to see whether it was accepted, or rejected later; some are signed. Changes
and cancellations get a request of their own.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace
from typing import cast

from hypothesis.strategies import DrawFn, SearchStrategy, composite

from assay.contract.model import Json, Operation
from assay.fuzzing.fields.builder import DICE, PSU, Dice, ScenarioBuilder
from assay.fuzzing.fields.fuzzable import FuzzableReads, FuzzableRequests
from assay.fuzzing.fields.mutations import Bend, Mutation
from assay.fuzzing.sequences.abstract_step import AbstractStep, OwnedRef, RelativeDay, RequestRef
from assay.fuzzing.sequences.actions import SELF
from assay.fuzzing.sequences.shrink import Story
from assay.history import Arrange, Authorise, Call, Inquire
from assay.rules.lifecycle.request_steps import DAYS_AHEAD

#: The most pages read of each question.
PAGES = 3
#: A customer with more entries than these is informative, ...
FEW = 3
#: ... and so is one with entries older than this many days; it comes as often.
AGE, LONG_AGO = 60, 4
#: The most questions in a sequence.
QUESTIONS = 4


def read_scenarios(spoken: FuzzableReads) -> SearchStrategy[Story]:
    """Return the sequences in which a customer consents, and is asked for what they own."""
    households = [one for one in spoken.households for _ in range(_telling(one))]

    @composite
    def story(draw: DrawFn) -> Story:
        teller, dice = ScenarioBuilder(others=spoken.others), Dice(draw(DICE))
        teller.meet(dice.pick(households))
        if spoken.moments and dice.one_in(4):
            teller.wait(dice.pick(spoken.moments))
        if spoken.grant and not dice.one_in(12):
            teller.tell(_granting(spoken.grant, teller.ordinary))
        for _ in range(1 + dice.below(QUESTIONS)):
            _ask(draw, teller, dice, spoken)
        return tuple(teller.story)

    return story()


def _ask(draw: DrawFn, teller: ScenarioBuilder, dice: Dice, spoken: FuzzableReads) -> None:
    way = dice.pick(spoken.ways)
    operation, bend = way.operation, draw(way.bends)
    thing = dice.below(max(len(teller.things), 1))
    if operation.grants:
        # Only reading shows what a consent was worth.
        plain = _granting(operation, [thing])
        teller.tell(plain)
        teller.tell(bend(plain))
        calls = [_about(dice.pick(spoken.lists), thing)]
    else:
        plain = _about(operation, thing)
        calls = [plain, bend(plain)]
        if dice.one_in(4):
            calls.reverse()
        if dice.one_in(4):
            calls.append(calls[0])
    for call in calls:
        _walk(teller, call)
    if operation.grants:
        teller.tell(_granting(operation, teller.ordinary))


def _telling(household: AbstractStep) -> int:
    """Return the weight of a customer: the more entries its things have, the more."""
    days = [day for some in household.days for day in some or ()]
    return 1 + (len(days) > FEW) + LONG_AGO * (min(days, default=0) < -AGE)


def _granting(grant: Operation, things: Iterable[int]) -> Call:
    keys = [OwnedRef(SELF, n) for n in things]
    return Call(operation=grant.id, subject=SELF, arguments={grant.grants or "": keys})


def _about(operation: Operation, thing: int) -> Call:
    arguments: dict[str, Json] = {operation.about: OwnedRef(SELF, thing)} if operation.about else {}
    return Call(operation=operation.id, subject=SELF, arguments=arguments)


def _walk(teller: ScenarioBuilder, call: Call) -> None:
    place = teller.tell(call)
    for _ in range(PAGES):
        place = teller.tell(call, page=place)


#: The most varied calls in a sequence.
ROUNDS = 8
#: How often customers with ordinary things come, for each time that any other does.
USUAL = 8


def write_scenarios(spoken: FuzzableRequests) -> SearchStrategy[Story]:
    """Return the sequences in which a customer makes requests, some of them varied."""
    usual = min(spoken.households, key=_size)
    households = [*[usual] * USUAL, *spoken.households]
    create = spoken.lifecycle.create
    new = [one for one in spoken.ways if one.operation is create]
    old = [one for one in spoken.ways if one.operation is not create]
    # Operations that make a request matter most.
    ways = (new, new, old or new)

    @composite
    def story(draw: DrawFn) -> Story:
        teller, dice = ScenarioBuilder(others=spoken.others), Dice(draw(DICE))
        teller.meet(dice.pick(households))
        if spoken.moments and dice.one_in(12):
            teller.wait(dice.pick(spoken.moments))
        tale = _Tale(spoken=spoken, teller=teller, dice=dice)
        mode = dice.pick(spoken.modes) if dice.one_in(4) else spoken.modes[0]
        control = tale.request(mode)
        if spoken.valid and dice.one_in(3):
            control = draw(dice.pick(spoken.valid).bends)(control)
        late = dice.one_in(5)
        made = None if late else teller.tell(control)
        for _ in range(1 + dice.below(ROUNDS)):
            way = dice.pick(dice.pick(ways))
            bend = draw(way.bends)
            if way.operation is not create:
                tale.about(way, bend, made)
                continue
            also = draw(dice.pick(new).bends) if dice.one_in(12) else _as_it_is
            tale.create(bend, also, control)
        if late or dice.one_in(4):
            made = teller.tell(control)
        if made is not None and dice.one_in(4):
            tale.sign(made)
        return tuple(teller.story)

    return story()


def _size(household: AbstractStep) -> tuple[int, bool]:
    step = cast("Arrange", household.step)
    return sum(one.count for one in step.holdings), step.segment is not None


def _as_it_is(call: Call) -> Call:
    return call


@dataclass(slots=True, kw_only=True)
class _Tale:
    """A sequence of requests while it is built."""

    spoken: FuzzableRequests
    teller: ScenarioBuilder
    dice: Dice

    def request(self, mode: str | None) -> Call:
        """Return a request without variation."""
        lifecycle, create = self.spoken.lifecycle, self.spoken.lifecycle.create
        given: dict[str, Json] = {}
        if create.owned:
            given[create.owned] = OwnedRef(SELF, self.teller.ordinary[0])
        if create.due and lifecycle.deferred(mode):
            given[create.due.argument] = RelativeDay(DAYS_AHEAD)
        return Call(operation=create.id, subject=SELF, arguments=given, mode=mode)

    def create(self, bend: Bend, also: Bend, control: Call) -> None:
        """Make a varied request, and read it."""
        call = also(bend(control))
        place = self.teller.tell(call if call.mode == control.mode else self._timed(call))
        self.read(place)
        if self.dice.one_in(12):
            self.sign(place)

    def _timed(self, call: Call) -> Call:
        """Set or leave out the due date, as the other mode requires."""
        due = self.spoken.lifecycle.create.due
        if due is None:
            return call
        given = {name: one for name, one in call.arguments.items() if name != due.argument}
        day = (
            {due.argument: RelativeDay(DAYS_AHEAD)}
            if self.spoken.lifecycle.deferred(call.mode)
            else {}
        )
        return replace(call, arguments={**given, **day})

    def about(self, way: Mutation, bend: Bend, made: int | None) -> None:
        """Make a varied call about a request, beside the same call without variation."""
        lifecycle = self.spoken.lifecycle
        if made is None or way.operation is not lifecycle.read:
            made = self.teller.tell(self.request(lifecycle.changeable_mode))
        plain = Call(
            operation=way.operation.id,
            subject=SELF,
            arguments={way.operation.about or "": RequestRef(made)},
            varied=self.spoken.varied if way.operation is lifecycle.change else (),
        )
        if way.operation is not lifecycle.end:
            self.teller.tell(plain)
        # A change names only the varied argument.
        one = plain if way.sort is None else replace(plain, varied=())
        self.teller.tell(bend(one))
        self.read(made)
        if way.operation is lifecycle.end and self.dice.one_in(2):
            self.teller.tell(plain)
            self.read(made)

    def read(self, place: int) -> None:
        """Read a request, if it was made."""
        read = self.spoken.read
        if read:
            arguments: dict[str, Json] = {read.about or "": RequestRef(place)}
            self.teller.tell(Call(operation=read.id, subject=SELF, arguments=arguments))

    def sign(self, place: int) -> None:
        """Let the customer sign a request, and read it."""
        if self.spoken.signs:
            self.teller.add(Authorise(subject=PSU, request="", approval=None), request=place)
            self.read(place)
            if self.spoken.inquires:
                self.teller.add(Inquire())
