"""Cards of the HTML page: what shows each violated, inconclusive or conforming obligation.

They stay within the size that a browser opens quickly: what is beyond it is only counted. Violations
of one cause stand together, and inconclusive obligations with one cause share a card: the cause is
shown once, not forty times. What shows that an obligation conforms is there as well, if the report
has it. The decisive exchange of a card comes first, controls last. Nothing here escapes for HTML.
"""

from __future__ import annotations

import re
import shlex
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from pathlib import Path

from assay.journal.codec import SIGNING
from assay.report.panes import Panes, panes
from assay.report.timeline import EntryKind, TimelineEntry, relative_times
from assay.report.values import EvidenceRole, Report, ReportedExchange, ReportedResult
from assay.report.views import Group, by_cause, call_title, nearest_entries, notes, violation_groups
from assay.rules.verdict import Standing

#: Cards shown in full of each verdict; the rest is only counted.
CARDS = 500
#: The size of all exchanges and timelines together, in characters.
EXCHANGES = 6_000_000
#: Entries of each timeline.
ENTRIES = 60
_HOST = re.compile(r"(?<= )[a-z]+://[^/?#\s]*")


@dataclass(frozen=True, slots=True, kw_only=True)
class ExchangeCard:
    """An exchange: its title, who called when and with what outcome, and its two panes."""

    title: str
    about: str
    variation: str
    panes: Panes
    role: str


@dataclass(frozen=True, slots=True, kw_only=True)
class TimelineRow:
    """One entry of a timeline: relative time, number of the exchange, what was sent, what came back.

    A row that only has a `moved` says how far the clock was moved.
    """

    at: str = ""
    moved: str = ""
    exchange: int = 0
    text: str = ""
    variation: str = ""
    outcome: str = ""
    role: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class BoundedCard:
    """A card with the exchanges and the timeline for which the page has room.

    `explain` is the command that explains the verdict. `start` is the time of the target's clock
    at the beginning of the timeline. `contexts` are those in which its trial was run; the base
    context is the empty text.
    """

    result: ReportedResult
    explain: str
    exchanges: tuple[ExchangeCard, ...]
    timeline: tuple[TimelineRow, ...]
    start: str
    notes: tuple[str, ...]
    contexts: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class ViolationGroup:
    """Violations of one cause; `title` is their sentence or the exchange that shows them."""

    title: str
    one_sentence: bool
    cards: tuple[BoundedCard, ...]


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

    violations: tuple[ViolationGroup, ...]
    causes: tuple[CauseCard, ...]
    inconclusive: tuple[BoundedCard, ...]
    passes: Mapping[str, BoundedCard]
    left_out: Mapping[Standing, int]
    carded: frozenset[str]


