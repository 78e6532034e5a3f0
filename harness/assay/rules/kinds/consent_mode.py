"""`consent-mode`: a consent that is made in a mode does not open everything that another one does.

A mode of the operation that makes consents is a kind of access: a list that is left empty, or words
for what may be read. Data is refused under a consent in the mode. The control is the same call,
served under a consent in no mode.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator
from dataclasses import dataclass
from typing import Any

from assay.contract.files.document import Finding, Pointer
from assay.history import History, Subject
from assay.judging.verdict import Evidence
from assay.rules import comparisons, parameters, steps
from assay.rules.consents import confirmed, lists_keys
from assay.rules.consequences import LIMIT
from assay.rules.lifecycle import request_steps
from assay.rules.lifecycle.consent_kind import (
    ConsentKind,
    own_uses,
    refused_access,
    served_access,
    served_questions,
)
from assay.rules.lifecycle.consent_use import ConsentPhase, ConsentUse
from assay.rules.parameters import Raw, known, maker
from assay.rules.queries import ordinary
from assay.rules.rule import BindingRequirement, Facet, Scenario, Script

REFUSED, SERVED = "mode-refused", "plain-served"


def _mode_of_consent() -> Any:
    """Declare a mode of the operation that makes the consent."""

    def check(at: Pointer, name: str, clause: Raw, raw: Raw) -> Iterator[Finding]:
        yield from known(at, name, maker(clause, raw).get("modes", ()), "mode")

    return parameters.word(key="mode", references=check, compare=comparisons.undirected)


@dataclass(frozen=True, slots=True, kw_only=True)
class ConsentMode(ConsentKind):
    """A mode of a consent, and an operation that is refused under it."""

    name = "consent-mode"
    purpose = LIMIT

    mode: str = _mode_of_consent()

    def facets(self) -> tuple[Facet, ...]:
        """Return what is refused in the mode, and served in none."""
        create = self.lifecycle.create.id
        mode = BindingRequirement(operation=create, feature="mode", name=self.mode)
        refused = f"data is refused under a consent in the mode {self.mode}"
        return (
            self.facet(REFUSED, refused, "mode", requires=(mode,)),
            self.facet(SERVED, "data is served under a consent in no mode", "mode"),
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
                yield served_access(SERVED, use, "the consent is signed, and in no mode")
            elif self._in_the_mode(use):
                why = f"the consent is in the mode {self.mode}"
                yield from refused_access(REFUSED, use, served, why)

    def _in_the_mode(self, use: ConsentUse) -> bool:
        """Whether a use is of a consent in the mode, which is certainly signed."""
        call = use.consent.instance.made.call
        signed = any(map(confirmed, use.consent.instance.signings))
        listed = ordinary(call) and lists_keys(call, self.lifecycle.create)
        return call.mode == self.mode and signed and listed
