"""`quota`: so many calls a day or an hour, for every method.

Per method: the first ones are served, the next is refused, the next period serves
again. Besides: still refused just before the end of the period and on the day that
lasts 25 hours, counted apart for each method and each customer. Only first pages
are asked and no call is refused on the way, for documents leave open what else
counts. Where only calls without the customer count, every trial ends with attended
ones, so that a method that answers nobody is not taken for a quota; where all count,
what was never answered before is asked again in a later period.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from datetime import UTC, datetime, time, timedelta
from zoneinfo import ZoneInfo

from assay.contract.model import Capability, Clause, Contract, Operation, Party
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
from assay.rules.rule import Facet, Rule, Script, consent, needs
from assay.rules.state.calendar import ORDINARY, at, length, never_longer, next_day
from assay.rules.state.consents import Consents
from assay.rules.state.counts import Counts, moment
from assay.rules.state.periods import HOURS, Period, period

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


@dataclass(frozen=True, slots=True, kw_only=True)
class Params:
    """The counted methods, how many calls, in what span, how consent is given.

    `attended` says that calls count with the customer, too, and not only those without.
    """

    operations: tuple[Operation, ...]
    limit: int
    period: Period
    attended: bool
    grant: Operation | None
    owner: str

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


def parse(clause: Clause, contract: Contract) -> Params:
    """Read the clause's parameters."""
    operations = parameters.operations(clause, contract)
    about = next((one for one in operations if one.about), operations[0])
    return Params(
        operations=operations,
        limit=parameters.whole(clause, "limit"),
        period=period(parameters.text(clause, "per"), contract.zone),
        attended=parameters.maybe(clause, "counts") == "all",
        grant=parameters.granting(clause, contract),
        owner=steps.owners(contract, about)[0],
    )


def facets(p: Params) -> tuple[Facet, ...]:
    """Three facets a method, and three or four on how counts are kept."""
    words, names = p.period.words, [one.id for one in p.operations]
    psu = needs(Capability.PSU) | consent(p.grant, *p.operations)
    plain = psu if p.attended else psu | needs(Capability.BATCH)
    clock = plain | needs(Capability.CLOCK, *([Capability.ZONE] if p.daily else []))
    # Where all calls count, nothing but a later period can show that a method answers.
    apart = clock if p.attended else plain
    ids = [
        *((f"{name}-served", _served(p), name, plain) for name in names),
        *(
            (f"{name}-refused", f"call {p.limit + 1} of {words.a} is refused", name, plain)
            for name in names
        ),
        *(
            (f"{name}-{words.next}", words.next_asks, f"{name}-{words.next}", clock)
            for name in names
        ),
        (words.late, words.late_asks, words.late, clock),
        *([("long-day", "a day of 25 hours is one day", "long-day", clock)] if p.daily else []),
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
            scenario=scenario,
            needs=needed,
            not_applicable_because=never_longer(p.zone) if id_ == "long-day" else "",
        )
        for id_, asks, scenario, needed in ids
    )


def _served(p: Params) -> str:
    return f"the first {p.limit} calls {p.period.words.a} are served"


def price(p: Params, scenario: str) -> int:
    """Count the calls: consent, those that count, controls."""
    first, many, words = (1 if p.grant else 0), len(p.operations), p.period.words
    each = 1 if p.controlled(scenario) else 0
    match scenario:
        case words.late | "long-day":
            return first + many * (p.limit + 2) + many * each
        case "per-method":
            return first + many * p.limit + many * each
        case "per-customer":
            return 2 * first + many * (p.limit + 1) + 2 * many * each
        case _:
            turn = 2 if scenario.endswith(f"-{words.next}") else 1
            return first + p.limit + turn + each


def _calls(p: Params, psu: Subject, *, present: bool) -> dict[str, Call]:
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


def probe(p: Params, scenario: str) -> Script:
    """Use a count up, cross or approach the end of the period, and end with controls."""
    if scenario == "long-day" and not (yield from _to_the_long_day(p)):
        return
    if scenario == p.period.words.late:
        yield from _in_good_time(p)
    psu = yield from steps.customer("psu", p.owner, p.grant)
    calls = _calls(p, psu, present=p.attended)
    controls = [*_calls(p, psu, present=True).values()]
    name = scenario.removesuffix(f"-{p.period.words.next}")
    if name in calls:
        controls = [call for call in controls if call.operation == name]
        yield from _use_up(p, calls[name], extra=True)
        if name != scenario:
            yield from _into_the_next(p)
            yield from steps.send(calls[name])
    else:
        late = scenario in {"long-day", p.period.words.late}
        for call in calls.values():
            yield from _use_up(p, call, extra=late)
        if late:
            yield from (_late_on_the_long_day(p) if scenario == "long-day" else _to_the_end(p))
            yield from _each(calls.values())
    if scenario == "per-customer":
        other = yield from steps.customer("other", p.owner, p.grant)
        yield from _each(_calls(p, other, present=p.attended).values())
        controls += _calls(p, other, present=True).values()
    if p.attended and p.controlled(scenario):
        # What had the least left is asked first, before the others use anything up.
        yield from _into_the_next(p)
        controls.reverse()
    yield from _each(controls if p.controlled(scenario) else ())


