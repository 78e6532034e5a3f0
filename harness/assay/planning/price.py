"""Price of a trial: how many calls it takes, as a dry run shows.

The submission of a request is a call that no probe asks for; only the target file says that there
is one.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable

from assay.binding.target import Target
from assay.history import Authorise, Call, Step
from assay.rules.consent_probes import probe_of
from assay.rules.dry_run import ConformingTarget, play
from assay.rules.rule import Kind, Scenario

__all__ = ["FREE", "Price", "calls_in", "count_calls", "submitting"]


class Price:
    """How many calls a trial takes, counted by a dry run when it is first asked for."""

    __slots__ = ("_calls", "_count")

    def __init__(self, count: Callable[[], int]) -> None:
        self._count: Callable[[], int] | None = count
        self._calls = 0

    @property
    def calls(self) -> int:
        """The number of calls."""
        if self._count is not None:
            self.know(self._count())
        return self._calls

    def know(self, calls: int) -> None:
        """Keep the number of calls where a dry run has shown it already."""
        self._calls, self._count = calls, None


#: The price of what is not tested.
FREE = Price(lambda: 0)


def submitting(target: Target) -> frozenset[str]:
    """Return the operations whose requests the TPP submits."""
    return frozenset(name for name, each in target.operations.items() if each.submission)


def count_calls(kind: Kind, scenario: Scenario, submitted: frozenset[str] = frozenset()) -> int:
    """Return how many calls and signatures a dry run takes; the TPP submits requests of `submitted`."""
    accepts = kind.accepts_variation(scenario)
    target = ConformingTarget(
        contract=kind.contract, accepts_variation=accepts, submitted=submitted
    )
    return calls_in(play(probe_of(kind, scenario), target), target)


def calls_in(steps: Iterable[Step], target: ConformingTarget) -> int:
    """Return how many calls and signatures the steps are that were played to a target."""
    return sum(isinstance(step, Call | Authorise) for step in steps) + target.submissions
