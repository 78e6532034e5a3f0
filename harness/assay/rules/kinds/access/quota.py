"""`quota`: a limit on the calls of each operation in a day or an hour.

For each operation, for all together or for each item, the first calls are served, the next one is
refused, and calls are served again in the next period. The count is that of a customer, or of each
consent, which may name the number. A call is still refused just before the end of the period, and on the day
with 25 hours; each operation and each customer has its own count. Probes read first pages only and
have no other calls refused: documents leave open whether those count. If only calls without the
customer count, every trial ends with attended calls: an operation that never answers is no quota.
If all calls count, an operation that was never answered is called again in a later period.

The TPP: it makes no more calls in a period than allowed. A call is a breach if the limit was
certainly used up before it, even if the bank serves it. Two names may be one customer whose
token was renewed: if they ask about the same resource, their calls may count together.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any
from zoneinfo import ZoneInfo

from assay.contract.model import Capability, Json, Operation
from assay.history import Call, Exchange, History, Subject
from assay.rules import operation_parameters, parameters, steps
from assay.rules.consents import GIVEN, Consents
from assay.rules.facets import CallLimit, Facts
from assay.rules.parameter_declaration import Convert
from assay.rules.queries import answered_questions, bare, fresh_subjects, plain, question
from assay.rules.refusing_kind import RefusingKind
from assay.rules.rule import (
    Facet,
    Purpose,
    Scenario,
    Script,
    TppFacet,
    bound,
    consent,
    needs,
    scenario_of,
)
from assay.rules.state import periods
from assay.rules.state.calendar import never_longer
from assay.rules.state.counts import (
    FEWER,
    MORE,
    Allowed,
    Counts,
    QuotaLimit,
    by_subject,
    counted_for,
    moment,
    quota_limit,
    same_customers,
)
from assay.rules.state.periods import DAYS, Period, PeriodWords, period, surely_longer
from assay.rules.verdict import (
    AGREES,
    DISAGREES,
    UNCLEAR,
    Evidence,
    doubt,
    must_be_refused,
    must_be_served,
    tpp_evidence,
)

PER_METHOD, PER_CUSTOMER, LONG_DAY = "per-method", "per-customer", "long-day"
SHARED, PER_ITEM, PER_CONSENT = "shared", "per-item", "per-consent"
#: Why a first call must be served, by the facet that it tests.
OTHERS = {
    PER_METHOD: "only the quota of other operations is used up",
    PER_CUSTOMER: "only another customer's quota is used up",
    PER_ITEM: "only the quota of another item is used up",
    PER_CONSENT: "only the quota of a former consent is used up",
}
#: Trials that end with control calls in a later period, if all calls count.
_CONTROLLED = frozenset({*OTHERS, SHARED})

_COUNTED = parameters.ref("counted")
_PER: Mapping[str, Json] = {
    "description": "calendar-day, clock-hour, rolling-hour, hour or minute",
    "enum": ["calendar-day", "clock-hour", "rolling-hour", "hour", "minute"],
}

#: The TPP's obligation.
TPP_FACET = "not-exceeded"


def _judged(key: str, shape: Mapping[str, Json], read: Convert = lambda value, _: value) -> Any:
    return parameters.parameter(shape, read, key=key)


@dataclass(frozen=True, slots=True, kw_only=True)
class QuotaScenario(Scenario):
    """A quota to use up: that of one operation, or of all if `operation` is None.

    If `crosses`, the operation is called again in the next period.
    """

    operation: Operation | None = None
    crosses: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Quota(RefusingKind):
    """A limit on the calls of each operation and customer, or consent, in a period.

    `attended` says that calls with the customer present count, too.
    """

    name = "quota"
    purpose = Purpose.LIMIT
    bare_calls = True
    limits = ("limit", "per", "counts", "counted-by", "counted-for", "refused-calls", "page-turns")

    operations: tuple[Operation, ...] = parameters.operations(
        also=operation_parameters.about_something_owned
    )
    limit: QuotaLimit = quota_limit()
    period: Period = _judged("per", _PER, lambda value, contract: period(value, contract.zone))
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
    counted_by: str = parameters.choice(
        "operation",
        "shared",
        "item",
        key="counted-by",
        description="operation, shared or item",
        hint="has each operation a count of its own, or all together, or each item?",
        required=False,
        default="operation",
    )
    by_consent: bool = counted_for()
    refused_calls: str = _judged("refused-calls", _COUNTED)
    page_turns: str = _judged("page-turns", _COUNTED)
    grant: Operation | None = parameters.grant()
    owner: str = operation_parameters.owner_of_operations()

    @property
    def zone(self) -> ZoneInfo | None:
        """The time zone of calendar days, if known."""
        return self.period.zone

    @property
    def daily(self) -> bool:
        """Whether the period is a calendar day."""
        return self.period.words is DAYS

    def controlled(self, scenario: Scenario) -> bool:
        """Whether a trial ends with control calls, which show that the methods answer."""
        return not self.attended or scenario.id in _CONTROLLED

    def facts(self) -> Facts:
        """Return the limit of each operation."""
        shared = self.counted_by == SHARED
        limit = CallLimit(
            number=self.limit.number,
            attended=self.attended,
            daily=self.daily,
            argument=self.limit.argument,
            grant=self.grant.id if self.grant else "",
            shared=frozenset(operation.id for operation in self.operations if shared),
        )
        return Facts(call_limits={operation.id: (limit,) for operation in self.operations})

    def facets(self) -> tuple[Facet, ...]:
        """Return three facets for each operation, and those about counting and consents."""
        words = self.period.words
        psu = needs(Capability.PSU) | consent(self.grant, *self.operations)
        plain = psu if self.attended else psu | needs(Capability.BATCH)
        clock = plain | needs(Capability.CLOCK, *([Capability.ZONE] if self.daily else []))
        # If all calls count, only a later period can show that a method answers.
        apart = clock if self.attended else plain
        out = [*_limit_facets(self.limit, self.operations, words, plain)]
        for operation in self.operations:
            scenario = QuotaScenario(
                id=f"{operation.id}:{words.next_facet}", operation=operation, crosses=True
            )
            out.append(
                _facet(
                    f"{operation.id}-{words.next_facet}", words.next_description, scenario, clock
                )
            )
        out.append(
            _facet(
                words.late_facet, words.late_description, QuotaScenario(id=words.late_facet), clock
            )
        )
        if self.daily:
            never = never_longer(self.zone)
            description = "a day of 25 hours counts as one day"
            long_day = _facet(LONG_DAY, description, QuotaScenario(id=LONG_DAY), clock)
            out.append(replace(long_day, not_applicable_because=never))
        if self.counted_by == SHARED:
            text, scenario = "the calls of all operations count together", QuotaScenario(id=SHARED)
        else:
            text, scenario = "each operation has its own count", QuotaScenario(id=PER_METHOD)
        alone = "" if len(self.operations) > 1 else "the clause names one operation"
        out.append(
            replace(_facet(scenario.id, text, scenario, apart), not_applicable_because=alone)
        )
        if self.counted_by == "item":
            text = "each item has its own count"
            out.append(_facet(PER_ITEM, text, QuotaScenario(id=PER_ITEM), apart))
        description, scenario = "each customer has its own count", QuotaScenario(id=PER_CUSTOMER)
        out.append(_facet(PER_CUSTOMER, description, scenario, apart | needs(Capability.TWO_PSU)))
        if self.by_consent and self.grant is not None:
            out.extend(_consent_facets(self.limit, self.grant, words, plain, apart))
        return tuple(replace(each, exercises=self._exercised(each)) for each in out)

    def _exercised(self, facet: Facet) -> tuple[str, ...]:
        """Return the operations of a facet that is not about one of them."""
        scenario = scenario_of(facet.scenario, QuotaScenario)
        if scenario.operation is not None:
            return ()
        one = self.counted_by == SHARED and scenario.id != SHARED
        return tuple(each.id for each in (self.operations[:1] if one else self.operations))

    def refusing(self) -> Collection[str]:
        """Return the facets that expect a refusal."""
        return [
            *(f"{each.id}-refused" for each in self.operations),
            self.period.words.late_facet,
            LONG_DAY,
            SHARED,
            *((FEWER,) if self.limit.fewer else ()),
            *((MORE,) if self.limit.more else ()),
        ]

    def probe(self, scenario: Scenario) -> Script:
        """Use up a quota, approach or pass the end of the period, and make control calls."""
        scenario = scenario_of(scenario, QuotaScenario)
        late = scenario.id in {LONG_DAY, self.period.words.late_facet}
        if scenario.id == LONG_DAY and not (yield from periods.to_the_long_day(self.zone)):
            return
        if scenario.id == self.period.words.late_facet:
            yield from periods.clear_of_the_end(self.period)
        number = {FEWER: self.limit.fewer, MORE: self.limit.more}.get(scenario.id)
        psu = yield from steps.customer(
            "psu", self.owner, None, count=2 if scenario.id == PER_ITEM else 1
        )
        yield from _give(self.grant, psu, self.limit.arguments(number))
        used = (scenario.operation,) if scenario.operation else self.operations
        # One operation uses up what all of them share.
        used = used[:1] if self.counted_by == SHARED else used
        calls = _calls_of(used, psu, present=self.attended)
        controls = _calls_of(used, psu, present=True)
        extra = late or number is not None or scenario.operation is not None
        most = min(number or self.limit.number, self.limit.number)
        yield from _use_up(calls, most + (1 if extra else 0))
        if scenario.id in {SHARED, PER_ITEM}:
            about = tuple(operation for operation in self.operations if operation.about)
            others, item = (self.operations[1:], 0) if scenario.id == SHARED else (about, 1)
            yield from _each(_calls_of(others, psu, present=self.attended, item=item))
            controls += _calls_of(others, psu, present=True, item=item)
        if scenario.crosses:
            yield from periods.into_the_next(self.period)
        elif late:
            yield from (
                periods.late_on_the_long_day(self.zone)
                if scenario.id == LONG_DAY
                else periods.to_the_end(self.period)
            )
        if scenario.id == PER_CONSENT:
            yield from _give(self.grant, psu, self.limit.arguments())
        if scenario.crosses or late or scenario.id == PER_CONSENT:
            yield from _each(calls)
        yield from self._control(scenario, used, controls)

    def _control(
        self, scenario: QuotaScenario, used: Sequence[Operation], controls: list[Call]
    ) -> Script:
        """Call for another customer, and make the calls that show that the methods answer."""
        if scenario.id == PER_CUSTOMER:
            other = yield from steps.customer("other", self.owner, None)
            yield from _give(self.grant, other, self.limit.arguments())
            yield from _each(_calls_of(used, other, present=self.attended))
            controls = controls + _calls_of(used, other, present=True)
        if self.attended and self.controlled(scenario):
            # The operation with the least quota left comes first.
            yield from periods.into_the_next(self.period)
            controls = controls[::-1]
        yield from _each(controls if self.controlled(scenario) else ())

    def check(self, history: History) -> Iterator[Evidence]:
        """Count calls by customer or consent, operation and period, and judge each by its count.

        A call is judged if the same call was answered at some time (with the customer, if
        only calls without count) and if a consent certainly covers it, if it needs one.
        """
        controls, untouched = answered_questions(history), fresh_subjects(history)
        if self.attended:
            controls |= answered_questions(history, present=False)
        named = {operation.id: operation for operation in self.operations}
        consents = Consents.of(self.contract, self.grant, history)
        counts, own = self.counts(consents), self.counts(consents, shared=False)
        for exchange in history.exchanges:
            call = exchange.call
            consents.note(exchange)
            operation = named.get(call.operation)
            if operation is None or (call.present and not self.attended):
                continue
            if question(call) in controls and bare(call, operation):
                used = consents.used(call) if self.by_consent else None
                sound = consents.covers(operation, call)
                if self.by_consent:
                    sound = sound and used is not None and bool(consents.certain(call.subject))
                alone = self.counted_by == SHARED and own.at_most(exchange) == 0
                for evidence in _judge(exchange, counts, sound=sound, alone=alone):
                    # Nothing was counted for a consent before it was made.
                    known = used or call.subject in untouched or counts.exceeded_by(exchange)
                    yield evidence if known else doubt(evidence, "earlier calls may be unknown")
            counts.note(exchange)
            own.note(exchange)

    def counts(self, consents: Consents, *, shared: bool = True) -> Counts:
        """Return counts of no calls; those of all operations together where they are shared.

        `consents` is the state of the consents, which the caller advances.
        """
        together = shared and self.counted_by == SHARED
        about = {each.id: each.about or "" for each in self.operations}

        def counted(call: Call) -> str:
            item = call.arguments.get(about.get(call.operation, ""))
            by_item = self.counted_by == "item" and item is not None
            return "" if together else f"{call.operation} {item}" if by_item else call.operation

        def user(call: Call) -> str:
            used = consents.used(call)
            return call.subject if used is None else f"consent {used.key}"

        return Counts(
            allowed=lambda call: self.limit.allowed(consents.used(call)),
            period=self.period,
            user=user if self.by_consent else by_subject,
            counted=counted,
            shared=together,
        )

    def tpp_facet(self) -> TppFacet:
        """Return the one obligation of the TPP."""
        return TppFacet(
            id=TPP_FACET,
            description=f"the TPP makes no more than {self.limit.number} calls {self.period.words.with_article}",
            needs=needs() if self.attended else needs(Capability.BATCH),
        )

    def check_tpp(self, history: History) -> Iterator[Evidence]:
        """Judge every call that counts, except page turns."""
        counted = [
            exchange
            for exchange in history.exchanges
            if exchange.call.operation in {operation.id for operation in self.operations}
            and (self.attended or not exchange.call.present)
        ]
        consents = Consents.of(self.contract, self.grant, history)
        waiting = iter(history.exchanges)

        def advance(exchange: Exchange) -> None:
            for earlier in waiting:
                consents.note(earlier)
                if earlier is exchange:
                    return

        yield from _judge_tpp(counted, lambda: self.counts(consents), TPP_FACET, advance)


# -- facets ----------------------------------------------------------------------------
def _facet(
    id_: str, description: str, scenario: QuotaScenario, needed: frozenset[Capability]
) -> Facet:
    """Return a facet of a quota."""
    return Facet(id=id_, description=description, scenario=scenario, needs=needed)


def _limit_facets(
    limit: QuotaLimit,
    operations: Sequence[Operation],
    words: PeriodWords,
    needed: frozenset[Capability],
) -> Iterator[Facet]:
    """Yield what must be served of each operation, and then what must be refused."""
    served = f"the first {limit.number} calls {words.with_article} are served"
    too_many = f"call {limit.number + 1} of {words.with_article} is refused"
    for word, description in (("served", served), ("refused", too_many)):
        for operation in operations:
            scenario = QuotaScenario(id=f"{operation.id}:limit", operation=operation)
            yield _facet(f"{operation.id}-{word}", description, scenario, needed)


def _consent_facets(
    limit: QuotaLimit,
    grant: Operation,
    words: PeriodWords,
    plain: frozenset[Capability],
    apart: frozenset[Capability],
) -> Iterator[Facet]:
    """Yield facets about the count of each consent, and the numbers that consents name.

    `plain` is what a facet needs, `apart` one whose control calls may come in a later period.
    """
    asked = [(PER_CONSENT, "a new consent has its own count", apart)]
    for id_, most, number in ((FEWER, limit.fewer, limit.fewer), (MORE, limit.number, limit.more)):
        if number:
            text = f"call {most + 1} of {words.with_article} is refused where the consent names"
            asked.append((id_, f"{text} {number}", plain))
    for id_, description, needed in asked:
        yield replace(
            _facet(id_, description, QuotaScenario(id=id_), needed),
            requires=bound(grant, "argument", (limit.argument,)),
            not_applicable_because=GIVEN if grant.given else "",
        )


# -- steps of probes -------------------------------------------------------------------
def _give(grant: Operation | None, psu: Subject, arguments: Mapping[str, Json]) -> Script:
    """Give a consent for all that a customer owns; nothing where no operation transmits one."""
    if grant is not None and not grant.given:
        keys: list[Json] = [owned.key for owned in psu.owns]
        named = {grant.grants or "": keys, **arguments}
        call = Call(operation=grant.id, subject=psu.name, arguments=named)
        yield from steps.consent(grant, call)


def _calls_of(
    operations: Iterable[Operation], psu: Subject, *, present: bool, item: int = 0
) -> list[Call]:
    """Return a call of each operation, about one of the things that a customer owns."""
    return [
        Call(
            operation=operation.id,
            subject=psu.name,
            arguments=steps.arguments(operation, psu.owns[item].key),
            present=present,
            variation="" if present else "without the customer",
        )
        for operation in operations
    ]


def _each(calls: Iterable[Call]) -> Script:
    """Make each of several calls."""
    for call in calls:
        yield from steps.send(call)


def _use_up(calls: Iterable[Call], number: int) -> Script:
    """Make each of several calls this many times."""
    for call in calls:
        yield from _each([call] * number)


# -- judgement -------------------------------------------------------------------------
def _judge(exchange: Exchange, counts: Counts, *, sound: bool, alone: bool) -> Iterator[Evidence]:
    """Judge a call by the counts; `alone` if only calls of other operations have used them up."""
    name, words = exchange.call.operation, counts.period.words
    allowed = counts.allowed(exchange.call)
    if counts.at_least(exchange) >= allowed.most:
        facet = SHARED if alone else _refusal_facet(exchange, counts, allowed)
        if facet:
            why = f"{allowed.most} calls were served {words.this}"
            yield must_be_refused(facet, exchange, why, limit=True)
        return
    most = counts.at_most(exchange)
    if not sound or most >= allowed.least:
        return
    others = counts.facet_beside_used_up(exchange)
    closed = counts.closed.get(counts.pair(exchange.call))
    if closed and closed < counts.period.earliest_begin(moment(exchange)):
        if most == 0:
            why = f"a new {words.noun} after {counts.period.label(closed)} has begun"
            yield must_be_served(f"{name}-{words.next_facet}", exchange, why)
    elif most == 0 and others:
        yield must_be_served(others, exchange, OTHERS[others])
    else:
        why = f"{most} of {allowed.least} calls used {words.this}"
        yield must_be_served(f"{name}-served", exchange, why)


def _refusal_facet(exchange: Exchange, counts: Counts, allowed: Allowed) -> str | None:
    """Return the facet that a call beyond the limit tests.

    Late calls test when the period ends, but only after a refusal in the same period:
    without one, no quota was enforced.
    """
    late = _late(exchange, counts)
    if late is None:
        return allowed.facet or f"{exchange.call.operation}-refused"
    closed = counts.closed.get(counts.pair(exchange.call))
    return late if closed and closed >= counts.period.latest_begin(moment(exchange)) else None


def _late(exchange: Exchange, counts: Counts) -> str | None:
    if not counts.period.has_known_end:
        return None
    zone = counts.period.zone if counts.period.words is DAYS else None
    if zone and surely_longer(exchange.at, zone):
        return LONG_DAY
    end = counts.period.earliest_end(counts.first(exchange)) - counts.period.margin
    # If the period began as late as that, it proves nothing.
    return counts.period.words.late_facet if counts.first(exchange) < end <= exchange.at else None


def _judge_tpp(
    calls: Sequence[Exchange],
    empty: Callable[[], Counts],
    facet: str,
    before: Callable[[Exchange], None],
) -> Iterator[Evidence]:
    """Judge each of the calls that count, except page turns.

    `empty` returns counts of no calls. `before` is called with each exchange before it is judged.
    """
    counts, together = empty(), empty()
    groups = same_customers(calls)
    words = counts.period.words
    served: dict[tuple[str, str, int | None], list[int]] = {}
    for exchange in calls:
        call = exchange.call
        before(exchange)
        joint = replace(exchange, call=replace(call, subject=groups[call.subject]))
        if counts.user(call) != call.subject:
            joint = exchange  # a consent has its own count, by whatever name its customer calls
        earlier = served.setdefault((*counts.pair(call), call.alias), [])
        if call.follow is None:
            allowed = counts.allowed(call)
            owed = f"no more than {allowed.most} calls {words.with_article}"
            sure, most = counts.at_least(exchange), together.at_most(joint)
            few = AGREES if most < allowed.least else UNCLEAR
            judged = DISAGREES if sure >= allowed.most else few
            done = f"it came after {sure if judged is DISAGREES else most} calls {words.this}"
            beside = earlier[-allowed.most :] if judged is DISAGREES else ()
            yield tpp_evidence(facet, judged, exchange, owed, done, *beside)
        if exchange.accepted and plain(call):
            earlier.append(exchange.n)
        counts.note(exchange)
        together.note(joint)
