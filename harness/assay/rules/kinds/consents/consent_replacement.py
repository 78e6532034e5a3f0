"""`consent-replacement`: a new consent takes the place of the former one once it is signed.

Until then the former one can be used, and from then on it cannot. The control of a refusal is the
same call, served under the former consent before. Both need calls that say which consent they use.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from assay.history import Exchange, History, State, Subject
from assay.rules import steps
from assay.rules.lifecycle import request_steps
from assay.rules.lifecycle.consent_kind import (
    ConsentKind,
    ConsentPhase,
    ConsentUse,
    own_uses,
    refused_access,
    served_access,
    served_questions,
    shown_state,
)
from assay.rules.rule import Facet, Purpose, Scenario, Script, bound
from assay.rules.verdict import Evidence, Standing

KEPT, REFUSED, NEW = "former-kept", "former-refused", "new-served"
REPLACED_SHOWN = "replaced-shown"
_ASKS = {
    KEPT: "the former consent can be used until the new one is signed",
    REFUSED: "the former consent cannot be used once the new one is signed",
    NEW: "the new consent can be used once it is signed",
    REPLACED_SHOWN: "the former consent is shown as ended after that",
}


@dataclass(frozen=True, slots=True, kw_only=True)
class ConsentReplacement(ConsentKind):
    """A consent of which a customer has one at a time, and an operation whose data it opens."""

    name = "consent-replacement"
    refusing_facets = (REFUSED,)
    purpose = Purpose.LIMIT

    def facets(self) -> tuple[Facet, ...]:
        """Return facets for the former consent and the new one."""
        named = bound(self.lifecycle.create, "output", if_missing=Standing.NOT_APPLICABLE)
        return tuple(
            self.facet(id_, asks, "second", requires=named if id_ in {KEPT, REFUSED} else ())
            for id_, asks in _ASKS.items()
        )

    def follow(self, scenario: Scenario, psu: Subject) -> Script:
        """Sign a consent, make a second one, and use the former before and after its signature."""
        former = yield from self.make(psu)
        yield from steps.sign(former)
        yield from self.ask(psu)
        new = yield from self.make(psu)
        key = request_steps.key_of(former)
        yield from self.ask(psu, consent=key)
        yield from steps.sign(new)
        yield from self.ask(psu)
        yield from self.ask(psu, "under the former consent", consent=key)
        yield from self.show(former)

    def check(self, history: History) -> Iterator[Evidence]:
        """Judge each use of a consent beside which there is, or was, another one."""
        every = own_uses(self, history)
        served = served_questions(every)
        for use in every:
            consent = use.consent
            if not consent.signed or consent.perhaps_over:
                continue
            if use.owned is None:
                if consent.replaced:
                    good, wrong = frozenset({State.ENDED}), frozenset({State.OPEN, State.VALID})
                    yield from shown_state(REPLACED_SHOWN, use, good, wrong)
            elif consent.replaced and use.exchange.call.consent:
                yield from refused_access(REFUSED, use, served, "a later consent is signed")
            elif ConsentPhase.UNSIGNED in consent.later and not consent.perhaps_replaced:
                if use.exchange.call.consent:
                    why = "the later consent is not signed"
                    yield served_access(KEPT, use, why, _served_around(use, every))
            elif consent.former and not consent.later:
                yield served_access(NEW, use, "it is the last consent, and it is signed")


def _served_around(use: ConsentUse, every: Sequence[ConsentUse]) -> Exchange | None:
    """Return an access under the same consent that was served before, if a later one is served, too.

    The token was good then, and that of the customer is still: a refusal is one of the consent.
    """
    served = [each for each in every if each.owned is not None and each.exchange.accepted]
    before = [each for each in served if each.exchange.n < use.exchange.n]
    same = [each for each in before if each.consent.instance.key == use.consent.instance.key]
    return same[-1].exchange if same and len(before) < len(served) else None
