"""Comparison of two runs, a pure function of both."""

from __future__ import annotations

from collections.abc import Iterator

from assay.judging.changes import change_of
from assay.report.comparison.values import (
    Category,
    ComparedObligation,
    ComparedRun,
    Comparison,
    RunDifference,
)
from assay.rules.obligation import UNSPECIFIED
from assay.rules.verdict import Standing

#: The verdict of what is not planned.
NOT_PLANNED = "not planned"
#: The context of a violation that every context shows.
BASE = "the base context"


def compare(old: ComparedRun, new: ComparedRun) -> Comparison:
    """Return what differs between two runs."""
    differences = [
        *_verdicts(old, new),
        *_contexts(old, new),
        *_clauses(old, new),
        *_waivers(old, new),
        *_conditions(old, new),
    ]
    order = [*Category]
    differences.sort(key=lambda each: order.index(each.category))
    return Comparison(old=old, new=new, differences=tuple(differences))


def _both(
    old: ComparedRun, new: ComparedRun
) -> Iterator[tuple[str, ComparedObligation, ComparedObligation]]:
    """Yield the obligations that both runs have."""
    for name, now in new.obligations.items():
        if name in old.obligations:
            yield name, old.obligations[name], now


def _verdicts(old: ComparedRun, new: ComparedRun) -> Iterator[RunDifference]:
    for name in dict.fromkeys([*new.obligations, *old.obligations]):
        before, now = old.obligations.get(name), new.obligations.get(name)
        change = change_of(before.standing if before else None, now.standing if now else None)
        if change is not None:
            yield RunDifference(
                category=Category(change.value),
                name=name,
                before=before.standing.value if before else NOT_PLANNED,
                now=now.standing.value if now else NOT_PLANNED,
                detail=now.reason if now and now.standing is not Standing.CONFORMS else "",
            )


def _contexts(old: ComparedRun, new: ComparedRun) -> Iterator[RunDifference]:
    """Yield the obligations that both runs show to be violated, but in different contexts."""
    violated = {Standing.VIOLATES, Standing.WAIVED}
    for name, before, now in _both(old, new):
        if {before.standing, now.standing} <= violated and before.context != now.context:
            yield RunDifference(
                category=Category.CONTEXT_CHANGED,
                name=name,
                before=before.context or BASE,
                now=now.context or BASE,
            )


def _clauses(old: ComparedRun, new: ComparedRun) -> Iterator[RunDifference]:
    """Yield the clauses whose text, source or parameters are other ones, each once."""
    seen: set[str] = set()
    for name, before, now in _both(old, new):
        # Open points have no clause of their own.
        clause = name if now.kind == UNSPECIFIED else now.clause
        if clause in seen:
            continue
        parts = [
            part
            for part in ("kind", "level", "sentence", "sources")
            if getattr(before, part) != getattr(now, part)
        ]
        if before.parameters and now.parameters and before.parameters != now.parameters:
            parts.append("parameters")
        if parts:
            seen.add(clause)
            yield RunDifference(
                category=Category.CLAUSE_CHANGED,
                name=clause,
                before=before.sentence,
                now=now.sentence,
                detail=", ".join(parts),
            )


def _waivers(old: ComparedRun, new: ComparedRun) -> Iterator[RunDifference]:
    before, now = ({each.name: each for each in run.waivers} for run in (old, new))
    for name in dict.fromkeys([*now, *before]):
        words = tuple(
            f"{waiver.state.value}, until {waiver.expires} ({waiver.owner}: {waiver.reason})"
            if (waiver := waivers.get(name))
            else "none"
            for waivers in (before, now)
        )
        if words[0] != words[1]:
            yield RunDifference(
                category=Category.WAIVER_CHANGED, name=name, before=words[0], now=words[1]
            )


def _conditions(old: ComparedRun, new: ComparedRun) -> Iterator[RunDifference]:
    """Yield what both runs were not made with alike."""
    conditions = [{**run.conditions, "selection": _selection(run)} for run in (old, new)]
    for name in dict.fromkeys([*conditions[1], *conditions[0]]):
        before, now = (each.get(name, "") for each in conditions)
        if before != now:
            yield RunDifference(
                category=Category.CONDITION_CHANGED,
                name=name,
                before=before or "none",
                now=now or "none",
            )


def _selection(run: ComparedRun) -> str:
    return " ".join(f"-{option} {text!r}" for option, text in run.selection.items() if text)
