"""Controls: the same call but for one thing, and the judgement of a call by its controls.

A refusal counts only beside an accepted control. That a call was not served counts only between
two controls that were: what may have changed in between is the same before and after.
"""

from __future__ import annotations

import hashlib
from collections.abc import Collection, Iterator, Sequence
from dataclasses import replace
from typing import TypeAlias

from assay.history import Call, Exchange
from assay.rules.verdict import (
    AGREES,
    DISAGREES,
    UNAUTHENTICATED,
    UNCLEAR,
    Evidence,
    describe_answer,
    must_be_refused,
)

#: What a call shares with its controls: equal for equal ones, and short, for a history has many.
Shared: TypeAlias = bytes


def same_but(call: Call, *but: str) -> Shared:
    """Return all that a call asks for, and who asks, but for some of its arguments.

    Its token, its credentials and how it is malformed are not part of that.
    """
    sent = sorted((name, repr(v)) for name, v in call.compared.items() if name not in but)
    absent, varied = sorted({*call.without} - {*but}), sorted({*call.varied} - {*but})
    way = call.by, call.present, call.host, call.alias, call.mode, call.consent, call.follow
    return digest_of(call.operation, call.subject, way, sorted(but), sent, absent, varied)


def digest_of(*parts: object) -> Shared:
    """Return a digest that equal values share, and no others."""
    return hashlib.blake2b(repr(parts).encode(), digest_size=16).digest()


def refused_beside(
    facet: str,
    exchange: Exchange,
    why: str,
    controls: Sequence[int],
    *others: int,
    open_: bool = False,
    failure_open: bool = False,
) -> Iterator[Evidence]:
    """Judge a call that must be refused, beside its controls; it depends on `others`, too.

    With `failure_open`, a failure of the target (5xx) beside a control is no violation.
    """
    if not controls and not exchange.accepted:
        return
    evidence = must_be_refused(facet, exchange, why, controlled=bool(controls) and not failure_open)
    unknown = exchange.refused and exchange.wire.status == UNAUTHENTICATED
    if (unknown or open_) and evidence.agreement is AGREES:
        evidence = replace(evidence, agreement=UNCLEAR)
    beside = tuple(controls[:1])
    yield replace(
        evidence,
        exchanges=tuple(sorted({exchange.n, *beside, *others})),
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
