"""`quota`: a limit on the calls of each operation in a day or an hour.

For each operation: the first calls are served, the next is refused, and the next period
serves again. Besides: a call is still refused just before the end of the period, and on the
day that lasts 25 hours; each operation and each customer is counted apart. Probes ask for
first pages only, and none of their calls is refused on the way, for documents leave open
what else counts. Where only calls without the customer count, every trial ends with attended
calls, so that an operation that answers nobody is not taken for a quota. Where all count,
what was never answered before is asked again in a later period.

The TPP: it makes no more calls in a period than are allowed. A call is one too many if that
many were surely served before it, whatever the bank makes of it. Two names may be one
customer whose token was renewed: where they ask about the same thing, less is sure.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from zoneinfo import ZoneInfo

from assay.contract.model import Capability, Json, Operation
from assay.history import Call, Exchange, History, Subject
from assay.judging.verdict import Evidence
from assay.rules import operation_parameters, parameters, steps
from assay.rules.evidence import (
    AGREES,
    DISAGREES,
    UNCLEAR,
    doubt,
    must_be_refused,
    must_be_served,
    tpp_evidence,
)
from assay.rules.queries import Consents, answered_questions, bare, fresh_subjects, plain, question
from assay.rules.rule import (
    Facet,
    Kind,
    Scenario,
    Script,
    TppFacet,
    consent,
    needs,
    scenario_of,
)
from assay.rules.state import periods
from assay.rules.state.calendar import never_longer
from assay.rules.state.counts import Counts, moment, same_customers
from assay.rules.state.periods import HOURS, Period, period, surely_longer

PER_METHOD, PER_CUSTOMER, LONG_DAY = "per-method", "per-customer", "long-day"
#: Why a first call is served, by the facet that it bears on.
OTHERS = {
    PER_METHOD: "only other methods are used up",
    PER_CUSTOMER: "only another customer's are used up",
}


_PER: Mapping[str, Json] = {
    "description": "calendar-day, clock-hour, rolling-hour or hour",
    "enum": ["calendar-day", "clock-hour", "rolling-hour", "hour"],
}


#: The TPP's obligation.
TPP_FACET = "not-exceeded"


@dataclass(frozen=True, slots=True, kw_only=True)
class QuotaScenario(Scenario):
    """A way to use the quota up: of one operation, or of all where `operation` is None.

    `crosses` says that the operation is called again in the next period.
    """

    operation: Operation | None = None
    crosses: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Quota(Kind):
    """A limit on the calls of each operation and customer in a period.

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
    owner: str = operation_parameters.owner_of_operations()

    @property
    def zone(self) -> ZoneInfo | None:
        """Whose clock it is, if that is known."""
        return self.period.zone

    @property
    def daily(self) -> bool:
        """Whether it is by the calendar."""
        return self.period.words is not HOURS

    def controlled(self, scenario: Scenario) -> bool:
        """Whether a trial ends with calls that show that the methods do answer."""
        return not self.attended or scenario.id in OTHERS

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
        words = self.period.words
        psu = needs(Capability.PSU) | consent(self.grant, *self.operations)
        plain = psu if self.attended else psu | needs(Capability.BATCH)
        clock = plain | needs(Capability.CLOCK, *([Capability.ZONE] if self.daily else []))
        # Where all calls count, nothing but a later period can show that a method answers.
        apart = clock if self.attended else plain
        used_up = [
            (one.id, QuotaScenario(id=f"{one.id}:limit", operation=one)) for one in self.operations
        ]
        too_many = f"call {self.limit + 1} of {words.with_article} is refused"
        out = [
            *(_facet(f"{name}-served", _served(self), tried, plain) for name, tried in used_up),
            *(_facet(f"{name}-refused", too_many, tried, plain) for name, tried in used_up),
        ]
        for one in self.operations:
            scenario = QuotaScenario(id=f"{one.id}:{words.next_facet}", operation=one, crosses=True)
            out.append(
                _facet(f"{one.id}-{words.next_facet}", words.next_description, scenario, clock)
            )
        out.append(
            _facet(
                words.late_facet, words.late_description, QuotaScenario(id=words.late_facet), clock
            )
        )
        if self.daily:
            never = never_longer(self.zone)
            asks, scenario = "a day of 25 hours is one day", QuotaScenario(id=LONG_DAY)
            out.append(
                replace(_facet(LONG_DAY, asks, scenario, clock), not_applicable_because=never)
            )
        asks, scenario = "each method has its own count", QuotaScenario(id=PER_METHOD)
        out.append(_facet(PER_METHOD, asks, scenario, apart))
        asks, scenario = "each customer has an own count", QuotaScenario(id=PER_CUSTOMER)
        out.append(_facet(PER_CUSTOMER, asks, scenario, apart | needs(Capability.TWO_PSU)))
        return tuple(out)

    def probe(self, scenario: Scenario) -> Script:
        """Use a count up, cross or approach the end of the period, and end with controls."""
        tried = scenario_of(scenario, QuotaScenario)
        late = tried.id in {LONG_DAY, self.period.words.late_facet}
        if tried.id == LONG_DAY and not (yield from periods.to_the_long_day(self.zone)):
            return
        if tried.id == self.period.words.late_facet:
            yield from periods.clear_of_the_end(self.period)
        psu = yield from steps.customer("psu", self.owner, self.grant)
        used = (tried.operation,) if tried.operation else self.operations
        calls = _calls(used, psu, present=self.attended)
        controls = _calls(used, psu, present=True)
        for call in calls:
            yield from _use_up(self, call, extra=late or tried.operation is not None)
        if tried.crosses:
            yield from periods.into_the_next(self.period)
        elif late:
            yield from (
                periods.late_on_the_long_day(self.zone)
                if tried.id == LONG_DAY
                else periods.to_the_end(self.period)
            )
        if tried.crosses or late:
            yield from _each(calls)
        if tried.id == PER_CUSTOMER:
            other = yield from steps.customer("other", self.owner, self.grant)
            yield from _each(_calls(used, other, present=self.attended))
            controls += _calls(used, other, present=True)
        if self.attended and self.controlled(tried):
            # What had the least left is asked first, before the others use anything up.
            yield from periods.into_the_next(self.period)
            controls.reverse()
        yield from _each(controls if self.controlled(tried) else ())

    def check(self, history: History) -> Iterator[Evidence]:
        """Count calls by subject, method and period, and judge each next one.

        A call is judged if the very same question was answered at some time (with the
        customer there, where only calls without count), and where it needs a consent, if
        there surely is one.
        """
        controls, untouched = answered_questions(history), fresh_subjects(history)
        if self.attended:
            controls |= answered_questions(history, present=False)
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
                sound = consents.covers(operation, call)
                for evidence in _judge(self, exchange, counts, sound=sound):
                    known = call.subject in untouched or counts.exceeded_by(exchange)
                    yield evidence if known else doubt(evidence, "earlier calls may be unknown")
            counts.note(exchange)

    def tpp_facet(self) -> TppFacet:
        """Return the one obligation of the TPP."""
        return TppFacet(
            id=TPP_FACET,
            description=f"no more than {self.limit} calls {self.period.words.with_article} are made",
            needs=needs(Capability.BATCH),
        )

    def check_tpp(self, history: History) -> Iterator[Evidence]:
        """Judge every first question that counts."""
        counts = Counts(limit=self.limit, period=self.period)
        together = Counts(limit=self.limit, period=self.period)
        named = {one.id for one in self.operations}
        groups = same_customers([one for one in history.exchanges if one.call.operation in named])
        words = self.period.words
        served: dict[tuple[str, str, int | None], list[int]] = {}
        owed = f"no more than {self.limit} calls {words.with_article}"
        for one in history.exchanges:
            call = one.call
            if call.operation not in named or (call.present and not self.attended):
                continue
            joint = replace(one, call=replace(call, subject=groups[call.subject]))
            before = served.setdefault((call.subject, call.operation, call.alias), [])
            if call.follow is None:
                sure, most = counts.at_least(one), together.at_most(joint)
                few = AGREES if most < self.limit else UNCLEAR
                judged = DISAGREES if sure >= self.limit else few
                done = (
                    f"it was asked after {sure if judged is DISAGREES else most} calls {words.this}"
                )
                beside = before[-self.limit :] if judged is DISAGREES else ()
                yield tpp_evidence(TPP_FACET, judged, one, owed, done, *beside)
            if one.accepted and plain(call):
                before.append(one.n)
            counts.note(one)
            together.note(joint)


