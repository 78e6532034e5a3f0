"""Judgement of one call by the calls that count before it: served, refused, or neither."""

from __future__ import annotations

from collections.abc import Iterator

from assay.history import Exchange
from assay.rules.evidence import must_be_refused, must_be_served
from assay.rules.state.counts import Allowed, Counts, moment
from assay.rules.state.periods import DAYS, surely_longer
from assay.rules.verdict import Evidence

PER_METHOD, PER_CUSTOMER, LONG_DAY = "per-method", "per-customer", "long-day"
SHARED, PER_ITEM, PER_CONSENT = "shared", "per-item", "per-consent"
#: Why a first call must be served, by the facet that it tests.
OTHERS = {
    PER_METHOD: "only the quota of other operations is used up",
    PER_CUSTOMER: "only another customer's quota is used up",
    PER_ITEM: "only the quota of another item is used up",
    PER_CONSENT: "only the quota of a former consent is used up",
}


def judge(exchange: Exchange, counts: Counts, *, sound: bool, alone: bool) -> Iterator[Evidence]:
    """Judge a call by the counts; `alone` if only calls of other operations have used them up."""
    name, words = exchange.call.operation, counts.period.words
    allowed = counts.allowed(exchange.call)
    if counts.at_least(exchange) >= allowed.most:
        facet = SHARED if alone else _refusal_facet(exchange, counts, allowed)
        if facet:
            why = f"{allowed.most} calls were served {words.this}"
            yield must_be_refused(facet, exchange, why, limit=True)
        return
    most = counts.at_most(exchange)
    if not sound or most >= allowed.least:
        return
    others = counts.facet_beside_used_up(exchange)
    closed = counts.closed.get(counts.pair(exchange.call))
    if closed and closed < counts.period.earliest_begin(moment(exchange)):
        if most == 0:
            why = f"a new {words.noun} after {counts.period.label(closed)} has begun"
            yield must_be_served(f"{name}-{words.next_facet}", exchange, why)
    elif most == 0 and others:
        yield must_be_served(others, exchange, OTHERS[others])
    else:
        why = f"{most} of {allowed.least} calls used {words.this}"
        yield must_be_served(f"{name}-served", exchange, why)


def _refusal_facet(exchange: Exchange, counts: Counts, allowed: Allowed) -> str | None:
    """Return the facet that a call beyond the limit tests.

    Late calls test when the period ends, but only after a refusal in the same period:
    without one, no quota was enforced.
    """
    late = _late(exchange, counts)
    if late is None:
        return allowed.facet or f"{exchange.call.operation}-refused"
    closed = counts.closed.get(counts.pair(exchange.call))
    return late if closed and closed >= counts.period.latest_begin(moment(exchange)) else None


def _late(exchange: Exchange, counts: Counts) -> str | None:
    if not counts.period.has_known_end:
        return None
    zone = counts.period.zone if counts.period.words is DAYS else None
    if zone and surely_longer(exchange.at, zone):
        return LONG_DAY
    end = counts.period.earliest_end(counts.first(exchange)) - counts.period.margin
    # If the period began as late as that, it proves nothing.
    return counts.period.words.late_facet if counts.first(exchange) < end <= exchange.at else None
