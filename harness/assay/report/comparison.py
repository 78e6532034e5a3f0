"""Comparison of two runs: how each is read, what differs, and what is said of it.

A run is a folder, a journal, or a JSON report. Any of them may come from somewhere else: it is
checked and cleaned, and refused if it is damaged, unfinished, or a part of a run. The comparison is
a pure function of both runs, written as text, Markdown and JSON (`assay-comparison/1`).
"""

from __future__ import annotations

import json
from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass, replace
from enum import Enum
from pathlib import Path
from typing import Any, cast

from assay.contexts.context import split_trial_name
from assay.errors import Exit, InputError
from assay.journal.journal_file import JOURNAL
from assay.journal.lines import Line
from assay.judging.exit_policy import ChangeKind, change_of
from assay.report import decode
from assay.report.build import read_journal
from assay.report.formats.json_report import SCHEMA
from assay.report.sanitize import bounded, code, markdown, one_line, shown_text
from assay.report.values import (
    ContractRef,
    Header,
    PlannedObligation,
    Report,
    ReportedResult,
    TargetRef,
)
from assay.report.views import source_text
from assay.report.wording import PHRASES, counted
from assay.rules.obligation import UNSPECIFIED
from assay.rules.verdict import Standing

#: The files of a run, the better evidence first.
REPORT = "report.json"
#: The greatest JSON report that is read.
MAX_BYTES = 512 * 1024 * 1024


def read_run(path: str | Path) -> Report:
    """Read a run from its folder, its journal or its JSON report; `journal` is this path.

    Of a JSON report, only that is read which is compared.

    Raises:
        InputError: there is none, or it is not that of a whole run.
        JournalError: it is damaged or unfinished.

    """
    path = Path(path)
    file = path
    if path.is_dir():
        file = next((path / name for name in (JOURNAL, REPORT) if (path / name).exists()), path)
        if file is path:
            hint = "name the folder of a run, a journal, or a JSON report"
            raise InputError.one(str(path), f"there is no {JOURNAL} or {REPORT} here", hint=hint)
    run = _of_json(file) if file.suffix == ".json" else read_journal(file)
    if run.header.shard:
        hint = "`assay report --merge` makes one run of all shards"
        raise InputError.one(str(path), f"this is shard {run.header.shard} of a run", hint=hint)
    return replace(run, journal=one_line(str(path)))


def _of_json(file: Path) -> Report:
    line = Line(path=str(file), number=0, values=_values(file))
    if line.text("schema", "") != SCHEMA:
        raise InputError.one(str(file), f"this is no report of the format {SCHEMA}")
    run, target = line.inner("run"), line.inner("target")
    if not run.flag("complete", default=False):
        raise InputError.one(str(file), "the run ended early", hint="compare whole runs")
    results = {each.planned.id: each for each in map(_recorded, line.objects("obligations"))}
    if len(results) != line.count("planned"):
        planned = counted(line.count("planned"), "obligation")
        line.refuse(f"{planned} planned, but {len(results):,} are here")
    selection = run.inner("selection")
    header = Header(
        tool="assay",
        version=shown_text(line.inner("tool"), "version"),
        started=shown_text(run, "started"),
        seed=run.number_of("seed", 0),
        contracts=tuple(
            ContractRef(**{key: shown_text(each, key) for key in ("id", "version", "digest")})
            for each in line.objects("contracts")
        ),
        target=TargetRef(
            **{key: shown_text(target, key) for key in ("name", "base_url", "digest")}
        ),
        selection={key: shown_text(selection, key) for key in ("k", "m")},
        party=shown_text(run, "party") or "bank",
    )
    return Report(
        header=header,
        results=tuple(results.values()),
        faults=(),
        footer=None,
        complete=True,
        waivers=decode.waivers(line),
    )


