"""Neutral variants in all contexts: banks that only look different must stay green there.

Several variants are put into one bank, which takes the time of one run. Where such a bank turns
red, its variants are run in smaller groups until those are left that it takes.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import cache
from typing import Any

from assay.binding.model.target import Target
from assay.contexts.context import Depth
from assay.planning.contextual import with_contexts
from assay.planning.plan import Plan
from assay.proof.kill_matrix import bank_of, processes, reference, session_on, variants
from assay.running.session import run_trials as perform_trials
from assay.sandbox.mutants import Neutral
from assay.sandbox.mutants.bundles import blamed, bundles, together
from assay.sandbox.policies import Policies


@dataclass(frozen=True, slots=True, kw_only=True)
class NeutralRow:
    """The result of a run on a bank with neutral variants.

    `violated` are the obligations found violated, and `blamed` the variants that it takes.
    """

    variants: tuple[str, ...]
    exchanges: int
    violated: frozenset[str]
    blamed: tuple[str, ...] = ()


@cache
def planned(depth: Depth) -> tuple[Plan, Target]:
    """Return the plan of the proof in contexts of a depth, and its target."""
    plan, target = reference()
    return with_contexts(plan, target, depth).plan, target


def run_trials(
    bank: Callable[[str], Any], plan: Plan, target: Target, *, first: bool = False
) -> tuple[int, frozenset[str]]:
    """Run a plan with its contexts; return the number of exchanges and the violated obligations.

    `bank` makes a bank at a base address. With `first`, the first violation ends the run.

    Raises:
        RuntimeError: the harness itself failed.

    """
    with session_on(bank, plan, target) as session:
        session.open()
        perform_trials(session, enough=lambda: first and bool(session.violated()))
    return session.exchanges, session.violated()


def run_in_contexts(policies: Policies, plan: Plan) -> tuple[int, frozenset[str]]:
    """Run a plan on a bank; return the number of exchanges and the violated obligations.

    Raises:
        RuntimeError: the harness itself failed.

    """
    _, target = reference()
    return run_trials(bank_of(policies), plan, target)


def _row(work: tuple[tuple[str, ...], Depth]) -> NeutralRow:
    names, depth = work
    known = variants()
    bundle = tuple(known[name] for name in names)
    neutral = tuple(each for each in bundle if isinstance(each, Neutral))
    plan, _ = planned(depth)
    exchanges, violated = run_in_contexts(together(neutral), plan)
    guilty: tuple[str, ...] = ()
    if violated:
        guilty = blamed(neutral, lambda policies: bool(run_in_contexts(policies, plan)[1]))
    return NeutralRow(variants=names, exchanges=exchanges, violated=violated, blamed=guilty)


def _rows(work: Sequence[tuple[tuple[str, ...], Depth]], workers: int) -> Iterator[NeutralRow]:
    if workers == 1:
        yield from map(_row, work)
        return
    with processes(workers) as pool:
        yield from pool.map(_row, work)


def prove_neutral(
    chosen: Callable[[str], bool] = lambda _: True,
    *,
    depth: Depth = Depth.EACH,
    workers: int | None = None,
    on_row: Callable[[NeutralRow], None] = lambda _: None,
) -> tuple[NeutralRow, ...]:
    """Run all chosen neutral variants in all contexts, several in one bank."""
    names = (tuple(each.id for each in bundle if chosen(each.id)) for bundle in bundles())
    work = [(bundle, depth) for bundle in names if bundle]
    rows: list[NeutralRow] = []
    for row in _rows(work, workers or os.cpu_count() or 1):
        rows.append(row)
        on_row(row)
    return tuple(rows)
