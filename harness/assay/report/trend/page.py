"""The page of a trend: one self-contained HTML file without a script, in the style of the reports."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import TextIO

from assay.report.comparison.compare import Category, Comparison
from assay.report.comparison.formats import TITLES
from assay.report.html.page import page_template
from assay.report.trend.read import Trend, TrendRun
from assay.report.wording import PHRASES
from assay.rules.verdict import Standing

#: From the ground up: what is well at the bottom, what needs attention on top.
ORDER = (
    Standing.CONFORMS,
    Standing.WAIVED,
    Standing.NOT_APPLICABLE,
    Standing.UNSPECIFIED,
    Standing.UNVERIFIED,
    Standing.INDETERMINATE,
    Standing.VIOLATES,
)
#: The chart in its own units: a column for each run.
COLUMN, GAP, HEIGHT = 10.0, 2.0, 120.0
#: The least extent of violations: a single one must be seen.
LEAST = 3.0
#: The least number of runs for which the chart has room.
ROOM = 24
#: The bar of a run.
BAR = 200.0
#: The names that are listed of one category of changes.
NAMED = 20


@dataclass(frozen=True, slots=True, kw_only=True)
class Segment:
    """A rectangle of a chart, for all obligations with one verdict."""

    standing: Standing
    x: float
    y: float
    width: float
    height: float


def render(trend: Trend, out: TextIO) -> None:
    """Write the trend as one HTML page."""
    chunks = page_template("trend/page.html.j2").generate(
        **_NAMES,
        trend=trend,
        columns=tuple(_columns(trend)),
        size=(max(len(trend.runs), ROOM) * COLUMN, HEIGHT),
    )
    out.writelines(chunks)
    out.write("\n")


def _columns(trend: Trend) -> Iterator[tuple[TrendRun, tuple[Segment, ...]]]:
    """Yield the column of each run; the greatest one has the height of the chart."""
    most = max((len(each.run.results) for each in trend.runs), default=1) or 1
    for number, each in enumerate(trend.runs):
        ground, segments = HEIGHT, list[Segment]()
        for standing in ORDER:
            height = each.counts[standing] / most * HEIGHT
            ground -= height
            if height:
                seen = LEAST if standing is Standing.VIOLATES else 0.0
                segments.append(
                    Segment(
                        standing=standing,
                        x=number * COLUMN,
                        y=round(ground, 2),
                        width=COLUMN - GAP,
                        height=round(max(height, seen), 2),
                    )
                )
        yield each, tuple(segments)


def _bar(run: TrendRun) -> tuple[Segment, ...]:
    """Return the bar of a run, as long as all its obligations."""
    total, at, segments = len(run.run.results) or 1, 0.0, list[Segment]()
    for standing in ORDER:
        width = run.counts[standing] / total * BAR
        if width:
            seen = max(width, LEAST) if standing is Standing.VIOLATES else width
            segments.append(
                Segment(
                    standing=standing,
                    x=round(at + width - seen, 2),
                    y=0,
                    width=round(seen, 2),
                    height=12,
                )
            )
        at += width
    return tuple(segments)


def _summary(run: TrendRun) -> str:
    """Return the counts of a run in words."""
    shown = [each for each in PHRASES if run.counts[each]]
    return ", ".join(f"{run.counts[each]:,} {PHRASES[each]}" for each in shown) or "nothing planned"


def _changes(comparison: Comparison) -> list[tuple[str, str]]:
    """Return the differences by category, each with its title and number, and the first names."""
    groups: list[tuple[str, str]] = []
    for category in Category:
        differences = comparison.of(category)
        if differences:
            names = ", ".join(each.name for each in differences[:NAMED])
            more = f" and {len(differences) - NAMED:,} more" if differences[NAMED:] else ""
            groups.append((f"{TITLES[category]} ({len(differences):,})", names + more))
    return groups


#: The functions and tables that the template uses, besides the trend.
_NAMES: Mapping[str, object] = {
    "Standing": Standing,
    "order": ORDER,
    "phrases": PHRASES,
    "bar": _bar,
    "bar_width": BAR,
    "summary": _summary,
    "changes": _changes,
}
