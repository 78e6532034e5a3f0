"""A finding laid out for reading: sentence, source, evidence, exchanges, command.

A `Card` is what every format shows of a broken or undecided obligation, in
the same order and words; how it looks is the format's. `lines` writes one as
plain text for the formats that have nothing better.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from assay.contract.model import Source
from assay.judging.verdict import Agreement, Evidence, Standing
from assay.report.sanitize import bounded
from assay.report.values import Headers, ReportedExchange, ReportedResult
from assay.report.wording import some


@dataclass(frozen=True, slots=True, kw_only=True)
class CardFinding:
    """One observation that speaks against the target, or tells nothing."""

    expected: str
    seen: str
    variation: str
    exchanges: tuple[int, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Card:
    """All that is shown of one broken or undecided obligation.

    `reason` is empty where the findings say it already.
    """

    id: str
    standing: Standing
    contract: str
    clause: str
    line: int
    level: str
    says: str
    asks: str
    sources: tuple[Source, ...]
    reason: str
    findings: tuple[CardFinding, ...]
    exchanges: tuple[ReportedExchange, ...]
    missing: tuple[int, ...]
    reproduce: str


def card(result: ReportedResult) -> Card:
    """Lay out one result."""
    planned = result.planned
    against = [one for one in result.evidence if one.agreement is not Agreement.AGREES]
    recorded = {one.n for one in result.exchanges}
    return Card(
        id=planned.id,
        standing=result.standing,
        contract=planned.contract,
        clause=planned.clause,
        line=planned.line,
        level=planned.level,
        says=planned.says,
        asks=planned.asks,
        sources=planned.sources,
        # How something came up outside its planned trial stands in no finding.
        reason=result.reason if result.trial or not against else "",
        findings=tuple(_finding(one) for one in against),
        exchanges=result.exchanges,
        missing=tuple(n for n in result.cites if n not in recorded),
        reproduce=result.reproduce,
    )


def _finding(evidence: Evidence) -> CardFinding:
    return CardFinding(
        expected=evidence.expected,
        seen=evidence.seen,
        variation=evidence.variation,
        exchanges=evidence.exchanges,
    )


def source(one: Source) -> str:
    """Return where the document says so, with its words."""
    where = ", line ".join(
        part for part in (one.section, str(one.line) if one.line else "") if part
    )
    return f"{where}: “{one.text}”" if one.text else where


def lines(one: Card, *, exchanges: int = 10, body: int = 4_096) -> Iterator[str]:
    """Write a card as lines of plain text, without its title."""
    yield from _sentences(one)
    for each in one.exchanges[:exchanges]:
        yield ""
        yield exchange_title(each)
        yield from wire(each, body=body)
    for note in notes(one, shown=exchanges):
        yield f"({note})"
    if one.reproduce:
        yield ""
        yield f"reproduce  {one.reproduce}"


def _sentences(one: Card) -> Iterator[str]:
    yield f"contract   {one.says}"
    if one.asks:
        yield f"facet      {one.asks}"
    for where in one.sources:
        yield f"source     {source(where)}"
    if one.reason:
        yield f"reason     {one.reason}"
    for found in one.findings:
        yield f"expected   {found.expected}"
        yield f"seen       {found.seen}"
        if found.variation:
            yield f"variation  {found.variation}"


def notes(one: Card, *, shown: int) -> Iterator[str]:
    """Say what is cited but not shown."""
    if len(one.exchanges) > shown:
        more = some(len(one.exchanges) - shown, "more exchange")
        yield f"and {more} in the JSON report"
    for number in one.missing:
        yield f"exchange {number} is cited, but the journal does not hold it"


def exchange_title(one: ReportedExchange) -> str:
    """Return one line that says which call this was."""
    who = f"{one.subject}, " if one.subject else ""
    there = "customer present" if one.present else "customer absent"
    return f"exchange {one.n} · {one.operation} · {who}{there} · {one.at}"


def wire(one: ReportedExchange, *, body: int = 4_096) -> Iterator[str]:
    """Write an exchange as it went over the wire, `>` sent and `<` received."""
    if one.variation:
        yield f"* sent {one.variation}"
    yield f"> {one.request.method} {one.request.url}"
    yield from _message(one.request.headers, one.request.body, ">", body)
    yield f"< {one.response.status or 'no answer'}"
    yield from _message(one.response.headers, one.response.body, "<", body)
    if one.response.truncated:
        yield "* the answer's body is cut in the journal"
    why = f": {one.why}" if one.why else ""
    yield f"= {one.outcome}{why} ({one.ms:g} ms)"


def _message(headers: Headers, text: str, sign: str, limit: int) -> Iterator[str]:
    for name, value in headers:
        yield f"{sign} {name}: {value}"
    if text:
        yield sign
        for line in bounded(text, limit).split("\n"):
            yield f"{sign} {line}"
