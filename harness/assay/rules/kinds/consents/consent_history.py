"""`consent-history`: old entries are given only for some minutes after a consent is signed.

Within these minutes a call for the whole history returns what is older than the limit, and
afterwards nothing of it, while what is younger is still returned. A call is judged only if it is
clear of the end of the minutes, and an entry only if the zone leaves no doubt about its age.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from datetime import date, timedelta
from zoneinfo import ZoneInfo

from assay.contract.model import Capability, Json
from assay.history import Call, History, Holding, Subject
from assay.rules import parameters, steps
from assay.rules.consents import confirmed
from assay.rules.lifecycle.consent_kind import ConsentKind, ConsentPhase, ConsentUse, own_uses
from assay.rules.queries import PageWalk, page_walks
from assay.rules.rule import Facet, Purpose, Scenario, Script, bound
from assay.rules.state.calendar import DAY, dates, day_of
from assay.rules.steps import Part
from assay.rules.verdict import (
    AGREES,
    DISAGREES,
    UNAUTHENTICATED,
    UNCLEAR,
    Agreement,
    Evidence,
    describe_answer,
)

INSIDE, AFTER, RECENT = "old-inside", "old-after", "recent-after"
#: How far from the end of the minutes the calls are.
_CLEAR = timedelta(minutes=1)
#: How many days beyond the limit the old entries of the probe are, and how many days of the limit
#: are left to the young ones.
_OLDER, _YOUNGER = (1, 10, 30), (0, 1, 20)
_RECENT = (1, 2)


@dataclass(frozen=True, slots=True, kw_only=True)
class ConsentHistory(ConsentKind):
    """A consent, the operation that returns entries under it, and what is old for how long."""

    name = "consent-history"
    refusing_facets = (AFTER,)
    purpose = Purpose.LIMIT
    limits = ("days", "minutes", "edge")

    days: int = parameters.whole(key="days")
    minutes: int = parameters.whole(key="minutes")
    edge: str = parameters.parameter(
        parameters.ref("edge"), lambda value, _: str(value), key="edge"
    )
    zone: ZoneInfo | None = parameters.the_zone()

    @property
    def _window(self) -> timedelta:
        return timedelta(minutes=self.minutes)

    def facets(self) -> tuple[Facet, ...]:
        """Return what is shown within the minutes, and what is shown later."""
        old = f"entries older than {self.days} days"
        asks = {
            INSIDE: f"{old} are returned up to {self.minutes} minutes after the signature",
            AFTER: f"{old} are no longer returned after that",
            RECENT: "newer entries are still returned after that",
        }
        since = bound(self.operation, "argument", (self.operation.since,))
        requires = (*bound(self.operation, "on"), *since)
        needed = Capability.ENTRIES, Capability.ROSTER, Capability.CLOCK
        return tuple(
            self.facet(id_, text, "history", *needed, requires=requires)
            for id_, text in asks.items()
        )

    def customer(self, name: str) -> Part[Subject]:
        """Create a customer with entries on both sides of the limit."""
        today = dates((yield from steps.clock()), self.zone)[0]
        older = (self.days + age for age in _OLDER)
        younger = (self.days - age for age in _YOUNGER if self.days > age)
        entries = steps.days_before(today, *sorted({*_RECENT, *younger, *older}))
        return (yield from steps.arrange(name, Holding(resource=self.owner, entries=entries)))

    def follow(self, scenario: Scenario, psu: Subject) -> Script:
        """Sign a consent, and read the history before and after the end of the minutes."""
        made = yield from self.make(psu)
        signed = yield from steps.sign(made)
        if signed is None:
            return
        today = dates(signed.moments[-1], self.zone)[0]
        young = self.days if self.edge == "included" else self.days - 1
        whole, recent = (
            self._since(today - timedelta(days=age)) for age in (self.days + 100, young)
        )
        plain = steps.arguments(self.operation, psu.owns[0].key)
        call = Call(operation=self.operation.id, subject=psu.name, arguments={**plain, **whole})
        yield from steps.clock(signed.moments[-1] + self._window - _CLEAR)
        yield from steps.walk(call)
        yield from steps.clock(signed.moments[-1] + self._window + _CLEAR)
        yield from steps.walk(call)
        if whole:
            yield from steps.walk(replace(call, arguments={**plain, **recent}))
            yield from steps.walk(replace(call, arguments=plain))

    def _since(self, day: date) -> Mapping[str, Json]:
        return {self.operation.since: day.isoformat()} if self.operation.since else {}

    def check(self, history: History) -> Iterator[Evidence]:
        """Judge each walk under a consent by the time since that was signed."""
        walks = {
            walk.pages[0].n: walk for walk in page_walks(history, self.operation.id, self.contract)
        }
        for use in own_uses(self, history, ranged=True):
            consent, walk = use.consent, walks.get(use.exchange.n)
            sure = consent.phase is ConsentPhase.AUTHORISED and not consent.ended
            over = consent.perhaps_replaced or consent.perhaps_over
            signings = [each for each in consent.instance.signings if confirmed(each)]
            if walk is None or use.owned is None or not sure or over or not signings:
                continue
            first, last = walk.pages[0].at, walk.pages[-1].at
            if last - signings[0].moments[0] <= self._window - _CLEAR:
                yield from self._inside(use, walk)
            elif first - signings[-1].moments[-1] >= self._window + _CLEAR:
                yield from self._after(use, walk)

    def _edges(self, use: ConsentUse) -> tuple[date, date]:
        """Return the last day that is certainly old, and the first that certainly is not."""
        today = dates(use.exchange.at, self.zone)
        first, last = (day - timedelta(days=self.days) for day in (today[0], today[-1]))
        old = first if self.edge == "excluded" else first - DAY
        return old, last if self.edge == "included" else last + DAY

    def _inside(self, use: ConsentUse, walk: PageWalk) -> Iterator[Evidence]:
        """Judge whether the old entries are returned for which a call asks."""
        old, since = self._edges(use)[0], self._asked_since(walk)
        if self.operation.since and since is None:
            return
        wanted = {day for day in _days(use) if (since or date.min) <= day <= old}
        if wanted:
            yield _all_shown(INSIDE, use, walk, wanted)

    def _after(self, use: ConsentUse, walk: PageWalk) -> Iterator[Evidence]:
        """Judge that nothing old is returned, and what is not old is."""
        (old, recent), since = self._edges(use), self._asked_since(walk)
        exchange = use.exchange
        beyond = since is None or since <= old
        if any((since or date.min) <= day <= old for day in _days(use)):
            shown = [item for item in walk.items if item.on is not None and item.on <= old]
            dated = all(item.on is not None for item in walk.items)
            withheld = (walk.ended and bool(walk.items) and dated) or exchange.refused
            agreement = DISAGREES if shown else AGREES if withheld else UNCLEAR
            seen = f"{len(shown)} entries are older" if shown else describe_answer(exchange)
            expected = f"no entry before {recent}"
            evidence = _evidence(AFTER, use, walk, agreement, expected=expected, seen=seen)
            yield walk.showing(evidence, lambda item: item in shown, "on")
        # Without a day a bank may choose one; from one that is too early on it may refuse. Whether
        # the day itself belongs to what is asked for is for another rule.
        named = since is not None or not self.operation.since
        if named and (exchange.accepted or not beyond):
            wanted = {day for day in _days(use) if day >= recent and day > (since or date.min)}
            if wanted:
                yield _all_shown(RECENT, use, walk, wanted)

    def _asked_since(self, walk: PageWalk) -> date | None:
        return day_of(walk.call.arguments.get(self.operation.since or ""), whole=True)


def _days(use: ConsentUse) -> frozenset[date]:
    """Return the days of the entries that are known."""
    return frozenset(entry.on for entry in use.owned.entries) if use.owned else frozenset()


def _all_shown(facet: str, use: ConsentUse, walk: PageWalk, wanted: set[date]) -> Evidence:
    """Judge whether the entries of these days are all returned."""
    missing = wanted - {item.on for item in walk.items}
    refused = use.exchange.refused and use.exchange.wire.status != UNAUTHENTICATED
    sure = refused or (walk.ended and all(item.on is not None for item in walk.items))
    agreement = UNCLEAR if not sure else DISAGREES if missing else AGREES
    seen = describe_answer(use.exchange)
    if walk.ended and missing:
        seen = f"the entries of {len(missing)} days are missing"
    expected = f"entries of {len(wanted)} days from {min(wanted)} on"
    return _evidence(facet, use, walk, agreement, expected=expected, seen=seen)


def _evidence(
    facet: str, use: ConsentUse, walk: PageWalk, agreement: Agreement, *, expected: str, seen: str
) -> Evidence:
    return Evidence(
        facet=facet,
        agreement=agreement,
        expected=expected,
        seen=seen,
        exchanges=tuple(sorted({*use.consent.numbers, *walk.numbers})),
        variation=use.exchange.call.variation,
        decisive=use.exchange.n,
    )
