"""The HTML report: one self-contained page, the result first and the details below.

The page has no script, loads nothing, and has a content policy that forbids both. Every
text passes Jinja's autoescape. The page has a size budget, so that a browser can open it:
findings beyond it are only counted.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from importlib.resources import files
from typing import TextIO

from jinja2 import Environment, StrictUndefined, Template

from assay.judging.verdict import Standing
from assay.report.exchange_text import exchange_lines, exchange_title
from assay.report.sanitize import bounded
from assay.report.values import Report, ReportedResult
from assay.report.views import (
    Card,
    by_clause,
    by_reason,
    is_open_point,
    make_card,
    notes,
    reason_of,
    source_text,
)
from assay.report.wording import (
    MEANINGS,
    SIGNS,
    answer_summary,
    caveats,
    closing,
    counted,
    duration,
    headline,
    party_name,
    search_notes,
    search_summary,
)

#: Cards shown in full of each verdict; the rest is only counted.
CARDS = 500
#: The size of all exchanges together, in characters.
EXCHANGES = 12_000_000
#: Findings listed of each search.
FOUND = 100
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
    """A card with the exchanges for which the page has room."""

    card: Card
    exchanges: tuple[ExchangeText, ...]
    notes: tuple[str, ...]


def render(report: Report, out: TextIO) -> None:
    """Write the report as one HTML page."""
    violated = report.of(Standing.VIOLATES)
    inconclusive = report.of(Standing.INDETERMINATE)
    shown = tuple(_bounded_cards((*violated[:CARDS], *inconclusive[:CARDS])))
    chunks = _template().generate(
        **_NAMES,
        report=report,
        headline=headline(report),
        party=party_name(report),
        caveats=caveats(report),
        closing=closing(report),
        violated=violated,
        cards={
            standing: tuple(
                bounded_card for bounded_card in shown if bounded_card.card.standing is standing
            )
            for standing in (Standing.VIOLATES, Standing.INDETERMINATE)
        },
        left_out={
            Standing.VIOLATES: violated[CARDS:],
            Standing.INDETERMINATE: inconclusive[CARDS:],
        },
        carded={bounded_card.card.id for bounded_card in shown},
        groups=by_reason(report.of(Standing.UNVERIFIED)),
        rows=by_clause(report),
        most=FOUND,
        planned=frozenset(result.planned.id for result in report.results),
        duration="" if report.seconds is None else duration(report.seconds),
    )
    out.writelines(chunks)
    out.write("\n")


def _template() -> Template:
    return page_template("page.html.j2")


def page_template(name: str) -> Template:
    """Return the template of a page, with the style that all pages share."""
    folder = files("assay.report")
    # Autoescape is on for every template of this environment, whatever its name.
    environment = Environment(
        autoescape=True, undefined=StrictUndefined, trim_blocks=True, lstrip_blocks=True
    )
    page = folder.joinpath(name).read_text(encoding="utf-8")
    style = folder.joinpath("page.css").read_text(encoding="utf-8")
    return environment.from_string(page, globals={"style": style})


def _bounded_cards(results: tuple[ReportedResult, ...]) -> Iterator[BoundedCard]:
    budget = EXCHANGES
    for result in results:
        card = make_card(result)
        exchanges: list[ExchangeText] = []
        for exchange in card.exchanges:
            text = "\n".join(exchange_lines(exchange))
            budget -= len(text)
            if budget < 0:
                break
            exchanges.append(ExchangeText(title=exchange_title(exchange), text=text))
        yield BoundedCard(
            card=card,
            exchanges=tuple(exchanges),
            notes=tuple(notes(card, shown=len(exchanges))),
        )


def _short(text: str, limit: int = TEXT) -> str:
    return bounded(text, limit)


#: The functions and tables that the template uses, besides the report.
_NAMES: Mapping[str, object] = {
    "Standing": Standing,
    "signs": SIGNS,
    "meanings": MEANINGS,
    "findings": FINDINGS,
    "counted": counted,
    "duration_of": duration,
    "search_summary": search_summary,
    "answer_summary": answer_summary,
    "search_notes": search_notes,
    "source_text": source_text,
    "reason": reason_of,
    "short": _short,
    "open_point": is_open_point,
}
