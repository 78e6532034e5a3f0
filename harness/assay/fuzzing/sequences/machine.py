"""The Hypothesis state machine that generates random sequences.

A sequence begins with a customer and a theme, a small selection of the actions, and
continues with those that are possible at that point: only existing requests are signed
or changed, only pages that an answer named are requested. Within a theme the same few
actions meet again and again, which is where unforeseen faults are found.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import TypeAlias

from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, rule
from hypothesis.strategies import SearchStrategy, fixed_dictionaries, integers, lists, sampled_from

from assay.contract.model import Contract
from assay.fuzzing.sequences.abstract_step import AbstractStep
from assay.fuzzing.sequences.actions import Actions
from assay.fuzzing.sequences.sequence import SequenceBuilder
from assay.history import Advance, Call

#: The most customers in one sequence.
CUSTOMERS = 3
#: The most actions of one sort in a theme.
THEME = 3
#: The draw that decides the action, the customer, their thing and the request.
PICKS = integers(0, 2**24)

Machine: TypeAlias = type[RuleBasedStateMachine]
#: The sorts of actions.
Theme: TypeAlias = dict[str, Sequence[AbstractStep]]
#: The sorts that every theme has; any other may be missing.
NEEDED = frozenset({"grant", "make", "ask"})
#: The sorts about a request that was made before.
AFTER = frozenset({"follow", "sign"})


def machine(words: Actions, contract: Contract, begin: Callable[[], SequenceBuilder]) -> Machine:
    """Return the state machine that makes journeys out of words.

    `begin` opens a world of its own for the next journey.
    """
    sorts = _sorts(words, contract)

    class Journeys(RuleBasedStateMachine):
        """One journey through the contract."""

        def __init__(self) -> None:
            super().__init__()
            self.journey = begin()
            self.theme: Theme = {}

        @initialize(household=sampled_from(words.households), theme=_themes(sorts))
        def arrive(self, household: AbstractStep, theme: Theme) -> None:
            """Begin with a customer."""
            self.theme = theme
            self.journey.meet(household)

        @rule(pick=PICKS)
        def go_on(self, pick: int) -> None:
            """Do one of the things that are possible now."""
            possible = [*_possible(self.journey, self.theme, words)]
            if possible:
                pick, which = divmod(pick, len(possible))
                possible[which](pick)

        @invariant()
        def judged(self) -> None:
            """Feed what has happened to every check."""
            self.journey.judge()

        def teardown(self) -> None:
            """Judge the whole, and give the world back."""
            self.journey.end()

    return Journeys


def _themes(sorts: Theme) -> SearchStrategy[Theme]:
    return fixed_dictionaries(
        {
            sort: lists(sampled_from(words), min_size=sort in NEEDED, max_size=THEME)
            for sort, words in sorts.items()
        }
    )


def _sorts(words: Actions, contract: Contract) -> Theme:
    """Sort the words by what they are good for; a sort of which there is none is left out."""
    sorts: dict[str, list[AbstractStep]] = {
        "grant": [],
        "make": [],
        "ask": [],
        "follow": [],
        "bend": [*words.bent],
        "sign": [*words.signatures],
        "aside": [*words.asides],
        "wait": [AbstractStep(step=Advance(), moment=one) for one in words.moments],
    }
    for told in words.plain:
        operation = (
            contract.operations[told.step.operation] if isinstance(told.step, Call) else None
        )
        if operation is not None and operation.grants:
            sorts["grant"].append(told)
        elif operation is not None and operation.makes:
            sorts["make"].append(told)
        else:
            sorts["follow" if [*told.places] else "ask"].append(told)
    return {sort: some for sort, some in sorts.items() if some}


def _possible(
    journey: SequenceBuilder, theme: Theme, words: Actions
) -> Iterator[Callable[[int], None]]:
    """Yield what can be done at this point of a journey; each takes what else is picked."""

    def meet(pick: int) -> None:
        journey.meet(words.households[pick % len(words.households)])

    def repeat(pick: int) -> None:
        journey.again(words.repeats[pick % len(words.repeats)] if words.repeats else 1)

    if not journey.customers:
        yield meet
        return
    for sort, some in theme.items():
        if some and (journey.made or sort not in AFTER):

            def say(pick: int, some: Sequence[AbstractStep] = some) -> None:
                pick, which = divmod(pick, len(some))
                journey.say(some[which], pick)

            yield say
    if journey.asked is not None:
        yield lambda _: journey.again()
        yield lambda _: journey.plainly()
        yield repeat
    if journey.pages:
        yield lambda _: journey.turn()
    if len(journey.customers) < CUSTOMERS:
        yield meet