def _recorded(line: Line) -> ReportedResult:
    plan = line.inner("plan")
    return ReportedResult(
        planned=PlannedObligation(
            id=shown_text(line, "id", None),
            contract=shown_text(line, "contract"),
            clause=shown_text(line, "clause"),
            kind=shown_text(line, "kind"),
            level=shown_text(line, "level"),
            says=shown_text(line, "statement"),
            sources=decode.read_sources(line),
            parameters=shown_text(plan, "parameters"),
            disposition="",
        ),
        standing=decode.standing(line),
        reason=shown_text(line, "reason"),
        trial=shown_text(line, "trial"),
    )


def _values(file: Path) -> dict[str, object]:
    hint = "name the folder of a run, a journal, or a JSON report"
    try:
        if file.stat().st_size > MAX_BYTES:
            raise InputError.one(str(file), f"larger than {MAX_BYTES:,} bytes", hint=hint)
        values: object = json.loads(file.read_text(encoding="utf-8"))
    except OSError as error:
        what = f"cannot be read: {error.strerror}"
        raise InputError.one(str(file), what, hint=hint) from None
    except (ValueError, RecursionError):
        raise InputError.one(str(file), "this is not JSON", hint=hint) from None
    if not isinstance(values, dict):
        raise InputError.one(str(file), "this is not a JSON object", hint=hint)
    return cast("dict[str, object]", values)


# -- what differs -----------------------------------------------------------------
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


# -- formats ----------------------------------------------------------------------
COMPARISON = "assay-comparison/1"
#: How many differences of a category the text shows, and how many Markdown does.
SHOWN, LISTED = 50, 500
WIDTH = 300

TITLES: Mapping[Category, str] = {
    Category.NEWLY_VIOLATED: "Newly violated",
    Category.NEWLY_WAIVED: "Newly waived",
    Category.NEWLY_UNVERIFIED: "Newly unverified",
    Category.NO_LONGER_PLANNED: "No longer planned",
    Category.FIXED: "Fixed",
    Category.NEWLY_VERIFIED: "Newly verified",
    Category.NEWLY_PLANNED: "Newly planned",
    Category.OTHER: "Changed verdict, neither better nor worse",
    Category.CONTEXT_CHANGED: "Violated in another context",
    Category.CLAUSE_CHANGED: "Clauses that changed",
    Category.WAIVER_CHANGED: "Waivers that changed",
    Category.CONDITION_CHANGED: "Different conditions",
}
#: What `--fail-on` is without a value.
DEFAULT = (Category.NEWLY_VIOLATED, Category.NEWLY_UNVERIFIED, Category.NO_LONGER_PLANNED)
#: Categories that make a comparison incomplete; the others that are failed on make it fail.
_INCOMPLETE = frozenset({Category.NEWLY_UNVERIFIED, Category.NO_LONGER_PLANNED})


def failing(comparison: Comparison, fail_on: Collection[Category]) -> dict[Category, int]:
    """Return the categories that are failed on and have differences, and how many."""
    counts = {category: len(comparison.of(category)) for category in Category}
    return {each: counts[each] for each in Category if each in fail_on and counts[each]}


def exit_of_comparison(comparison: Comparison, fail_on: Collection[Category]) -> Exit:
    """Return the exit code: 1 for what became worse, 3 if that is only what was tested."""
    failed = failing(comparison, fail_on)
    if not failed:
        return Exit.OK
    return Exit.INCOMPLETE if failed.keys() <= _INCOMPLETE else Exit.VIOLATION


def verdict_line(comparison: Comparison, fail_on: Collection[Category]) -> str:
    """Return the exit code with its reason."""
    failed = failing(comparison, fail_on)
    counts = ", ".join(f"{number:,} {category.value}" for category, number in failed.items())
    exit_ = exit_of_comparison(comparison, fail_on).value
    return f"exit code {exit_}: {counts or 'no difference in the categories of --fail-on'}"


