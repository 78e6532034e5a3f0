"""Evidence on the HTML page: cards of findings, within the size that a browser opens quickly.

The decisive exchange of a card comes first, controls last. Inconclusive obligations with one cause
share a card: the cause is shown once, not forty times. What shows that an obligation conforms is
there as well, closed; its exchanges only if the report has them.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass

from assay.report.journal_exchanges import TrafficSummary
from assay.report.sanitize import bounded
from assay.report.timeline import EntryKind, TimelineEntry, moment
from assay.report.values import EvidenceRole, Report, ReportedResult
from assay.report.views import (
    Group,
    by_cause,
    entry_text,
    exchange_lines,
    exchange_title,
    nearest_entries,
    notes,
)
from assay.rules.verdict import Standing

#: Cards shown in full of each verdict; the rest is only counted.
CARDS = 500
#: The size of all exchanges and timelines together, in characters.
EXCHANGES = 6_000_000
#: Observations shown on each card, and the length of their texts.
FINDINGS = 5
TEXT = 1_000
#: Entries of each timeline.
ENTRIES = 60


@dataclass(frozen=True, slots=True, kw_only=True)
class ExchangeText:
    """The title and the lines of an exchange; a `control` is the valid twin of another."""

    title: str
    text: str
    control: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class TimelineRow:
    """One entry of a timeline: the target's clock, the number of the exchange, what happened."""

    at: str
    exchange: int
    kind: str
    text: str
    role: str


@dataclass(frozen=True, slots=True, kw_only=True)
class BoundedCard:
    """A card with the exchanges and the timeline for which the page has room.

    `contexts` are those in which its trial was run; the base context is the empty text.
    """

    result: ReportedResult
    exchanges: tuple[ExchangeText, ...]
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
    """The cards of a page; `carded` are the obligations that have their place on one.

    `passes` are the conforming obligations whose exchanges the report has.
    """

    violations: tuple[BoundedCard, ...]
    causes: tuple[CauseCard, ...]
    inconclusive: tuple[BoundedCard, ...]
    passes: Mapping[str, BoundedCard]
    left_out: Mapping[Standing, int]
    carded: frozenset[str]


def evidence_of(report: Report, traffic: TrafficSummary) -> PageEvidence:
    """Return the cards of a report, as far as the page has room."""
    room = _Room(contexts={each.trial: each.contexts for each in traffic.trials})
    violated = report.of(Standing.VIOLATES)
    groups = by_cause(report)
    single = [group.results[0] for group in groups if len(group.results) == 1]
    violations = room.cards(violated[:CARDS])
    causes = tuple(
        CauseCard(cause=group, first=room.card(group.results[0]))
        for group in groups[:CARDS]
        if len(group.results) > 1
    )
    inconclusive = room.cards(single[:CARDS])
    passed = room.cards([each for each in report.of(Standing.CONFORMS) if each.exchanges])
    carded = {each.result.planned.id for each in (*violations, *inconclusive)}
    carded.update(result.planned.id for each in causes for result in each.cause.results)
    return PageEvidence(
        violations=violations,
        causes=causes,
        inconclusive=inconclusive,
        passes={each.result.planned.id: each for each in passed},
        left_out={
            Standing.VIOLATES: len(violated[CARDS:]),
            Standing.INDETERMINATE: len(single[CARDS:]),
        },
        carded=frozenset(carded),
    )


@dataclass(slots=True, kw_only=True)
class _Room:
    """What is left of the page's budget for exchanges and timelines."""

    contexts: Mapping[str, tuple[str, ...]]
    left: int = -1

    def __post_init__(self) -> None:
        self.left = EXCHANGES

    def cards(self, results: Sequence[ReportedResult]) -> tuple[BoundedCard, ...]:
        """Return the cards of results, which are served in their order."""
        return tuple(map(self.card, results))

    def card(self, result: ReportedResult) -> BoundedCard:
        """Return the card of a result."""
        exchanges = tuple(self._texts(result))
        return BoundedCard(
            result=result,
            exchanges=exchanges,
            timeline=tuple(self._timeline(result)),
            notes=tuple(notes(result, shown=len(exchanges))),
            contexts=self.contexts.get(result.planned.trial, ()),
        )

    def _texts(self, result: ReportedResult) -> Iterator[ExchangeText]:
        """Yield the exchanges for which there is room."""
        roles = result.roles
        for exchange in result.exchanges:
            text = "\n".join(exchange_lines(exchange))
            self.left -= len(text)
            if self.left < 0:
                return
            role = roles.get(exchange.n)
            yield ExchangeText(
                title=exchange_title(exchange, role),
                text=text,
                control=role is EvidenceRole.CONTROL,
            )

    def _timeline(self, result: ReportedResult) -> Iterator[TimelineRow]:
        """Yield the timeline, if there is room for all of it."""
        rows = tuple(_rows(result, nearest_entries(result, ENTRIES)))
        self.left -= sum(len(row.text) for row in rows)
        if self.left >= 0:
            yield from rows


def _rows(result: ReportedResult, entries: Iterable[TimelineEntry]) -> Iterator[TimelineRow]:
    now, roles = "", result.roles
    for entry in entries:
        role = roles.get(entry.exchange)
        at = moment(entry.at) if entry.at and entry.at != now else ""
        now = entry.at or now
        yield TimelineRow(
            at=at,
            exchange=entry.exchange,
            kind="executed" if entry.kind is EntryKind.CARRIED_OUT else entry.kind.value,
            text=entry_text(entry).replace(" -> ", " → "),
            role=role.value if role else "",
        )


def short(text: str, limit: int = TEXT) -> str:
    """Return a text of a card, bounded."""
    return bounded(text, limit)
