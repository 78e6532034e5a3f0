"""The HTML page of a fleet: one table of the banks with their verdicts and reports.

The obligations and changes behind the numbers are in the text and JSON reports.
"""

from __future__ import annotations

from pathlib import PurePosixPath
from typing import TextIO

from assay.report.fleet.values import CellState, FleetCell, FleetReport
from assay.report.fleet.wording import caveats, headline
from assay.report.html.page import page_template
from assay.report.sanitize import bounded
from assay.rules.verdict import Standing

#: Characters of a reason.
TEXT = 600


def render(report: FleetReport, out: TextIO) -> None:
    """Write the report as one HTML page."""
    chunks = page_template("fleet/page.html.j2").generate(
        report=report,
        headline=headline(report),
        caveats=caveats(report),
        standings=tuple(Standing),
        tested=CellState.TESTED,
        page_of=_page_of,
        short=_short,
    )
    out.writelines(chunks)
    out.write("\n")


def _page_of(cell: FleetCell) -> str:
    return str(PurePosixPath(cell.journal).with_name("report.html"))


def _short(text: str) -> str:
    return bounded(text, TEXT)
