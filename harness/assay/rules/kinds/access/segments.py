"""`segments`: customers of some segments are served, and those of others are not.

Each segment has a facet. Who is served is served to the end: a request that is accepted, signed and
then rejected is not, if the same request of a customer of another segment went on. All customers are set up before the first request, so that the
order of set-up cannot affect the result. The control is the same request for a customer of
a segment that is served. Where there is no customer of a segment, only its facet stays without
evidence.
"""

from __future__ import annotations

from collections.abc import Collection, Hashable
from dataclasses import dataclass

from assay.contract.model import Capability
from assay.errors import CannotArrange
from assay.history import Call, Exchange, Subject
from assay.rules import parameters, steps
from assay.rules.facets import Facts
from assay.rules.lifecycle import request_steps
from assay.rules.lifecycle.attempts import (
    AcceptanceRule,
    Attempt,
    Case,
    sign_and_read,
    try_again,
)
from assay.rules.rule import Calls, Facet, Purpose, Scenario, Scope, Script, needs


@dataclass(frozen=True, slots=True, kw_only=True)
class Segments(AcceptanceRule):
    """The segments of customers that are served, and those that are refused."""

    name = "segments"
    scope = Scope(calls=Calls.NAMED, needs=(Subject,))
    purpose = Purpose.PROMISE
    applies_to = ("makes",)

    served: tuple[str, ...] = parameters.names(parameters.ref("names"), key="served")
    refused: tuple[str, ...] = parameters.names(parameters.ref("names"), key="refused")

    def facts(self) -> Facts:
        """Return the segments that are served, and those that are not."""
        return Facts(
            segments=(*self.served, *self.refused),
            admissions={self.lifecycle.request.id: (self._admits,)},
        )

    def _admits(self, _call: Call, subject: Subject | None) -> bool:
        """Whether the customer is known to belong to a segment that is served, or to none."""
        return subject is not None and (subject.segment or "") in ("", *self.served)

    def facets(self) -> tuple[Facet, ...]:
        """Return one facet for each segment."""
        return tuple(
            Facet(
                id=segment,
                description=f"requests for {segment} customers are {word}",
                scenario=Scenario(id="each"),
                needs=needs(Capability.PSU, Capability.WRITE, Capability.SEGMENTS),
            )
            for word, segments in (("accepted", self.served), ("rejected", self.refused))
            for segment in segments
        )

    def refusing(self) -> Collection[str]:
        """Return the facets that expect a refusal."""
        return self.refused

    def probe(self, scenario: Scenario) -> Script:
        """Set up a customer of each segment, and make the same request for each."""
        people: dict[str, Subject] = {}
        for segment in (*self.served, *self.refused):
            try:
                people[segment] = yield from request_steps.customer(
                    self.lifecycle, segment, segment=segment
                )
            except CannotArrange as missing:
                if missing.shortage is not None:
                    raise
        made: dict[str, Exchange] = {}
        for segment, psu in people.items():
            variation = "" if segment in self.served else f"for a customer of the segment {segment}"
            call = request_steps.request(self.lifecycle, psu, variation=variation)
            made[segment] = yield from steps.send(call)
        accepted = [people[each] for each in self.served if each in made and made[each].accepted]
        for segment in self.served if accepted else ():
            if segment in made and not people[segment].fresh:
                ways = (people[segment], None), (accepted[0], None)
                yield from try_again(self.lifecycle, made[segment], *ways)
        # Who is served is served to the end, so that a rejection after the signature shows.
        yield from sign_and_read(self.lifecycle, None, *made.values())

    def case(self, attempt: Attempt) -> Case | None:
        """Return the expected result of an attempt for a customer of a known segment."""
        segment = attempt.subject.segment or ""
        if not self._is_plain(attempt):
            return None
        if segment in self.served:
            why = f"{segment} customers are served"
            return Case(facet=segment, accepted=True, why=why, for_good=True)
        if segment in self.refused:
            return Case(facet=segment, accepted=False, why=f"{segment} customers are not served")
        return None

    def is_control(self, attempt: Attempt) -> bool:
        """Whether an attempt is for a customer of a segment that is served, or of none."""
        return self._is_plain(attempt) and attempt.subject.segment in {None, *self.served}

    def common(self, attempt: Attempt) -> Hashable:
        """Return the mode: attempts are compared across customers."""
        return attempt.request.mode

    def _is_plain(self, attempt: Attempt) -> bool:
        """Whether an attempt is about an ordinary resource, if it needs one."""
        if not self.lifecycle.create.owned:
            return True
        return attempt.thing is not None and not any(attempt.thing.traits.values())
