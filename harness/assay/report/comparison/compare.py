"""Comparison of two runs, a pure function of both."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from enum import Enum

from assay.judging.changes import ChangeKind, change_of
from assay.planning.trial_names import split_trial_name
from assay.report.values import Report, ReportedResult
from assay.report.views import source_text
from assay.rules.obligation import UNSPECIFIED
from assay.rules.verdict import Standing

#: The verdict of what is not planned.
NOT_PLANNED = "not planned"
#: The context of a violation that every context shows.
BASE = "the base context"


class Category(Enum):
    """What can differ between two runs; the value is the word of `--fail-on`."""

    NEWLY_VIOLATED = ChangeKind.NEWLY_VIOLATED.value
    NEWLY_WAIVED = ChangeKind.NEWLY_WAIVED.value
    NEWLY_UNVERIFIED = ChangeKind.NEWLY_UNVERIFIED.value
    NO_LONGER_PLANNED = ChangeKind.NO_LONGER_PLANNED.value
    FIXED = ChangeKind.FIXED.value
    NEWLY_VERIFIED = ChangeKind.NEWLY_VERIFIED.value
    NEWLY_PLANNED = ChangeKind.NEWLY_PLANNED.value
    OTHER = ChangeKind.OTHER.value
    CONTEXT_CHANGED = "context-changed"
    CLAUSE_CHANGED = "clause-changed"
    WAIVER_CHANGED = "waiver-changed"
    CONDITION_CHANGED = "condition-changed"


@dataclass(frozen=True, slots=True, kw_only=True)
class RunDifference:
    """One thing that differs: the id of an obligation, clause or waiver, or the name of a condition.

    `before` and `now` are the two values in words, `detail` says more about it.
    """

    category: Category
    name: str
    before: str
    now: str
    detail: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Comparison:
    """Two runs and all their differences, by category and then in the order of the plan."""

    old: Report
    new: Report
    differences: tuple[RunDifference, ...]

    def of(self, category: Category) -> tuple[RunDifference, ...]:
        """Return the differences of one category."""
        return tuple(each for each in self.differences if each.category is category)


def compare(old: Report, new: Report) -> Comparison:
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


def _both(old: Report, new: Report) -> Iterator[tuple[str, ReportedResult, ReportedResult]]:
    """Yield the results on the obligations that both runs have."""
    known = {result.planned.id: result for result in old.results}
    for now in new.results:
        if before := known.get(now.planned.id):
            yield now.planned.id, before, now


def _verdicts(old: Report, new: Report) -> Iterator[RunDifference]:
    known = {result.planned.id: result for result in new.results}
    before, now = old.verdicts, new.verdicts
    for name in dict.fromkeys([*now, *before]):
        change = change_of(before.get(name), now.get(name))
        if change is not None:
            shows = name in known and known[name].standing is not Standing.CONFORMS
            yield RunDifference(
                category=Category(change.value),
                name=name,
                before=before[name].value if name in before else NOT_PLANNED,
                now=now[name].value if name in now else NOT_PLANNED,
                detail=known[name].reason if shows else "",
            )


def _contexts(old: Report, new: Report) -> Iterator[RunDifference]:
    """Yield the obligations that both runs show to be violated, but in different contexts."""
    violated = {Standing.VIOLATES, Standing.WAIVED}
    for name, before, now in _both(old, new):
        contexts = [split_trial_name(each.trial)[1] for each in (before, now)]
        if {before.standing, now.standing} <= violated and contexts[0] != contexts[1]:
            yield RunDifference(
                category=Category.CONTEXT_CHANGED,
                name=name,
                before=contexts[0] or BASE,
                now=contexts[1] or BASE,
            )


def _clauses(old: Report, new: Report) -> Iterator[RunDifference]:
    """Yield the clauses whose text, source or parameters are other ones, each once."""
    seen: set[str] = set()
    for name, *results in _both(old, new):
        before, now = (result.planned for result in results)
        # Open points have no clause of their own.
        clause = name if now.kind == UNSPECIFIED else f"{now.contract}/{now.clause}"
        if clause in seen:
            continue
        compared = {
            "kind": (before.kind, now.kind),
            "level": (before.level, now.level),
            "sentence": (before.says, now.says),
            "sources": tuple([*map(source_text, each.sources)] for each in (before, now)),
        }
        parts = [part for part, (was, is_) in compared.items() if was != is_]
        if before.parameters and now.parameters and before.parameters != now.parameters:
            parts.append("parameters")
        if parts:
            seen.add(clause)
            yield RunDifference(
                category=Category.CLAUSE_CHANGED,
                name=clause,
                before=before.says,
                now=now.says,
                detail=", ".join(parts),
            )


def _waivers(old: Report, new: Report) -> Iterator[RunDifference]:
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


def _conditions(old: Report, new: Report) -> Iterator[RunDifference]:
    """Yield what both runs were not made with alike."""
    selections = (
        " ".join(f"-{option} {text!r}" for option, text in run.header.chosen.items())
        for run in (old, new)
    )
    both = [
        {**conditions(run), "selection": selection}
        for run, selection in zip((old, new), selections, strict=True)
    ]
    for name in dict.fromkeys([*both[1], *both[0]]):
        before, now = (each.get(name, "") for each in both)
        if before != now:
            yield RunDifference(
                category=Category.CONDITION_CHANGED,
                name=name,
                before=before or "none",
                now=now or "none",
            )


def conditions(run: Report) -> dict[str, str]:
    """Return what a run was made with, by the names for it."""
    header, target = run.header, run.header.target
    return {
        "target": target.name,
        "address": target.base_url,
        "target file": _short(target.digest),
        **{
            f"contract {each.id}": f"{each.version} {_short(each.digest)}"
            for each in header.contracts
        },
        "version of Assay": header.version,
        "seed": str(header.seed),
        "judged party": header.party,
    }


def _short(digest: str) -> str:
    return digest.removeprefix("sha256:")[:12]
