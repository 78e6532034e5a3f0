"""`consent-authorisation`: a consent can be used once its customer has signed it, and not before.

Data is refused under a consent that nobody signed, and under one that its customer refused. The
control is the same call, served once a consent is signed. What the consent itself shows must agree.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace

from assay.contract.model import Capability
from assay.history import Accepted, Decision, Exchange, History, State, Subject
from assay.rules import steps
from assay.rules.lifecycle import request_steps
from assay.rules.lifecycle.consent_kind import (
    ConsentKind,
    ConsentPhase,
    ConsentUse,
    refused_access,
    served_access,
    served_questions,
    shown_state,
    uses,
)
from assay.rules.queries import plain
from assay.rules.rule import LINK, Facet, Purpose, Scenario, Script, bound
from assay.rules.verdict import AGREES, DISAGREES, Evidence, Standing

UNSIGNED, DECLINED, SERVED = "unsigned-refused", "declined-refused", "signed-served"
OTHERS = "others-refused"
UNSIGNED_SHOWN, DECLINED_SHOWN, SIGNED_SHOWN = "unsigned-shown", "declined-shown", "signed-shown"
_ASKS = {
    LINK: "a new consent has a link to the screens for signing it",
    UNSIGNED: "data is refused under an unsigned consent",
    DECLINED: "data is refused under a consent that the customer refused",
    SERVED: "data is served once the consent is signed",
    OTHERS: "data is refused under the consent of another customer",
    UNSIGNED_SHOWN: "a consent is not shown as valid before it is signed",
    DECLINED_SHOWN: "a consent that the customer refused is not shown as valid",
    SIGNED_SHOWN: "a consent is shown as valid once it is signed",
}
_VALID = frozenset({State.VALID})
_NOT_VALID = frozenset({State.OPEN, State.REJECTED, State.ENDED})


@dataclass(frozen=True, slots=True, kw_only=True)
class ConsentAuthorisation(ConsentKind):
    """A consent that is signed, and an operation whose data it opens."""

    name = "consent-authorisation"
    refusing_facets = (UNSIGNED, DECLINED, OTHERS)
    purpose = Purpose.LIMIT

    def facets(self) -> tuple[Facet, ...]:
        """Return facets for what is served and for what is shown, all of one trial."""
        create, silent = self.lifecycle.create, Standing.NOT_APPLICABLE
        link = bound(create, "approval", LINK, if_missing=silent)
        facets = [
            self.facet(id_, asks, "signature", requires=link if id_ == LINK else ())
            for id_, asks in _ASKS.items()
            if id_ != OTHERS
        ]
        named = bound(create, "output", if_missing=silent)
        two = Capability.TWO_PSU
        return (*facets, self.facet(OTHERS, _ASKS[OTHERS], "others", two, requires=named))

    def follow(self, scenario: Scenario, psu: Subject) -> Script:
        """Make a consent that the customer refuses, and one that is signed; or use another's."""
        if scenario.id == "others":
            yield from self._use_another(psu)
            return
        made = yield from self.make(psu)
        yield from self.show(made)
        yield from self.ask(psu, "before the consent is signed")
        yield from steps.sign(made, replace(steps.SIGN, decision=Decision.REFUSE))
        yield from self.show(made)
        yield from self.ask(psu, "after the customer refused the consent")
        made = yield from self.make(psu)
        yield from steps.sign(made)
        yield from self.show(made)
        yield from self.ask(psu)

    def _links(self, history: History) -> Iterator[Evidence]:
        """Judge whether each consent that is made has a link."""
        for exchange in history.exchanges:
            outcome, call = exchange.outcome, exchange.call
            if (
                call.operation == self.lifecycle.create.id
                and isinstance(outcome, Accepted)
                and plain(call)
                and not call.variation
                and exchange.item is not None
                and exchange.item.state in {None, State.OPEN}
            ):
                linked = outcome.approval is not None
                yield Evidence(
                    facet=LINK,
                    agreement=AGREES if linked else DISAGREES,
                    expected="a link to the screens for signing the consent",
                    seen="there is one" if linked else "there is none",
                    exchanges=(exchange.n,),
                    member=exchange.member("approval"),
                    variation=call.variation,
                )

    def _use_another(self, psu: Subject) -> Script:
        """Ask under the own consent, and under that of another customer."""
        other = yield from self.customer("other")
        signed: list[Exchange] = []
        for subject in (psu, other):
            made = yield from self.make(subject)
            yield from steps.sign(made)
            signed.append(made)
        yield from self.ask(psu)
        key = request_steps.key_of(signed[-1])
        if key is not None:
            yield from self.ask(psu, "under the consent of another customer", consent=key)

    def check(self, history: History) -> Iterator[Evidence]:
        """Judge each access, and each reading of a consent, by its signature; and each link."""
        yield from self._links(history)
        every = tuple(uses(self.lifecycle, self.operation, history))
        served = served_questions(every)
        for use in every:
            if use.foreign:
                yield from refused_access(OTHERS, use, served, "it is another customer's consent")
                continue
            if use.consent.ended or use.consent.perhaps_replaced or use.consent.perhaps_over:
                continue
            if use.owned is None:
                yield from _shown(use)
            elif use.consent.phase is ConsentPhase.AUTHORISED:
                yield served_access(SERVED, use, "the consent is signed")
            elif use.consent.phase in {ConsentPhase.UNSIGNED, ConsentPhase.DECLINED}:
                facet = UNSIGNED if use.consent.phase is ConsentPhase.UNSIGNED else DECLINED
                yield from refused_access(facet, use, served, use.consent.phase.value)


def _shown(use: ConsentUse) -> Iterator[Evidence]:
    match use.consent.phase:
        case ConsentPhase.UNSIGNED:
            yield from shown_state(UNSIGNED_SHOWN, use, _NOT_VALID, _VALID)
        case ConsentPhase.DECLINED:
            yield from shown_state(DECLINED_SHOWN, use, _NOT_VALID, _VALID)
        case ConsentPhase.AUTHORISED:
            yield from shown_state(SIGNED_SHOWN, use, _VALID, _NOT_VALID)
        case ConsentPhase.UNKNOWN:
            pass
