"""Evidence of the TPP's side: one call, what the clause obliged the TPP to, what it did instead."""

from __future__ import annotations

from assay.history import Exchange
from assay.judging.verdict import Agreement, Evidence
from assay.rules.queries import describe

KEPT, BROKEN, OPEN = Agreement.AGREES, Agreement.DISAGREES, Agreement.UNCLEAR


def tpp_evidence(
    duty: str, agreement: Agreement, exchange: Exchange, owed: str, done: str, *others: int
) -> Evidence:
    """Return evidence of whether a call met a duty; `others` are the calls that it rests on."""
    told = done if agreement is KEPT else f"{done}; {describe(exchange)}"
    return Evidence(
        facet=duty,
        agreement=agreement,
        expected=owed,
        seen=told,
        exchanges=tuple(sorted({exchange.n, *others})),
        variation=exchange.call.variation,
    )
