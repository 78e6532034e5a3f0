"""The summary on the terminal: plain lines, coloured on a Rich console.

The most important lines come last, where a reader looks when a run ends. Colour only
repeats what the words say. Texts of the target are never read as Rich markup.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, TextIO

from assay.judging.verdict import Standing
from assay.report.sanitize import bounded
from assay.report.values import Report, ReportedResult, ReportedSearch
from assay.report.views import by_reason, card_lines, make_card
from assay.report.waivers import needing_attention, waiver_sentence
from assay.report.wording import (
    PHRASES,
    SIGNS,
    answer_summary,
    caveats,
    closing,
    counted,
    exit_reasons,
    fault_count,
    finding_summary,
    headline,
    search_notes,
    search_summary,
)

if TYPE_CHECKING:
    from rich.console import Console

#: How much of a report is shown on a terminal.
CARDS = 20
GROUPS = 20
NAMES = 3
EXCHANGES = 2
BODY = 600
WIDTH = 400

_COLOURS = {
    Standing.CONFORMS: "green",
    Standing.VIOLATES: "bold red",
    Standing.INDETERMINATE: "yellow",
    Standing.UNVERIFIED: "yellow",
    Standing.UNSPECIFIED: "cyan",
    Standing.NOT_APPLICABLE: "dim",
    Standing.WAIVED: "magenta",
}


@dataclass(frozen=True, slots=True)
class Styled:
    """A line and its Rich style."""

    text: str
    style: str = ""


#: Counts that are shown even if they are zero.
ALWAYS = (Standing.CONFORMS, Standing.VIOLATES)


def render(report: Report, out: TextIO) -> None:
    """Write the summary as plain lines."""
    out.writelines(line.text + "\n" for line in summary(report))


def show(report: Report, console: Console) -> None:
    """Write the summary to a Rich console."""
    from rich.text import Text  # noqa: PLC0415 -- heavy, and only for a terminal

    for line in summary(report):
        console.print(Text(line.text, line.style), soft_wrap=True)


def summary(report: Report) -> Iterator[Styled]:
    """Yield the summary line by line."""
    yield from _cards(report, Standing.VIOLATES)
    yield from _cards(report, Standing.INDETERMINATE)
    yield from _unverified(report)
    yield from _waivers(report)
    yield from _searches(report)
    yield from _faults(report)
    yield from _counts(report)
    violated = bool(report.of(Standing.VIOLATES))
    yield Styled("")
    yield Styled(headline(report), "bold red" if violated else "bold")
    for sentence in caveats(report):
        yield Styled(sentence)
    yield Styled(closing(report), "bold")
    for reason in exit_reasons(report):
        yield Styled(bounded(reason, WIDTH))


def _cards(report: Report, standing: Standing) -> Iterator[Styled]:
    results = report.of(standing)
    for result in results[:CARDS]:
        yield from _card(result)
    if len(results) > CARDS:
        yield Styled(f"and {len(results) - CARDS:,} more {standing.value}", "bold")
        yield Styled("")


def _card(result: ReportedResult) -> Iterator[Styled]:
    standing = result.standing
    title = f"{SIGNS[standing]} {result.planned.id}  {standing.value}"
    yield Styled(title, _COLOURS[standing])
    for line in card_lines(make_card(result), exchanges=EXCHANGES, body=BODY):
        whole = line if line.startswith("reproduce") else bounded(line, WIDTH)
        yield Styled(f"    {whole}" if line else "", _style(line))
    yield Styled("")


def _style(line: str) -> str:
    return "dim" if line[:1] in {">", "<", "*", "="} else ""


def _unverified(report: Report) -> Iterator[Styled]:
    groups = by_reason(report.of(Standing.UNVERIFIED))
    if not groups:
        return
    yield Styled("Not verified", "bold")
    for group in groups[:GROUPS]:
        reason = bounded(group.reason, WIDTH)
        yield Styled(f"  {counted(len(group.results), 'obligation')}: {reason}", "yellow")
        names = ", ".join(result.planned.id for result in group.results[:NAMES])
        hidden = len(group.results) - NAMES
        yield Styled(f"      {names}" + (f" and {hidden:,} more" if hidden > 0 else ""))
        if group.advice:
            yield Styled(f"      what to do: {group.advice}")
    if len(groups) > GROUPS:
        yield Styled(f"  and {len(groups) - GROUPS:,} more reasons")
    yield Styled("")


def _waivers(report: Report) -> Iterator[Styled]:
    waivers = needing_attention(report.waivers)
    if not waivers:
        return
    yield Styled("Waivers", "bold")
    for waiver in waivers[:GROUPS]:
        yield Styled(f"  {bounded(waiver_sentence(waiver), WIDTH)}", "yellow")
    if len(waivers) > GROUPS:
        yield Styled(f"  and {len(waivers) - GROUPS:,} more")
    yield Styled("")


def _searches(report: Report) -> Iterator[Styled]:
    if not report.searches:
        return
    yield Styled("Search", "bold")
    for search in report.searches:
        yield from _search(search)
    yield Styled("")


def _search(search: ReportedSearch) -> Iterator[Styled]:
    yield Styled(f"  {bounded(search_summary(search), WIDTH)}", "bold" if search.findings else "")
    for finding in search.findings[:CARDS]:
        yield Styled(f"      {bounded(finding_summary(finding), WIDTH)}")
    if len(search.findings) > CARDS:
        yield Styled(f"      and {len(search.findings) - CARDS:,} more")
    for answer in search.documented[:CARDS]:
        yield Styled(f"      {bounded(answer_summary(answer), WIDTH)}")
    if len(search.documented) > CARDS:
        yield Styled(f"      and {len(search.documented) - CARDS:,} more answers")
    for note in search_notes(search)[:CARDS]:
        yield Styled(f"      {bounded(note, WIDTH)}", "dim")


def _faults(report: Report) -> Iterator[Styled]:
    if not fault_count(report):
        return
    yield Styled(counted(fault_count(report), "harness fault"), "bold red")
    for fault in report.faults[:CARDS]:
        yield Styled(f"  {fault.where}: {bounded(fault.what, WIDTH)}")
    if len(report.faults) > CARDS:
        yield Styled(f"  and {len(report.faults) - CARDS:,} more")
    yield Styled("")


def _counts(report: Report) -> Iterator[Styled]:
    for standing, phrase in PHRASES.items():
        number = len(report.of(standing))
        if not number and standing not in ALWAYS:
            continue
        style = _COLOURS[standing] if number else "dim"
        yield Styled(f"  {SIGNS[standing]} {number:>6,}  {phrase}", style)
