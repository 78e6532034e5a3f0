"""The proof of what banks decide: each answer to an open point is kept by one bank and broken by another.

The rows are those of a kill matrix. A bank that keeps its answer is a neutral row, whose obligations
must conform; one that breaks it is a mutant, which must violate exactly what follows from the answer.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import cache

from assay.binding.model.target import Decided, Target
from assay.planning.plan import Plan
from assay.proof.kill_matrix import MatrixRow, planned_with, processes, run_on_bank, variants
from assay.sandbox.mutants.decisions import QUESTIONS, Question
from assay.sandbox.policies import SOUND

#: Of the trials that an answer does not concern, one in this number is run as well.
SAMPLED = 12


@dataclass(frozen=True, slots=True, kw_only=True)
class BankWithAnswer:
    """An answer, and whether the bank of this row keeps it; `variant` is "" for the sandbox."""

    question: Question
    answer: str
    variant: str
    keeps: bool

    @property
    def id(self) -> str:
        """The contract, the point, the answer, and what the bank does."""
        asked = f"{self.question.contract}/{self.question.point}"
        return f"{asked}={self.answer} {'kept' if self.keeps else 'broken'}"


def decisions() -> Iterator[BankWithAnswer]:
    """Yield each answer with the bank that keeps it and the one that breaks it."""
    for question in QUESTIONS:
        for answer, does in ((question.done, ""), (question.other, question.variant)):
            for variant in ("", question.variant) if answer else ():
                keeps = variant == does
                yield BankWithAnswer(question=question, answer=answer, variant=variant, keeps=keeps)


@cache
def _planned(contract: str, point: str, answer: str) -> tuple[Plan, Target]:
    answers = {f"{contract}/{point}": Decided(value=(answer,), source="the proof")}
    return planned_with((contract,), answers)


def row_of(decision: BankWithAnswer) -> MatrixRow:
    """Run the trials that an answer concerns, and some others, at the bank of a row."""
    question = decision.question
    planned, target = _planned(question.contract, question.point, decision.answer)
    own = frozenset(
        item.obligation.id
        for item in planned.items
        if item.obligation.decision
        and item.obligation.decision.point == question.point
        and item.obligation.scenario
    )
    settling = {trial.id for trial in planned.trials if {each.id for each in trial.settles} & own}
    others = [trial.id for trial in planned.trials if trial.id not in settling]
    trials = settling | {*others[len(decision.id) % SAMPLED :: SAMPLED]}
    change = variants()[decision.variant].change if decision.variant else None
    tested = run_on_bank(
        change(SOUND) if change else SOUND, trials=trials, planned_for=(planned, target)
    )
    leaves = getattr(variants()[decision.variant], "leaves", frozenset[str]()) if change else ()
    return MatrixRow(
        id=decision.id,
        description=question.variant or "the sandbox",
        expected=frozenset() if decision.keeps else own,
        violated=tested.violated,
        elsewhere=tested.elsewhere - own,
        unresolved=tested.unresolved - {*leaves},
        neutral=decision.keeps,
        undecidable=frozenset(),
        trials=len(trials),
        planned=len(planned.trials),
    )


def prove_decisions(
    chosen: Callable[[str], bool] = lambda _: True,
    *,
    workers: int | None = 1,
    on_row: Callable[[MatrixRow], None] = lambda _: None,
) -> tuple[MatrixRow, ...]:
    """Return the row of each answer at each of its banks."""
    rows: list[MatrixRow] = []
    asked = [each for each in decisions() if chosen(each.id)]
    if workers == 1:
        for each in asked:
            rows.append(row_of(each))
            on_row(rows[-1])
        return tuple(rows)
    with processes(workers or os.cpu_count() or 1) as pool:
        for row in pool.map(row_of, asked):
            rows.append(row)
            on_row(row)
    return tuple(rows)
