"""`history-depth`: answers go back a limited number of local days.

A shorter history is no violation: documents say "up to", unless `least` says how long it is at least. The day on
the edge has a facet of its own where `edge` says on which side it is. The dates of the entries on every
page are judged, with and without a requested range, with a last day and no first one, when
the days have moved on, and just after local midnight, when a bank that counts from the UTC
day is one day behind.

The TPP: it asks for nothing older than the limit.
A call is judged if it names a first day, or a last day that is itself too old. The time
zone may be unknown, and the contract may leave the day of the limit open: a call is a
breach only if it is one under every reading.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass
from datetime import UTC, date, time, timedelta
from zoneinfo import ZoneInfo

from assay.contract.model import Capability, Json, Operation
from assay.history import Accepted, Call, Exchange, History, Holding, Subject
from assay.rules import parameters, steps
from assay.rules.facets import Facts
from assay.rules.queries import PageWalk, bare, oldest_date, page_walks, plain
from assay.rules.rule import (
    BindingRequirement,
    Calls,
    Facet,
    Kind,
    Purpose,
    Scenario,
    Scope,
    Script,
    TppFacet,
    bound,
    consent,
    facts_of,
    needs,
)
from assay.rules.state.calendar import at, dates, day_of, local_day, never_ahead
from assay.rules.verdict import (
    AGREES,
    DISAGREES,
    UNCLEAR,
    Agreement,
    Evidence,
    Standing,
    describe_answer,
    tpp_evidence,
)

#: The TPP's obligation.
TPP_FACET = "nothing-older-asked"
#: That the history is as long as the bank says.
GOES_BACK = "goes-back"
#: The facet of the day on the edge and what must happen to its entries, by the edge.
_ON_THE_EDGE: Mapping[str, tuple[str, str]] = {
    "included": ("shows-the-edge", "returned"),
    "excluded": ("hides-the-edge", "not returned"),
}
#: The facets that the trial without days decides besides its own.
_BY_DEFAULT = frozenset({GOES_BACK, *(facet for facet, _ in _ON_THE_EDGE.values())})
DAY = timedelta(days=1)
WEEK = timedelta(days=7)
#: How far back the last day is that is asked for without a first one.
UNTIL = timedelta(days=20)
#: A last day this many days beyond the limit, and a first day years beyond it.
FAR, YEARS = 5, 1000


@dataclass(frozen=True, slots=True, kw_only=True)
class HistoryDepth(Kind):
    """An operation, its depth in days, whether the last day is included, and the time zone."""

    name = "history-depth"
    scope = Scope(calls=Calls.NAMED)
    purpose = Purpose.LIMIT
    bare_calls = True
    limits = ("days", "edge", "least")

    operation: Operation = parameters.operation()
    days: int = parameters.whole(key="days")
    edge: str = parameters.parameter(
        parameters.ref("edge"), lambda value, _: str(value), key="edge"
    )
    least: int = parameters.whole(key="least", required=False, default=0)
    grant: Operation | None = parameters.grant()
    owners: tuple[str, ...] = parameters.derived(
        lambda contract, known: steps.owners(contract, known["operation"])
    )
    zone: ZoneInfo | None = parameters.the_zone()

    def facts(self) -> Facts:
        """Return the depth."""
        return Facts(history_days={self.operation.id: self.days})

    def unaffected_by(self) -> Mapping[str, str]:
        """Return the days after a consent: entries are as old as a trial says when it begins."""
        return {"since": "the clause itself is about days"}

    def facets(self) -> tuple[Facet, ...]:
        """Return facets for no range, too long a range, a last day, a week later, and midnight."""
        of, days, until = self.operation, self.days, self.operation.until
        since = bound(of, "argument", (of.since,))
        silent = Standing.NOT_APPLICABLE
        last, clock = bound(of, "argument", (until,), if_missing=silent), (Capability.CLOCK,)
        asked = "a call with an end date but no start date returns nothing older"
        described: list[tuple[str, str, tuple[BindingRequirement, ...], tuple[Capability, ...]]] = [
            ("default", f"nothing older than {days} days is returned by default", (), ())
        ]
        if since:
            older = f"a call for more than {days} days returns nothing older"
            described.append(("asked-older", older, since, ()))
        if last:
            described.append(("until-alone", asked, last, ()))
        week = f"a week later, nothing older than {days} days is returned"
        midnight = f"the {days} days are counted from the date in the bank's time zone"
        described += [
            ("later", week, (), clock),
            ("local-day", midnight, (), (*clock, Capability.ZONE)),
        ]
        if on := _ON_THE_EDGE.get(self.edge):
            day = f"an entry of exactly {days} days ago is {on[1]} by default"
            described.append((on[0], day, (), (Capability.ZONE,)))
        if self.least:
            whole = f"every entry of the last {self.least} days is returned by default"
            described.append((GOES_BACK, whole, (), (Capability.ZONE,)))
        return tuple(
            Facet(
                id=id_,
                description=description,
                scenario=Scenario(id="default" if id_ in _BY_DEFAULT else id_),
                needs=needs(Capability.PSU, Capability.ROSTER, Capability.ENTRIES, *more)
                | consent(self.grant),
                requires=(*bound(of, "on"), *requirements),
                not_applicable_because=never_ahead(self.zone) if id_ == "local-day" else "",
            )
            for id_, description, requirements, more in described
        )

    def probe(self, scenario: Scenario) -> Script:
        """Own entries on both sides of the limit, and read all pages."""
        now = yield from steps.clock()
        if scenario.id == "local-day" and self.zone:
            # Half past midnight: the local day is new, in UTC it is still yesterday
            # for banks east of Greenwich, and already today's for those west of it.
            tomorrow = local_day(now, self.zone) + timedelta(days=1)
            now = yield from steps.clock(at(tomorrow, time(0, 30), self.zone))
        today = dates(now, self.zone)[0]
        older = tuple(self.days + n for n in (1, 2, 10, 30, 100))
        edge = (self.days - 6, self.days - 3, self.days - 1, self.days)
        entries = steps.days_before(today, 1, UNTIL.days, *edge, *older)
        if scenario.id == "default":
            # A page of recent entries, so that those on both sides of the limit are on another.
            entries += steps.days_before(today, 2) * (
                facts_of(self.contract).page_sizes.get(self.operation.id) or 0
            )
        psu = yield from steps.arrange(
            "psu", *(Holding(resource=owner, entries=entries) for owner in self.owners)
        )
        keys = [owned.key for owned in psu.owns]
        yield from steps.grant(self.grant, "psu", *keys)
        if scenario.id == "later":
            yield from steps.clock(now + WEEK)
        for key in keys:
            plain = steps.arguments(self.operation, key)
            yield from steps.walk(Call(operation=self.operation.id, subject="psu", arguments=plain))
            for since, until in self._ranges(scenario.id, first=key == keys[0]):
                yield from self._ask(plain, today, since, until)

    def _ranges(self, scenario: str, *, first: bool) -> Iterator[tuple[int, int]]:
        """Yield the first and last days to ask for, as ages in days; 0 for none.

        The first thing is also asked for ranges with both ends, and for what is older than all.
        """
        far, late = self.days + 109, UNTIL.days
        beyond = self.days + FAR
        if scenario == "asked-older" and self.operation.since:
            yield far, 0
            if first and self.operation.until:
                yield from ((far, late), (self.days + YEARS, beyond))
        if scenario == "until-alone" and self.operation.until:
            yield 0, late
            if first:
                yield 0, beyond

    def _ask(self, plain: Mapping[str, Json], today: date, since: int, until: int) -> Script:
        """Read a range, given by the ages of its ends in days."""
        days = {self.operation.since: since, self.operation.until: until}
        named = {
            name: str(today - timedelta(days=age)) for name, age in days.items() if name and age
        }
        asked = [
            f"{word} {age} days ago" for word, age in (("from", since), ("up to", until)) if age
        ]
        yield from steps.walk(
            Call(
                operation=self.operation.id,
                subject="psu",
                arguments={**plain, **named},
                variation=f"asking {' '.join(asked)}",
            )
        )

    def check(self, history: History) -> Iterator[Evidence]:
        """Judge each walk of a resource that has or shows entries older than the limit."""
        subjects = history.subjects
        walks = [
            walk
            for walk in page_walks(history, self.operation.id, self.contract)
            if walk.call.mode is None
        ]
        shown = {
            self._about(walk) for walk in walks if bare(walk.call, self.operation) and walk.items
        }
        for walk in walks:
            yield from self._check_length(walk, subjects)
            subject, key = self._about(walk)
            owned = subjects[subject].owned(key) if subject in subjects else None
            there = [entry.on for entry in owned.entries] if owned else []
            there += [item.on for item in walk.items if item.on]
            for facet, limit in self._facets(walk, subjects.get(subject)):
                quiet = not walk.items and (facet == "asked-older" or self._beyond(walk))
                if quiet and (subject, key) not in shown:
                    continue
                if any(on < limit for on in there):
                    yield self._judge(walk, facet, limit)

    def _check_length(self, walk: PageWalk, subjects: Mapping[str, Subject]) -> Iterator[Evidence]:
        """Judge how far back a whole history goes, where the day of the bank is known."""
        first, zone = walk.pages[0], self.zone
        subject, key = self._about(walk)
        owned = subjects[subject].owned(key) if subject in subjects else None
        if zone is None or owned is None or not walk.ended or not walk.items:
            return
        if not bare(first.call, self.operation) or any(item.on is None for item in walk.items):
            return
        today = local_day(first.at, zone)
        shown = Counter(item.on for item in walk.items if item.on)
        there = Counter(entry.on for entry in owned.entries if entry.on)

        def evidence(facet: str, right: bool, expected: str, seen: str) -> Evidence:
            return Evidence(
                facet=facet,
                agreement=AGREES if right else DISAGREES,
                expected=expected,
                seen=seen,
                exchanges=walk.numbers,
            )

        edge = today - timedelta(days=self.days)
        if (on := _ON_THE_EDGE.get(self.edge)) and there[edge]:
            right = shown[edge] == (there[edge] if self.edge == "included" else 0)
            seen = f"{shown[edge]} of {there[edge]} are returned"
            yield evidence(on[0], right, f"entries of {edge} to be {on[1]}", seen)
        if self.least:
            begin = today - timedelta(days=min(self.least, self.days - 1))
            due = Counter({day: number for day, number in there.items() if begin <= day <= today})
            lacking = (due - shown).total()
            if due:
                seen = f"{lacking} of {due.total()} are missing"
                yield evidence(GOES_BACK, not lacking, f"every entry since {begin}", seen)

    def tpp_facet(self) -> TppFacet:
        """Return the one obligation of the TPP."""
        return TppFacet(
            id=TPP_FACET,
            description=f"the TPP requests no more than {self.days} days",
            requires=bound(self.operation, "argument", self.operation.since or ""),
        )

    def check_tpp(self, history: History) -> Iterator[Evidence]:
        """Judge every call that names a day."""
        for exchange in history.exchanges:
            if exchange.call.operation != self.operation.id or exchange.call.follow is not None:
                continue
            since = day_of(exchange.call.arguments.get(self.operation.since or ""))
            until = day_of(exchange.call.arguments.get(self.operation.until or ""))
            day = since or (
                until if until and self._judge_by_tpp(exchange, until) is DISAGREES else None
            )
            if day is not None:
                owed = f"the TPP requests no more than {self.days} days"
                word = "from" if since else "up to"
                yield tpp_evidence(
                    TPP_FACET,
                    self._judge_by_tpp(exchange, day),
                    exchange,
                    owed,
                    f"it asked for entries {word} {day}",
                )

    def _about(self, walk: PageWalk) -> tuple[str, str]:
        return walk.call.subject, str(walk.call.arguments.get(self.operation.about or ""))

    def _limit(self, walk: PageWalk) -> date:
        """Return the first date that may be shown; the edge itself has a facet of its own."""
        return oldest_date(walk.pages[0].at, self.days, self.zone)

    def _facets(self, walk: PageWalk, subject: Subject | None) -> Iterator[tuple[str, date]]:
        """Yield the facets that a walk tests, with the first date of each; none for a part of the history."""
        first, limit = walk.pages[0], self._limit(walk)
        since = first.call.arguments.get(self.operation.since or "")
        until = first.call.arguments.get(self.operation.until or "")
        if since is not None:
            with suppress(ValueError):
                if date.fromisoformat(str(since)) < limit:
                    yield "asked-older", limit
        elif until is not None and plain(first.call):
            if day_of(until):
                yield "until-alone", limit
        elif bare(first.call, self.operation):
            if self.zone and local_day(first.at, self.zone) != local_day(first.at, UTC):
                yield "local-day", limit
                # Whichever day the bank counts from.
                limit = min(limit, oldest_date(first.at, self.days, None))
            later = subject is not None and first.at - subject.now >= WEEK
            yield "later" if later else "default", limit

    def _judge(self, walk: PageWalk, facet: str, limit: date) -> Evidence:
        first = walk.pages[0]
        older = sum(1 for item in walk.items if item.on and item.on < limit)
        undated = any(item.on is None for item in walk.items)
        proper = walk.ended and bool(walk.items) and not undated
        beyond = self._beyond(walk)
        refused = (facet == "asked-older" or beyond) and first.refused and not first.items
        empty = isinstance(first.outcome, Accepted) and first.outcome.items == ()
        none = beyond and empty and walk.ended and not walk.items
        evidence = Evidence(
            facet=facet,
            agreement=DISAGREES if older else AGREES if proper or refused or none else UNCLEAR,
            expected=f"no entry before {limit}",
            seen=f"{older} items are older" if older else describe_answer(first),
            exchanges=walk.numbers,
            variation=first.call.variation,
        )
        return walk.showing(evidence, lambda item: bool(item.on and item.on < limit), "on")

    def _beyond(self, walk: PageWalk) -> bool:
        """Whether all that a call asks for is older than the limit."""
        until = day_of(walk.call.arguments.get(self.operation.until or ""))
        return until is not None and until < self._limit(walk)

    def _judge_by_tpp(self, exchange: Exchange, day: date) -> Agreement:
        """Judge a first day by the loosest and the strictest reading of the limit."""
        today = dates(exchange.at, self.zone)
        first, last = (edge - timedelta(days=self.days) for edge in (today[0], today[-1]))
        if self.edge != "included":
            last += DAY
        if self.edge == "excluded":
            first += DAY
        return DISAGREES if day < first else AGREES if day >= last else UNCLEAR
