"""The summary on the terminal: plain lines, coloured and wrapped by word on a Rich console.

The most important lines come last, where a reader looks when a run ends: violations, counts and
the headline. Colour only repeats what the words say. Texts of the target are never read as Rich
markup, and lines to copy are never broken.
"""

from __future__ import annotations

import textwrap
from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, TextIO

from assay.report.sanitize import bounded
from assay.report.values import Report, ReportedResult, ReportedSearch
from assay.report.views import Group, by_cause, by_reason, card_lines, explain_command
from assay.report.wording import (
    PHRASES,
    SIGNS,
    about,
    answer_summary,
    caveats,
    closing,
    counted,
    exit_reasons,
    fault_count,
    finding_summary,
    headline,
    needing_attention,
    search_notes,
    search_summary,
    waiver_sentence,
)
from assay.rules.verdict import Standing

if TYPE_CHECKING:
    from rich.console import Console

#: How much of a report is shown on a terminal.
CARDS = 20
GROUPS = 20
NAMES = 3
EXCHANGES = 1
ENTRIES = 24
BODY = 600
WIDTH = 400

#: Where the text of a card's line begins, behind its label.
LABEL = 15
#: How the lines of a card that are not broken begin: exchanges, and commands to copy.
COPIED = (">", "<", "*", "=", "reproduce", "request", "explain")

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
    """A line and its Rich style; `indent` is that of its further lines, None if it has none."""

    text: str
    style: str = ""
    indent: int | None = 2


#: Counts that are shown even if they are zero.
ALWAYS = (Standing.CONFORMS, Standing.VIOLATES)


def render(report: Report, out: TextIO) -> None:
    """Write the summary as plain lines."""
    out.writelines(line.text + "\n" for line in summary(report))


def show(report: Report, console: Console) -> None:
    """Write the summary to a Rich console."""
    from rich.text import Text  # noqa: PLC0415 -- heavy, and only for a terminal

    for line in summary(report):
        for part in wrapped(line, console.width):
            console.print(Text(part, line.style), soft_wrap=True)


def wrapped(line: Styled, width: int) -> list[str]:
    """Return a line broken between words into lines of at most a width, if it may be broken."""
    if line.indent is None or len(line.text) <= width:
        return [line.text]
    margin = len(line.text) - len(line.text.lstrip())
    indent = " " * min(max(line.indent, margin), width // 2)
    return textwrap.wrap(
        line.text,
        max(width, 1),
        subsequent_indent=indent,
        break_long_words=False,
        break_on_hyphens=False,
    )


def summary(report: Report) -> Iterator[Styled]:
    """Yield the summary line by line."""
    yield from _groups("Not verified", by_reason(report.of(Standing.UNVERIFIED)))
    yield from _groups("Inconclusive", by_cause(report))
    yield from _waivers(report)
    yield from _searches(report)
    yield from _faults(report)
    yield from _violations(report)
    yield from _counts(report)
    violated = bool(report.of(Standing.VIOLATES))
    yield Styled("")
    yield Styled(headline(report), "bold red" if violated else "bold")
    for sentence in caveats(report):
        yield Styled(sentence)
    yield Styled(about(report), "dim")
    yield Styled(closing(report), "bold")
    for reason in exit_reasons(report):
        yield Styled(bounded(reason, WIDTH))


def _violations(report: Report) -> Iterator[Styled]:
    results = report.of(Standing.VIOLATES)
    for result in results[:CARDS]:
        yield from _card(result)
        if result.reproduce:
            command = explain_command(result.planned.id, report.journal)
            yield Styled(f"    explain    {command}", "", None)
        yield Styled("")
    if len(results) > CARDS:
        yield Styled(f"and {len(results) - CARDS:,} more {Standing.VIOLATES.value}", "bold")
        yield Styled("")


def _card(result: ReportedResult) -> Iterator[Styled]:
    standing = result.standing
    title = f"{SIGNS[standing]} {result.planned.id}  {standing.value}"
    yield Styled(title, _COLOURS[standing])
    for line in card_lines(result, exchanges=EXCHANGES, body=BODY, entries=ENTRIES):
        copied = line.startswith(COPIED)
        whole = line if line.startswith(("reproduce", "request")) else bounded(line, WIDTH)
        yield Styled(f"    {whole}" if line else "", _style(line), None if copied else LABEL)


def _style(line: str) -> str:
    return "dim" if line[:1] in {">", "<", "*", "="} else ""


def _groups(title: str, groups: tuple[Group, ...]) -> Iterator[Styled]:
    if not groups:
        return
    yield Styled(title, "bold")
    for group in groups[:GROUPS]:
        reason = bounded(group.reason, WIDTH)
        yield Styled(f"  {counted(len(group.results), 'obligation')}: {reason}", "yellow", 4)
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
