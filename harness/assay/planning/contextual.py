"""Trials in further contexts: the plan's trials again, in the contexts of a covering array.

Whether a trial can be held in a context follows from its steps, which a dry run shows. So the
coverage of a plan is known before anything is sent.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial

from assay.binding.target import Target
from assay.contexts.context import Context, Dimension, DimensionValue, in_context
from assay.contexts.coverage import Cell, HeldTrial, coverage
from assay.contexts.covering import Depth, applicable, contexts
from assay.contexts.dimensions import dimensions
from assay.history import Authorise, Call, Step
from assay.planning.plan import Plan, Trial
from assay.rules.dry_run import ConformingTarget, play
from assay.rules.rule import Kind


@dataclass(frozen=True, slots=True, kw_only=True)
class ContextPlan:
    """A plan with its trials in further contexts, and what these cover, by contract.

    `excluded` says for each trial why it cannot be held with a value, by the ids of both.
    """

    plan: Plan
    dimensions: Mapping[str, Sequence[Dimension]]
    coverage: Mapping[str, Mapping[str, tuple[Cell, ...]]]
    excluded: Mapping[str, Mapping[str, str]]


def with_contexts(plan: Plan, target: Target, depth: Depth) -> ContextPlan:
    """Return a plan with its trials in the contexts of a covering array of this depth."""
    every = {name: dimensions(contract, target) for name, contract in plan.contracts.items()}
    held = {trial.id: _steps(plan, trial) for trial in plan.trials}
    found = {
        trial.id: _affecting(
            _suited(every[trial.contract], held[trial.id]), _unaffected(_kind(plan, trial))
        )
        for trial in plan.trials
    }
    rows = {
        trial.id: contexts(applicable(found[trial.id], held[trial.id]), depth)
        for trial in plan.trials
    }
    table = {
        name: coverage(
            every[name],
            (
                HeldTrial(
                    clause=trial.clause,
                    dimensions=found[trial.id],
                    steps=held[trial.id],
                    contexts=rows[trial.id],
                )
                for trial in plan.trials
                if trial.contract == name
            ),
        )
        for name in plan.contracts
    }
    contextual = tuple(
        _trial(plan, trial, context) for trial in plan.trials for context in rows[trial.id]
    )
    return ContextPlan(
        plan=replace(plan, contextual=contextual),
        dimensions=every,
        coverage=table,
        excluded={id_: _excluded(found[id_], steps) for id_, steps in held.items()},
    )


def _excluded(every: Sequence[Dimension], steps: Sequence[Step]) -> Mapping[str, str]:
    """Return why a trial with these steps cannot be held with a value, for each such value."""
    values = [value for dimension in every for value in dimension.values]
    return {value.id: why for value in values if (why := value.reason(steps))}


def _kind(plan: Plan, trial: Trial) -> Kind:
    return plan.clauses[trial.contract][trial.clause].kind


def _unaffected(kind: Kind) -> Mapping[str, str]:
    """Return what cannot matter to a clause, each with why."""
    bare = {"arguments": "a call with an optional argument need not be served"}
    return {**kind.unaffected_by(), **(bare if kind.bare_calls else {})}


def _suited(every: Sequence[Dimension], steps: Sequence[Step]) -> list[Dimension]:
    """Return the dimensions with their values as they apply to a trial with these steps."""
    return [
        replace(each, values=tuple(value.suit(value, steps) for value in each.values))
        for each in every
    ]


def _affecting(every: Sequence[Dimension], unaffected: Mapping[str, str]) -> list[Dimension]:
    """Return the dimensions with a reason at each value that cannot matter to a clause."""
    return [
        replace(
            dimension,
            values=tuple(
                replace(value, reason=partial(_because, why)) if why else value
                for value in dimension.values
                for why in (next(filter(None, map(unaffected.get, _named(value))), None),)
            ),
        )
        for dimension in every
    ]


def _named(value: DimensionValue) -> tuple[str, ...]:
    """Return by which names a clause can say that a value cannot matter to it."""
    implied = value.implies.partition("=")[0]
    return value.dimension, value.id, implied, value.implies


def _because(why: str, _steps: Sequence[Step]) -> str:
    return why


def _steps(plan: Plan, trial: Trial) -> tuple[Step, ...]:
    """Return the steps of a trial at a bank that conforms."""
    return tuple(_dry(plan, trial))


def _dry(plan: Plan, trial: Trial) -> Iterator[Step]:
    kind = _kind(plan, trial)
    target = ConformingTarget(
        contract=plan.contracts[trial.contract],
        accepts_variation=kind.accepts_variation(trial.scenario),
    )
    yield from play(in_context(kind.probe(trial.scenario), trial.context), target)


def _trial(plan: Plan, trial: Trial, context: Context) -> Trial:
    named = replace(
        trial, id=f"{trial.id} [{', '.join(value.id for value in context)}]", context=context
    )
    calls = sum(isinstance(step, Call | Authorise) for step in _dry(plan, named))
    return replace(named, calls=calls)
