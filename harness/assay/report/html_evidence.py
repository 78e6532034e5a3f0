"""Evidence on the HTML page: cards of findings, within the size that a browser opens quickly.

Inconclusive obligations with one reason share a card: the cause is shown once, not forty times.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass

from assay.judging.verdict import Standing
from assay.report.sanitize import bounded
from assay.report.values import Report, ReportedExchange, ReportedResult
from assay.report.views import Card, by_reason, exchange_lines, exchange_title, make_card, notes

#: Cards shown in full of each verdict; the rest is only counted.
CARDS = 500
#: The size of all exchanges together, in characters.
EXCHANGES = 6_000_000
#: Observations shown on each card, and the length of their texts.
FINDINGS = 5
TEXT = 1_000


@dataclass(frozen=True, slots=True, kw_only=True)
class ExchangeText:
    """The title and the lines of an exchange."""

    title: str
    text: str


@dataclass(frozen=True, slots=True, kw_only=True)
class BoundedCard:
    """A card with the exchanges for which the page has room.

    `contexts` are those in which its trial was run; the base context is the empty text.
    """

    card: Card
    result: ReportedResult
    exchanges: tuple[ExchangeText, ...]
    notes: tuple[str, ...]
    contexts: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class CauseCard:
    """Inconclusive obligations with one cause, and the evidence of the first of them."""

    reason: str
    results: tuple[ReportedResult, ...]
    first: BoundedCard


@dataclass(frozen=True, slots=True, kw_only=True)
class PageEvidence:
    """The cards of a page; `carded` are the obligations that have their place on one."""

    violations: tuple[BoundedCard, ...]
    causes: tuple[CauseCard, ...]
    inconclusive: tuple[BoundedCard, ...]
    left_out: Mapping[Standing, int]
    carded: frozenset[str]


def evidence_of(report: Report) -> PageEvidence:
    """Return the cards of a report, as far as the page has room."""
    room = _Room(contexts=_contexts(report))
    violated = report.of(Standing.VIOLATES)
    shared, single = _causes(report.of(Standing.INDETERMINATE))
    violations = tuple(map(room.card, violated[:CARDS]))
    causes = tuple(
        CauseCard(reason=reason, results=results, first=room.card(results[0]))
        for reason, results in shared
    )
    inconclusive = tuple(map(room.card, single[:CARDS]))
    carded = {bounded_card.card.id for bounded_card in (*violations, *inconclusive)}
    carded.update(result.planned.id for cause in causes for result in cause.results)
    return PageEvidence(
        violations=violations,
        causes=causes,
        inconclusive=inconclusive,
        left_out={
            Standing.VIOLATES: len(violated[CARDS:]),
            Standing.INDETERMINATE: len(single[CARDS:]),
        },
        carded=frozenset(carded),
    )


def _contexts(report: Report) -> Mapping[str, tuple[str, ...]]:
    trials = report.traffic.trials if report.traffic else ()
    return {each.trial: each.contexts for each in trials}


def _causes(
    results: Iterable[ReportedResult],
) -> tuple[list[tuple[str, tuple[ReportedResult, ...]]], list[ReportedResult]]:
    """Return the results that share a reason, by reason, and the others."""
    groups = by_reason(results)
    shared = [(group.reason, group.results) for group in groups if len(group.results) > 1]
    return shared, [group.results[0] for group in groups if len(group.results) == 1]


@dataclass(slots=True, kw_only=True)
class _Room:
    """What is left of the page's budget for exchanges."""

    contexts: Mapping[str, tuple[str, ...]]
    left: int = -1

    def __post_init__(self) -> None:
        self.left = EXCHANGES

    def card(self, result: ReportedResult) -> BoundedCard:
        card = make_card(result)
        exchanges = tuple(self.texts(card.exchanges))
        return BoundedCard(
            card=card,
            result=result,
            exchanges=exchanges,
            notes=tuple(notes(card, shown=len(exchanges))),
            contexts=self.contexts.get(result.planned.trial, ()),
        )

    def texts(self, exchanges: Iterable[ReportedExchange]) -> Iterator[ExchangeText]:
        """Yield the exchanges for which there is room."""
        for exchange in exchanges:
            text = "\n".join(exchange_lines(exchange))
            self.left -= len(text)
            if self.left < 0:
                return
            yield ExchangeText(title=exchange_title(exchange), text=text)


def short(text: str, limit: int = TEXT) -> str:
    """Return a text of a card, bounded."""
    return bounded(text, limit)
