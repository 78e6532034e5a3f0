"""The contextual matrix: runs on banks whose fault shows in one situation only.

Each mutant of the kill matrix is confined to each situation in which its clause is tested: to
instant payments, to the weekend, to the second host, or to the time after something happened: a
second consent, a cancellation, a week. A run in all contexts, and the lives after it, must find it by
the clause of the mutant. The share that is found measures what they reach. A fault that
cannot be found in a situation is excluded, with the reason: the trials of its facets are not
run there, no request at which it acts is in the situation, or the rule says nothing there.
"""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from enum import Enum
from fnmatch import fnmatchcase
from functools import cache
from hashlib import sha256
from typing import Any, TypeAlias

from assay.binding.model.target import Target
from assay.contexts.context import STRENGTH, Depth
from assay.contexts.past import LIVED
from assay.fuzzing.limits import SearchLimits
from assay.fuzzing.lives import run_lives
from assay.fuzzing.search import Search
from assay.planning.contextual import ContextPlan, with_contexts
from assay.planning.plan import Plan, Trial, restrict
from assay.proof.contextual_neutral import run_trials
from assay.proof.kill_matrix import bank_of, processes, reference, session_on, variants
from assay.running import contextual
from assay.sandbox.mutants import Mutant
from assay.sandbox.mutants.contextual import ORDERS, SITUATIONS, make_contextual_app
from assay.sandbox.policies import SOUND

#: The share of contextual mutants that must be found.
GOAL = 0.98
#: Why a fault is excluded that acts only outside its situation, though the trial shows it whole.
ELSEWHERE = "no request at which the fault acts is in the situation"

_OF_ACCOUNTS = "the fault is about balances and entries of accounts"
_NEED_NOT_BE_SERVED = "a call with an optional argument need not be served"
_FOR_ITS_NUMBER = "a call without the customer may be refused for its number"

#: The situations in which a bank is wrong from some event on.
_AFTER = frozenset(name for named in ORDERS.values() for name in named)

#: Why a rule says nothing of a fault in a situation, by patterns of both.
SILENT: Mapping[tuple[str, str], str] = {
    ("*token.*", "after=*"): "a request without a valid token does not say which customer it is of",
    ("pis.execution.*", "amount=*"): "a bank may limit the amounts that it executes",
    ("pis.sca.*", "amount=*"): "a bank may limit the amounts that it executes",
    ("paging.*", "presence=absent"): "a page without the customer may be refused for its number",
    ("consent.balance-*", "item=card"): _OF_ACCOUNTS,
    ("consent.transaction-*", "item=card"): _OF_ACCOUNTS,
    ("credentials.open-*", "item=card"): _OF_ACCOUNTS,
    ("consent.*-never", "presence=absent"): _FOR_ITS_NUMBER,
    ("consent.*-all-or-nothing", "presence=absent"): _FOR_ITS_NUMBER,
    ("consent.*-never", "arguments=*"): _NEED_NOT_BE_SERVED,
    ("consent.*-all-or-nothing", "arguments=*"): _NEED_NOT_BE_SERVED,
    ("effect.clears", "presence=absent"): _FOR_ITS_NUMBER,
    ("effect.first-alone", "presence=absent"): _FOR_ITS_NUMBER,
    ("effect.former-stays", "presence=absent"): _FOR_ITS_NUMBER,
    ("pis.segments.PART-refused", "segment=PRO"): "the fault is about another segment",
    ("pis.factors.soft-token-*", "segment=PRO"): "the segment does not have the factor",
    ("pis.cash.*", "segment=PRO"): "the segment does not have the factor of the control",
    ("pis.segments.PART-refused", "factor=*"): "the fault acts before anybody signs",
    ("pis.segments.PART-refused", "pause=*"): "the fault acts before anybody signs",
    ("pis.execution.*-without-*", "factor=*"): "the fault acts before anybody signs",
    ("pis.execution.*-without-*", "pause=*"): "the fault acts before anybody signs",
    ("pis.debtor.unknown-is-the-first", "factor=*"): "the fault acts before anybody signs",
    ("pis.debtor.unknown-is-the-first", "pause=*"): "the fault acts before anybody signs",
}

#: Makes a bank at a base address.
_Bank: TypeAlias = Callable[[str], Any]


