"""Trials in further contexts: the plan's trials again, in the contexts of a covering array.

Whether a trial can be run in a context follows from its steps, which a dry run shows. So the
coverage of a plan is known before anything is sent.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property, partial
from operator import is_

from assay.binding.model.target import Target
from assay.contexts.context import (
    Cell,
    Context,
    CoveredTrial,
    Depth,
    Dimension,
    DimensionValue,
    applicable,
    contexts,
    contextual_name,
    coverage,
    in_context,
)
from assay.contexts.dimensions import dimensions
from assay.history import Call, Lack, Step
from assay.planning.plan import Plan, Price, Trial, calls_in
from assay.rules.consent_probes import probe_of
from assay.rules.dry_run import ConformingTarget, play
from assay.rules.rule import Kind, Scenario

#: Why a trial with a call at another bank is run in the base context alone.
_ANOTHER_BANK = "the trial itself makes calls at another bank"
#: Why a trial of an ambient kind is run there alone, too.
_AMBIENT = "the trials of all clauses show it, too"


@dataclass(frozen=True, slots=True, kw_only=True)
class TrialContexts:
    """The contexts of a trial, the dimensions that they are chosen from, and its steps."""

    trial: Trial
    steps: tuple[Step, ...]
    dimensions: Sequence[Dimension]
    contexts: tuple[Context, ...]


@dataclass(frozen=True, kw_only=True)
class ContextPlan:
    """A plan with its trials in further contexts, and what these cover, by contract.

    What they cover is seldom asked for, and counted then.
    """

    plan: Plan
    dimensions: Mapping[str, Sequence[Dimension]]
    trials: Sequence[TrialContexts]

    @cached_property
    def coverage(self) -> Mapping[str, Mapping[str, tuple[Cell, ...]]]:
        """What the trials cover, by contract and clause."""
        return {
            name: coverage(
                dimensions,
                (
                    CoveredTrial(
                        clause=each.trial.clause,
                        dimensions=each.dimensions,
                        steps=each.steps,
                        contexts=each.contexts,
                    )
                    for each in self.trials
                    if each.trial.contract == name
                ),
            )
            for name, dimensions in self.dimensions.items()
        }

    @cached_property
    def excluded(self) -> Mapping[str, Mapping[str, str]]:
        """Why a trial cannot be run with a value, by the ids of both."""
        return {each.trial.id: _excluded(each.dimensions, each.steps) for each in self.trials}


def with_contexts(plan: Plan, target: Target, depth: Depth) -> ContextPlan:
    """Return a plan with its trials in the contexts of a covering array of this depth."""
    known = plan.contracts.values()
    every = {name: dimensions(each, target, known) for name, each in plan.contracts.items()}
    trials = [_contexts(plan, trial, every[trial.contract], depth) for trial in plan.trials]
    contextual = tuple(
        _trial(plan, each.trial, context) for each in trials for context in each.contexts
    )
    return ContextPlan(plan=replace(plan, contextual=contextual), dimensions=every, trials=trials)


def _contexts(plan: Plan, trial: Trial, every: Sequence[Dimension], depth: Depth) -> TrialContexts:
    target = _target(plan, trial)
    steps = tuple(_played(plan, trial, target))
    trial.price.know(calls_in(steps, target))
    kind = _kind(plan, trial)
    unaffected = _unaffected(kind, trial.scenario)
    if kind.ambient:
        unaffected = dict.fromkeys((each.name for each in every), _AMBIENT)
    elif any(
        (isinstance(step, Call) and step.bank is not None) or (isinstance(step, Lack) and step.bank)
        for step in steps
    ):
        unaffected = dict.fromkeys((each.name for each in every), _ANOTHER_BANK)
    suited = _affecting(_suited(every, steps), unaffected)
    # Where every two values meet, those that hide something meet others, too.
    known = kind.hiding if depth is Depth.EACH else ()
    hiding = {dimension for scenario, dimension in known if scenario in {"", trial.scenario.id}}
    apart = applicable((each for each in suited if each.name in hiding), steps)
    together = applicable((each for each in suited if each.name not in hiding), steps)
    return TrialContexts(
        trial=trial,
        steps=steps,
        dimensions=suited,
        contexts=(
            *contexts(together, depth),
            *((value,) for values in apart for value in values),
        ),
    )


def _excluded(every: Sequence[Dimension], steps: Sequence[Step]) -> Mapping[str, str]:
    """Return why a trial with these steps cannot be run with a value, for each such value."""
    values = [value for dimension in every for value in dimension.values]
    return {value.id: why for value in values if (why := value.reason(steps))}


def _kind(plan: Plan, trial: Trial) -> Kind:
    return plan.clauses[trial.contract][trial.clause].kind


def _unaffected(kind: Kind, scenario: Scenario) -> Mapping[str, str]:
    """Return what cannot matter to a clause in a scenario, each with why."""
    bare = {"arguments": "a call with an optional argument need not be served"}
    alike = {} if kind.of_each_bank else {"bank": "the banks of a group differ in other things"}
    written = {} if kind.respells else {"spelling": "the clause is not about what a key opens"}
    return {**alike, **written, **kind.unaffected_in(scenario), **(bare if kind.bare_calls else {})}


def _suited(every: Sequence[Dimension], steps: Sequence[Step]) -> list[Dimension]:
    """Return the dimensions with their values as they apply to a trial with these steps."""
    return [_with(each, [value.suit(value, steps) for value in each.values]) for each in every]


def _affecting(every: Sequence[Dimension], unaffected: Mapping[str, str]) -> Sequence[Dimension]:
    """Return the dimensions with a reason at each value that cannot matter to a clause."""
    if not unaffected:
        return every
    return [_with(each, [_excused(value, unaffected) for value in each.values]) for each in every]


def _with(dimension: Dimension, values: Sequence[DimensionValue]) -> Dimension:
    """Return a dimension with other values; the same one if they are the same."""
    if all(map(is_, values, dimension.values)):
        return dimension
    return replace(dimension, values=tuple(values))


def _excused(value: DimensionValue, unaffected: Mapping[str, str]) -> DimensionValue:
    why = next(filter(None, map(unaffected.get, _named(value))), None)
    return replace(value, reason=partial(_because, why)) if why else value


def _named(value: DimensionValue) -> tuple[str, ...]:
    """Return by which names a clause can say that a value cannot matter to it."""
    implied = value.implies.partition("=")[0]
    return value.dimension, value.id, implied, value.implies


def _because(why: str, _steps: Sequence[Step]) -> str:
    return why


def _target(plan: Plan, trial: Trial) -> ConformingTarget:
    return ConformingTarget(
        contract=plan.contracts[trial.contract],
        accepts_variation=_kind(plan, trial).accepts_variation(trial.scenario),
        submitted=plan.submitted,
    )


def _played(plan: Plan, trial: Trial, target: ConformingTarget) -> Iterator[Step]:
    probe = probe_of(_kind(plan, trial), trial.scenario)
    yield from play(in_context(probe, trial.context) if trial.context else probe, target)


def _trial(plan: Plan, trial: Trial, context: Context) -> Trial:
    """Return a trial in a context; its price is seldom asked for, and a dry run each."""
    named = replace(
        trial, id=contextual_name(trial.id, (value.id for value in context)), context=context
    )
    return replace(named, price=Price(lambda: _cost(plan, named)))


def _cost(plan: Plan, trial: Trial) -> int:
    target = _target(plan, trial)
    return calls_in(tuple(_played(plan, trial, target)), target)
