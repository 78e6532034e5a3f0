"""Answers about what a consent covers: served, refused, or empty although there are entries."""

from __future__ import annotations

from dataclasses import replace
from datetime import timedelta

from assay.history import Accepted, Exchange, Owned
from assay.judging.verdict import Evidence
from assay.rules.evidence import DISAGREES, UNCLEAR, describe_answer, must_be_served
from assay.rules.state.calendar import dates

#: Entries at most this old are in every history, however short.
LATELY = timedelta(days=7)


def served_with_consent(facet: str, exchange: Exchange, owned: Owned) -> Evidence:
    """Judge a call that a consent covers; an empty answer by the recent entries."""
    evidence = must_be_served(facet, exchange, "a consent covers it")
    if not exchange.accepted or exchange.items:
        return evidence
    if isinstance(exchange.outcome, Accepted) and exchange.outcome.items is None:
        seen = f"{describe_answer(exchange)}; the target file binds no list in the answer"
        return replace(evidence, agreement=UNCLEAR, seen=seen)
    today = dates(exchange.at, None)
    filled = any(today[-1] - entry.on <= LATELY and entry.on <= today[0] for entry in owned.entries)
    return replace(
        evidence,
        agreement=DISAGREES if filled else UNCLEAR,
        seen=f"{describe_answer(exchange)}"
        + (", although there are recent entries" if filled else ""),
    )
