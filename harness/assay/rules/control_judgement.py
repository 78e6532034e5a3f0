"""Judgement of one call by its controls.

A refusal counts only beside an accepted control. That a call was not served counts only between
two controls that were: what may have changed in between is the same before and after.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from dataclasses import replace

from assay.history import Exchange
from assay.rules.evidence import (
    AGREES,
    DISAGREES,
    UNAUTHENTICATED,
    UNCLEAR,
    describe_answer,
    must_be_refused,
)
from assay.rules.verdict import Evidence


def refused_beside(
    facet: str, exchange: Exchange, why: str, controls: Sequence[int], *, open_: bool
) -> Iterator[Evidence]:
    """Judge a call that must be refused, beside its controls."""
    if not controls and not exchange.accepted:
        return
    evidence = must_be_refused(facet, exchange, why, controlled=bool(controls))
    unknown = exchange.refused and exchange.wire.status == UNAUTHENTICATED
    if (unknown or open_) and evidence.agreement is AGREES:
        evidence = replace(evidence, agreement=UNCLEAR)
    beside = tuple(controls[:1])
    yield replace(
        evidence,
        exchanges=tuple(sorted({exchange.n, *beside})),
        decisive=exchange.n,
        controls=beside,
    )


def served_between(
    facet: str, exchange: Exchange, controls: Sequence[int], exhausted: Collection[int]
) -> Iterator[Evidence]:
    """Judge a call that must be served: refused, it is a violation between two that are served."""
    before = [n for n in controls if n < exchange.n][-1:]
    after = [n for n in controls if n > exchange.n][:1]
    if exchange.accepted:
        agreement = AGREES
    elif exchange.refused and before and after and exchange.n not in exhausted:
        agreement = DISAGREES
    else:
        agreement = UNCLEAR
    beside = () if exchange.accepted else (*before, *after)
    yield Evidence(
        facet=facet,
        agreement=agreement,
        expected="an answer: the value is valid",
        seen=describe_answer(exchange),
        exchanges=tuple(sorted({exchange.n, *beside})),
        decisive=exchange.n,
        controls=beside,
    )
