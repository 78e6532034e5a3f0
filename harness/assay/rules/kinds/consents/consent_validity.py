"""`consent-validity`: a consent can be used until its last day, and not on the day after.

Shortly before midnight of the last day data is served, and shortly after it is refused; midnight
is that of the contract's zone. The control is the same call, served before under the same consent.
Days close to the last one are judged only where the zone leaves no doubt about the date. A refusal on
the last day may be for the token (401), unless the same token is served then under a later consent.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import UTC, date, datetime, time, timedelta
from zoneinfo import ZoneInfo

from assay.contract.model import Capability
from assay.history import Exchange, History, State, Subject
from assay.rules import parameters, steps
from assay.rules.lifecycle.consent_kind import (
    ConsentKind,
    ConsentPhase,
    ConsentUse,
    dated_consent,
    own_uses,
    refused_access,
    served_access,
    served_questions,
    shown_state,
)
from assay.rules.lifecycle.tracker import Lifecycle
from assay.rules.queries import question
from assay.rules.rule import Facet, Purpose, Scenario, Script, bound
from assay.rules.state.calendar import at, local_day
from assay.rules.verdict import Evidence

LAST, NEXT, EXPIRED_SHOWN = "last-day-served", "next-day-refused", "expired-shown"
_ASKS = {
    LAST: "data is served on the last day of a consent",
    NEXT: "data is refused on the day after its last day its last day",
    EXPIRED_SHOWN: "an expired consent is shown as ended",
}
#: How far from midnight the two accesses are.
_CLOSE = timedelta(minutes=10)
_MONTH = timedelta(days=30)


@dataclass(frozen=True, slots=True, kw_only=True)
class ConsentValidity(ConsentKind):
    """A consent with a last day, and an operation whose data it opens."""

    name = "consent-validity"
    refusing_facets = (NEXT,)
    purpose = Purpose.LIMIT

    consent: Lifecycle = dated_consent()
    zone: ZoneInfo | None = parameters.the_zone()

    def facets(self) -> tuple[Facet, ...]:
        """Return the last day, the day after, and the state that is shown then."""
        create = self.lifecycle.create
        until = bound(create, "argument", create.until or "")
        needed = Capability.CLOCK, Capability.ZONE
        return tuple(
            self.facet(id_, asks, "last-day", *needed, requires=until)
            for id_, asks in _ASKS.items()
        )

    def follow(self, scenario: Scenario, psu: Subject) -> Script:
        """Make a consent until tomorrow, and use it around its last midnight."""
        until = self.lifecycle.create.until or ""
        today = local_day(psu.now, self.zone)
        last = today + timedelta(days=1)
        made = yield from self.make(psu, **{until: last.isoformat()})
        yield from steps.sign(made)
        yield from self.ask(psu)
        midnight = at(last + timedelta(days=1), time(), self.zone or psu.now.tzinfo or UTC)
        yield from steps.clock(midnight - _CLOSE)
        late = yield from self.ask(psu)
        if late.refused:
            yield from self._with_another(psu, last)
            return
        yield from steps.clock(midnight + _CLOSE)
        yield from self.ask(psu, "on the day after the last day of the consent")
        yield from self.show(made)

    def _with_another(self, psu: Subject, last: date) -> Script:
        """Use a consent with a later day, which shows that the customer's token is good."""
        until = self.lifecycle.create.until or ""
        made = yield from self.make(psu, **{until: (last + _MONTH).isoformat()})
        yield from steps.sign(made)
        yield from self.ask(psu)

    def _day(self, instant: datetime) -> date | None:
        """Return the local day of an instant; None where the zone is unknown."""
        return local_day(instant, self.zone) if self.zone is not None else None

    def check(self, history: History) -> Iterator[Evidence]:
        """Judge each access, and each reading of a consent, by the last day of the consent."""
        every = own_uses(self, history)
        served = served_questions(every)
        for use in every:
            consent, day = use.consent, self._day(use.exchange.at)
            sure = consent.phase is ConsentPhase.AUTHORISED and not consent.ended
            if consent.until is None or day is None or not sure or consent.perhaps_replaced:
                continue
            if use.owned is None and day > consent.until:
                yield from shown_state(
                    EXPIRED_SHOWN,
                    use,
                    frozenset({State.ENDED}),
                    frozenset({State.OPEN, State.VALID}),
                )
            elif day == consent.until and use.owned is not None:
                why = "it is the last day of the consent"
                yield served_access(LAST, use, why, _served_next(use, every))
            elif day > consent.until:
                why = f"{consent.until} was the last day of the consent"
                yield from refused_access(NEXT, use, served, why)


def _served_next(use: ConsentUse, every: Sequence[ConsentUse]) -> Exchange | None:
    """Return the same call, served shortly after a use under a consent that was made since."""
    used = use.exchange
    for other in every:
        later = other.exchange
        since = other.consent.instance.made.n > used.n and later.at - used.at <= _CLOSE
        if since and later.accepted and question(later.call) == question(used.call):
            return later
    return None
