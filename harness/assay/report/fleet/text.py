"""The text report of a fleet: the most important lines last, as after a run."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TextIO

from assay.report.fleet.values import Changes, FleetObligation, FleetReport
from assay.report.fleet.wording import bank_line, caveats, change_line, headline, violation_line
from assay.report.sanitize import bounded
from assay.report.wording import counted
from assay.rules.verdict import Standing

#: How many obligations and changes are shown of each kind, and characters of a reason.
SHOWN = 30
WIDTH = 300


def render(report: FleetReport, out: TextIO) -> None:
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
        yield from _changes(report.changes)
    yield headline(report)
    yield from caveats(report)


def _group(title: str, obligations: tuple[FleetObligation, ...]) -> Iterator[str]:
    if not obligations:
        return
    yield f"{title} ({len(obligations):,})"
    for obligation in obligations[:SHOWN]:
        yield f"  {violation_line(obligation)}"
        yield f"      {bounded(obligation.says, WIDTH)}"
        first = obligation.verdicts[obligation.banks(Standing.VIOLATES)[0]]
        yield f"      {bounded(first.reason, WIDTH)}"
    if len(obligations) > SHOWN:
        yield f"  and {len(obligations) - SHOWN:,} more"
    yield ""


def _changes(changes: Changes) -> Iterator[str]:
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
