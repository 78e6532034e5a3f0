"""Hypothesis as the generator of random tests: sequences by a state machine, and values.

Its shrinking, database and reports are not used: a sequence is shortened by replaying
it (`sequences.shrink`), and stored in a form that outlives changes of a strategy.

A sequence begins with a customer and a theme, a small selection of the actions, and
continues with those that are possible at that point: only existing requests are signed
or changed, only pages that an answer named are requested. Within a theme the same few
actions meet again and again, which is where unforeseen faults are found.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from typing import TypeAlias, TypeVar

from hypothesis import HealthCheck, Phase, Verbosity, given, settings
from hypothesis import seed as seeded
from hypothesis.errors import Flaky
from hypothesis.stateful import (
    RuleBasedStateMachine,
    initialize,
    invariant,
    rule,
    run_state_machine_as_test,
)
from hypothesis.strategies import SearchStrategy, fixed_dictionaries, integers, lists, sampled_from

from assay.contract.model import Contract
from assay.fuzzing.sequences.abstract_step import AbstractStep
from assay.fuzzing.sequences.actions import Actions
from assay.fuzzing.sequences.sequence import SequenceBuilder
from assay.history import Advance, Call

V = TypeVar("V")

#: Slow or rejected examples are properties of the target, not faults of a strategy.
NO_HEALTH = (
    HealthCheck.too_slow,
    HealthCheck.data_too_large,
    HealthCheck.filter_too_much,
    HealthCheck.large_base_example,
)
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


class ExplorationEnded(BaseException):
    """Ends an exploration. Not an `Exception`, so that nothing handles it and continues."""


def explore_machine(
    machine: Machine, *, examples: int, steps: int, seed: tuple[object, ...]
) -> None:
    """Generate and run sequences of at most this many steps; reproducible by seed.

    Reproducible means: by the same command on the same installation. Hypothesis also
    tries constants of the modules that are imported.

    Raises:
        ExplorationEnded: the target's side of the sequence ends the search.

    """
    # A target that is not deterministic does not end the search: the next round
    # generates other sequences.
    with suppress(Flaky):
        run_state_machine_as_test(
            seeded(repr(seed))(machine),
            settings=settings(_settings(examples), stateful_step_count=steps),
        )


def explore_values(
    strategy: SearchStrategy[V],
    act: Callable[[V], None],
    *,
    examples: int,
    seed: tuple[object, ...],
) -> None:
    """Draw values and act on each; reproducible by seed, as above.

    Raises:
        ExplorationEnded: acting on a value ends the search.

    """

    @seeded(repr(seed))
    @_settings(examples)
    @given(strategy)
    def explored(value: V) -> None:
        act(value)

    with suppress(Flaky):
        explored()


def _settings(examples: int) -> settings:
    return settings(
        max_examples=examples,
        phases=[Phase.generate],
        database=None,
        deadline=None,
        derandomize=False,
        report_multiple_bugs=False,
        suppress_health_check=NO_HEALTH,
        verbosity=Verbosity.quiet,
    )


# -- sequences -------------------------------------------------------------------
def sequence_machine(
    actions: Actions, contract: Contract, begin: Callable[[], SequenceBuilder]
) -> Machine:
    """Return the state machine that generates sequences of actions.

    `begin` opens a fixture for the next sequence.
    """
    sorts = _sorts(actions, contract)

    class SequenceMachine(RuleBasedStateMachine):
        """One sequence through the contract."""

        def __init__(self) -> None:
            super().__init__()
            self.sequence = begin()
            self.theme: Theme = {}

        @initialize(household=sampled_from(actions.households), theme=_themes(sorts))
        def arrive(self, household: AbstractStep, theme: Theme) -> None:
            """Begin with a customer."""
            self.theme = theme
            self.sequence.add_customer(household)

        @rule(pick=PICKS)
        def go_on(self, pick: int) -> None:
            """Do one of the things that are possible now."""
            possible = [*_possible(self.sequence, self.theme, actions)]
            if possible:
                pick, which = divmod(pick, len(possible))
                possible[which](pick)

        @invariant()
        def judged(self) -> None:
            """Judge what has happened by every check."""
            self.sequence.judge()

        def teardown(self) -> None:
            """Judge the whole sequence, and close its fixture."""
            self.sequence.end()

    return SequenceMachine


def _themes(sorts: Theme) -> SearchStrategy[Theme]:
    return fixed_dictionaries(
        {
            sort: lists(sampled_from(actions), min_size=sort in NEEDED, max_size=THEME)
            for sort, actions in sorts.items()
        }
    )


def _sorts(actions: Actions, contract: Contract) -> Theme:
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
    sequence: SequenceBuilder, theme: Theme, actions: Actions
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
