"""The kill matrix: breaking the bank on purpose, to test the harness.

Each mutant is the sandbox with one fault; a whole run against it must turn the
obligations that it breaks red, and no other. Neutral variants differ where the
document is silent and must stay green. A facet that no mutant breaks is a check
that has never been seen to fail, and counts against the proof.
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
from assay.execution.environment import set_up
from assay.execution.session import Session, run_session
from assay.journal.redact import Careless
from assay.journal.writer import Journal
from assay.judging.verdict import Standing
from assay.planning.plan import Disposition, Plan, plan
from assay.sandbox.app import make_app
from assay.sandbox.mutants import MUTANTS, NEUTRAL, PIS_MUTANTS, PIS_NEUTRAL, Mutant, Neutral
from assay.sandbox.policies import SOUND, Policies

#: The contracts that are proved, and the target file that spells the sandbox.
CONTRACTS, TARGET = ("aisp", "pis"), "sandbox"


@dataclass(frozen=True, slots=True, kw_only=True)
class MatrixRow:
    """What became of one mutant, or of one neutral variant (which breaks nothing).

    `open` are obligations left without an answer, which a neutral variant must
    not cause.
    """

    id: str
    says: str
    breaks: frozenset[str]
    red: frozenset[str]
    open: frozenset[str]
    neutral: bool

    @property
    def sound(self) -> bool:
        """Whether exactly what should turn red did."""
        return self.red == self.breaks and not (self.neutral and self.open)


@dataclass(frozen=True, slots=True, kw_only=True)
class Matrix:
    """All rows, and the obligations that no mutant breaks."""

    rows: tuple[MatrixRow, ...]
    obligations: tuple[str, ...]

    @property
    def unproved(self) -> tuple[str, ...]:
        """Return the obligations that no mutant has been seen to turn red."""
        killed = {one for row in self.rows for one in row.red & row.breaks}
        return tuple(one for one in self.obligations if one not in killed)

    @property
    def wrong(self) -> tuple[MatrixRow, ...]:
        """Return the rows that are not as they should be."""
        return tuple(row for row in self.rows if not row.sound)

    @property
    def proved(self) -> bool:
        """Whether every mutant was caught by its own facets, and no variant was."""
        return not self.wrong and not self.unproved


@cache
def _reference(contracts: tuple[str, ...] = CONTRACTS) -> tuple[Plan, Target]:
    target = read_target(find_target(TARGET))
    bound = bind([parse_contract(find_contract(name)) for name in contracts], target)
    return plan(bound, target), target


def _variants() -> dict[str, Mutant | Neutral]:
    every: list[Mutant | Neutral] = [*MUTANTS, *PIS_MUTANTS, *NEUTRAL, *PIS_NEUTRAL]
    return {one.id: one for one in every}


def touched(policies: Policies) -> tuple[str, ...]:
    """Return the contracts whose half of the bank differs from the sound one's.

    The halves share no policy: what the sound bank does with the other half it does
    again, exchange by exchange, and asking it once more would tell nothing.
    """
    halves = {
        "aisp": replace(policies, payments=SOUND.payments) != SOUND,
        "pis": policies.payments != SOUND.payments,
    }
    return tuple(name for name in CONTRACTS if halves[name]) or CONTRACTS


def try_bank(
    policies: Policies, seed: int = 0, contracts: tuple[str, ...] = CONTRACTS
) -> tuple[frozenset[str], frozenset[str]]:
    """Ask everything that contracts ask of a bank; return what is red, and what stayed open.

    Raises:
        RuntimeError: the harness itself failed, which proves nothing.

    """
    reference, target = _reference(contracts)

    def bank(base_url: str) -> Any:
        return make_app(policies, base_url=base_url)

    environment = set_up(target, seed=seed, bank=bank)
    try:
        result = run_session(
            Session(
                plan=reference,
                environment=environment,
                journal=Journal(out=None, redactor=Careless()),
            )
        )
    finally:
        environment.close()
    if result.faults:
        raise RuntimeError("; ".join(result.faults))
    by = {
        standing: frozenset(one.obligation for one in result.verdicts if one.standing is standing)
        for standing in Standing
    }
    return by[Standing.VIOLATES], by[Standing.INDETERMINATE] | by[Standing.UNVERIFIED]


def _row(id_: str) -> MatrixRow:
    variant = _variants()[id_]
    policies = variant.change(SOUND)
    red, open_ = try_bank(policies, contracts=touched(policies))
    breaks = variant.breaks if isinstance(variant, Mutant) else frozenset[str]()
    return MatrixRow(
        id=id_,
        says=variant.says,
        breaks=breaks,
        red=red,
        open=open_,
        neutral=isinstance(variant, Neutral),
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
    """Run every chosen mutant and neutral variant, and return the matrix."""
    reference, _ = _reference()
    rows: list[MatrixRow] = []
    ids = [id_ for id_ in _variants() if chosen(id_)]
    for row in _rows(ids, workers or os.cpu_count() or 1):
        rows.append(row)
        on_row(row)
    return Matrix(
        rows=tuple(rows),
        obligations=tuple(
            one.obligation.id for one in reference.items if one.fate is Disposition.ASK
        ),
    )


def count(matrix: Matrix) -> dict[str, int]:
    """Return the figures of a matrix, by name."""
    mutants = [row for row in matrix.rows if not row.neutral]
    neutral = [row for row in matrix.rows if row.neutral]
    return {
        "obligations": len(matrix.obligations),
        "mutants": len(mutants),
        "caught by their own facets alone": sum(row.sound for row in mutants),
        "neutral variants": len(neutral),
        "left all green": sum(row.sound for row in neutral),
        "obligations without a mutant": len(matrix.unproved),
    }
