"""`quota`: so many calls a day or an hour, for every method.

Per method: the first ones are served, the next is refused, the next period serves
again. Besides: still refused just before the end of the period and on the day that
lasts 25 hours, counted apart for each method and each customer. Only first pages
are asked and no call is refused on the way, for documents leave open what else
counts. Where only calls without the customer count, every trial ends with attended
ones, so that a method that answers nobody is not taken for a quota; where all count,
what was never answered before is asked again in a later period.

The TPP: no more is asked for in a day, or an hour, than is allowed.
A call is one too many if as many were surely served before it, whatever the bank makes
of it. What counts besides, documents leave open, and so does this. Two names may be one
customer whose token was renewed: where they ask about the same thing, less is sure.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime, time, timedelta
from typing import Any
from zoneinfo import ZoneInfo

from assay.contract.model import Capability, Contract, Json, Operation
from assay.history import Call, Exchange, History, Subject
from assay.judging.verdict import Evidence
from assay.rules import parameters, steps
from assay.rules.queries import (
    answered,
    bare,
    doubt,
    fresh,
    must_be_refused,
    must_be_served,
    question,
)
from assay.rules.rule import Facet, Kind, Scenario, Script, TppFacet, consent, needs
from assay.rules.state.calendar import ORDINARY, at, length, never_longer, next_day
from assay.rules.state.consents import Consents
from assay.rules.state.counts import Counts, moment
from assay.rules.state.periods import HOURS, Period, period
from assay.rules.tpp_evidence import BROKEN, KEPT, OPEN, say

#: So far from the end of a period is just before and just after it.
MARGIN = timedelta(seconds=30)
#: So far apart two clocks may be that are taken for the same.
SKEW = timedelta(minutes=2)
#: On the long day, 24 hours after its midnight have gone by and an hour is left.
LONG, NOON = time(23, 30), time(12, 0)
#: The scenarios at whose end something is asked for the first time.
APART = frozenset({"per-method", "per-customer"})
#: Why a first call is served, by the facet that it bears on.
OTHERS = {
    "per-method": "only other methods are used up",
    "per-customer": "only another customer's are used up",
}


_PER: Mapping[str, Json] = {
    "description": "calendar-day, clock-hour, rolling-hour or hour",
    "enum": ["calendar-day", "clock-hour", "rolling-hour", "hour"],
}


def _first_about(contract: Contract, known: Mapping[str, Any]) -> str:
    """Return the resource to own so that the operations can be asked about it."""
    every: tuple[Operation, ...] = known["operations"]
    about = next((one for one in every if one.about), every[0])
    return steps.owners(contract, about)[0]


#: The TPP's obligation.
TPP_FACET = "not-exceeded"


@dataclass(frozen=True, slots=True, kw_only=True)
class Quota(Kind):
    """The counted methods, how many calls, in what span, how consent is given.

    `attended` says that calls count with the customer, too, and not only those without.
    """

    name = "quota"
    limits = ("limit", "per", "counts", "refused-calls", "page-turns")

    operations: tuple[Operation, ...] = parameters.operations()
    limit: int = parameters.whole(key="limit")
    period: Period = parameters.parameter(
        _PER, lambda value, contract: period(value, contract.zone), key="per"
    )
    attended: bool = parameters.choice(
        "absent",
        "all",
        key="counts",
        description="absent or all",
        hint="which calls count, those without the customer or all of them?",
        required=False,
        default=False,
        convert=lambda value: value == "all",
    )
    refused_calls: str = parameters.parameter(
        parameters.ref("counted"), lambda value, _: value, key="refused-calls"
    )
    page_turns: str = parameters.parameter(
        parameters.ref("counted"), lambda value, _: value, key="page-turns"
    )
    grant: Operation | None = parameters.grant()
    owner: str = parameters.derived(_first_about)

    @property
    def zone(self) -> ZoneInfo | None:
        """Whose clock it is, if that is known."""
        return self.period.zone

    @property
    def daily(self) -> bool:
        """Whether it is by the calendar."""
        return self.period.words is not HOURS

    def controlled(self, scenario: str) -> bool:
        """Whether a trial ends with calls that show that the methods do answer."""
        return not self.attended or scenario in APART

    def unattended_limits(self) -> Mapping[str, int]:
        """Return the limit for each operation, where calls with the customer do not count."""
        return {} if self.attended else {one.id: self.limit for one in self.operations}

    def daily_limits(self) -> Mapping[str, int]:
        """Return the limit for each operation, where calls without the customer count by day."""
        if not self.daily or self.attended:
            return {}
        return {operation.id: self.limit for operation in self.operations}

    def facets(self) -> tuple[Facet, ...]:
        """Three facets a method, and three or four on how counts are kept."""
        words, names = self.period.words, [one.id for one in self.operations]
        psu = needs(Capability.PSU) | consent(self.grant, *self.operations)
        plain = psu if self.attended else psu | needs(Capability.BATCH)
        clock = plain | needs(Capability.CLOCK, *([Capability.ZONE] if self.daily else []))
        # Where all calls count, nothing but a later period can show that a method answers.
        apart = clock if self.attended else plain
        ids = [
            *((f"{name}-served", _served(self), name, plain) for name in names),
            *(
                (f"{name}-refused", f"call {self.limit + 1} of {words.a} is refused", name, plain)
                for name in names
            ),
            *(
                (f"{name}-{words.next}", words.next_asks, f"{name}-{words.next}", clock)
                for name in names
            ),
            (words.late, words.late_asks, words.late, clock),
            *(
                [("long-day", "a day of 25 hours is one day", "long-day", clock)]
                if self.daily
                else []
            ),
            ("per-method", "each method has its own count", "per-method", apart),
            (
                "per-customer",
                "each customer has an own count",
                "per-customer",
                apart | needs(Capability.TWO_PSU),
            ),
        ]
        return tuple(
            Facet(
                id=id_,
                description=asks,
                scenario=Scenario(id=scenario),
                needs=needed,
                not_applicable_because=never_longer(self.zone) if id_ == "long-day" else "",
            )
            for id_, asks, scenario, needed in ids
        )

    def price(self, scenario: Scenario) -> int:
        """Count the calls: consent, those that count, controls."""
        first, many, words = (1 if self.grant else 0), len(self.operations), self.period.words
        each = 1 if self.controlled(scenario.id) else 0
        match scenario.id:
            case words.late | "long-day":
                return first + many * (self.limit + 2) + many * each
            case "per-method":
                return first + many * self.limit + many * each
            case "per-customer":
                return 2 * first + many * (self.limit + 1) + 2 * many * each
            case _:
                turn = 2 if scenario.id.endswith(f"-{words.next}") else 1
                return first + self.limit + turn + each

    def probe(self, scenario: Scenario) -> Script:
        """Use a count up, cross or approach the end of the period, and end with controls."""
        if scenario.id == "long-day" and not (yield from _to_the_long_day(self)):
            return
        if scenario.id == self.period.words.late:
            yield from _in_good_time(self)
        psu = yield from steps.customer("psu", self.owner, self.grant)
        calls = _calls(self, psu, present=self.attended)
        controls = [*_calls(self, psu, present=True).values()]
        name = scenario.id.removesuffix(f"-{self.period.words.next}")
        if name in calls:
            controls = [call for call in controls if call.operation == name]
            yield from _use_up(self, calls[name], extra=True)
            if name != scenario.id:
                yield from _into_the_next(self)
                yield from steps.send(calls[name])
        else:
            late = scenario.id in {"long-day", self.period.words.late}
            for call in calls.values():
                yield from _use_up(self, call, extra=late)
            if late:
                yield from (
                    _late_on_the_long_day(self) if scenario.id == "long-day" else _to_the_end(self)
                )
                yield from _each(calls.values())
        if scenario.id == "per-customer":
            other = yield from steps.customer("other", self.owner, self.grant)
            yield from _each(_calls(self, other, present=self.attended).values())
            controls += _calls(self, other, present=True).values()
        if self.attended and self.controlled(scenario.id):
            # What had the least left is asked first, before the others use anything up.
            yield from _into_the_next(self)
            controls.reverse()
        yield from _each(controls if self.controlled(scenario.id) else ())

    def check(self, history: History) -> Iterator[Evidence]:
        """Count calls by subject, method and period, and judge each next one.

        A call is judged if the very same question was answered at some time (with the
        customer there, where only calls without count), and where it needs a consent, if
        there surely is one.
        """
        controls, untouched = answered(history), fresh(history)
        if self.attended:
            controls |= answered(history, present=False)
        named = {one.id: one for one in self.operations}
        consents = Consents(grant=self.grant)
        counts = Counts(limit=self.limit, period=self.period)
        for exchange in history.exchanges:
            call = exchange.call
            consents.note(exchange)
            operation = named.get(call.operation)
            if operation is None or (call.present and not self.attended):
                continue
            if question(call) in controls and bare(call, operation):
                for evidence in _judge(
                    self, exchange, counts, sound=_sound(self, exchange, consents)
                ):
                    known = call.subject in untouched or _too_many(self, exchange, counts)
                    yield evidence if known else doubt(evidence, "earlier calls may be unknown")
            counts.note(exchange)

    def tpp_facet(self) -> TppFacet:
        """Return the one obligation of the TPP."""
        return TppFacet(
            id=TPP_FACET,
            description=f"no more than {self.limit} calls {self.period.words.a} are made",
            needs=needs(Capability.BATCH),
        )

    def check_tpp(self, history: History) -> Iterator[Evidence]:
        """Judge every first question that counts."""
        counts = Counts(limit=self.limit, period=self.period)
        together = Counts(limit=self.limit, period=self.period)
        named = {one.id for one in self.operations}
        groups = _groups([one for one in history.exchanges if one.call.operation in named])
        words = self.period.words
        owed = f"no more than {self.limit} calls {words.a}"
        for one in history.exchanges:
            call = one.call
            if call.operation not in named or (call.present and not self.attended):
                continue
            joint = replace(one, call=replace(call, subject=groups[call.subject]))
            if call.follow is None:
                sure, most = counts.least(one), together.most(joint)
                judged = BROKEN if sure >= self.limit else KEPT if most < self.limit else OPEN
                done = f"it was asked after {sure if judged is BROKEN else most} calls {words.this}"
                yield say(TPP_FACET, judged, one, owed, done)
            counts.note(one)
            together.note(joint)


def _served(p: Quota) -> str:
    return f"the first {p.limit} calls {p.period.words.a} are served"


def _calls(p: Quota, psu: Subject, *, present: bool) -> dict[str, Call]:
    return {
        one.id: Call(
            operation=one.id,
            subject=psu.name,
            arguments=steps.arguments(one, psu.owns[0].key),
            present=present,
            variation="" if present else "without the customer",
        )
        for one in p.operations
    }


def _to_the_long_day(p: Quota) -> steps.Part[bool]:
    """Go to noon of the next day of 25 hours; False where the zone has none."""
    now, zone = (yield from steps.clock()), p.zone
    day = next_day(now, zone, longer=True) if zone else None
    if day is not None and zone:
        yield from steps.clock(at(day, NOON, zone))
    return day is not None


def _late_on_the_long_day(p: Quota) -> Script:
    now, zone = (yield from steps.clock()), p.zone
    if zone:
        yield from steps.clock(at(now.astimezone(zone).date(), LONG, zone))


def _into_the_next(p: Quota) -> Script:
    """Go to where a new period has begun under every reading."""
    now = yield from steps.clock()
    if p.period.edged:
        yield from steps.clock(p.period.gone(now.astimezone(UTC)) + MARGIN)


def _in_good_time(p: Quota) -> Script:
    """Go beyond the end of the period, by its first reading, where that is near."""
    now = yield from steps.clock()
    end = p.period.kept(now.astimezone(UTC))
    if p.period.edged and now >= end - 2 * MARGIN:
        yield from steps.clock(end + MARGIN)


def _to_the_end(p: Quota) -> Script:
    """Go to where the period is about to end."""
    now = yield from steps.clock()
    if p.period.edged:
        yield from steps.clock(p.period.kept(now.astimezone(UTC)) - MARGIN)


def _each(calls: Iterable[Call]) -> Script:
    for call in calls:
        yield from steps.send(call)


def _use_up(p: Quota, call: Call, *, extra: bool = False) -> Script:
    for _ in range(p.limit + (1 if extra else 0)):
        yield from steps.send(call)


def _too_many(p: Quota, exchange: Exchange, counts: Counts) -> bool:
    """Whether one more was served than may be, whatever was before it and was not told.

    Not near the end of a period: where nobody moves the clock it is not the target's own.
    """
    if not exchange.accepted or counts.least(exchange) < p.limit:
        return False
    first, now = counts.first(exchange), moment(exchange)
    return p.period.kept(first - SKEW) == p.period.kept(now + SKEW)


def _sound(p: Quota, exchange: Exchange, consents: Consents) -> bool:
    """Whether consent is there for what a call is about, as far as it takes one."""
    about = next(one.about for one in p.operations if one.id == exchange.call.operation)
    key = str(exchange.call.arguments.get(about or ""))
    return not about or not p.grant or key in consents.sure(exchange.call.subject)


def _judge(p: Quota, exchange: Exchange, counts: Counts, *, sound: bool) -> Iterator[Evidence]:
    name, words = exchange.call.operation, p.period.words
    if counts.least(exchange) >= p.limit:
        facet = _refusal_facet(p, exchange, counts)
        if facet:
            yield must_be_refused(facet, exchange, f"{p.limit} calls were served {words.this}")
        return
    most = counts.most(exchange)
    if not sound or most >= p.limit:
        return
    others = counts.others(exchange)
    closed = counts.closed.get((exchange.call.subject, name))
    if closed and closed < p.period.perhaps(moment(exchange)):
        if most == 0:
            why = f"a new {words.noun} after {p.period.tell(closed)} has begun"
            yield must_be_served(f"{name}-{words.next}", exchange, why)
    elif most == 0 and others:
        yield must_be_served(others, exchange, OTHERS[others])
    else:
        why = f"{most} of {p.limit} calls used {words.this}"
        yield must_be_served(f"{name}-served", exchange, why)


def _refusal_facet(p: Quota, exchange: Exchange, counts: Counts) -> str | None:
    """Return the facet on which a call beyond the limit bears.

    Late calls bear on when the period ends, but only after a refusal in it:
    without one, nothing was enforced that its end could have lifted.
    """
    late = _late(p, exchange, counts)
    if late is None:
        return f"{exchange.call.operation}-refused"
    closed = counts.closed.get((exchange.call.subject, exchange.call.operation))
    return late if closed and closed >= p.period.sure(moment(exchange)) else None


def _late(p: Quota, exchange: Exchange, counts: Counts) -> str | None:
    if not p.period.edged:
        return None
    if p.daily and p.zone and _long(exchange.at.astimezone(p.zone), p.zone):
        return "long-day"
    end = p.period.kept(counts.first(exchange)) - MARGIN
    # Where it began as late as that, nothing has gone by since.
    return p.period.words.late if counts.first(exchange) < end <= exchange.at else None


def _long(local: datetime, zone: ZoneInfo) -> bool:
    return local.time() >= LONG and length(local.date(), zone) > ORDINARY


def _groups(exchanges: Sequence[Exchange]) -> Mapping[str, str]:
    """Return one name for all who asked about, or were shown, the same thing."""
    parent: dict[str, str] = {}

    def root(name: str) -> str:
        while parent.setdefault(name, name) != name:
            parent[name] = name = parent[parent[name]]
        return name

    for one in exchanges:
        for key in _things(one):
            parent[root(f"thing {key}")] = root(f"name {one.call.subject}")
    subjects = {one.call.subject for one in exchanges}
    return {name: root(f"name {name}") for name in subjects}


def _things(exchange: Exchange) -> Iterator[str]:
    """Yield the texts by which things are named in a call and its answer."""
    for value in exchange.call.arguments.values():
        for one in value if isinstance(value, list | tuple) else (value,):
            # A day, or a word, is no name of a thing.
            if isinstance(one, str) and len(one) > len("2026-01-01"):
                yield one
    yield from (item.key for item in exchange.items if item.key is not None)
