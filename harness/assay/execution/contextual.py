"""Trials in further contexts: what they violate, and the context that this takes.

Every check of the contract judges such a trial, as it judges a random sequence. A trial varies
several dimensions at once. What it violates is tried again with each value alone, so that a
violation names the one that it takes; so is what it does not show, though the base context does:
one value may hide what another would show.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace

from assay.contexts.context import Context, label
from assay.history import History
from assay.judging.judge import Breach
from assay.judging.verdict import Standing, Verdict
from assay.planning.plan import Trial

#: Holds a trial in a context, and returns its history.
Hold = Callable[[Trial], History]
#: Returns what a history violates of a contract.
Judge = Callable[[str, History], tuple[Breach, ...]]
#: Returns the obligations of a trial that conform, but of which its history shows nothing.
Open = Callable[[Trial, History], frozenset[str]]


@dataclass(frozen=True, slots=True, kw_only=True)
class Finding:
    """A violation in a context, and the trial that shows it."""

    verdict: Verdict
    trial: str
    context: Context


def in_context(trial: Trial, context: Context) -> Trial:
    """Return a trial in another context."""
    values = ", ".join(value.id for value in context)
    return replace(trial, id=f"{trial.settles[0].trial} [{values}]", context=context)


def findings(
    trial: Trial, hold: Hold, judge: Judge, still_open: Open, known: frozenset[str]
) -> Iterator[Finding]:
    """Hold a trial in its context, and yield what it violates beyond the `known` obligations."""
    history = hold(trial)
    together = _violated(judge(trial.contract, history), known)
    if not together and not still_open(trial, history):
        return
    alone = [in_context(trial, (value,)) for value in trial.context] if trial.context[1:] else []
    held = [(each, _violated(judge(each.contract, hold(each)), known)) for each in alone]
    found: dict[str, Finding] = {}
    for each, violated in (*held, (trial, together)):
        for obligation, breaches in violated.items():
            verdict = _verdict(obligation, each.context, breaches)
            finding = Finding(verdict=verdict, trial=each.id, context=each.context)
            found.setdefault(obligation, finding)
    yield from found.values()


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
