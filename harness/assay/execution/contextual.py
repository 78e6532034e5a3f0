"""Trials in further contexts: what they violate, and the context that this takes.

Every check of the contract judges such a trial, as it judges a random sequence. A trial varies
several dimensions at once. What it violates is tried again with each value alone, so that a
violation names the one that it takes. What shows less than the trial did in the base context is
tried again in parts, for one value may hide what another would show. A dimension that hid
something before is tried apart.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from typing import Protocol

from assay.contexts.context import Context, label
from assay.history import History
from assay.history.events import ProbeRun
from assay.journal.writer import Journal
from assay.judging.assembly import VerdictAssembly
from assay.judging.judge import Breach
from assay.judging.verdict import Agreement, Standing, Verdict
from assay.planning.plan import Plan, Trial
from assay.rules.evidence import countable


@dataclass(slots=True)
class Masking:
    """What trials showed in the base context, and what hides some of it in others.

    `shown` counts for each trial the evidence of its clause that agreed, by facet. `hiding` has
    the dimensions of which a value alone showed less of any clause, by contract: what hides
    something of one clause often does so of others.
    """

    shown: dict[str, Counter[str]] = field(default_factory=dict[str, "Counter[str]"])
    hiding: defaultdict[str, set[str]] = field(
        default_factory=lambda: defaultdict[str, set[str]](set)
    )

    def see_base(self, plan: Plan, trial: Trial, history: History) -> None:
        """Note what a trial shows in the base context, if others are tested at all."""
        if plan.contextual:
            self.shown[trial.id] = agreeing(plan, trial, history)


class Holder(Protocol):
    """What holds trials and judges them: the session of a run."""

    plan: Plan
    masking: Masking

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
    if not together:
        if _hides(trial, holder, history, so_far):
            for part in _parts(trial, holder.masking.hiding[trial.contract]):
                yield from findings(part, holder, so_far)
        return
    held: list[tuple[Trial, dict[str, list[Breach]]]] = []
    for value in trial.context if trial.context[1:] else ():
        alone = in_context(trial, (value,))
        history = holder.hold(alone)
        held.append((alone, _violated(holder.broken(holder.plan, alone.contract, history), known)))
    found: dict[str, ContextFinding] = {}
    for each, violated in (*held, (trial, together)):
        for obligation, breaches in violated.items():
            verdict = _verdict(obligation, each.context, breaches)
            finding = ContextFinding(verdict=verdict, trial=each.id, context=each.context)
            found.setdefault(obligation, finding)
    yield from found.values()


def note_end(journal: Journal, trial: Trial, run: ProbeRun) -> None:
    """Record that a trial in a further context ended early, if it did, and why.

    Its obligations keep the verdict of the base context: that this context was not tested
    whole must be told apart.
    """
    if run.stopped:
        reason = journal.redactor.bounded(run.stopped, 500)
        journal.write("unfinished", {"trial": trial.id, "reason": reason})


def _parts(trial: Trial, hiding: set[str]) -> Iterator[Trial]:
    """Yield the parts of a trial that shows less; a value alone is noted in `hiding`.

    Each dimension that hid something before stands alone; where none did, there are two halves.
    """
    context = trial.context
    if not context[1:]:
        hiding |= {value.dimension for value in context}
        return
    rest = tuple(value for value in context if value.dimension not in hiding)
    half = len(context) // 2
    halves = (context[:half], context[half:])
    alone = tuple((value,) for value in context if value not in rest)
    for part in (rest, *alone) if rest and alone else alone or halves:
        yield in_context(trial, part)


def _hides(trial: Trial, holder: Holder, history: History, so_far: VerdictAssembly) -> bool:
    """Whether a history shows less of what conforms than the trial did in the base context."""
    clause = f"{trial.contract}/{trial.clause}"
    shown = agreeing(holder.plan, trial, history)
    base = holder.masking.shown.get(trial.settles[0].trial, Counter())
    return any(
        shown[facet] < count and so_far.conforms(f"{clause}/{facet}")
        for facet, count in base.items()
    )


def agreeing(plan: Plan, trial: Trial, history: History) -> Counter[str]:
    """Count the evidence of a trial's clause that agrees, by facet."""
    kind = plan.clauses[trial.contract][trial.clause].kind
    return Counter(
        evidence.facet
        for evidence in countable(kind.check(history))
        if evidence.agreement is Agreement.AGREES
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
