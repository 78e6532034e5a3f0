"""One self-contained HTML page: a regulator's answer first, then the engineer's.

No script, no network, nothing outside the file, and a content policy that
forbids all of them. Every text passes Jinja's autoescape; nothing is marked
safe. The page has a budget: beyond it findings are listed briefly, and the page
says so, since a page too large to open tells nobody anything.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from importlib.resources import files
from typing import TextIO

from jinja2 import Environment, StrictUndefined, Template

from assay.judging.verdict import Standing
from assay.report.card import Card, card, exchange_title, notes, source, wire
from assay.report.group import by_clause, by_reason, is_open_point, reason_of
from assay.report.sanitize import bounded
from assay.report.values import Report, ReportedResult
from assay.report.wording import (
    MEANINGS,
    SIGNS,
    caveats,
    closing,
    duration,
    headline,
    judged,
    searched,
    some,
)

#: Cards shown in full, of each sort; the rest are listed briefly.
CARDS = 500
#: What all exchanges together may take, in characters.
WIRE = 12_000_000
#: What is listed of the findings of one search.
FOUND = 100
#: Observations shown per card, and the length of their texts.
FINDINGS = 5
TEXT = 1_000


@dataclass(frozen=True, slots=True, kw_only=True)
class WireText:
    """One exchange, ready to show."""

    title: str
    text: str


@dataclass(frozen=True, slots=True, kw_only=True)
class ShownResult:
    """A card with what the page's budget lets it show."""

    card: Card
    wires: tuple[WireText, ...]
    notes: tuple[str, ...]


def render(report: Report, out: TextIO) -> None:
    """Write the report as one HTML page."""
    broken = report.of(Standing.VIOLATES)
    unclear = report.of(Standing.INDETERMINATE)
    shown = tuple(_shown((*broken[:CARDS], *unclear[:CARDS])))
    chunks = _template().generate(
        **_WORDS,
        report=report,
        headline=headline(report),
        judged=judged(report),
        caveats=caveats(report),
        closing=closing(report),
        broken=broken,
        cards={
            standing: tuple(one for one in shown if one.card.standing is standing)
            for standing in (Standing.VIOLATES, Standing.INDETERMINATE)
        },
        brief={
            Standing.VIOLATES: broken[CARDS:],
            Standing.INDETERMINATE: unclear[CARDS:],
        },
        carded={one.card.id for one in shown},
        groups=by_reason(report.of(Standing.UNVERIFIED)),
        rows=by_clause(report),
        most=FOUND,
        planned=frozenset(one.planned.id for one in report.results),
        duration="" if report.seconds is None else duration(report.seconds),
    )
    out.writelines(chunks)
    out.write("\n")


def _template() -> Template:
    page = files("assay.report").joinpath("page.html.j2").read_text(encoding="utf-8")
    # Autoescape is on for every template of this environment, whatever its name.
    environment = Environment(
        autoescape=True, undefined=StrictUndefined, trim_blocks=True, lstrip_blocks=True
    )
    return environment.from_string(page)


def _shown(results: tuple[ReportedResult, ...]) -> Iterator[ShownResult]:
    budget = WIRE
    for result in results:
        one = card(result)
        wires: list[WireText] = []
        for each in one.exchanges:
            text = "\n".join(wire(each))
            budget -= len(text)
            if budget < 0:
                break
            wires.append(WireText(title=exchange_title(each), text=text))
        yield ShownResult(card=one, wires=tuple(wires), notes=tuple(notes(one, shown=len(wires))))


def _short(text: str, limit: int = TEXT) -> str:
    return bounded(text, limit)


#: What the template may call and look up, besides the report.
_WORDS: Mapping[str, object] = {
    "Standing": Standing,
    "signs": SIGNS,
    "meanings": MEANINGS,
    "findings": FINDINGS,
    "some": some,
    "duration_of": duration,
    "searched": searched,
    "source": source,
    "reason": reason_of,
    "short": _short,
    "open_point": is_open_point,
}
