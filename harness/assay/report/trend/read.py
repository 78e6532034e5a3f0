"""Reader of the runs in a folder, each of which is a folder with a journal or a JSON report."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path, PurePath

from assay.errors import AssayError, InputError
from assay.journal.journal_file import JOURNAL
from assay.report.comparison.compare import compare
from assay.report.comparison.read import REPORT, read_run
from assay.report.comparison.values import ComparedRun
from assay.report.sanitize import clean, one_line
from assay.report.trend.values import Trend, TrendRun, UnreadableRun

#: The HTML report in the folder of a run.
PAGE = "report.html"


def read_trend(folder: Path, page: Path, *, last: int) -> Trend:
    """Read the runs in a folder; links lead from the `page`. Of many runs, the `last` are shown.

    Raises:
        InputError: there is no such folder, or no run in it.

    """
    places = sorted(_places(folder))
    if not places:
        hint = f"name the folder that contains the folders of the runs, each with {JOURNAL} or {REPORT}"
        raise InputError.one(str(folder), "there is no run here", hint=hint)
    runs: list[tuple[Path, ComparedRun]] = []
    unreadable: list[UnreadableRun] = []
    for place in places:
        try:
            runs.append((place, read_run(place)))
        except AssayError as error:
            reason = one_line(clean(str(error).removeprefix(f"{place}{os.sep}"), 300))
            unreadable.append(UnreadableRun(name=_name(place, folder), reason=reason))
    runs.sort(key=lambda each: (each[1].started, each[0]))
    return Trend(
        folder=one_line(clean(str(folder))),
        runs=tuple(_with_changes(runs, folder, page))[-last:],
        unreadable=tuple(unreadable),
    )


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


def _with_changes(
    runs: list[tuple[Path, ComparedRun]], folder: Path, page: Path
) -> Iterator[TrendRun]:
    before: dict[tuple[object, ...], ComparedRun] = {}
    for place, run in runs:
        same = _comparable(run)
        yield TrendRun(
            name=_name(place, folder),
            run=run,
            page=_link(place / PAGE, page),
            since=compare(before[same], run) if same in before else None,
        )
        before[same] = run


def _comparable(run: ComparedRun) -> tuple[object, ...]:
    """Return what two runs must have in common to be compared with each other."""
    contracts = tuple(name for name in run.conditions if name.startswith("contract "))
    party = run.conditions.get("judged party")
    return run.conditions.get("target"), party, contracts, tuple(run.selection.items())


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
