"""Trials in further contexts: what they violate, and the context that this takes.

Every check of the contract judges such a trial, as it judges a random sequence. A trial varies
several dimensions at once. What it violates is tried again with each value alone, so that a
violation names the one that it takes; so is what it does not show, though the base context does:
one value may hide what another would show.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Protocol

from assay.contexts.context import Context, label
from assay.history import History
from assay.judging.assembly import VerdictAssembly
from assay.judging.judge import Breach
from assay.judging.verdict import Agreement, Standing, Verdict
from assay.planning.plan import Plan, Trial


class Holder(Protocol):
    """What holds trials and judges them: the session of a run."""

    plan: Plan

    def hold(self, trial: Trial) -> History:
        """Run the probe of a trial, and return its history."""
        ...

    def broken(self, plan: Plan, contract: str, history: History) -> tuple[Breach, ...]:
        """Return what a history violates of all that a plan asks."""
        ...


@dataclass(frozen=True, slots=True, kw_only=True)
class ContextFinding:
    """A violation in a context, and the trial that shows it."""

    verdict: Verdict
    trial: str
    context: Context


def in_context(trial: Trial, context: Context) -> Trial:
    """Return a trial in another context."""
    values = ", ".join(value.id for value in context)
    return replace(trial, id=f"{trial.settles[0].trial} [{values}]", context=context)


def findings(trial: Trial, holder: Holder, so_far: VerdictAssembly) -> Iterator[ContextFinding]:
    """Hold a trial in its context, and yield what it violates beyond what was found `so_far`."""
    known = so_far.violated()
    history = holder.hold(trial)
    together = _violated(holder.broken(holder.plan, trial.contract, history), known)
    if not together and not _hides(trial, holder.plan, history, so_far):
        return
    alone = [in_context(trial, (value,)) for value in trial.context] if trial.context[1:] else []
    held = [
        (each, _violated(holder.broken(holder.plan, each.contract, holder.hold(each)), known))
        for each in alone
    ]
    found: dict[str, ContextFinding] = {}
    for each, violated in (*held, (trial, together)):
        for obligation, breaches in violated.items():
            verdict = _verdict(obligation, each.context, breaches)
            finding = ContextFinding(verdict=verdict, trial=each.id, context=each.context)
            found.setdefault(obligation, finding)
    yield from found.values()


def _hides(trial: Trial, plan: Plan, history: History, so_far: VerdictAssembly) -> bool:
    """Whether a history shows nothing of an obligation that conforms in the base context."""
    kind = plan.clauses[trial.contract][trial.clause].kind
    agreeing = (one for one in kind.check(history) if one.agreement is Agreement.AGREES)
    shown = {evidence.facet for evidence in agreeing}
    return any(
        obligation.facet not in shown and so_far.conforms(obligation.id)
        for obligation in trial.settles
    )


def _violated(breaches: Sequence[Breach], known: frozenset[str]) -> dict[str, list[Breach]]:
    found: dict[str, list[Breach]] = {}
    for breach in breaches:
        if breach.obligation not in known:
            found.setdefault(breach.obligation, []).append(breach)
    return found


def _verdict(obligation: str, context: Context, breaches: Sequence[Breach]) -> Verdict:
    evidence = tuple(breach.evidence for breach in breaches)
    first = evidence[0]
    return Verdict(
        obligation=obligation,
        standing=Standing.VIOLATES,
        reason=f"only {label(context)}: expected {first.expected}; {first.seen}",
        evidence=evidence,
    )
