"""The TPP's side of a quota: no more calls in a period than are allowed.

Two names may be one customer whose token was renewed: if they ask about the same thing, their calls
may count together.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace

from assay.history import Exchange
from assay.rules.evidence import AGREES, DISAGREES, UNCLEAR, tpp_evidence
from assay.rules.queries import plain
from assay.rules.state.counts import Counts, same_customers
from assay.rules.verdict import Evidence


def judge(
    calls: Sequence[Exchange],
    empty: Callable[[], Counts],
    facet: str,
    before: Callable[[Exchange], None],
) -> Iterator[Evidence]:
    """Judge each of the calls that count, except page turns.

    `empty` returns counts of no calls. `before` is called with each exchange before it is judged.
    """
    counts, together = empty(), empty()
    groups = same_customers(calls)
    words = counts.period.words
    served: dict[tuple[str, str, int | None], list[int]] = {}
    for exchange in calls:
        call = exchange.call
        before(exchange)
        joint = replace(exchange, call=replace(call, subject=groups[call.subject]))
        if counts.user(call) != call.subject:
            joint = exchange  # a consent has its own count, by whatever name its customer calls
        earlier = served.setdefault((*counts.pair(call), call.alias), [])
        if call.follow is None:
            allowed = counts.allowed(call)
            owed = f"no more than {allowed.most} calls {words.with_article}"
            sure, most = counts.at_least(exchange), together.at_most(joint)
            few = AGREES if most < allowed.least else UNCLEAR
            judged = DISAGREES if sure >= allowed.most else few
            done = f"it came after {sure if judged is DISAGREES else most} calls {words.this}"
            beside = earlier[-allowed.most :] if judged is DISAGREES else ()
            yield tpp_evidence(facet, judged, exchange, owed, done, *beside)
        if exchange.accepted and plain(call):
            earlier.append(exchange.n)
        counts.note(exchange)
        together.note(joint)