class Outcome(Enum):
    """The three outcomes of a run on a contextual mutant; the value is the word printed."""

    FOUND = "found"
    MISSED = "MISSED"
    EXCLUDED = "excluded"


@dataclass(frozen=True, slots=True, kw_only=True)
class ContextualRow:
    """The result of a run on a mutant that is confined to a situation; `reason` if excluded."""

    mutant: str
    situation: str
    outcome: Outcome
    reason: str = ""

    @property
    def policy(self) -> str:
        """The part of the mutant's id that names what it is about."""
        return self.mutant.rpartition(".")[0]

    @property
    def dimension(self) -> str:
        """The dimension of the situation."""
        return self.situation.partition("=")[0]


@dataclass(frozen=True, slots=True, kw_only=True)
class ContextualMatrix:
    """The rows of a proof; the excluded ones do not count."""

    rows: tuple[ContextualRow, ...]

    @property
    def counted(self) -> tuple[ContextualRow, ...]:
        """The rows of faults that can be found in their situation."""
        return tuple(row for row in self.rows if row.outcome is not Outcome.EXCLUDED)

    @property
    def missed(self) -> tuple[ContextualRow, ...]:
        """The mutants that no run found."""
        return tuple(row for row in self.rows if row.outcome is Outcome.MISSED)

    @property
    def reached(self) -> bool:
        """Whether the share that must be found was found."""
        return 0 < len(self.counted) * GOAL <= len(self.counted) - len(self.missed)

    def by(self, part: Callable[[ContextualRow], str]) -> Mapping[str, tuple[int, int]]:
        """Return for each part of the rows how many mutants were found, of how many."""
        every = Counter(map(part, self.counted))
        missed = Counter(map(part, self.missed))
        return {name: (every[name] - missed[name], every[name]) for name in sorted(every)}

    def excluded(self) -> Mapping[str, int]:
        """Return how many rows are excluded, by dimension and reason."""
        excluded = (row for row in self.rows if row.outcome is Outcome.EXCLUDED)
        return dict(sorted(Counter(f"{row.dimension}: {row.reason}" for row in excluded).items()))


@cache
def _planned() -> tuple[ContextPlan, Target]:
    plan, target = reference()
    return with_contexts(plan, target, Depth.EACH), target


def pairs() -> list[tuple[str, str]]:
    """Return each mutant with each situation in which its clause is tested.

    Their order is that of a digest, so any first part of them is a fair sample.
    """
    mutants = [(name, each) for name, each in variants().items() if isinstance(each, Mutant)]
    every = [(name, situation) for name, each in mutants for situation in _situations(each)]
    return sorted(every, key=lambda pair: sha256(repr(pair).encode()).digest())


def _situations(mutant: Mutant) -> Iterator[str]:
    """Yield the situations in which a clause of a mutant is tested."""
    planned, _ = _planned()
    clauses = _clauses(mutant)
    tested = {
        f"{cell.dimension}={cell.value}"
        for contract, clause in clauses
        for cell in planned.coverage[contract].get(clause, ())
        if cell.trials
    }
    yield from (situation for situation in SITUATIONS if situation in tested)
    for contract in sorted({contract for contract, _ in clauses}) if LIVED in tested else ():
        yield from ORDERS[contract]


def _value(situation: str) -> str:
    """Return the value of a dimension that brings a situation about."""
    return LIVED if situation in _AFTER else situation


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
    wrong = mutant.change(SOUND)

    def confined(base_url: str) -> Any:
        return make_contextual_app(wrong, SOUND, situation, base_url=base_url)

    whole = bank_of(wrong)
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
    # The trials in the situation come first: most faults show there.
    named = _value(situation)
    trials = sorted(
        plan.contextual, key=lambda trial: all(value.id != named for value in trial.context)
    )
    found = _finds(replace(plan, contextual=tuple(trials)), confined)
    if found or (situation in _AFTER and _lives_find(mutant, confined)):
        return ContextualRow(mutant=name, situation=situation, outcome=Outcome.FOUND)
    alone = _alone(plan, named)
    if _finds(alone, confined):
        return ContextualRow(mutant=name, situation=situation, outcome=Outcome.MISSED)
    reason = _untested(mutant, named) or (ELSEWHERE if _finds(alone, whole) else "")
    if reason:
        return ContextualRow(
            mutant=name, situation=situation, outcome=Outcome.EXCLUDED, reason=reason
        )
    # The clause judges the trials of other clauses, too: one of these may show the fault.
    everywhere = _everywhere(mutant, named)
    if _finds(everywhere, confined):
        return ContextualRow(mutant=name, situation=situation, outcome=Outcome.FOUND)
    matching = (
        why
        for (mutants, situations), why in SILENT.items()
        if fnmatchcase(name, mutants) and fnmatchcase(situation, situations)
    )
    reason = next(matching, "")
    alone = _alone(everywhere, named)
    if not reason and _finds(alone, whole) and not _finds(alone, confined):
        reason = ELSEWHERE
    outcome = Outcome.EXCLUDED if reason else Outcome.MISSED
    return ContextualRow(mutant=name, situation=situation, outcome=outcome, reason=reason)


