"""`consent-revocation`: a consent can be ended, and cannot be used from then on.

The control of a refusal is the same call, served before the consent was revoked.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from assay.history import History, State, Subject
from assay.rules import steps
from assay.rules.lifecycle import request_steps
from assay.rules.lifecycle.consent_kind import (
    ConsentKind,
    ConsentPhase,
    ConsentUse,
    ending_consent,
    own_uses,
    refused_access,
    served_questions,
    shown_state,
)
from assay.rules.lifecycle.tracker import Lifecycle
from assay.rules.rule import Facet, Purpose, Scenario, Script
from assay.rules.verdict import Evidence, must_be_served

ACCEPTED, REFUSED, ENDED_SHOWN = "end-accepted", "ended-refused", "ended-shown"
_ASKS = {
    ACCEPTED: "a consent in force can be revoked",
    REFUSED: "data is refused once the consent is revoked",
    ENDED_SHOWN: "a revoked consent is shown as ended",
}


@dataclass(frozen=True, slots=True, kw_only=True)
class ConsentRevocation(ConsentKind):
    """A consent that an operation ends, and an operation whose data it opens."""

    name = "consent-revocation"
    refusing_facets = (REFUSED,)
    purpose = Purpose.PROMISE

    consent: Lifecycle = ending_consent()

    def facets(self) -> tuple[Facet, ...]:
        """Return the call that ends a consent, and what follows."""
        return tuple(self.facet(id_, asks, "end") for id_, asks in _ASKS.items())

    def follow(self, scenario: Scenario, psu: Subject) -> Script:
        """Use a consent, end it, and use it again."""
        made = yield from self.make(psu)
        yield from steps.sign(made)
        yield from self.ask(psu)
        end = request_steps.call_about(self.lifecycle.end, made)
        yield from request_steps.send_if_any(end)
        yield from self.show(made)
        yield from self.ask(psu, "after the consent was revoked")

    def check(self, history: History) -> Iterator[Evidence]:
        """Judge each call that ends a consent in force, and each use of one that is ended."""
        every = own_uses(self, history)
        served, judged = served_questions(every), set[int]()
        for use in every:
            yield from _ending(use, judged)
            ended = use.consent.ended
            if (
                ended is None
                or not ended.accepted
                or use.consent.phase is not ConsentPhase.AUTHORISED
            ):
                continue
            if use.owned is None:
                shown = frozenset({State.ENDED}), frozenset({State.OPEN, State.VALID})
                yield from shown_state(ENDED_SHOWN, use, *shown)
            else:
                yield from refused_access(REFUSED, use, served, "the consent was revoked")


def _ending(use: ConsentUse, judged: set[int]) -> Iterator[Evidence]:
    """Judge the calls that end a consent while it is certainly in force, each once."""
    consent = use.consent
    for end in consent.instance.ends[:1]:
        early = consent.until is None or end.at.date() < consent.until
        sure = consent.phase is ConsentPhase.AUTHORISED and early and not consent.perhaps_replaced
        if sure and end.n not in judged and not end.call.variation:
            judged.add(end.n)
            yield must_be_served(ACCEPTED, end, "the consent is in force")
