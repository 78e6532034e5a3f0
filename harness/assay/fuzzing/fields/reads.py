"""Stories of questions about what a customer owns: plain, and bent, each with its pages."""

from __future__ import annotations

from collections.abc import Iterable

from hypothesis.strategies import DrawFn, SearchStrategy, composite

from assay.contract.model import Json, Operation
from assay.fuzzing.fields.builder import DICE, Dice, ScenarioBuilder
from assay.fuzzing.fields.fuzzable import FuzzableReads
from assay.fuzzing.sequences.abstract_step import AbstractStep, OwnedRef
from assay.fuzzing.sequences.actions import SELF
from assay.fuzzing.sequences.shrink import Story
from assay.history import Call

#: So many pages are turned of each question, where there are any.
PAGES = 3
#: More entries than these are a household that tells something, ...
FEW = 3
#: ... and so do entries that are older than so many days; such a household comes as often.
AGE, LONG_AGO = 60, 4
#: So many questions are asked at most.
QUESTIONS = 4


def read_scenarios(spoken: FuzzableReads) -> SearchStrategy[Story]:
    """Return the stories in which somebody consents, and is asked for what he owns."""
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
        # What a consent was worth shows only in what can be read.
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
    """Return how often a household comes: the more its things have below them, the more."""
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
