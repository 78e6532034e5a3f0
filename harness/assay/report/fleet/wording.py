"""The sentences of a fleet report, the same in every format."""

from __future__ import annotations

from assay.report.fleet.values import (
    BankRow,
    CellState,
    FleetObligation,
    FleetReport,
    VerdictChange,
)
from assay.report.waivers import waiver_caveats
from assay.report.wording import counted
from assay.rules.verdict import Standing

#: Banks that are named in a sentence.
NAMED = 5


def headline(report: FleetReport) -> str:
    """Return the most important sentence of a fleet report."""
    banks = len(report.banks)
    violating = sum(bank.violates for bank in report.banks)
    tested = sum(any(cell.verdicts for cell in bank.cells) for bank in report.banks)
    if violating:
        verb = "violates" if violating == 1 else "violate"
        number = len(report.violated)
        return f"{violating:,} of {counted(banks, 'bank')} {verb} {counted(number, 'obligation')}."
    if not tested:
        return "No bank was tested: this report is no evidence of conformance."
    if tested == banks and not any(bank.incomplete for bank in report.banks):
        each = "The bank meets" if banks == 1 else f"All {banks:,} banks meet"
        return f"{each} every obligation that was tested."
    return f"{tested:,} of {counted(banks, 'bank')} were tested; no violation was found."


def caveats(report: FleetReport) -> tuple[str, ...]:
    """Return what a reader must know besides the headline, one sentence each."""
    sentences: list[str] = []
    if report.interrupted:
        sentences.append("The fleet run was interrupted: this report is incomplete.")
    failed = [
        bank.name
        for bank in report.banks
        if any(cell.state is CellState.FAILED for cell in bank.cells)
    ]
    if failed:
        sentences.append(f"{counted(len(failed), 'bank')} could not be tested: {listed(failed)}.")
    open_ = [
        bank.name
        for bank in report.banks
        if bank.incomplete and bank.name not in failed and not report.interrupted
    ]
    if open_:
        sentences.append(f"{counted(len(open_), 'bank')} could not be verified in full.")
    for bank in report.banks:
        sentences += [f"{bank.name}: {each}" for each in waiver_caveats(bank.invalid_waivers)]
    if report.common:
        same = counted(len(report.common), "obligation")
        sentences.append(f"All tested banks violate the same {same}.")
    return tuple(sentences)


def listed(names: tuple[str, ...] | list[str], most: int = NAMED) -> str:
    """Return names as a list, the first few only."""
    rest = len(names) - most
    return ", ".join(names[:most]) + (f" and {rest:,} more" if rest > 0 else "")


def bank_line(bank: BankRow) -> str:
    """Return the result of one bank in a few words."""
    if not any(cell.verdicts for cell in bank.cells):
        return "; ".join(bank.reasons) or "not tested"
    counts = bank.counts
    parts = [
        f"{counts[standing.value]:,} {word}"
        for standing, word in (
            (Standing.VIOLATES, "violated"),
            (Standing.INDETERMINATE, "indeterminate"),
            (Standing.UNVERIFIED, "unverified"),
            (Standing.WAIVED, "waived"),
            (Standing.CONFORMS, "conform"),
        )
        if counts[standing.value] or standing is Standing.CONFORMS
    ]
    return ", ".join(parts) + "".join(f"; {reason}" for reason in bank.reasons)


def violation_line(obligation: FleetObligation) -> str:
    """Return which banks violate an obligation, of how many."""
    banks = obligation.banks(Standing.VIOLATES)
    return f"{obligation.id}: {len(banks)} of {obligation.tested} banks ({listed(banks)})"


def change_line(change: VerdictChange) -> str:
    """Return one change in a line."""
    before = change.before.value if change.before else "not there"
    now = change.now.value if change.now else "not there"
    return f"{change.bank}: {change.obligation}: {before} before, {now} now"
