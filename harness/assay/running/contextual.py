"""Trials in further contexts: their violations, and the context that each violation needs.

Every check of the contract judges such a trial, as it judges a random sequence. A trial varies
several dimensions at once. What it violates is tried again with each value alone, so that a
violation names the one that it takes. What shows less than the trial did in the base context is
tried again in parts, for one value may hide what another would show; but not where nearly all of the
evidence is there, or exactly half. A dimension that hid
something before is tried apart.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from typing import Protocol

from assay.contexts.context import Context, contextual_name, label
from assay.history import History
from assay.history.events import ProbeRun
from assay.journal.codec import VerdictSource
from assay.journal.writer import Journal
from assay.judging.assembly import VerdictAssembly
from assay.judging.judge import Breach
from assay.planning.plan import Plan, Trial
from assay.rules.checks import checked, countable
from assay.rules.verdict import Agreement, Verdict
from assay.running.trial_recorder import TrialResult, by_obligation, violated

#: A trial may do everything in this number of ways. Where a context leaves one of them, the evidence
#: is divided by the number, and nothing is hidden.
WAYS = 2
#: The share of the base context's evidence that is enough: of many calls, one may come before the
#: change that a context makes.
NEARLY_ALL = 0.9


@dataclass(slots=True)
class Masking:
    """What trials showed in the base context, and what hides some of it in others.

    `shown` counts for each trial the evidence of its clause that agreed, by facet. `hiding` has
    the dimensions of which a value alone showed less of any clause, by contract: what hides
    something of one clause often does so of others. Whether a trial `repeats` in parts of its context:
    not with real customers, for no plan announces these calls. One that `waits` for days never does.
    """

    shown: dict[str, Counter[str]] = field(default_factory=dict[str, "Counter[str]"])
    hiding: defaultdict[str, set[str]] = field(
        default_factory=lambda: defaultdict[str, set[str]](set)
    )
    repeats: bool = True
    waits: bool = False

    def divides(self, trial: Trial) -> bool:
        """Whether a trial is tried again in parts of its context."""
        return self.repeats and not (self.waits and trial.needs_clock)

    def see_base(self, plan: Plan, trial: Trial, history: History) -> None:
        """Note what a trial shows in the base context, if others are tested at all."""
        if plan.contextual:
            self.shown[trial.id] = agreeing(plan, trial, history)


class TrialRunner(Protocol):
    """What runs trials and judges them: the session of a run."""

    plan: Plan
    masking: Masking

    def run_unjudged(self, trial: Trial) -> ProbeRun:
        """Run the probe of a trial, and return what it was."""
        ...

    def run_contextual(self, trial: Trial) -> bool:
        """Run a trial in a further context; return whether it shows less than in the base context."""
        ...

    def run_ahead(self, *phases: Sequence[Trial]) -> None:
        """Run the trials of each phase ahead of their turn, if several may run side by side."""
        ...

    def broken(self, plan: Plan, contract: str, history: History) -> tuple[Breach, ...]:
        """Return what a history violates of all that a plan asks."""
        ...


def in_context(trial: Trial, context: Context) -> Trial:
    """Return a trial in another context."""
    name = contextual_name(trial.settles[0].trial, (value.id for value in context))
    return replace(trial, id=name, context=context)


def run_in_context(trial: Trial, runner: TrialRunner, so_far: VerdictAssembly) -> TrialResult:
    """Run a trial in its context, and return what it violates beyond what was found `so_far`."""
    known = so_far.violated()

    def new(history: History) -> dict[str, list[Breach]]:
        return by_obligation(runner.broken(runner.plan, trial.contract, history), known)

    run = runner.run_unjudged(trial)
    history = run.history
    together = new(history)
    if not together:
        # What the target cannot do from the first call on is not tried again in parts.
        reached = bool(history.exchanges) or not run.stopped
        hides = runner.masking.divides(trial) and reached and _hides(trial, runner, history, so_far)
        return TrialResult(hides=hides)
    parts: list[tuple[Trial, dict[str, list[Breach]]]] = []
    for value in trial.context if runner.masking.divides(trial) and trial.context[1:] else ():
        alone = in_context(trial, (value,))
        parts.append((alone, new(runner.run_unjudged(alone).history)))
    own = {obligation.id for obligation in trial.settles}
    found: dict[str, tuple[Verdict, VerdictSource]] = {}
    for each, shown in (*parts, (trial, together)):
        for name, breaches in shown.items():
            settles = "" if name in own else trial.settles[0].id
            verdict = violated(name, breaches, f"only {label(each.context)}: ")
            found.setdefault(name, (verdict, VerdictSource(trial=each.id, settles=settles)))
    return TrialResult(findings=tuple(found.values()))


def note_end(journal: Journal, trial: Trial, run: ProbeRun) -> None:
    """Record that a trial in a further context ended early, if it did, and why.

    Its obligations keep the verdict of the base context: that this context was not tested
    whole must be told apart.
    """
    if run.stopped:
        reason = journal.redactor.bounded(run.stopped, 500)
        journal.write("unfinished", {"trial": trial.id, "reason": reason})


class PartialTrials:
    """The trials that show less than in the base context, and the parts of them that are next.

    What hides something in one trial often does so in others of the contract, and is then tried
    alone at once. So of each contract one trial is tried in parts first, then twice as many, and
    so on.
    """

    def __init__(self, masking: Masking) -> None:
        self._hiding = masking.hiding
        self._waiting: dict[str, list[Trial]] | None = None
        self._at_once = 1

    def after(self, hiding: Sequence[Trial]) -> list[Trial]:
        """Return the parts that are tried next, after trials of which these show less."""
        if self._waiting is None:
            self._waiting = {}
            for trial in hiding:
                self._waiting.setdefault(trial.contract, []).append(trial)
            hiding = ()
        parts = [*self._parts(hiding)]
        while not parts and any(self._waiting.values()):
            for waiting in self._waiting.values():
                parts += self._parts(waiting[: self._at_once])
                del waiting[: self._at_once]
            self._at_once *= 2
        return parts

    def _parts(self, hiding: Sequence[Trial]) -> Iterator[Trial]:
        """Yield the parts of trials; a value alone is known to hide something from now on.

        Each dimension that hid something before stands alone; where none did, there are two halves.
        """
        for trial in hiding:
            if not trial.context[1:]:
                self._hiding[trial.contract] |= {value.dimension for value in trial.context}
        for trial in hiding:
            if trial.context[1:]:
                yield from self._divided(trial)

    def _divided(self, trial: Trial) -> Iterator[Trial]:
        context = trial.context
        hiding = self._hiding[trial.contract]
        rest = tuple(value for value in context if value.dimension not in hiding)
        half = len(context) // 2
        halves = (context[:half], context[half:])
        alone = tuple((value,) for value in context if value not in rest)
        for part in (rest, *alone) if rest and alone else alone or halves:
            yield in_context(trial, part)


def _hides(trial: Trial, runner: TrialRunner, history: History, so_far: VerdictAssembly) -> bool:
    """Whether a history shows less of what conforms than the trial did in the base context."""
    clause = f"{trial.contract}/{trial.clause}"
    shown = agreeing(runner.plan, trial, history)
    base = runner.masking.shown.get(trial.settles[0].trial, Counter())
    return any(
        shown[facet] < count * NEARLY_ALL
        and count != shown[facet] * WAYS
        and so_far.conforms(f"{clause}/{facet}")
        for facet, count in base.items()
    )


def agreeing(plan: Plan, trial: Trial, history: History) -> Counter[str]:
    """Count the evidence of a trial's clause that agrees, by facet."""
    kind = plan.clauses[trial.contract][trial.clause].kind
    return Counter(
        evidence.facet
        for evidence in countable(checked(kind, history))
        if evidence.agreement is Agreement.AGREES
    )


def run_contexts(
    runner: TrialRunner,
    trials: Sequence[Trial],
    on_trial: Callable[[Trial], None] = lambda _: None,
    enough: Callable[[], bool] = lambda: False,
) -> None:
    """Run trials in further contexts, then the parts of those that show less, and so on.

    It ends before the next trial when that is `enough`.

    Raises:
        TargetError: nothing was ever reached at the target.

    """
    partial_trials = PartialTrials(runner.masking)
    while trials:
        hiding: list[Trial] = []
        for trial in trials:
            if enough():
                return
            on_trial(trial)
            if runner.run_contextual(trial):
                hiding.append(trial)
        trials = partial_trials.after(hiding)
        runner.run_ahead(trials)
