"""Cards of the HTML page: what shows each violated, inconclusive or conforming obligation.

They stay within the size that a browser opens quickly: what is beyond it is only counted. Violations
of one cause stand together, and inconclusive obligations with one cause share a card: the cause is
shown once, not forty times. What shows that an obligation conforms is there as well, if the report
has it. The decisive exchange of a card comes first, controls last. Nothing here escapes for HTML.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field

from assay.report.panes import Panes, panes
from assay.report.timeline import EntryKind, TimelineEntry, relative_times
from assay.report.values import EvidenceRole, Report, ReportedExchange, ReportedResult
from assay.report.views import (
    Group,
    by_cause,
    explain_command,
    nearest_entries,
    notes,
    violation_groups,
)
from assay.rules.verdict import Standing

#: Cards shown in full of each verdict; the rest is only counted.
CARDS = 500
#: The size of all exchanges and timelines, in characters, and what the markup of each part counts.
EXCHANGES = 6_000_000
MARKUP = 100
#: Entries of each timeline.
ENTRIES = 60
_HOST = re.compile(r"(?<= )[a-z]+://[^/?#\s]*")


@dataclass(frozen=True, slots=True, kw_only=True)
class ExchangeCard:
    """An exchange with its two panes, and its role in the evidence."""

    exchange: ReportedExchange
    panes: Panes
    role: str


@dataclass(frozen=True, slots=True, kw_only=True)
class TimelineRow:
    """An entry of a timeline: the relative time, or how far it moved the clock, and what was sent."""

    entry: TimelineEntry
    at: str
    sent: str
    role: str


@dataclass(frozen=True, slots=True, kw_only=True)
class BoundedCard:
    """A card with the exchanges and the timeline for which the page has room.

    `explain` is the command that explains the verdict. `contexts` are those in which its trial was
    run; the base context is the empty text.
    """

    result: ReportedResult
    explain: str
    exchanges: tuple[ExchangeCard, ...]
    timeline: tuple[TimelineRow, ...]
    notes: tuple[str, ...]
    contexts: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class CauseCard:
    """Inconclusive obligations with one cause, and the evidence of the first of them."""

    cause: Group
    first: BoundedCard


@dataclass(frozen=True, slots=True, kw_only=True)
class PageEvidence:
    """The cards of a page, violations of one cause together; `carded` have their place on one.

    `passes` are the conforming obligations whose exchanges the report has.
    """

    violations: tuple[tuple[BoundedCard, ...], ...]
    causes: tuple[CauseCard, ...]
    passes: Mapping[str, BoundedCard]
    left_out: Mapping[Standing, int]
    carded: frozenset[str]


def evidence_of(report: Report, contexts: Mapping[str, tuple[str, ...]]) -> PageEvidence:
    """Return the cards of a report, as far as the page has room; `contexts` are those of each trial."""
    room = _Room(contexts=contexts, journal=report.journal)
    violated, causes = report.of(Standing.VIOLATES), by_cause(report)
    groups = violation_groups(violated[:CARDS])
    shown = (*groups, *(each.results for each in causes[:CARDS]))
    passed = (each for each in report.of(Standing.CONFORMS) if each.exchanges)
    return PageEvidence(
        violations=tuple(tuple(map(room.card, group)) for group in groups),
        causes=tuple(
            CauseCard(cause=each, first=room.card(each.results[0])) for each in causes[:CARDS]
        ),
        passes={each.planned.id: room.card(each) for each in passed},
        left_out={
            Standing.VIOLATES: len(violated[CARDS:]),
            Standing.INDETERMINATE: sum(len(each.results) for each in causes[CARDS:]),
        },
        carded=frozenset(result.planned.id for group in shown for result in group),
    )


@dataclass(slots=True, kw_only=True)
class _Room:
    """What is left of the page's budget for exchanges and timelines."""

    contexts: Mapping[str, tuple[str, ...]]
    journal: str
    left: int = field(default_factory=lambda: EXCHANGES)

    def card(self, result: ReportedResult) -> BoundedCard:
        """Return the card of a result."""
        exchanges = tuple(self._exchanges(result))
        return BoundedCard(
            result=result,
            explain=explain_command(result.planned.id, self.journal),
            exchanges=exchanges,
            timeline=tuple(self._timeline(result)),
            notes=tuple(notes(result, shown=len(exchanges))),
            contexts=self.contexts.get(result.planned.trial, ()),
        )

    def _exchanges(self, result: ReportedResult) -> Iterator[ExchangeCard]:
        """Yield the exchanges for which there is room."""
        for exchange in result.exchanges if self.left > 0 else ():
            shown = panes(exchange, _control(result, exchange), result.findings or result.evidence)
            spans = *shown.request, *shown.response
            self.left -= sum(len(text) + MARKUP for _, text in spans)
            if self.left < 0:
                return
            yield ExchangeCard(exchange=exchange, panes=shown, role=_role(result, exchange.n))

    def _timeline(self, result: ReportedResult) -> Iterator[TimelineRow]:
        """Yield the timeline, if there is room for all of it."""
        rows = tuple(_rows(result))
        self.left -= sum(len(row.sent) + MARKUP for row in rows)
        if self.left >= 0:
            yield from rows


def _role(result: ReportedResult, number: int) -> str:
    role = result.roles.get(number)
    return role.value if role else ""


def _control(result: ReportedResult, exchange: ReportedExchange) -> ReportedExchange | None:
    """Return the control of an exchange: one that the evidence names, or else one of its trial."""
    controls = [n for n, role in result.roles.items() if role is EvidenceRole.CONTROL]
    if exchange.n in controls:
        return None
    alike = (each for each in result.exchanges if each.operation == exchange.operation)
    named = (each for each in alike if each.n in controls)
    return next(named, result.controls.get(exchange.n))


def _rows(result: ReportedResult) -> Iterator[TimelineRow]:
    """Yield the entries of a timeline; a time stands where it is another than before."""
    times = {id(entry): text for entry, text in relative_times(result.timeline)}
    before = ""
    for entry in nearest_entries(result, ENTRIES):
        time = times.get(id(entry), "")
        subject = f"{entry.subject}: " if entry.subject else ""
        text = _HOST.sub("", entry.text, count=1) if entry.kind is EntryKind.CALL else entry.text
        yield TimelineRow(
            entry=entry,
            at="" if time == before else time,
            sent=f"{subject}{text}",
            role=_role(result, entry.exchange),
        )
        before = time or before