def _alone(plan: Plan, situation: str) -> Plan:
    """Return a plan of the trials in this situation, each in no other context."""
    trials = tuple(
        contextual.in_context(trial, (value,))
        for trial in plan.contextual
        for value in trial.context
        if value.id == situation
    )
    return replace(plan, trials=(), contextual=trials)


def _untested(mutant: Mutant, situation: str) -> str:
    """Return why no trial of the mutant's facets is run in a situation; empty if one is."""
    planned, _ = _planned()
    reasons = [
        planned.excluded[trial.id].get(situation, "")
        for trial in planned.plan.trials
        if any(obligation.id in mutant.breaks for obligation in trial.settles)
    ]
    return reasons[0] if reasons and all(reasons) else ""


def _everywhere(mutant: Mutant, situation: str) -> Plan:
    """Return a plan of all trials in a situation that are judged by the mutant's obligations."""
    planned, _ = _planned()
    contracts = {contract for contract, _ in _clauses(mutant)}

    def is_run(trial: Trial) -> bool:
        values = {value.id for value in trial.context}
        return trial.contract in contracts and situation in values

    trials = tuple(trial for trial in planned.plan.contextual if is_run(trial))
    items = tuple(item for item in planned.plan.items if item.obligation.id in mutant.breaks)
    return replace(planned.plan, items=items, trials=(), contextual=trials)


def _finds(plan: Plan, bank: _Bank) -> bool:
    """Whether the trials of a plan find a violation at a bank; the first one ends the run."""
    _, target = _planned()
    return bool(run_trials(bank, plan, target, first=True)[1])


def _lives_find(mutant: Mutant, bank: _Bank) -> bool:
    """Whether lives at a bank violate what the mutant does."""
    for contract in sorted({contract for contract, _ in _clauses(mutant)}):
        plan, target = reference((contract,))
        with session_on(bank, plan, target) as session:
            search = Search(
                plan=plan,
                contract=plan.contracts[contract],
                environment=session.environment,
                limits=SearchLimits(tries=0),
                strength=STRENGTH[Depth.EACH],
            )
            found = run_lives(search, lambda _: None).findings
        if any(finding.obligation in mutant.breaks for finding in found):
            return True
    return False


def _rows(chosen: Sequence[tuple[str, str]], workers: int) -> Iterator[ContextualRow]:
    if workers == 1:
        yield from map(_row, chosen)
        return
    with processes(workers) as pool:
        yield from pool.map(_row, chosen, chunksize=2)


def prove_contexts(
    most: int | None = None,
    chosen: Callable[[str], bool] = lambda _: True,
    *,
    workers: int | None = None,
    on_row: Callable[[ContextualRow, int], None] = lambda _row, _every: None,
) -> ContextualMatrix:
    """Run contextual mutants, all of them or a sample of `most`; return the matrix.

    `chosen` selects by the id of the mutant and the situation, as "quota.all mode=instant".
    `on_row` is called with each row as soon as it is known, and the number of all.
    """
    rows: list[ContextualRow] = []
    selected = [pair for pair in pairs() if chosen(" ".join(pair))][:most]
    for row in _rows(selected, workers or os.cpu_count() or 1):
        rows.append(row)
        on_row(row, len(selected))
    return ContextualMatrix(rows=tuple(rows))
