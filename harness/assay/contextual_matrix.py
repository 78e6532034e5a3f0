"""The contextual matrix: runs on banks whose fault shows in one situation only.

Each mutant of the kill matrix is confined to each situation in which its clause is tested: to
instant payments, to the weekend, to the second host. A run in all contexts must find it by the
clause of the mutant. The share that is found measures what the contexts reach. Where even the
whole fault shows nothing in that situation (a screen has no alias), the pair is no mutant.
"""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass, replace
from functools import cache
from hashlib import sha256
from typing import Any

from assay.binding.target import Target
from assay.contexts.context import DimensionValue
from assay.contexts.covering import Depth
from assay.execution import contextual
from assay.execution.environment import set_up
from assay.execution.session import Session, run_session
from assay.journal.redact import Careless
from assay.journal.writer import Journal
from assay.kill_matrix import reference, variants
from assay.planning.contextual import ContextPlan, with_contexts
from assay.planning.plan import Plan, restrict
from assay.sandbox.mutants import Mutant
from assay.sandbox.mutants.contextual import SITUATIONS, make_contextual_app
from assay.sandbox.policies import SOUND

#: The share of contextual mutants that must be found.
GOAL = 0.98


@dataclass(frozen=True, slots=True, kw_only=True)
class ContextualRow:
    """The result of a run on a mutant that is confined to a situation.

    `shows` says whether the whole fault is found where only this situation is tested.
    """

    mutant: str
    situation: str
    found: bool
    shows: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class ContextualMatrix:
    """The rows of a proof; those whose fault does not show in their situation do not count."""

    rows: tuple[ContextualRow, ...]

    @property
    def counted(self) -> tuple[ContextualRow, ...]:
        """The rows that are mutants: the fault shows in the situation."""
        return tuple(row for row in self.rows if row.found or row.shows)

    @property
    def missed(self) -> tuple[ContextualRow, ...]:
        """The mutants that no run found."""
        return tuple(row for row in self.counted if not row.found)

    def by_dimension(self) -> Mapping[str, tuple[int, int]]:
        """Return for each dimension how many mutants were found, of how many."""
        every = Counter(row.situation.partition("=")[0] for row in self.counted)
        found = Counter(row.situation.partition("=")[0] for row in self.counted if row.found)
        return {name: (found[name], every[name]) for name in sorted(every)}


@cache
def _planned() -> tuple[ContextPlan, Target]:
    plan, target = reference()
    return with_contexts(plan, target, Depth.EACH), target


@cache
def _values() -> Mapping[tuple[str, str], DimensionValue]:
    planned, _ = _planned()
    return {
        (contract, value.id): value
        for contract, dimensions in planned.dimensions.items()
        for dimension in dimensions
        for value in dimension.values
    }


def pairs() -> list[tuple[str, str]]:
    """Return each mutant with each situation in which its clause is tested.

    Their order is that of a digest, so any first part of them is a fair sample.
    """
    planned, _ = _planned()
    every = [
        (name, situation)
        for name, mutant in variants().items()
        if isinstance(mutant, Mutant)
        for situation in SITUATIONS
        if any(
            f"{cell.dimension}={cell.value}" == situation and cell.trials
            for contract, clause in _clauses(mutant)
            for cell in planned.coverage[contract].get(clause, ())
        )
    ]
    return sorted(every, key=lambda pair: sha256(repr(pair).encode()).digest())


def _clauses(mutant: Mutant) -> frozenset[tuple[str, str]]:
    plan, _ = reference()
    return frozenset(
        (item.obligation.contract, item.obligation.clause)
        for item in plan.items
        if item.obligation.id in mutant.breaks
    )


def _row(pair: tuple[str, str]) -> ContextualRow:
    name, situation = pair
    mutant = variants()[name]
    if not isinstance(mutant, Mutant):
        raise TypeError(f"{name} is no mutant")
    planned, _ = _planned()
    clauses = _clauses(mutant)
    plan = restrict(
        planned.plan,
        [
            item.obligation.id
            for item in planned.plan.items
            if (item.obligation.contract, item.obligation.clause) in clauses
        ],
    )
    if _finds(plan, mutant, situation):
        return ContextualRow(mutant=name, situation=situation, found=True, shows=True)
    alone = tuple(
        contextual.in_context(trial, (_values()[trial.contract, situation],))
        for trial in plan.contextual
        if any(value.id == situation for value in trial.context)
    )
    shows = _finds(replace(plan, trials=(), contextual=alone), mutant, situation)
    return ContextualRow(mutant=name, situation=situation, found=False, shows=shows)


def _finds(plan: Plan, mutant: Mutant, situation: str) -> bool:
    """Whether a plan finds a mutant that is confined to a situation."""
    _, target = _planned()
    wrong = mutant.change(SOUND)

    def bank(base_url: str) -> Any:
        return make_contextual_app(wrong, SOUND, situation, base_url=base_url)

    environment = set_up(target, bank=bank)
    session = Session(
        plan=plan, environment=environment, journal=Journal(out=None, redactor=Careless())
    )
    try:
        if plan.trials:
            run_session(session)
        else:
            session.open()
            for trial in plan.contextual:
                session.run_contextual(trial)
    finally:
        environment.close()
    if session.faults:
        raise RuntimeError("; ".join(session.faults))
    return bool(session.violated())


def _rows(chosen: Sequence[tuple[str, str]], workers: int) -> Iterator[ContextualRow]:
    if workers == 1:
        yield from map(_row, chosen)
        return
    with ProcessPoolExecutor(workers) as pool:
        yield from pool.map(_row, chosen, chunksize=2)


def prove_contexts(
    most: int | None = None,
    chosen: Callable[[str], bool] = lambda _: True,
    *,
    workers: int | None = None,
    on_row: Callable[[ContextualRow], None] = lambda _: None,
) -> ContextualMatrix:
    """Run contextual mutants, all of them or a sample of `most`; return the matrix.

    `chosen` selects by the id of the mutant and the situation, as "quota.all mode=instant".
    """
    rows: list[ContextualRow] = []
    selected = [pair for pair in pairs() if chosen(" ".join(pair))][:most]
    for row in _rows(selected, workers or os.cpu_count() or 1):
        rows.append(row)
        on_row(row)
    return ContextualMatrix(rows=tuple(rows))
