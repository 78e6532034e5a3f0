"""Trials in further contexts: what they violate, and the context that this takes.

Every check of the contract judges such a trial, as it judges a random sequence. A trial varies
several dimensions at once; what it violates is tried again with each value alone, so that a
violation names the one that it takes.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
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


@dataclass(frozen=True, slots=True, kw_only=True)
class Finding:
    """A violation in a context, and the trial that shows it."""

    verdict: Verdict
    trial: str
    context: Context


def in_context(trial: Trial, base: str, context: Context) -> Trial:
    """Return a trial in another context; `base` is its id in the base context."""
    values = ", ".join(value.id for value in context)
    return replace(trial, id=f"{base} [{values}]", context=context)


def findings(
    trial: Trial, base: str, hold: Hold, judge: Judge, known: frozenset[str]
) -> Iterator[Finding]:
    """Hold a trial in its context, and yield what it violates beyond the `known` obligations."""
    new = _violated(judge(trial.contract, hold(trial)), known)
    if not new:
        return
    alone: dict[str, tuple[Trial, Mapping[str, Sequence[Breach]]]] = {}
    if len(trial.context) > 1:
        for value in trial.context:
            single = in_context(trial, base, (value,))
            found = _violated(judge(trial.contract, hold(single)), known)
            alone[value.id] = single, found
    for obligation, evidence in new.items():
        shown = next(
            ((single, found[obligation]) for single, found in alone.values() if obligation in found),
            None,
        )
        held, breaches = shown or (trial, evidence)
        yield Finding(
            verdict=_verdict(obligation, held.context, breaches),
            trial=held.id,
            context=held.context,
        )


def _violated(
    breaches: Sequence[Breach], known: frozenset[str]
) -> dict[str, list[Breach]]:
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
