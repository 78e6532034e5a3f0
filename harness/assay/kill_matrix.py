"""The kill matrix: runs on faulty sandbox banks, which test the harness itself.

A mutant is the sandbox with one fault: a run on it must find exactly the violations of that
fault. A neutral variant differs only where the source document leaves a point open: a run
on it must find none. An obligation without a mutant counts against the proof, since its
check has never been seen to fail.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass, replace
from functools import cache
from typing import Any

from assay.binding.join import bind
from assay.binding.read import find_target, read_target
from assay.binding.target import Target
from assay.contract.parse import find_contract, parse_contract
from assay.execution.contextual import run_contexts
from assay.execution.environment import set_up
from assay.execution.session import Session, run_session
from assay.journal.redact import Careless
from assay.journal.writer import Journal
from assay.judging.verdict import Standing
from assay.planning.plan import Disposition, Plan, plan
from assay.sandbox.app import make_app
from assay.sandbox.mutants import MUTANTS, NEUTRAL, PIS_MUTANTS, PIS_NEUTRAL, Mutant, Neutral
from assay.sandbox.policies import SOUND, Policies

#: The contracts of the proof, and the shipped target of the sandbox.
CONTRACTS, TARGET = ("aisp", "pis"), "sandbox"

#: The name of the figure that only a whole proof has.
UNPROVED = "obligations without a mutant"


@dataclass(frozen=True, slots=True, kw_only=True)
class MatrixRow:
    """The result of a run on one mutant or neutral variant.

    `expected` are the obligations that the fault violates (none for a neutral variant),
    `violated` those that the run found violated, `unresolved` those that it left
    indeterminate or unverified, `undecidable` those that a neutral variant must leave so.
    """

    id: str
    description: str
    expected: frozenset[str]
    violated: frozenset[str]
    unresolved: frozenset[str]
    neutral: bool
    undecidable: frozenset[str] = frozenset()

    @property
    def as_expected(self) -> bool:
        """Whether the run found exactly the expected violations."""
        settled = not self.neutral or self.unresolved == self.undecidable
        return self.violated == self.expected and settled


@dataclass(frozen=True, slots=True, kw_only=True)
class Matrix:
    """The rows of a proof, and the ids of all obligations that can be tested."""

    rows: tuple[MatrixRow, ...]
    obligations: tuple[str, ...]

    @property
    def unproved(self) -> tuple[str, ...]:
        """The obligations that no mutant was found to violate."""
        killed = {id_ for row in self.rows for id_ in row.violated & row.expected}
        return tuple(id_ for id_ in self.obligations if id_ not in killed)

    @property
    def wrong(self) -> tuple[MatrixRow, ...]:
        """The rows whose result is not the expected one."""
        return tuple(row for row in self.rows if not row.as_expected)

    @property
    def proved(self) -> bool:
        """Whether every row is as expected and every obligation has a mutant."""
        return not self.wrong and not self.unproved


@cache
def reference(contracts: tuple[str, ...] = CONTRACTS) -> tuple[Plan, Target]:
    """Return the plan of the proof in the base context, and its target."""
    target = read_target(find_target(TARGET))
    bound = bind([parse_contract(find_contract(name)) for name in contracts], target)
    return plan(bound, target), target


def variants() -> dict[str, Mutant | Neutral]:
    """Return all mutants and neutral variants, by id."""
    candidates: list[Mutant | Neutral] = [*MUTANTS, *PIS_MUTANTS, *NEUTRAL, *PIS_NEUTRAL]
    return {variant.id: variant for variant in candidates}


def changed_contracts(policies: Policies) -> tuple[str, ...]:
    """Return the contracts whose half of the bank differs from the sound bank.

    The two halves share no policy, so a run on the unchanged half would repeat the run on
    the sound bank, exchange by exchange.
    """
    halves = {
        "aisp": replace(policies, payments=SOUND.payments) != SOUND,
        "pis": policies.payments != SOUND.payments,
    }
    return tuple(name for name in CONTRACTS if halves[name]) or CONTRACTS


def run_on_bank(
    policies: Policies, seed: int = 0, contracts: tuple[str, ...] = CONTRACTS
) -> tuple[frozenset[str], frozenset[str]]:
    """Test a bank by whole contracts; return the violated and the unresolved obligations.

    Raises:
        RuntimeError: the harness itself failed.

    """
    planned, target = reference(contracts)

    def bank(base_url: str) -> Any:
        return make_app(policies, base_url=base_url)

    environment = set_up(target, seed=seed, bank=bank)
    try:
        result = run_session(
            Session(
                plan=planned,
                environment=environment,
                journal=Journal(out=None, redactor=Careless()),
            )
        )
    finally:
        environment.close()
    if result.faults:
        raise RuntimeError("; ".join(result.faults))
    by = {
        standing: frozenset(
            verdict.obligation for verdict in result.verdicts if verdict.standing is standing
        )
        for standing in Standing
    }
    return by[Standing.VIOLATES], by[Standing.INDETERMINATE] | by[Standing.UNVERIFIED]


def run_trials(
    bank: Callable[[str], Any], plan: Plan, target: Target, *, first: bool = False
) -> tuple[int, frozenset[str]]:
    """Run a plan with its contexts; return the number of exchanges and the violated obligations.

    `bank` makes a bank at a base address. With `first`, the first violation ends the run.

    Raises:
        RuntimeError: the harness itself failed.

    """
    environment = set_up(target, bank=bank)
    session = Session(
        plan=plan, environment=environment, journal=Journal(out=None, redactor=Careless())
    )
    try:
        session.open()

        def enough() -> bool:
            return first and bool(session.violated())

        for trial in plan.trials:
            if not enough():
                session.run_trial(trial)
        run_contexts(session, plan.contextual, enough=enough)
    finally:
        environment.close()
    if session.faults:
        raise RuntimeError("; ".join(session.faults))
    return session.exchanges, session.violated()


def _row(id_: str) -> MatrixRow:
    variant = variants()[id_]
    policies = variant.change(SOUND)
    violated, unresolved = run_on_bank(policies, contracts=changed_contracts(policies))
    return MatrixRow(
        id=id_,
        description=variant.says,
        expected=variant.breaks if isinstance(variant, Mutant) else frozenset(),
        violated=violated,
        unresolved=unresolved,
        neutral=isinstance(variant, Neutral),
        undecidable=variant.leaves if isinstance(variant, Neutral) else frozenset(),
    )


def _rows(ids: Sequence[str], workers: int) -> Iterator[MatrixRow]:
    if workers == 1:
        yield from map(_row, ids)
        return
    with ProcessPoolExecutor(workers) as pool:
        yield from pool.map(_row, ids, chunksize=2)


def prove(
    chosen: Callable[[str], bool] = lambda _: True,
    *,
    workers: int | None = None,
    on_row: Callable[[MatrixRow], None] = lambda _: None,
) -> Matrix:
    """Run every chosen mutant and neutral variant; return the matrix.

    `workers` is the number of processes, one per core by default; `on_row` is called with
    each row as soon as it is known.
    """
    planned, _ = reference()
    rows: list[MatrixRow] = []
    ids = [id_ for id_ in variants() if chosen(id_)]
    for row in _rows(ids, workers or os.cpu_count() or 1):
        rows.append(row)
        on_row(row)
    return Matrix(
        rows=tuple(rows),
        obligations=tuple(
            item.obligation.id for item in planned.items if item.disposition is Disposition.ASK
        ),
    )


def count(matrix: Matrix) -> dict[str, int]:
    """Return the figures of a matrix, by their names."""
    mutants = [row for row in matrix.rows if not row.neutral]
    neutral = [row for row in matrix.rows if row.neutral]
    return {
        "obligations": len(matrix.obligations),
        "mutants": len(mutants),
        "mutants found by exactly their own violations": sum(row.as_expected for row in mutants),
        "neutral variants": len(neutral),
        "neutral variants without a violation": sum(row.as_expected for row in neutral),
        UNPROVED: len(matrix.unproved),
    }
