"""`segments`: customers of some segments are served, and those of others are not.

One facet a segment. All customers come into being before the first of them asks, so
that nobody is served only because somebody else is not there yet. The control is the
same request for a customer of a segment that is served.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterator
from dataclasses import dataclass

from assay.contract.model import Capability
from assay.history import Call, Exchange, History, Subject
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
from assay.rules.lifecycle.parameters import the_request
from assay.rules.rule import Facet, Kind, Scenario, Script, needs


@dataclass(frozen=True, slots=True, kw_only=True)
class Segments(Kind):
    """The segments of customers that are served, and those that are refused."""

    name = "segments"
    applies_to = ("makes",)

    lifecycle: tracker.Lifecycle = the_request()
    served: tuple[str, ...] = parameters.names(parameters.ref("names"), key="served")
    refused: tuple[str, ...] = parameters.names(parameters.ref("names"), key="refused")

    def admits(self, request: str, call: Call, subject: Subject | None) -> bool:
        """Whether the customer is known to be of a segment that is served, or of none."""
        if request != self.lifecycle.request.id:
            return True
        return subject is not None and (subject.segment or "") in ("", *self.served)

    def facets(self) -> tuple[Facet, ...]:
        """One facet a segment."""
        return tuple(
            Facet(
                id=segment,
                description=f"a request for a {segment} customer is {word}",
                scenario=Scenario(id="each"),
                needs=needs(Capability.PSU, Capability.WRITE, Capability.SEGMENTS),
            )
            for word, segments in (("accepted", self.served), ("rejected", self.refused))
            for segment in segments
        )

    def probe(self, scenario: Scenario) -> Script:
        """Bring a customer of each segment into being, and make the same request for each."""
        people: dict[str, Subject] = {}
        for segment in (*self.served, *self.refused):
            people[segment] = yield from request_steps.customer(
                self.lifecycle, segment, segment=segment
            )
        made: dict[str, Exchange] = {}
        for segment, psu in people.items():
            words = "" if segment in self.served else f"for a customer of the segment {segment}"
            call = request_steps.request(self.lifecycle, psu, variation=words)
            made[segment] = yield from steps.send(call)
        taken = [made[segment] for segment in self.served if made[segment].accepted]
        control = (taken or [made[self.served[-1]]])[-1]
        yield from press(self.lifecycle, control, *(made[segment] for segment in self.refused))

    def check(self, history: History) -> Iterator[Evidence]:
        """Judge every attempt for a customer whose segment is known."""
        every = tuple(one for one in attempts(self.lifecycle, history) if _plain(self, one))
        served = {None, *self.served}
        found = controls(every, lambda one: one.subject.segment in served, _shared)
        for one in every:
            segment, beside = one.subject.segment or "", found.get(one.made.n, ())
            if segment in self.served:
                why = f"{segment} customers are served"
                yield from must_be_taken(segment, one, beside, why)
            elif segment in self.refused:
                why = f"{segment} customers are not served"
                yield from must_be_turned_down(segment, one, beside, why)


def _plain(p: Segments, one: Attempt) -> bool:
    """Whether an attempt is about something ordinary, if it has to be about anything."""
    if not p.lifecycle.create.owned:
        return True
    return one.thing is not None and not any(one.thing.traits.values())


def _shared(one: Attempt) -> Hashable:
    """Return what an attempt has in common with its control: the mode."""
    return one.request.mode
