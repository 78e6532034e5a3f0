"""Hypothesis as the generator of random tests, stopped once enough has been seen.

Its shrinking, database and reports are not used: a sequence is shortened by replaying
it (`sequences.shrink`), and stored in a form that outlives changes of a strategy.
"""

from __future__ import annotations

from collections.abc import Callable
from contextlib import suppress
from typing import TypeVar

from hypothesis import HealthCheck, Phase, Verbosity, given, settings
from hypothesis import seed as seeded
from hypothesis.errors import Flaky
from hypothesis.stateful import run_state_machine_as_test
from hypothesis.strategies import SearchStrategy

from assay.fuzzing.sequences.machine import Machine

V = TypeVar("V")

#: Slow or rejected examples are properties of the target, not faults of a strategy.
NO_HEALTH = (
    HealthCheck.too_slow,
    HealthCheck.data_too_large,
    HealthCheck.filter_too_much,
    HealthCheck.large_base_example,
)


class ExplorationEnded(BaseException):
    """Ends an exploration. Not an `Exception`, so that nothing handles it and continues."""


def explore_machine(
    machine: Machine, *, examples: int, steps: int, seed: tuple[object, ...]
) -> None:
    """Make so many journeys of so many steps; the same seed makes the same ones.

    That holds for one command on one installation: Hypothesis also tries constants that it
    finds in the modules of whoever uses it.

    Raises:
        Ended: somebody on the other side of the journey has seen enough.

    """
    kept = settings(_kept(examples), stateful_step_count=steps)
    # A target that is not deterministic does not end the search: the next round
    # generates other sequences.
    with suppress(Flaky):
        run_state_machine_as_test(seeded(repr(seed))(machine), settings=kept)


def explore_values(
    strategy: SearchStrategy[V],
    act: Callable[[V], None],
    *,
    examples: int,
    seed: tuple[object, ...],
) -> None:
    """Draw so many values and act on each; the same seed draws the same ones, as above.

    Raises:
        Ended: acting on one has shown enough.

    """

    @seeded(repr(seed))
    @_kept(examples)
    @given(strategy)
    def explored(value: V) -> None:
        act(value)

    with suppress(Flaky):
        explored()


def _kept(examples: int) -> settings:
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
