"""Trend of the runs in a folder, in the order of time, each with what changed since the one before.

Its page is one self-contained HTML file without a script, in the style of the reports.
"""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from pathlib import Path, PurePath
from typing import TextIO

from assay.errors import AssayError, InputError
from assay.journal.journal_file import JOURNAL
from assay.report.comparison import REPORT, TITLES, Category, Comparison, compare, read_run
from assay.report.formats.html import page_template
from assay.report.sanitize import clean, one_line
from assay.report.values import RecordedLines, Report
from assay.report.wording import PHRASES, listed
from assay.rules.verdict import Standing

#: The HTML report in the folder of a run.
PAGE = "report.html"


@dataclass(frozen=True, slots=True, kw_only=True)
class TrendRun:
    """One run; `page` is the path of its HTML report from that of the trend, if there is one.

    `since` is the comparison with the run before on the same target, with the same contracts
    and selection, if there is one.
    """

    name: str
    run: Report
    page: str = ""
    since: Comparison | None = None

    @property
    def counts(self) -> Mapping[Standing, int]:
        """The number of obligations of each verdict."""
        return {standing: self.run.counts[standing.value] for standing in Standing}


@dataclass(frozen=True, slots=True, kw_only=True)
class UnreadableRun:
    """A run that cannot be shown, and why."""

    name: str
    reason: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Trend:
    """The runs of a folder, the first one first, and those that cannot be read."""

    folder: str
    runs: tuple[TrendRun, ...]
    unreadable: tuple[UnreadableRun, ...] = ()


def read_trend(folder: Path, page: Path, *, last: int) -> Trend:
    """Read the runs in a folder; links lead from the `page`. Of many runs, the `last` are shown.

    Raises:
        InputError: there is no such folder, or no run in it.

    """
    places = sorted(_places(folder))
    if not places:
        hint = f"name the folder that contains the folders of the runs, each with {JOURNAL} or {REPORT}"
        raise InputError.one(str(folder), "there is no run here", hint=hint)
    runs: list[tuple[Path, Report]] = []
    unreadable: list[UnreadableRun] = []
    for place in places:
        try:
            runs.append((place, _counted(read_run(place))))
        except AssayError as error:
            reason = one_line(clean(str(error).removeprefix(f"{place}{os.sep}"), 300))
            unreadable.append(UnreadableRun(name=_name(place, folder), reason=reason))
    runs.sort(key=lambda each: (each[1].header.started, each[0]))
    return Trend(
        folder=one_line(clean(str(folder))),
        runs=tuple(_with_changes(runs, folder, page))[-last:],
        unreadable=tuple(unreadable),
    )


def _counted(run: Report) -> Report:
    """Return a run without what a trend does not show: there may be many."""
    return replace(run, results=run.bare_results, searches=(), lines=RecordedLines())


def _places(folder: Path) -> Iterator[Path]:
    """Yield the folders of runs; an unreadable folder is none."""
    try:
        below = [path for path in folder.iterdir() if path.is_dir()]
    except OSError as error:
        what = f"cannot be read: {error.strerror}"
        raise InputError.one(str(folder), what) from None
    for place in (folder, *below):
        if any((place / name).is_file() for name in (JOURNAL, REPORT)):
            yield place


def _with_changes(runs: list[tuple[Path, Report]], folder: Path, page: Path) -> Iterator[TrendRun]:
    before: dict[tuple[object, ...], Report] = {}
    for place, run in runs:
        same = _comparable(run)
        yield TrendRun(
            name=_name(place, folder),
            run=run,
            page=_link(place / PAGE, page),
            since=compare(before[same], run) if same in before else None,
        )
        before[same] = run


def _comparable(run: Report) -> tuple[object, ...]:
    """Return what two runs must have in common to be compared with each other."""
    header = run.header
    contracts = tuple(each.id for each in header.contracts)
    return header.target.name, header.party, contracts, tuple(header.chosen.items())


def _name(place: Path, folder: Path) -> str:
    return one_line(clean(place.name if place != folder else str(place)))


def _link(target: Path, page: Path) -> str:
    """Return the path of a report from the folder of the page; empty if there is none."""
    if not target.is_file():
        return ""
    try:
        relative = os.path.relpath(target.resolve(), page.resolve().parent)
    except ValueError:  # on another drive
        return ""
    return PurePath(relative).as_posix()


# -- the page -------------------------------------------------------------------
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
    chunks = page_template("html/trend.html.j2").generate(
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
        yield (
            each,
            tuple(
                Segment(
                    standing=standing,
                    x=number * COLUMN,
                    y=round(HEIGHT - end, 2),
                    width=COLUMN - GAP,
                    height=round(seen, 2),
                )
                for standing, end, seen in _stacked(each, most, HEIGHT)
            ),
        )


def _bar(run: TrendRun) -> tuple[Segment, ...]:
    """Return the bar of a run, as long as all its obligations."""
    return tuple(
        Segment(standing=standing, x=round(end - seen, 2), y=0, width=round(seen, 2), height=12)
        for standing, end, seen in _stacked(run, len(run.run.results) or 1, BAR)
    )


def _stacked(run: TrendRun, most: int, length: float) -> Iterator[tuple[Standing, float, float]]:
    """Yield each verdict that occurs with the end of its part of a length, and the part seen."""
    end = 0.0
    for standing in ORDER:
        part = run.counts[standing] / most * length
        end += part
        if part:
            yield standing, end, max(part, LEAST) if standing is Standing.VIOLATES else part


def _summary(run: TrendRun) -> str:
    shown = [each for each in PHRASES if run.counts[each]]
    return ", ".join(f"{run.counts[each]:,} {PHRASES[each]}" for each in shown) or "nothing planned"


def _changes(comparison: Comparison) -> list[tuple[str, str]]:
    """Return the differences by category, each with its title and number, and the first names."""
    groups: list[tuple[str, str]] = []
    for category in Category:
        differences = comparison.of(category)
        if differences:
            names = listed([each.name for each in differences], NAMED)
            groups.append((f"{TITLES[category]} ({len(differences):,})", names))
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
