"""`quota`: a limit on the calls of each operation in a day or an hour.

For each operation, for all together or for each item, the first calls are served, the next one is
refused, and calls are served again in the next period. The count is that of a customer, or of each
consent, which may name the number. A call is still refused just before the end of the period, and on the day
with 25 hours; each operation and each customer has its own count. Probes read first pages only and
have no other calls refused: documents leave open whether those count. If only calls without the
customer count, every trial ends with attended calls: an operation that never answers is no quota.
If all calls count, an operation that was never answered is called again in a later period.

Of several calls at one moment, a bank may serve any, or none. As many as were served are counted
first, so that only a call beyond the limit is judged.

The TPP: it makes no more calls in a period than allowed. A call is a breach if the limit was
certainly used up before it, even if the bank serves it. Two names may be one customer whose
token was renewed: if they ask about the same resource, their calls may count together.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import groupby
from typing import TypeAlias
from zoneinfo import ZoneInfo

from assay.contract.model import Capability, Json, Operation
from assay.history import Call, Exchange, History, Subject
from assay.rules import operation_parameters, parameters, steps
from assay.rules.consents import GIVEN, Consents
from assay.rules.facets import CallLimit, Facts
from assay.rules.kinds.access.counted_calls import (
    NAMES,
    REFUSED,
    TURNS,
    UNSPECIFIED,
    SeenCalls,
    WhatCounts,
    counted,
)
from assay.rules.queries import answered_questions, bare, fresh_subjects, question
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
    judge_tpp,
    moment,
    quota_limit,
)
from assay.rules.state.periods import DAYS, Period, period
from assay.rules.verdict import (
    Evidence,
    doubt,
    must_be_refused,
    must_be_served,
)

AT_ONCE = "at-once"
#: How many calls are made at one moment, while one is left.
SEVERAL = 3
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
#: The facets about consents that name a number of calls.
_OF_CONSENTS = frozenset({PER_CONSENT, FEWER, MORE})

_PER: Mapping[str, Json] = {
    "description": "calendar-day, clock-hour, rolling-hour, hour or minute",
    "enum": ["calendar-day", "clock-hour", "rolling-hour", "hour", "minute"],
}

#: The TPP's obligation.
TPP_FACET = "not-exceeded"


@dataclass(frozen=True, slots=True, kw_only=True)
class QuotaScenario(Scenario):
    """A quota to use up: that of one operation, or of all if `operation` is None.

    If it `crosses`, the operation is called again in the next period.
    """

    operation: Operation | None = None
    crosses: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class _Used:
    """A customer whose quota of some operations is used up, the calls that did it, and controls."""

    psu: Subject
    operations: Sequence[Operation]
    calls: Sequence[Call]
    controls: Sequence[Call]


_Needs: TypeAlias = frozenset[Capability]
#: A script that uses up a quota, and tries something then.
_Trial: TypeAlias = steps.Part[_Used]


@dataclass(frozen=True, slots=True, kw_only=True)
class Quota(RefusingKind[QuotaScenario]):
    """A limit on the calls of each operation and customer, or consent, in a period.

    `attended` says that calls with the customer present count, too.
    """

    name = "quota"
    purpose = Purpose.LIMIT
    bare_calls = True
    limits = ("limit", "per", "counts", "counted-by", "counted-for", REFUSED, TURNS, NAMES)

    operations: tuple[Operation, ...] = parameters.operations(
        also=operation_parameters.about_something_owned
    )
    limit: QuotaLimit = quota_limit()
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
    refused_calls: str = counted(REFUSED)
    page_turns: str = counted(TURNS)
    names: str = counted(NAMES, required=False)
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

    @property
    def what_counts(self) -> WhatCounts:
        """What is said of refused calls, page turns and names; nothing of counts that are shared."""
        words = {REFUSED: self.refused_calls, TURNS: self.page_turns, NAMES: self.names}
        said = {kind: word for kind, word in words.items() if word != UNSPECIFIED}
        alone = self.counted_by == "operation" and not self.limit.argument
        return WhatCounts(
            said=said if alone else {},
            operations=self.operations,
            contract=self.contract,
            limit=self.limit.number,
            grant=self.grant,
        )

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
        words, number = self.period.words, self.limit.number
        psu = needs(Capability.PSU) | consent(self.grant, *self.operations)
        plain = psu if self.attended else psu | needs(Capability.BATCH)
        clock = plain | needs(Capability.CLOCK, *([Capability.ZONE] if self.daily else []))
        of_each = (
            ("served", f"the first {number} calls {words.with_article} are served", "limit", plain),
            ("refused", self._too_many(number), "limit", plain),
            (words.next_facet, words.next_description, words.next_facet, clock),
        )
        return (
            *(
                Facet(
                    id=f"{each.id}-{id_}",
                    description=text,
                    scenario=QuotaScenario(
                        id=f"{each.id}:{scenario}", operation=each, crosses=needed is clock
                    ),
                    needs=needed,
                )
                for id_, text, scenario, needed in of_each
                for each in self.operations
            ),
            # If all calls count, only a later period can show that a method answers.
            *self._facets_of_counts(plain, clock, clock if self.attended else plain),
            *(
                Facet(
                    id=id_,
                    description=text,
                    scenario=QuotaScenario(id=kind),
                    needs=plain | needs(*((Capability.ENTRIES,) if kind == TURNS else ())),
                )
                for kind, (id_, text, _) in self.what_counts.facets.items()
            ),
        )

    def _too_many(self, number: int, why: str = "") -> str:
        return f"call {number + 1} of {self.period.words.with_article} is refused{why}"

    def _facets_of_counts(self, plain: _Needs, clock: _Needs, apart: _Needs) -> Iterator[Facet]:
        """Yield the facets of all operations together: whose calls count, and until when."""
        late, limit, grant = self.period.words.late_facet, self.limit, self.grant
        by_consent = self.by_consent and grant is not None
        there = {
            late: self.period.words.late_description,
            **({LONG_DAY: "a day of 25 hours counts as one day"} if self.daily else {}),
            **(
                {SHARED: "the calls of all operations count together"}
                if self.counted_by == SHARED
                else {PER_METHOD: "each operation has its own count"}
            ),
            **({PER_ITEM: "each item has its own count"} if self.counted_by == "item" else {}),
            PER_CUSTOMER: "each customer has its own count",
            AT_ONCE: f"of {SEVERAL} calls at one moment, no more are served than are left",
            **({PER_CONSENT: "a new consent has its own count"} if by_consent else {}),
        }
        for id_, most, named in (
            (FEWER, limit.fewer, limit.fewer),
            (MORE, limit.number, limit.more),
        ):
            if by_consent and named:
                there[id_] = self._too_many(most, f" where the consent names {named}")
        needed = {late: clock, LONG_DAY: clock, FEWER: plain, MORE: plain}
        needed[PER_CUSTOMER] = apart | needs(Capability.TWO_PSU)
        needed[AT_ONCE] = plain | needs(Capability.TOGETHER)
        alone = "" if len(self.operations) > 1 else "the clause names one operation"
        given = GIVEN if grant is not None and grant.given else ""
        silent = {LONG_DAY: never_longer(self.zone), SHARED: alone, PER_METHOD: alone}
        silent |= dict.fromkeys(_OF_CONSENTS, given)
        for id_, text in there.items():
            one = self.counted_by == SHARED and id_ != SHARED
            yield Facet(
                id=id_,
                description=text,
                scenario=QuotaScenario(id=id_),
                needs=needed.get(id_, apart),
                requires=bound(grant, "argument", (limit.argument,)) if id_ in _OF_CONSENTS else (),
                not_applicable_because=silent.get(id_, ""),
                exercises=tuple(each.id for each in self.operations[: 1 if one else None]),
            )

    def refusing(self) -> Collection[str]:
        """Return the facets that expect a refusal."""
        return [
            *(f"{each.id}-refused" for each in self.operations),
            self.period.words.late_facet,
            LONG_DAY,
            SHARED,
            AT_ONCE,
            *((FEWER,) if self.limit.fewer else ()),
            *((MORE,) if self.limit.more else ()),
            *self.what_counts.refusing,
        ]

    def probe(self, scenario: QuotaScenario) -> Script:
        """Use up a quota, approach or pass the end of the period, and make control calls."""
        limit, counting = self.limit, self.what_counts
        if scenario.id in counting.facets:
            absent = not self.attended
            variation = "without the customer" if absent else ""
            yield from counting.probe(
                scenario.id,
                lambda operation, key: replace(
                    steps.ask(operation, "psu", key, variation), present=not absent
                ),
            )
            return
        of_items = tuple(operation for operation in self.operations if operation.about)
        scripts: Mapping[str, Callable[[], _Trial]] = {
            self.period.words.late_facet: self._late,
            LONG_DAY: self._on_the_long_day,
            SHARED: lambda: self._beside(self.operations[1:]),
            PER_METHOD: self._use_up,
            PER_ITEM: lambda: self._beside(of_items, item=1),
            PER_CUSTOMER: self._of_another_customer,
            PER_CONSENT: self._of_another_consent,
            AT_ONCE: self._at_once,
            FEWER: lambda: self._use_up(more=1, number=limit.fewer),
            MORE: lambda: self._use_up(more=1, number=limit.more),
        }
        if scenario.id == LONG_DAY and not (yield from periods.to_the_long_day(self.zone)):
            return
        script = self._of_one(scenario) if scenario.operation else scripts[scenario.id]()
        controls = (yield from script).controls
        if not self.attended:
            yield from _each(controls)
        elif scenario.id in _CONTROLLED:
            # The operation with the least quota left comes first.
            yield from periods.into_the_next(self.period)
            yield from _each(controls[::-1])

    # -- one script for each scenario ----------------------------------------------------
    def _of_one(self, scenario: QuotaScenario) -> _Trial:
        """Use up the quota of one operation; call it again in the next period, if that is asked."""
        used = yield from self._use_up(scenario.operation, more=1)
        if scenario.crosses:
            yield from periods.into_the_next(self.period)
            yield from _each(used.calls)
        return used

    def _late(self) -> _Trial:
        """Call again just before the end of the period."""
        yield from periods.clear_of_the_end(self.period)
        used = yield from self._use_up(more=1)
        yield from periods.to_the_end(self.period)
        yield from _each(used.calls)
        return used

    def _on_the_long_day(self) -> _Trial:
        """Call again late on a day of 25 hours."""
        used = yield from self._use_up(more=1)
        yield from periods.late_on_the_long_day(self.zone)
        yield from _each(used.calls)
        return used

    def _beside(self, others: Sequence[Operation], item: int = 0) -> _Trial:
        """Use up the quota, and call other operations, or about another item."""
        used = yield from self._use_up(things=item + 1)
        yield from _each(_calls_of(others, used.psu, present=self.attended, item=item))
        return replace(
            used, controls=[*used.controls, *_calls_of(others, used.psu, present=True, item=item)]
        )

    def _of_another_customer(self) -> _Trial:
        """Use up the quota of one customer, and ask for another."""
        used = yield from self._use_up()
        other = yield from steps.customer("other", self.owner, None)
        yield from _give(self.grant, other, self.limit.arguments())
        yield from _each(_calls_of(used.operations, other, present=self.attended))
        return replace(
            used, controls=[*used.controls, *_calls_of(used.operations, other, present=True)]
        )

    def _at_once(self) -> _Trial:
        """Use up the quota of each operation but for one call, and make several at one moment."""
        used = yield from self._use_up(more=-1)
        for group, call in enumerate(used.calls, start=1):
            yield from steps.send_together(*[call] * SEVERAL, group=group)
        return used

    def _of_another_consent(self) -> _Trial:
        """Use up the quota of one consent, and ask under a later one."""
        used = yield from self._use_up()
        yield from _give(self.grant, used.psu, self.limit.arguments())
        yield from _each(used.calls)
        return used

    def _use_up(
        self,
        operation: Operation | None = None,
        *,
        more: int = 0,
        number: int | None = None,
        things: int = 1,
    ) -> _Trial:
        """Use up the quota of an operation, or of all, and make `more` calls of each."""
        psu = yield from steps.customer("psu", self.owner, None, count=things)
        yield from _give(self.grant, psu, self.limit.arguments(number))
        operations = (operation,) if operation else self.operations
        # One operation uses up what all of them share.
        operations = operations[:1] if self.counted_by == SHARED else operations
        calls = _calls_of(operations, psu, present=self.attended)
        most = min(number or self.limit.number, self.limit.number) + more
        yield from _each(call for call in calls for _ in range(most))
        controls = _calls_of(operations, psu, present=True)
        return _Used(psu=psu, operations=operations, calls=calls, controls=controls)

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
        counting, calls = self.what_counts, SeenCalls(period=self.period, pair=counts.pair)
        for exchange in _served_first(history.exchanges):
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
                if sound and call.subject in untouched:
                    yield from counting.judge(exchange, calls)
                for evidence in _judge(exchange, counts, sound=sound, alone=alone):
                    # Nothing was counted for a consent before it was made.
                    known = used or call.subject in untouched or counts.exceeded_by(exchange)
                    yield evidence if known else doubt(evidence, "earlier calls may be unknown")
            counts.note(exchange)
            own.note(exchange)
            calls.note(exchange)

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
        made = [
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

        yield from judge_tpp(made, lambda: self.counts(consents), TPP_FACET, advance)


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


# -- judgement -------------------------------------------------------------------------
def _served_first(exchanges: Iterable[Exchange]) -> Iterator[Exchange]:
    """Yield exchanges in order; of calls at one moment those first that were served."""
    for number, group in groupby(exchanges, key=lambda exchange: exchange.call.together):
        if not number:
            yield from group
            continue
        calls = sorted(group, key=lambda each: not each.accepted)
        at = max(each.at for each in calls)
        yield from (replace(each, at=at) for each in calls)


def _judge(exchange: Exchange, counts: Counts, *, sound: bool, alone: bool) -> Iterator[Evidence]:
    """Judge a call by the counts; `alone` if only calls of other operations have used them up."""
    name, words = exchange.call.operation, counts.period.words
    allowed = counts.allowed(exchange.call)
    if counts.at_least(exchange) >= allowed.most:
        facet = SHARED if alone else _refusal_facet(exchange, counts, allowed)
        facet = AT_ONCE if exchange.call.together else facet
        if facet:
            why = f"{allowed.most} calls were served {words.this}"
            yield must_be_refused(facet, exchange, why, limit=True)
        return
    most = counts.at_most(exchange)
    if not sound or most >= allowed.least or exchange.call.together:
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
    if counts.period.is_long(exchange.at):
        return LONG_DAY
    end = counts.period.earliest_end(counts.first(exchange)) - counts.period.margin
    # If the period began as late as that, it proves nothing.
    return counts.period.words.late_facet if counts.first(exchange) < end <= exchange.at else None