def _to_the_long_day(p: Params) -> steps.Part[bool]:
    """Go to noon of the next day of 25 hours; False where the zone has none."""
    now, zone = (yield from steps.clock()), p.zone
    day = next_day(now, zone, longer=True) if zone else None
    if day is not None and zone:
        yield from steps.clock(at(day, NOON, zone))
    return day is not None


def _late_on_the_long_day(p: Params) -> Script:
    now, zone = (yield from steps.clock()), p.zone
    if zone:
        yield from steps.clock(at(now.astimezone(zone).date(), LONG, zone))


def _into_the_next(p: Params) -> Script:
    """Go to where a new period has begun under every reading."""
    now = yield from steps.clock()
    if p.period.edged:
        yield from steps.clock(p.period.gone(now.astimezone(UTC)) + MARGIN)


def _in_good_time(p: Params) -> Script:
    """Go beyond the end of the period, by its first reading, where that is near."""
    now = yield from steps.clock()
    end = p.period.kept(now.astimezone(UTC))
    if p.period.edged and now >= end - 2 * MARGIN:
        yield from steps.clock(end + MARGIN)


def _to_the_end(p: Params) -> Script:
    """Go to where the period is about to end."""
    now = yield from steps.clock()
    if p.period.edged:
        yield from steps.clock(p.period.kept(now.astimezone(UTC)) - MARGIN)


def _each(calls: Iterable[Call]) -> Script:
    for call in calls:
        yield from steps.send(call)


def _use_up(p: Params, call: Call, *, extra: bool = False) -> Script:
    for _ in range(p.limit + (1 if extra else 0)):
        yield from steps.send(call)


def check(p: Params, history: History) -> Iterator[Evidence]:
    """Count calls by subject, method and period, and judge each next one.

    A call is judged if the very same question was answered at some time (with the
    customer there, where only calls without count), and where it needs a consent, if
    there surely is one.
    """
    controls, untouched = answered(history), fresh(history)
    if p.attended:
        controls |= answered(history, present=False)
    named = {one.id: one for one in p.operations}
    consents = Consents(grant=p.grant)
    counts = Counts(limit=p.limit, period=p.period)
    for exchange in history.exchanges:
        call = exchange.call
        consents.note(exchange)
        operation = named.get(call.operation)
        if operation is None or (call.present and not p.attended):
            continue
        if question(call) in controls and bare(call, operation):
            for evidence in _judge(p, exchange, counts, sound=_sound(p, exchange, consents)):
                known = call.subject in untouched or _too_many(p, exchange, counts)
                yield evidence if known else doubt(evidence, "earlier calls may be unknown")
        counts.note(exchange)


def _too_many(p: Params, exchange: Exchange, counts: Counts) -> bool:
    """Whether one more was served than may be, whatever was before it and was not told.

    Not near the end of a period: where nobody moves the clock it is not the target's own.
    """
    if not exchange.accepted or counts.least(exchange) < p.limit:
        return False
    first, now = counts.first(exchange), moment(exchange)
    return p.period.kept(first - SKEW) == p.period.kept(now + SKEW)


def _sound(p: Params, exchange: Exchange, consents: Consents) -> bool:
    """Whether consent is there for what a call is about, as far as it takes one."""
    about = next(one.about for one in p.operations if one.id == exchange.call.operation)
    key = str(exchange.call.arguments.get(about or ""))
    return not about or not p.grant or key in consents.sure(exchange.call.subject)


def _judge(p: Params, exchange: Exchange, counts: Counts, *, sound: bool) -> Iterator[Evidence]:
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


def _refusal_facet(p: Params, exchange: Exchange, counts: Counts) -> str | None:
    """Return the facet on which a call beyond the limit bears.

    Late calls bear on when the period ends, but only after a refusal in it:
    without one, nothing was enforced that its end could have lifted.
    """
    late = _late(p, exchange, counts)
    if late is None:
        return f"{exchange.call.operation}-refused"
    closed = counts.closed.get((exchange.call.subject, exchange.call.operation))
    return late if closed and closed >= p.period.sure(moment(exchange)) else None


def _late(p: Params, exchange: Exchange, counts: Counts) -> str | None:
    if not p.period.edged:
        return None
    if p.daily and p.zone and _long(exchange.at.astimezone(p.zone), p.zone):
        return "long-day"
    end = p.period.kept(counts.first(exchange)) - MARGIN
    # Where it began as late as that, nothing has gone by since.
    return p.period.words.late if counts.first(exchange) < end <= exchange.at else None


def _long(local: datetime, zone: ZoneInfo) -> bool:
    return local.time() >= LONG and length(local.date(), zone) > ORDINARY


RULE = Rule(
    kind="quota",
    party=Party.BANK,
    parse=parse,
    facets=facets,
    price=price,
    probe=probe,
    check=check,
)
