"""What every format shows of a violated or inconclusive obligation.

A `Card` has the sentence of the contract, its source, what was expected and seen, the
variation sent, the redacted exchanges and the command that reproduces it. `card_lines`
writes it as plain text for terminal and JUnit.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from assay.contract.model import Source
from assay.judging.verdict import Agreement, Evidence, Standing
from assay.report.sanitize import bounded
from assay.report.values import Headers, ReportedExchange, ReportedResult
from assay.report.wording import counted


@dataclass(frozen=True, slots=True, kw_only=True)
class CardFinding:
    """One observation that contradicts the contract, or is inconclusive."""

    expected: str
    seen: str
    variation: str
    exchanges: tuple[int, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Card:
    """All that is shown of one violated or inconclusive obligation.

    `statement` is the sentence of the clause, `description` that of the facet. `missing`
    are exchanges that the evidence cites and the journal does not have. `reason` is empty
    where the findings say it already.
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


def card(result: ReportedResult) -> Card:
    """Return the card of a result."""
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
        statement=planned.says,
        description=planned.asks,
        sources=planned.sources,
        # Findings do not say that another trial than the planned one showed it.
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


def source_text(source: Source) -> str:
    """Return section, line and words of a place in the source document."""
    place = ", line ".join(filter(None, (source.section, str(source.line or ""))))
    return f"{place}: “{source.text}”" if source.text else place


def card_lines(one: Card, *, exchanges: int = 10, body: int = 4_096) -> Iterator[str]:
    """Yield a card as lines of plain text, without its title.

    `exchanges` is the largest number of exchanges, `body` the largest number of characters
    of a body.
    """
    yield from _sentences(one)
    for exchange in one.exchanges[:exchanges]:
        yield ""
        yield exchange_title(exchange)
        yield from exchange_lines(exchange, body=body)
    for note in notes(one, shown=exchanges):
        yield f"({note})"
    if one.reproduce:
        yield ""
        yield f"reproduce  {one.reproduce}"


def _sentences(one: Card) -> Iterator[str]:
    yield f"contract   {one.statement}"
    if one.description:
        yield f"facet      {one.description}"
    for source in one.sources:
        yield f"source     {source_text(source)}"
    if one.reason:
        yield f"reason     {one.reason}"
    for finding in one.findings:
        yield f"expected   {finding.expected}"
        yield f"seen       {finding.seen}"
        if finding.variation:
            yield f"variation  {finding.variation}"


def notes(one: Card, *, shown: int) -> Iterator[str]:
    """Yield what the evidence cites and the card does not show."""
    if len(one.exchanges) > shown:
        more = counted(len(one.exchanges) - shown, "more exchange")
        yield f"and {more} in the JSON report"
    for number in one.missing:
        yield f"exchange {number} is cited, but missing from the journal"


def exchange_title(exchange: ReportedExchange) -> str:
    """Return the line that identifies an exchange: number, operation, customer, time."""
    customer = f"{exchange.subject}, " if exchange.subject else ""
    presence = "customer present" if exchange.present else "customer absent"
    return f"exchange {exchange.n} · {exchange.operation} · {customer}{presence} · {exchange.at}"


def exchange_lines(exchange: ReportedExchange, *, body: int = 4_096) -> Iterator[str]:
    """Yield request (`>`), response (`<`), variation (`*`) and outcome (`=`) of an exchange."""
    request, response = exchange.request, exchange.response
    if exchange.variation:
        yield f"* variation: {exchange.variation}"
    yield f"> {request.method} {request.url}"
    yield from _message(request.headers, request.body, ">", body)
    yield f"< {response.status or 'no response'}"
    yield from _message(response.headers, response.body, "<", body)
    if response.truncated:
        yield "* the response body is truncated in the journal"
    why = f": {exchange.why}" if exchange.why else ""
    yield f"= {exchange.outcome}{why} ({exchange.ms:g} ms)"


def _message(headers: Headers, text: str, sign: str, limit: int) -> Iterator[str]:
    for name, value in headers:
        yield f"{sign} {name}: {value}"
    if text:
        yield sign
        for line in bounded(text, limit).split("\n"):
            yield f"{sign} {line}"
