"""The reports of a fleet: text, JSON (`assay-fleet/1`), and one HTML page.

The text has the most important lines last, as after a run. The JSON report has every verdict at
every bank, for programs. The page is one table of the banks with their verdicts and reports; the
obligations and changes behind its numbers are in the other two.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import asdict
from pathlib import PurePosixPath
from typing import TextIO

from assay.judging.waivers import as_record
from assay.report.fleet.values import (
    SCHEMA,
    BankRow,
    CellState,
    Changes,
    FleetCell,
    FleetObligation,
    FleetReport,
    VerdictChange,
    bank_line,
    caveats,
    change_line,
    headline,
    violation_line,
)
from assay.report.formats.html import page_template
from assay.report.sanitize import bounded
from assay.report.wording import counted
from assay.rules.verdict import Standing

_Values = dict[str, object]

#: How many obligations and changes are shown of each kind, and characters of a reason.
SHOWN = 30
WIDTH = 300


def render_text(report: FleetReport, out: TextIO) -> None:
    """Write the report as plain lines."""
    out.writelines(line + "\n" for line in lines(report))


def lines(report: FleetReport) -> Iterator[str]:
    """Yield the report line by line."""
    width = max((len(bank.name) for bank in report.banks), default=0)
    yield "Banks"
    for bank in report.banks:
        yield f"  {bank.name:<{width}}  {bounded(bank_line(bank), WIDTH)}"
    yield ""
    yield from _group("Violated by all tested banks", report.common)
    yield from _group("Violated by several banks", report.several)
    yield from _group("Violated by one bank only", report.own)
    if report.changes:
        yield from _change_lines(report.changes)
    yield headline(report)
    yield from caveats(report)


def _group(title: str, obligations: tuple[FleetObligation, ...]) -> Iterator[str]:
    if not obligations:
        return
    yield f"{title} ({len(obligations):,})"
    for obligation in obligations[:SHOWN]:
        yield f"  {violation_line(obligation)}"
        yield f"      {bounded(obligation.any.says, WIDTH)}"
        first = obligation.verdicts[obligation.banks(Standing.VIOLATES)[0]]
        yield f"      {bounded(first.reason, WIDTH)}"
    if len(obligations) > SHOWN:
        yield f"  and {len(obligations) - SHOWN:,} more"
    yield ""


def _change_lines(changes: Changes) -> Iterator[str]:
    yield f"Since the run of {changes.since}"
    groups = (
        ("new violation", changes.new_violations),
        ("violation resolved", changes.resolved),
        ("other change", changes.others),
    )
    for noun, group in groups:
        if group:
            plural = {"violation resolved": "violations resolved"}.get(noun, "")
            yield f"  {counted(len(group), noun, plural)}"
            yield from (f"    {change_line(each)}" for each in group[:SHOWN])
    for word, names in (("added", changes.added), ("removed", changes.removed)):
        if names:
            yield f"  banks {word}: {', '.join(names)}"
    if not (changes.verdicts or changes.added or changes.removed):
        yield "  nothing changed"
    yield ""


# -- JSON ---------------------------------------------------------------------------
def render_json(report: FleetReport, out: TextIO) -> None:
    """Write the report as JSON, indented, in a fixed order."""
    json.dump(as_values(report), out, ensure_ascii=False, indent=1)
    out.write("\n")


def as_values(report: FleetReport) -> _Values:
    """Return the report as JSON values."""
    return {
        "schema": SCHEMA,
        "tool": {"name": "assay", "version": report.version},
        "fleet": report.name,
        "headline": headline(report),
        "caveats": list(caveats(report)),
        "run": {
            "started": report.started,
            "finished": report.finished,
            "interrupted": report.interrupted,
            "command": report.command,
            "fail_on": report.fail_on,
            "exit_code": report.exit,
        },
        "banks": [_bank(bank) for bank in report.banks],
        "common": [each.id for each in report.common],
        "several": [each.id for each in report.several],
        "own": [
            {"bank": each.banks(Standing.VIOLATES)[0], "obligation": each.id} for each in report.own
        ],
        "obligations": [_obligation(each) for each in report.obligations],
        **({"changes": _changes(report.changes)} if report.changes else {}),
    }


def _bank(bank: BankRow) -> _Values:
    return {
        "name": bank.name,
        "counts": bank.counts,
        "seconds": round(bank.seconds, 3),
        "exchanges": bank.exchanges,
        "contracts": [
            {
                "contract": cell.contract,
                "state": cell.state.value,
                "reason": cell.reason,
                "exit_code": cell.exit.value,
                "journal": cell.journal,
                **({"waivers": [*map(as_record, cell.waivers)]} if cell.waivers else {}),
            }
            for cell in bank.cells
        ],
    }


def _obligation(obligation: FleetObligation) -> _Values:
    verdicts = obligation.verdicts.items()
    return {
        "id": obligation.id,
        "clause": obligation.any.clause,
        "statement": obligation.any.says,
        "verdicts": {bank: verdict.standing.value for bank, verdict in verdicts},
        "reasons": {bank: verdict.reason for bank, verdict in verdicts if verdict.reason},
    }


def _changes(changes: Changes) -> _Values:
    return {
        "since": changes.since,
        "added": list(changes.added),
        "removed": list(changes.removed),
        "verdicts": [*map(_change, changes.verdicts)],
    }


def _change(change: VerdictChange) -> _Values:
    before = change.before.value if change.before else None
    now = change.now.value if change.now else None
    return {**asdict(change), "before": before, "now": now}


# -- HTML ---------------------------------------------------------------------------
#: Characters of a reason.
TEXT = 600


def render_html(report: FleetReport, out: TextIO) -> None:
    """Write the report as one HTML page."""
    chunks = page_template("html/fleet.html.j2").generate(
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
