"""`consent-mode`: a consent that is made in a mode does not open everything that another one does.

A mode of the operation that makes consents is a kind of access: a list that is left empty, or words
for what may be read. Data is refused under a consent in the mode. The control is the same call,
served under a consent in no mode.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator
from dataclasses import dataclass

from assay.history import History, Subject
from assay.rules import steps
from assay.rules.lifecycle import request_steps
from assay.rules.lifecycle.consent_kind import (
    ConsentKind,
    ConsentPhase,
    mode_of_consent,
    own_uses,
    refused_access,
    served_access,
    served_questions,
    signed_in_mode,
)
from assay.rules.rule import Facet, Purpose, Scenario, Script, bound
from assay.rules.verdict import Evidence

REFUSED, SERVED = "mode-refused", "plain-served"


@dataclass(frozen=True, slots=True, kw_only=True)
class ConsentMode(ConsentKind):
    """A mode of a consent, and an operation that is refused under it."""

    name = "consent-mode"
    purpose = Purpose.LIMIT

    mode: str = mode_of_consent()

    def facets(self) -> tuple[Facet, ...]:
        """Return what is refused in the mode, and served in none."""
        mode = bound(self.lifecycle.create, "mode", self.mode)
        refused = f"data is refused under a consent in the mode {self.mode}"
        return (
            self.facet(REFUSED, refused, "mode", requires=mode),
            self.facet(SERVED, "data is served under a consent without a mode", "mode"),
        )

    def refusing(self) -> Collection[str]:
        """Return the facets that expect a refusal."""
        return (REFUSED,)

    def follow(self, scenario: Scenario, psu: Subject) -> Script:
        """Sign a consent in the mode and use it, and then one in no mode."""
        made = yield from steps.send(request_steps.request(self.lifecycle, psu, self.mode))
        yield from steps.sign(made)
        yield from self.ask(psu, f"under a consent in the mode {self.mode}")
        made = yield from self.make(psu)
        yield from steps.sign(made)
        yield from self.ask(psu)

    def check(self, history: History) -> Iterator[Evidence]:
        """Judge each access by the mode of the consent under which it is made."""
        every = own_uses(self, history)
        served = served_questions(every)
        for use in every:
            consent = use.consent
            if use.owned is None or consent.ended or consent.perhaps_replaced:
                continue
            if consent.perhaps_over:
                continue
            if consent.phase is ConsentPhase.AUTHORISED:
                yield served_access(SERVED, use, "the consent is signed and has no mode")
            elif signed_in_mode(use, self.lifecycle, self.mode):
                why = f"the consent is in the mode {self.mode}"
                yield from refused_access(REFUSED, use, served, why)
