"""The HTML report of a fleet: one self-contained page, in the style of the report of a run."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import PurePosixPath
from typing import TextIO

from assay.report.fleet.values import CellState, FleetCell, FleetObligation, FleetReport, gravest
from assay.report.fleet.wording import caveats, change_line, headline, listed
from assay.report.html.page import page_template
from assay.report.sanitize import bounded
from assay.report.wording import SIGNS, counted
from assay.rules.verdict import Standing

#: Obligations and changes that are shown of each kind, and characters of a text.
MOST = 200
TEXT = 600


@dataclass(frozen=True, slots=True, kw_only=True)
class FleetClause:
    """One clause with its gravest verdict at each bank; None where the bank does not have it."""

    clause: str
    says: str
    standings: tuple[Standing | None, ...]


def render(report: FleetReport, out: TextIO) -> None:
    """Write the report as one HTML page."""
    chunks = page_template("fleet/page.html.j2").generate(
        **_NAMES,
        report=report,
        headline=headline(report),
        caveats=caveats(report),
        rows=tuple(_rows(report)),
        most=MOST,
    )
    out.writelines(chunks)
    out.write("\n")


def _rows(report: FleetReport) -> Iterator[FleetClause]:
    clauses: dict[str, list[FleetObligation]] = {}
    for obligation in report.obligations:
        clauses.setdefault(obligation.clause, []).append(obligation)
    for clause, obligations in clauses.items():
        yield FleetClause(
            clause=clause,
            says=obligations[0].says,
            standings=tuple(
                gravest(
                    each.verdicts[bank.name].standing
                    for each in obligations
                    if bank.name in each.verdicts
                )
                for bank in report.banks
            ),
        )


def _reasons(obligation: FleetObligation) -> list[tuple[str, tuple[str, ...]]]:
    """Return the reasons of violations, each with the banks that have it."""
    banks: dict[str, list[str]] = {}
    for bank in obligation.banks(Standing.VIOLATES):
        banks.setdefault(obligation.verdicts[bank].reason, []).append(bank)
    return [(reason, tuple(names)) for reason, names in banks.items()]


def _page_of(cell: FleetCell) -> str:
    return str(PurePosixPath(cell.journal).with_name("report.html"))


def _short(text: str, limit: int = TEXT) -> str:
    return bounded(text, limit)


#: The functions and tables that the template uses, besides the report.
_NAMES: Mapping[str, object] = {
    "Standing": Standing,
    "CellState": CellState,
    "signs": SIGNS,
    "counted": counted,
    "listed": listed,
    "change_line": change_line,
    "reasons": _reasons,
    "page_of": _page_of,
    "short": _short,
}
