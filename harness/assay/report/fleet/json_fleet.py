"""The JSON report of a fleet, `assay-fleet/1`: every verdict at every bank, for programs."""

from __future__ import annotations

import json
from dataclasses import asdict
from typing import TextIO

from assay.judging.waivers import as_record
from assay.report.fleet.values import (
    BankRow,
    Changes,
    FleetObligation,
    FleetReport,
    VerdictChange,
)
from assay.report.fleet.wording import caveats, headline
from assay.rules.verdict import Standing

SCHEMA = "assay-fleet/1"
#: The name of the file in the folder of a fleet.
FILE = "fleet.json"

_Values = dict[str, object]


def render(report: FleetReport, out: TextIO) -> None:
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
        "clause": obligation.clause,
        "statement": obligation.says,
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
