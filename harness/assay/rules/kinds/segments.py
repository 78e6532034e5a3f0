"""`segments`: customers of some segments are served, those of others are not.

One facet a segment. All customers come into being before the first of them asks, so
that nobody is served only because somebody else is not there yet. The control is the
same request for a customer of a segment that is served.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterator
from dataclasses import dataclass

from assay.contract.model import Capability, Clause, Contract, Party
from assay.history import Exchange, History, Subject
from assay.judging.verdict import Evidence
from assay.rules import parameters, steps
from assay.rules.lifecycle import request_steps, tracker
from assay.rules.lifecycle.attempts import (
    Attempt,
    attempts,
    controls,
    must_be_taken,
    must_be_turned_down,
    press,
)
from assay.rules.rule import Facet, Rule, Script, needs


@dataclass(frozen=True, slots=True, kw_only=True)
class Params:
    """The request, and the segments by whether they are served."""

    lifecycle: tracker.Lifecycle
    served: tuple[str, ...]
    refused: tuple[str, ...]


def parse(clause: Clause, contract: Contract) -> Params:
    """Read the clause's parameters."""
    return Params(
        lifecycle=tracker.of_clause(clause, contract),
        served=parameters.texts(clause, "served"),
        refused=parameters.texts(clause, "refused"),
    )


def facets(p: Params) -> tuple[Facet, ...]:
    """One facet a segment."""
    return tuple(
        Facet(
            id=segment,
            description=f"a request for a {segment} customer is {word}",
            scenario="each",
            needs=needs(Capability.PSU, Capability.WRITE, Capability.SEGMENTS),
        )
        for word, segments in (("accepted", p.served), ("rejected", p.refused))
        for segment in segments
    )


def price(p: Params, scenario: str) -> int:
    """Count the calls: one for a customer of each segment."""
    return len(p.served) + len(p.refused)


def probe(p: Params, scenario: str) -> Script:
    """Bring a customer of each segment into being, and make the same request for each."""
    people: dict[str, Subject] = {}
    for segment in (*p.served, *p.refused):
        people[segment] = yield from request_steps.customer(p.lifecycle, segment, segment=segment)
    made: dict[str, Exchange] = {}
    for segment, psu in people.items():
        words = "" if segment in p.served else f"for a customer of the segment {segment}"
        call = request_steps.request(p.lifecycle, psu, variation=words)
        made[segment] = yield from steps.send(call)
    taken = [made[segment] for segment in p.served if made[segment].accepted]
    control = (taken or [made[p.served[-1]]])[-1]
    yield from press(p.lifecycle, control, *(made[segment] for segment in p.refused))


def check(p: Params, history: History) -> Iterator[Evidence]:
    """Judge every attempt for a customer whose segment is known."""
    every = tuple(one for one in attempts(p.lifecycle, history) if _plain(p, one))
    served = {None, *p.served}
    found = controls(every, lambda one: one.subject.segment in served, _shared)
    for one in every:
        segment, beside = one.subject.segment or "", found.get(one.made.n, ())
        if segment in p.served:
            why = f"{segment} customers are served"
            yield from must_be_taken(segment, one, beside, why)
        elif segment in p.refused:
            why = f"{segment} customers are not served"
            yield from must_be_turned_down(segment, one, beside, why)


def _plain(p: Params, one: Attempt) -> bool:
    """Whether an attempt is about something ordinary, if it has to be about anything."""
    if not p.lifecycle.create.owned:
        return True
    return one.thing is not None and not any(one.thing.traits.values())


def _shared(one: Attempt) -> Hashable:
    """Return what an attempt has in common with its control: the mode."""
    return one.request.mode


RULE = Rule(
    kind="segments",
    party=Party.BANK,
    parse=parse,
    facets=facets,
    price=price,
    probe=probe,
    check=check,
)