def evidence_of(report: Report, contexts: Mapping[str, tuple[str, ...]]) -> PageEvidence:
    """Return the cards of a report, as far as the page has room; `contexts` are those of each trial."""
    room = _Room(contexts=contexts, folder=str(Path(report.journal).parent))
    violated = report.of(Standing.VIOLATES)
    groups = by_cause(report)
    single = [group.results[0] for group in groups if len(group.results) == 1]
    violations = tuple(map(room.group, violation_groups(violated[:CARDS])))
    causes = tuple(
        CauseCard(cause=group, first=room.card(group.results[0]))
        for group in groups[:CARDS]
        if len(group.results) > 1
    )
    inconclusive = room.cards(single[:CARDS])
    passed = room.cards([each for each in report.of(Standing.CONFORMS) if each.exchanges])
    shown = (card for group in violations for card in group.cards)
    carded = {each.result.planned.id for each in (*shown, *inconclusive)}
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
    folder: str
    left: int = -1

    def __post_init__(self) -> None:
        self.left = EXCHANGES

    def cards(self, results: Sequence[ReportedResult]) -> tuple[BoundedCard, ...]:
        """Return the cards of results, which are served in their order."""
        return tuple(map(self.card, results))

    def group(self, results: Sequence[ReportedResult]) -> ViolationGroup:
        """Return the cards of violations of one cause."""
        sentences = {each.planned.says for each in results}
        decisive = results[0].exchanges[:1]
        title = f"Exchange {decisive[0].n}: {call_title(decisive[0])}" if decisive else ""
        return ViolationGroup(
            title=title if len(sentences) > 1 else results[0].planned.says,
            one_sentence=len(sentences) == 1,
            cards=self.cards(results),
        )

    def card(self, result: ReportedResult) -> BoundedCard:
        """Return the card of a result."""
        exchanges = tuple(self._exchanges(result))
        name = shlex.quote(result.planned.id)
        return BoundedCard(
            result=result,
            explain=f"assay explain {name} {shlex.quote(self.folder)}",
            exchanges=exchanges,
            timeline=tuple(self._timeline(result)),
            start=next((each.at for each in result.timeline if each.at), ""),
            notes=tuple(notes(result, shown=len(exchanges))),
            contexts=self.contexts.get(result.planned.trial, ()),
        )

    def _exchanges(self, result: ReportedResult) -> Iterator[ExchangeCard]:
        """Yield the exchanges for which there is room."""
        roles = result.roles
        for exchange in result.exchanges:
            role = roles.get(exchange.n)
            shown = panes(exchange, _control(result, exchange), result.findings or result.evidence)
            self.left -= sum(len(text) for _, text in (*shown.request, *shown.response))
            if self.left < 0:
                return
            yield ExchangeCard(
                title=f"exchange {exchange.n} · {call_title(exchange)}",
                about=_about(exchange),
                variation=exchange.variation,
                panes=shown,
                role=role.value if role else "",
            )

    def _timeline(self, result: ReportedResult) -> Iterator[TimelineRow]:
        """Yield the timeline, if there is room for all of it."""
        rows = tuple(_rows(result))
        self.left -= sum(len(row.text) for row in rows)
        if self.left >= 0:
            yield from rows


def _control(result: ReportedResult, exchange: ReportedExchange) -> ReportedExchange | None:
    """Return the control of an exchange: one that the evidence names, or else one of its trial."""
    roles = result.roles
    if roles.get(exchange.n) is EvidenceRole.CONTROL:
        return None
    named = (
        each
        for each in result.exchanges
        if roles.get(each.n) is EvidenceRole.CONTROL and each.operation == exchange.operation
    )
    return next(named, result.controls.get(exchange.n))


def _about(exchange: ReportedExchange) -> str:
    """Return who sent a call, when by the target's clock, and what came of it."""
    presence = "customer present" if exchange.present else "customer absent"
    why = f": {exchange.why}" if exchange.why else ""
    parts = (
        exchange.subject,
        "" if exchange.operation == SIGNING else presence,
        f"clock {time_text(exchange.at)}",
        f"{exchange.outcome}{why} in {exchange.ms:g} ms",
    )
    return " · ".join(filter(None, parts))


def _rows(result: ReportedResult) -> Iterator[TimelineRow]:
    times = {id(entry): text for entry, text in relative_times(result.timeline)}
    shown, roles = "", result.roles
    for entry in nearest_entries(result, ENTRIES):
        text = times.get(id(entry), "")
        if entry.kind is EntryKind.CLOCK:
            yield TimelineRow(moved=text or entry.text)
            continue
        at, shown = ("" if text == shown else text), text or shown
        role = roles.get(entry.exchange)
        yield TimelineRow(
            at=at,
            exchange=entry.exchange,
            text=_event(entry),
            variation=entry.variation,
            outcome=_outcome(entry),
            role=role.value if role else "",
        )


def _event(entry: TimelineEntry) -> str:
    """Return what was sent, without the host, or what happened."""
    subject = f"{entry.subject}: " if entry.subject else ""
    text = _HOST.sub("", entry.text, count=1) if entry.kind is EntryKind.CALL else entry.text
    return f"{subject}{text}"


def _outcome(entry: TimelineEntry) -> str:
    status = f" ({entry.status})" if entry.status else ""
    why = f": {entry.why}" if entry.why else ""
    return f"{entry.outcome}{status}{why}" if entry.exchange else ""


def time_text(text: str) -> str:
    """Return a time for people, to the second and with its zone; any other text as it is."""
    try:
        time = datetime.fromisoformat(text)
    except ValueError:
        return text
    zone = "UTC" if time.utcoffset() == timedelta() else time.strftime("%z") or "(no zone)"
    return f"{time:%Y-%m-%d %H:%M:%S} {zone}"
