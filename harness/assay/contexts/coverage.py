"""Coverage of contexts: which clause is tested with which value of which dimension."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from assay.contexts.context import Context, Dimension
from assay.history import Step


@dataclass(frozen=True, slots=True, kw_only=True)
class Cell:
    """A clause with a value of a dimension.

    `trials` is the number of trials that are run with the value; if there is none,
    `reason` says why. `possible` is False where the target lacks something for it.
    """

    clause: str
    dimension: str
    value: str
    trials: int
    reason: str = ""
    possible: bool = True


@dataclass(frozen=True, slots=True, kw_only=True)
class CoveredTrial:
    """The steps of one trial of a clause in the base context, and its other contexts.

    `dimensions` are those of the contract, with the reasons of this clause.
    """

    clause: str
    dimensions: Sequence[Dimension]
    steps: Sequence[Step]
    contexts: Sequence[Context]


def coverage(
    dimensions: Sequence[Dimension], trials: Iterable[CoveredTrial]
) -> Mapping[str, tuple[Cell, ...]]:
    """Return for each clause a cell for each value of each dimension."""
    by_clause: dict[str, list[CoveredTrial]] = {}
    for trial in trials:
        by_clause.setdefault(trial.clause, []).append(trial)
    return {
        clause: tuple(_cells(clause, dimensions, trials)) for clause, trials in by_clause.items()
    }


def _cells(
    clause: str, dimensions: Sequence[Dimension], trials: Sequence[CoveredTrial]
) -> Iterable[Cell]:
    asked = Counter(value.id for trial in trials for context in trial.contexts for value in context)
    for number, dimension in enumerate(dimensions):
        for place, value in enumerate(dimension.values):
            reasons = [
                trial.dimensions[number].values[place].reason(trial.steps) for trial in trials
            ]
            # The most frequent reason speaks for a clause with several trials.
            why = Counter(reason for reason in reasons if reason).most_common(1)
            yield Cell(
                clause=clause,
                dimension=dimension.name,
                value=value.name,
                trials=asked[value.id],
                reason="" if asked[value.id] else why[0][0] if why else "not requested",
            )
        for name, missing in dimension.unavailable:
            yield Cell(
                clause=clause,
                dimension=dimension.name,
                value=name,
                trials=0,
                reason=f"needs {missing}",
                possible=False,
            )
