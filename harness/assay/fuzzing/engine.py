"""Random sequences of actions.

A sequence begins with a customer and a theme, a small selection of the actions, and
continues with those that are possible at that point: only existing requests are signed
or changed, only pages that an answer named are requested. Within a theme the same few
actions meet again and again, which is where unforeseen faults are found.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import TypeAlias

from assay.contract.model import Contract
from assay.fuzzing.draws import Dice
from assay.fuzzing.sequences.abstract_step import AbstractStep
from assay.fuzzing.sequences.actions import Actions
from assay.fuzzing.sequences.sequence import SequenceBuilder
from assay.history import Advance, Call

#: The most customers in one sequence.
CUSTOMERS = 3
#: The most actions of one sort in a theme.
THEME = 3
#: The number that decides the thing, the request and the way of an action is below this.
PICKS = 2**24

#: Actions by sort.
Sorts: TypeAlias = Mapping[str, Sequence[AbstractStep]]
#: The sorts that every theme has; any other may be missing.
NEEDED = frozenset({"grant", "make", "ask"})
#: The sorts about a request that was made before.
AFTER = frozenset({"follow", "sign"})


class ExplorationEnded(BaseException):
    """Ends an exploration. Not an `Exception`, so that nothing handles it and continues."""


def run_sequence(
    sequence: SequenceBuilder, actions: Actions, sorts: Sorts, *, steps: int, dice: Dice
) -> None:
    """Run a sequence of this many steps, judged as it grows, and close its fixture.

    Raises:
        ExplorationEnded: the target's side of the sequence ends the search.

    """
    try:
        theme = {
            sort: dice.choices(members, k=dice.randint(sort in NEEDED, THEME))
            for sort, members in sorts.items()
        }
        sequence.add_customer(dice.choice(actions.households))
        for _ in range(steps):
            sequence.judge()
            if possible := [*_possible(sequence, theme, actions)]:
                dice.choice(possible)(dice.randrange(PICKS))
        sequence.judge()
    finally:
        sequence.end()


def sorts_of(actions: Actions, contract: Contract) -> Sorts:
    """Group the actions by sort; empty sorts are left out."""
    sorts: dict[str, list[AbstractStep]] = {
        "grant": [],
        "make": [],
        "ask": [],
        "follow": [],
        "vary": [*actions.varied],
        "sign": [*actions.signatures],
        "aside": [*actions.asides],
        "wait": [AbstractStep(step=Advance(), moment=moment) for moment in actions.moments],
    }
    for action in actions.plain:
        call = action.step
        operation = contract.operations[call.operation] if isinstance(call, Call) else None
        if operation is not None and operation.grants:
            sorts["grant"].append(action)
        elif operation is not None and operation.makes:
            sorts["make"].append(action)
        else:
            sorts["follow" if [*action.places] else "ask"].append(action)
    return {sort: members for sort, members in sorts.items() if members}


def _possible(
    sequence: SequenceBuilder, theme: Sorts, actions: Actions
) -> Iterator[Callable[[int], None]]:
    """Yield what is possible at this point of a sequence; each takes the number drawn."""

    def add_customer(pick: int) -> None:
        sequence.add_customer(actions.households[pick % len(actions.households)])

    def repeat(pick: int) -> None:
        repeats = actions.repeats or (1,)
        sequence.repeat_call(repeats[pick % len(repeats)])

    if not sequence.customers:
        yield add_customer
        return
    for sort, members in theme.items():
        if members and (sequence.made or sort not in AFTER):

            def act(pick: int, members: Sequence[AbstractStep] = members) -> None:
                pick, which = divmod(pick, len(members))
                sequence.act(members[which], pick)

            yield act
    if sequence.last_call is not None:
        yield lambda _: sequence.repeat_call()
        yield lambda _: sequence.repeat_control()
        yield repeat
    if sequence.pages:
        yield lambda _: sequence.read_pages()
    if len(sequence.customers) < CUSTOMERS:
        yield add_customer
