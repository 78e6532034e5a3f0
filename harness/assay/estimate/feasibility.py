"""What a run can reach within its budgets and with its fixtures, computed before it starts.

Every planned trial is dry-run (`dry_run`). One that would be stopped is not run, and
its obligations stay unverified for the reason that would stop it; where it observes
something before, it is run for that alone. The rest is planned in order, as far as the
budgets allow: calls in this run, and accesses without the customer today, of which the
ledger knows how many are used. So a run leaves open exactly what its plan announced.

This applies only where customers are real or a target file sets limits: test data that
is created for each trial has neither.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from datetime import UTC, date, datetime, timedelta
from pathlib import Path

from assay.binding.target import FixtureKind, Target
from assay.errors import Shortage
from assay.estimate.dry_run import TrialEstimate, dry_run_trial
from assay.execution.guard import UNTOUCHED, Customer, Guard, QuotaRecord, held_back
from assay.execution.ledger import Ledger, default_path
from assay.planning.plan import Disposition, Plan, Planned, Trial, decided

__all__ = ["Feasibility", "assess"]

#: One count that a budget, and a bank, keep separately: a customer, an operation, a day.
_Count = tuple[Customer, str, date]


@dataclass(frozen=True, slots=True, kw_only=True)
class Feasibility:
    """A plan that can be carried out, and what each of its trials will do.

    `before` is the plan without this computation. `gone` are the accesses without the
    customer that were made before, of the counts that the run adds to; `bounds` are
    their limits, None for no limit.
    """

    plan: Plan
    before: Plan
    trials: dict[str, TrialEstimate]
    gone: Counter[_Count] = field(default_factory=Counter[_Count])
    bounds: dict[str, int | None] = field(default_factory=dict[str, int | None])


def assess(
    plan: Plan,
    target: Target,
    *,
    now: datetime,
    ledger: Path | None = None,
    waits: bool = False,
) -> Feasibility:
    """Dry-run a plan's trials, and plan what will be run, what will not, and why.

    They begin now, one after the other; `waits` says that clocks are waited for.

    Raises:
        InputError: the ledger cannot be read.

    """
    guard = Guard(target=target, book=_ledger(target, ledger))
    guard.learn(plan)
    foretold = _Foretold(plan=plan, target=target, guard=guard)
    for trial in plan.trials:
        then = now + foretold.waited
        foretold.take(trial, dry_run_trial(plan, trial, target, then, waits=waits))
    return Feasibility(
        plan=decided(plan, map(foretold.decide, plan.items)),
        before=plan,
        trials=foretold.held,
        gone=foretold.gone,
        bounds={name: guard.bound(name) for _, name, _ in foretold.spent},
    )


def _ledger(target: Target, path: Path | None) -> QuotaRecord | None:
    return Ledger.found(path or default_path()) if target.has_real_customers else None


@dataclass(slots=True, kw_only=True)
class _Foretold:
    """The trials considered so far: which will be run, and what they cost together."""

    plan: Plan
    target: Target
    guard: Guard
    held: dict[str, TrialEstimate] = field(default_factory=dict[str, TrialEstimate])
    stopped: dict[str, TrialEstimate] = field(default_factory=dict[str, TrialEstimate])
    calls: int = 0
    waited: timedelta = timedelta(0)
    spent: Counter[_Count] = field(default_factory=Counter[_Count])
    gone: Counter[_Count] = field(default_factory=Counter[_Count])

    def take(self, trial: Trial, one: TrialEstimate) -> None:
        """Add the next trial if the budgets allow it."""
        told = one.stopped and not any(facet.facet in one.tells for facet in trial.settles)
        room = (one.stopped, None) if told else next(self._crowded(trial, one), ("", None))
        why, shortage = room
        if why:
            stopped = replace(one, stopped=why, shortage=shortage, tells=frozenset())
            self.stopped[trial.id] = stopped
            return
        if one.stopped:
            self.stopped[trial.id] = one
        self.held[trial.id] = one
        self.spent += one.batch
        self.calls += self._price(trial, one)
        self.waited += one.waited

    def decide(self, item: Planned) -> Planned:
        """Return what is planned for an obligation, once all trials are considered."""
        one = self.stopped.get(item.obligation.trial)
        if item.disposition is not Disposition.ASK or one is None:
            return item
        if item.obligation.facet in one.tells:
            return replace(item, calls=one.calls)
        return replace(
            item,
            disposition=Disposition.UNVERIFIED,
            reason=one.stopped,
            calls=0,
            shortage=one.shortage,
        )

    def _price(self, trial: Trial, one: TrialEstimate) -> int:
        return one.calls + one.signatures if one.stopped else max(trial.calls, one.calls)

    def _crowded(self, trial: Trial, one: TrialEstimate) -> Iterator[tuple[str, Shortage]]:
        """Yield why the budgets do not allow a trial; nothing if they do."""
        most, price = self.target.budget.calls, self._price(trial, one)
        if most is not None and self.calls + price > most:
            needed_calls = f"{price} more calls; {most - self.calls} of {most} left (budget.calls)"
            yield f"needs {needed_calls}", Shortage.BUDGET
        for count, needed in one.batch.items():
            who, operation, _ = count
            before = self._before(count)
            bound = self.guard.bound(operation)
            if bound is not None and before + needed > bound:
                left = max(bound - before, 0)
                why = f"needs {held_back(needed, operation, left, bound, who.name)}"
                yield why, Shortage.BUDGET
            quota = (self.guard.limits or {}).get(operation)
            if quota is not None and before and before + needed > quota:
                # The bank's own count may no longer be what the probe assumes.
                why = (
                    f"needs {UNTOUCHED} {operation} without the customer; "
                    f"{self._where(count)} ({who.name})"
                )
                yield why, Shortage.UNUSED_QUOTA

    def _where(self, count: _Count) -> str:
        """Say what used up the accesses that are gone when a trial begins."""
        earlier, now = self.gone[count], self.spent[count]
        told = [f"{earlier} made earlier today"] * bool(earlier)
        return " and ".join([*told, *[f"{now} planned earlier in this run"] * bool(now)])

    def _before(self, count: _Count) -> int:
        """Return how many accesses are used when a trial begins: before the run, and in it.

        With fixtures written in Python, only the trial itself shows which customers it
        uses.
        """
        who, operation, day = count
        if self.target.fixtures.kind is FixtureKind.PYTHON:
            return 0
        if count not in self.gone and self.guard.book is not None:
            use = self.guard.use(operation, who, datetime.now(UTC))
            self.gone[count] = self.guard.book.gone(replace(use, day=day))
        return self.gone[count] + self.spent[count]
