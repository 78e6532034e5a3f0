"""The state machine that makes journeys: Hypothesis chooses, word by word.

A journey begins with a customer and goes on with whatever its words allow just then:
only what was made is signed or changed, only a page that was named is turned to.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, TypeAlias

from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, precondition, rule
from hypothesis.strategies import SearchStrategy, integers, sampled_from

from assay.history import Advance
from assay.journeys.journey import Journey
from assay.journeys.told import Told
from assay.journeys.words import Words

#: No journey has more customers than this.
CUSTOMERS = 3
#: A call is repeated this often at the most.
REPEATS = 5
#: From this it is picked who acts, about what of his, and about which request.
PICKS = integers(0, 2**10)

Machine: TypeAlias = type[RuleBasedStateMachine]
#: What may be done, by name: whether it can be done now, what is drawn, what is done.
Verb: TypeAlias = tuple[
    Callable[[Journey], bool], dict[str, SearchStrategy[Any]], Callable[..., None]
]


def machine(words: Words, begin: Callable[[], Journey]) -> Machine:
    """Return the state machine that makes journeys out of words.

    `begin` opens a world of its own for the next journey.
    """

    class Journeys(RuleBasedStateMachine):
        """One journey through the contract."""

        def __init__(self) -> None:
            super().__init__()
            self.journey = begin()

        @initialize(household=sampled_from(words.households))
        def arrive(self, household: Told) -> None:
            """Begin with a customer."""
            self.journey.meet(household)

        @invariant()
        def judged(self) -> None:
            """Feed what has happened to every check."""
            self.journey.judge()

        def teardown(self) -> None:
            """Judge the whole, and give the world back."""
            self.journey.end()

    for name, (possible, drawn, act) in _verbs(words).items():
        setattr(Journeys, name, _rule(name, possible, drawn, act))
    return Journeys


def _rule(
    name: str,
    possible: Callable[[Journey], bool],
    drawn: dict[str, SearchStrategy[Any]],
    act: Callable[..., None],
) -> object:
    def function(self: Any, **chosen: Any) -> None:
        act(self.journey, **chosen)

    function.__name__ = name
    make: Any = rule
    ruled = make(**drawn)(function)
    return precondition(lambda self: possible(self.journey))(ruled)


def _verbs(words: Words) -> dict[str, Verb]:
    """Return what may be done; what is done more often stands there more than once."""

    def said(some: Sequence[Told]) -> dict[str, SearchStrategy[Any]]:
        return {"word": sampled_from(some), "pick": PICKS}

    def met(journey: Journey) -> bool:
        return bool(journey.customers)

    def made(journey: Journey) -> bool:
        return bool(journey.made)

    about: dict[str, list[Told]] = {"ask": [], "follow": []}
    for one in words.plain:
        about["follow" if [*one.places] else "ask"].append(one)
    tables: dict[str, tuple[Callable[[Journey], bool], Sequence[Told]]] = {
        "ask": (met, about["ask"]),
        "follow": (made, about["follow"]),
        "bend": (met, words.bent),
        "sign": (made, words.signatures),
        "aside": (met, words.asides),
    }
    verbs: dict[str, Verb] = {
        name: (possible, said(some), Journey.say)
        for name, (possible, some) in tables.items()
        if some
    }
    verbs["again"] = (
        lambda journey: journey.asked is not None,
        {"times": integers(1, REPEATS)},
        Journey.again,
    )
    verbs["turn"] = (lambda journey: bool(journey.pages), {}, Journey.turn)
    if words.moments:
        waits = [Told(step=Advance(), moment=one) for one in words.moments]
        verbs["wait"] = (met, {"told": sampled_from(waits)}, Journey.tell)
    verbs["meet"] = (
        lambda journey: 0 < len(journey.customers) < CUSTOMERS,
        {"household": sampled_from(words.households)},
        Journey.meet,
    )
    return verbs