def counts_line(run: Report) -> str:
    """Return the path of a run with its verdicts, in the order of every report."""
    counts = run.counts
    parts = [
        f"{counts[standing.value]:,} {phrase}"
        for standing, phrase in PHRASES.items()
        if counts[standing.value] or standing in {Standing.CONFORMS, Standing.VIOLATES}
    ]
    return f"{run.label}: {', '.join(parts)}"


# -- text ------------------------------------------------------------------------
def text_page(comparison: Comparison, fail_on: Collection[Category]) -> str:
    """Return the comparison as plain lines, the most important ones last."""
    return "\n".join(_text_lines(comparison, fail_on)) + "\n"


def _text_lines(comparison: Comparison, fail_on: Collection[Category]) -> Iterator[str]:
    for category in reversed(Category):
        differences = comparison.of(category)
        if not differences:
            continue
        yield f"{TITLES[category]} ({len(differences):,})"
        for each in differences[:SHOWN]:
            yield f"  {each.name}: {_change(each)}"
            if each.detail:
                yield f"      {bounded(each.detail, WIDTH)}"
        if len(differences) > SHOWN:
            yield f"  and {len(differences) - SHOWN:,} more"
        yield ""
    if not comparison.differences:
        yield "No differences."
        yield ""
    yield f"old  {counts_line(comparison.old)}"
    yield f"new  {counts_line(comparison.new)}"
    yield verdict_line(comparison, fail_on)


def _change(difference: RunDifference) -> str:
    if difference.before == difference.now:
        return bounded(difference.now, WIDTH)
    return f"{bounded(difference.before, WIDTH)} → {bounded(difference.now, WIDTH)}"


# -- Markdown --------------------------------------------------------------------
def markdown_page(comparison: Comparison, fail_on: Collection[Category]) -> str:
    """Return the comparison as Markdown, for step summaries and pull requests."""
    return "\n".join(_markdown_lines(comparison, fail_on)) + "\n"


def _markdown_lines(comparison: Comparison, fail_on: Collection[Category]) -> Iterator[str]:
    yield "# Comparison of two runs\n"
    yield f"{markdown(verdict_line(comparison, fail_on))}\n"
    yield f"- old: {markdown(counts_line(comparison.old))}"
    yield f"- new: {markdown(counts_line(comparison.new))}"
    if not comparison.differences:
        yield "\nNo differences."
    for category in Category:
        differences = comparison.of(category)
        if not differences:
            continue
        yield f"\n## {TITLES[category]} ({len(differences):,})\n"
        yield "| | Before | Now | |\n| --- | --- | --- | --- |"
        for each in differences[:LISTED]:
            cells = (each.before, each.now, each.detail)
            words = " | ".join(markdown(bounded(cell, WIDTH)) for cell in cells)
            yield f"| {code(bounded(each.name, WIDTH))} | {words} |"
        if len(differences) > LISTED:
            yield f"\nand {len(differences) - LISTED:,} more"


# -- JSON ------------------------------------------------------------------------
def json_document(comparison: Comparison, fail_on: Collection[Category]) -> str:
    """Return the comparison as JSON, indented, in a fixed order."""
    values: dict[str, Any] = {
        "schema": COMPARISON,
        "old": _run_values(comparison.old),
        "new": _run_values(comparison.new),
        "differences": [
            {
                "category": each.category.value,
                "name": each.name,
                "before": each.before,
                "now": each.now,
                "detail": each.detail,
            }
            for each in comparison.differences
        ],
        "fail_on": [category.value for category in Category if category in fail_on],
        "exit_code": exit_of_comparison(comparison, fail_on).value,
    }
    return json.dumps(values, ensure_ascii=False, indent=1) + "\n"


def _run_values(run: Report) -> dict[str, Any]:
    return {
        "path": run.journal,
        "started": run.header.started,
        "conditions": conditions(run),
        "selection": run.header.chosen,
        "counts": run.counts,
    }


#: Every format of a comparison, by its name.
FORMATS = {"text": text_page, "markdown": markdown_page, "json": json_document}
