"""Content that all formats share: cards of findings, results by reason, and results by clause.

A `Card` shows one violated or inconclusive obligation: the sentence of the contract, its
source, what was expected and seen, the variation sent, the redacted exchanges and the
command that reproduces it. `card_lines` writes it as plain text for terminal and JUnit.

A `Group` has the unverified obligations with one reason, which usually names what is
missing and the key of the target file that provides it.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass

from assay.contract.model import Source
from assay.report.exchange_text import EvidenceRole, exchange_lines, exchange_title
from assay.report.timeline import EntryKind, Timeline, TimelineEntry, moment
from assay.report.values import (
    ENDED,
    PlannedObligation,
    Report,
    ReportedExchange,
    ReportedResult,
)
from assay.report.wording import counted, shared_reasons
from assay.rules.verdict import Agreement, Evidence, Standing

#: What to do about a reason, by a word in it.
ADVICE: tuple[tuple[str, str], ...] = (
    (ENDED, "complete the run"),
    ("budget", "raise `budget` in the target file, or run again when the budget is renewed"),
    ("person", "run again with a person present to sign"),
)


@dataclass(frozen=True, slots=True, kw_only=True)
class CardFinding:
    """One observation that contradicts the contract, or is inconclusive.

    `decisive` is the exchange that shows it; 0 if there is none.
    """

    expected: str
    seen: str
    variation: str
    exchanges: tuple[int, ...]
    decisive: int = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class Card:
    """All that is shown of one violated or inconclusive obligation.

    `statement` is the sentence of the clause, `description` that of the facet. `missing`
    are exchanges that the evidence cites and the journal does not have. `reason` is empty
    where the findings say it already. `exchanges` has the decisive ones first and controls
    last; `roles` says which are which. `waiver` says that its waiver has expired.
    """

    id: str
    standing: Standing
    contract: str
    clause: str
    line: int
    level: str
    statement: str
    description: str
    sources: tuple[Source, ...]
    reason: str
    findings: tuple[CardFinding, ...]
    exchanges: tuple[ReportedExchange, ...]
    missing: tuple[int, ...]
    reproduce: str
    resend: str
    roles: Mapping[int, EvidenceRole]
    timeline: Timeline
    waiver: str = ""


def make_card(result: ReportedResult) -> Card:
    """Return the card of a result."""
    planned = result.planned
    against = [item for item in result.evidence if item.agreement is not Agreement.AGREES]
    recorded = {exchange.n for exchange in result.exchanges}
    return Card(
        id=planned.id,
        standing=result.standing,
        contract=planned.contract,
        clause=planned.clause,
        line=planned.line,
        level=planned.level,
        statement=planned.says,
        description=planned.asks,
        sources=planned.sources,
        # Only the reason says that another trial than the planned one showed it.
        reason=result.reason if result.trial or not against else "",
        findings=tuple(map(_finding, against)),
        exchanges=result.exchanges,
        missing=tuple(n for n in result.cites if n not in recorded),
        reproduce=result.reproduce,
        resend=result.resend,
        roles=roles(against or result.evidence),
        timeline=result.timeline,
        waiver=result.waiver,
    )


def roles(evidence: Iterable[Evidence]) -> Mapping[int, EvidenceRole]:
    """Return the role of each exchange that has one, by its number."""
    by_number: dict[int, EvidenceRole] = {}
    for item in evidence:
        by_number |= {n: EvidenceRole.CONTROL for n in item.controls if n not in by_number}
        by_number |= dict.fromkeys(item.in_reading_order[:1], EvidenceRole.DECISIVE)
    return by_number


def _finding(evidence: Evidence) -> CardFinding:
    return CardFinding(
        expected=evidence.expected,
        seen=evidence.seen,
        variation=evidence.variation,
        exchanges=evidence.exchanges,
        decisive=next(iter(evidence.in_reading_order), 0),
    )


def source_text(source: Source) -> str:
    """Return section, line and words of a place in the source document."""
    place = ", line ".join(filter(None, (source.section, str(source.line or ""))))
    return f"{place}: “{source.text}”" if source.text else place


def card_lines(
    card: Card, *, exchanges: int = 10, body: int = 4_096, entries: int = 60
) -> Iterator[str]:
    """Yield a card as lines of plain text, without its title.

    `exchanges` and `entries` are the largest numbers of exchanges and of entries of the
    timeline, `body` is the largest number of characters of a body.
    """
    yield from _sentences(card)
    if card.timeline and entries:
        yield ""
        yield "timeline   (the target's clock)"
        yield from timeline_lines(card, entries=entries)
    for exchange in card.exchanges[:exchanges]:
        yield ""
        yield exchange_title(exchange, card.roles.get(exchange.n))
        yield from exchange_lines(exchange, body=body)
    for note in notes(card, shown=exchanges):
        yield f"({note})"
    if card.reproduce:
        yield ""
        yield f"reproduce  {card.reproduce}"
    if card.resend:
        yield f"request    {card.resend}"


def _sentences(card: Card) -> Iterator[str]:
    yield f"contract   {card.statement}"
    if card.description:
        yield f"facet      {card.description}"
    for source in card.sources:
        yield f"source     {source_text(source)}"
    if card.waiver:
        yield f"waiver     {card.waiver}"
    if card.reason:
        yield f"reason     {card.reason}"
    for finding in card.findings:
        yield f"expected   {finding.expected}"
        yield f"seen       {finding.seen}{_in_exchange(finding)}"
        if finding.variation:
            yield f"variation  {finding.variation}"


def _in_exchange(finding: CardFinding) -> str:
    return f" (exchange {finding.decisive})" if finding.decisive else ""


def timeline_lines(card: Card, *, entries: int = 60) -> Iterator[str]:
    """Yield the timeline of a card, a line for each moment and each entry.

    If it is longer, the entries closest to the decisive exchanges stay.
    """
    now = ""
    for entry in nearest_entries(card, entries):
        if entry.at and entry.at != now:
            now = entry.at
            yield f"  {moment(now)}"
        role = card.roles.get(entry.exchange)
        mark = f", {role.value}" if role else ""
        number = str(entry.exchange or "")
        yield f"    {number:>6}  {entry_text(entry)}{mark}"


def nearest_entries(card: Card, limit: int) -> Iterator[TimelineEntry]:
    """Yield the entries that are left if the timeline is cut to a number of entries."""
    timeline = card.timeline
    if len(timeline) <= limit:
        yield from timeline
        return
    decisive = [n for n, role in card.roles.items() if role is EvidenceRole.DECISIVE]
    last = max((i for i, each in enumerate(timeline) if each.exchange in decisive), default=limit)
    end = min(max(last + 1, limit), len(timeline))
    for skipped, part in ((end - limit, timeline[end - limit : end]), (len(timeline) - end, ())):
        if skipped:
            text = f"{counted(skipped, 'more event')}, in the JSON report"
            yield TimelineEntry(kind=EntryKind.LEFT_OUT, text=text)
        yield from part


def entry_text(entry: TimelineEntry) -> str:
    """Return what an entry of a timeline says, in one line."""
    subject = f"{entry.subject}: " if entry.subject else ""
    if not entry.exchange:
        return f"{subject}{entry.text}"
    status = f" ({entry.status})" if entry.status else ""
    why = f": {entry.why}" if entry.why else ""
    variation = f" [{entry.variation}]" if entry.variation else ""
    return f"{subject}{entry.operation}{variation} -> {entry.outcome}{status}{why}"


def notes(card: Card, *, shown: int) -> Iterator[str]:
    """Yield what the evidence cites and the card does not show."""
    if len(card.exchanges) > shown:
        hidden = counted(len(card.exchanges) - shown, "more exchange")
        yield f"and {hidden} in the JSON report"
    for number in card.missing:
        yield f"exchange {number} is cited but missing from the journal"


@dataclass(frozen=True, slots=True, kw_only=True)
class Group:
    """Obligations that share a reason, and what to do about it, if known."""

    reason: str
    advice: str
    results: tuple[ReportedResult, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class ClauseRow:
    """A clause with the results of all its facets, in plan order."""

    contract: str
    clause: str
    kind: str
    statement: str
    results: tuple[ReportedResult, ...]


def by_reason(results: Iterable[ReportedResult]) -> tuple[Group, ...]:
    """Group by reason, the largest group first, ties in plan order.

    Reasons that differ only in how long a trial would wait are one.
    """
    listed = tuple(results)
    shared = shared_reasons(map(reason_of, listed))
    members: dict[str, list[ReportedResult]] = {}
    for result in listed:
        members.setdefault(shared[reason_of(result)], []).append(result)
    groups = (
        Group(reason=reason, advice=advice(reason), results=tuple(results_))
        for reason, results_ in members.items()
    )
    return tuple(sorted(groups, key=lambda group: -len(group.results)))


def reason_of(result: ReportedResult) -> str:
    """Return the reason of the verdict, or that of the plan if the verdict has none."""
    return result.reason or result.planned.reason or "no reason was recorded"


def advice(reason: str) -> str:
    """Return what to do about a reason, or '' where the reason itself says it."""
    return next((hint for keyword, hint in ADVICE if keyword in reason), "")


def by_clause(report: Report) -> tuple[ClauseRow, ...]:
    """Return every clause with its facets in plan order, without the open points."""
    by: dict[tuple[str, str], list[ReportedResult]] = {}
    for result in report.results:
        if not is_open_point(result.planned):
            key = (result.planned.contract, result.planned.clause)
            by.setdefault(key, []).append(result)
    return tuple(
        ClauseRow(
            contract=contract,
            clause=clause,
            kind=members[0].planned.kind,
            statement=members[0].planned.says,
            results=tuple(members),
        )
        for (contract, clause), members in by.items()
    )


def is_open_point(planned: PlannedObligation) -> bool:
    """Whether this is a point that the source document leaves open."""
    return planned.kind == Standing.UNSPECIFIED.value
