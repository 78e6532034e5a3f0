"""The comparison of two runs as text, Markdown and JSON (`assay-comparison/1`)."""

from __future__ import annotations

import json
from collections.abc import Collection, Iterator, Mapping
from typing import Any

from assay.report.comparison.compare import Category, Comparison, RunDifference, conditions
from assay.report.sanitize import bounded, code, markdown
from assay.report.values import Report
from assay.report.wording import PHRASES
from assay.rules.verdict import Exit, Standing

SCHEMA = "assay-comparison/1"
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
def text(comparison: Comparison, fail_on: Collection[Category]) -> str:
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
        "schema": SCHEMA,
        "old": _run(comparison.old),
        "new": _run(comparison.new),
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


def _run(run: Report) -> dict[str, Any]:
    return {
        "path": run.journal,
        "started": run.header.started,
        "conditions": conditions(run),
        "selection": run.header.chosen,
        "counts": run.counts,
    }


#: Every format of a comparison, by its name.
FORMATS = {"text": text, "markdown": markdown_page, "json": json_document}