def _served(p: Quota) -> str:
    return f"the first {p.limit} calls {p.period.words.with_article} are served"


def _facet(
    id_: str, description: str, scenario: QuotaScenario, needed: frozenset[Capability]
) -> Facet:
    return Facet(id=id_, description=description, scenario=scenario, needs=needed)


def _calls(operations: Iterable[Operation], psu: Subject, *, present: bool) -> list[Call]:
    return [
        Call(
            operation=operation.id,
            subject=psu.name,
            arguments=steps.arguments(operation, psu.owns[0].key),
            present=present,
            variation="" if present else "without the customer",
        )
        for operation in operations
    ]


def _each(calls: Iterable[Call]) -> Script:
    for call in calls:
        yield from steps.send(call)


def _use_up(p: Quota, call: Call, *, extra: bool = False) -> Script:
    for _ in range(p.limit + (1 if extra else 0)):
        yield from steps.send(call)


def _judge(p: Quota, exchange: Exchange, counts: Counts, *, sound: bool) -> Iterator[Evidence]:
    name, words = exchange.call.operation, p.period.words
    if counts.at_least(exchange) >= p.limit:
        facet = _refusal_facet(p, exchange, counts)
        if facet:
            yield must_be_refused(facet, exchange, f"{p.limit} calls were served {words.this}")
        return
    most = counts.at_most(exchange)
    if not sound or most >= p.limit:
        return
    others = counts.facet_beside_used_up(exchange)
    closed = counts.closed.get((exchange.call.subject, name))
    if closed and closed < p.period.earliest_begin(moment(exchange)):
        if most == 0:
            why = f"a new {words.noun} after {p.period.label(closed)} has begun"
            yield must_be_served(f"{name}-{words.next_facet}", exchange, why)
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
    return late if closed and closed >= p.period.latest_begin(moment(exchange)) else None


def _late(p: Quota, exchange: Exchange, counts: Counts) -> str | None:
    if not p.period.has_known_end:
        return None
    if p.daily and p.zone and surely_longer(exchange.at.astimezone(p.zone), p.zone):
        return LONG_DAY
    end = p.period.earliest_end(counts.first(exchange)) - periods.MARGIN
    # Where it began as late as that, nothing has gone by since.
    return p.period.words.late_facet if counts.first(exchange) < end <= exchange.at else None
