"""`quota`: so many calls a calendar day, without the customer, for every method.

Per method: the first ones are served, the next is refused, the next local day
serves again. Besides: still refused just before midnight and on the day that
lasts 25 hours, counted apart for each method and each customer. Only first pages
are asked and no call is refused on the way, for documents leave open what else
counts; every trial ends with attended calls, so that a method that answers
nobody is not taken for a quota.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from datetime import datetime, time
from zoneinfo import ZoneInfo

from assay.history import Call, Exchange, History, Subject
from assay.model import Capability, Clause, Contract, Operation, Party
from assay.rules import params, script
from assay.rules.calendar import DAY, ORDINARY, at, length, never_longer, next_day
from assay.rules.consents import Consents
from assay.rules.counts import Counts
from assay.rules.folds import (
    answered,
    bare,
    doubt,
    fresh,
    must_be_refused,
    must_be_served,
    question,
)
from assay.rules.rule import Facet, Rule, Script, consent, needs
from assay.verdict import Evidence

#: Just after and just before a local midnight; both are on one side of UTC's.
AFTER, BEFORE = time(0, 0, 30), time(23, 59, 30)
#: On the long day, 24 hours after its midnight have gone by and an hour is left.
LONG, NOON = time(23, 30), time(12, 0)
#: Why a first call is served, by the facet that it bears on.
OTHERS = {
    "per-method": "only other methods are used up",
    "per-customer": "only another customer's are used up",
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Params:
    """The counted methods, how many calls, how consent is given, whose day."""

    operations: tuple[Operation, ...]
    limit: int
    grant: Operation | None
    owner: str
    zone: ZoneInfo | None


def parse(clause: Clause, contract: Contract) -> Params:
    """Read the clause's parameters."""
    operations = params.operations(clause, contract)
    about = next((one for one in operations if one.about), operations[0])
    return Params(
        operations=operations,
        limit=params.whole(clause, "limit"),
        grant=params.granting(clause, contract),
        owner=script.owners(contract, about)[0],
        zone=contract.zone,
    )


def facets(p: Params) -> tuple[Facet, ...]:
    """Three facets a method, and four on how counts are kept."""
    batch = needs(Capability.PSU, Capability.BATCH) | consent(p.grant, *p.operations)
    clock = batch | needs(Capability.CLOCK, Capability.ZONE)
    ids = [
        (f"{one.id}-served", f"the first {p.limit} calls a day are served", one.id, batch)
        for one in p.operations
    ]
    ids += [
        (f"{one.id}-refused", f"call {p.limit + 1} of a day is refused", one.id, batch)
        for one in p.operations
    ]
    ids += [
        (
            f"{one.id}-next-day",
            "the next calendar day serves again",
            f"{one.id}-next-day",
            clock,
        )
        for one in p.operations
    ]
    ids += [
        ("before-midnight", "just before midnight it is still refused", "before-midnight", clock),
        ("long-day", "a day of 25 hours is one day", "long-day", clock),
        ("per-method", "each method has its own count", "per-method", batch),
        (
            "per-customer",
            "each customer has an own count",
            "per-customer",
            batch | needs(Capability.TWO_PSU),
        ),
    ]
    return tuple(
        Facet(
            id=id_,
            asks=asks,
            scenario=scenario,
            needs=needed,
            void=never_longer(p.zone) if id_ == "long-day" else "",
        )
        for id_, asks, scenario, needed in ids
    )


def price(p: Params, scenario: str) -> int:
    """Count the calls: consent, batch calls, attended controls."""
    first, many = (1 if p.grant else 0), len(p.operations)
    match scenario:
        case "before-midnight" | "long-day":
            return first + many * (p.limit + 2) + many
        case "per-method":
            return first + many * p.limit + many
        case "per-customer":
            return 2 * first + many * (p.limit + 1) + 2 * many
        case _:
            turn = 2 if scenario.endswith("-next-day") else 1
            return first + p.limit + turn + 1


def _calls(p: Params, psu: Subject, *, present: bool) -> dict[str, Call]:
    return {
        one.id: Call(
            operation=one.id,
            subject=psu.name,
            arguments=script.arguments(one, psu.owns[0].key),
            present=present,
            deviation="" if present else "without the customer",
        )
        for one in p.operations
    }


def probe(p: Params, scenario: str) -> Script:
    """Use a count up, cross or approach midnight, and end with attended calls."""
    if scenario == "long-day" and not (yield from _to_the_long_day(p)):
        return
    psu = yield from script.customer("psu", p.owner, p.grant)
    calls = _calls(p, psu, present=False)
    attended = [*_calls(p, psu, present=True).values()]
    name = scenario.removesuffix("-next-day")
    if name in calls:
        attended = [call for call in attended if call.operation == name]
        yield from _use_up(p, calls[name], extra=True)
        if name != scenario:
            yield from _at(p, AFTER, days=1)
            yield from script.send(calls[name])
    else:
        late = {"long-day": LONG, "before-midnight": BEFORE}.get(scenario)
        yield from _use_all_up(p, calls.values(), late)
    if scenario == "per-customer":
        other = yield from script.customer("other", p.owner, p.grant)
        yield from _each(_calls(p, other, present=False).values())
        attended += _calls(p, other, present=True).values()
    yield from _each(attended)


def _to_the_long_day(p: Params) -> script.Part[bool]:
    """Go to noon of the next day of 25 hours; False where the zone has none."""
    now = yield from script.clock()
    day = next_day(now, p.zone, longer=True) if p.zone else None
    if day is not None and p.zone:
        yield from script.clock(at(day, NOON, p.zone))
    return day is not None


def _use_all_up(p: Params, calls: Iterable[Call], late: time | None) -> Script:
    """Use every method up; where a late hour is given, see each refused then too."""
    asked = tuple(calls)
    for call in asked:
        yield from _use_up(p, call, extra=late is not None)
    if late is not None:
        yield from _at(p, late)
        yield from _each(asked)


def _each(calls: Iterable[Call]) -> Script:
    for call in calls:
        yield from script.send(call)


def _use_up(p: Params, call: Call, *, extra: bool = False) -> Script:
    for _ in range(p.limit + (1 if extra else 0)):
        yield from script.send(call)


def _at(p: Params, hour: time, days: int = 0) -> Script:
    now = yield from script.clock()
    if p.zone:
        today = now.astimezone(p.zone).date()
        yield from script.clock(at(today + days * DAY, hour, p.zone))


def check(p: Params, history: History) -> Iterator[Evidence]:
    """Count batch calls by subject, method and local day, and judge each next one.

    A call is judged if the very same question was answered with the customer
    there, and where it needs a consent, if there surely is one.
    """
    attended, untouched = answered(history), fresh(history)
    named = {one.id: one for one in p.operations}
    consents = Consents(grant=p.grant)
    counts = Counts(limit=p.limit, zone=p.zone)
    for exchange in history.exchanges:
        call = exchange.call
        consents.note(exchange)
        operation = named.get(call.operation)
        if operation is None or call.present:
            continue
        if question(call) in attended and bare(call, operation):
            for evidence in _judge(p, exchange, counts, sound=_sound(p, exchange, consents)):
                known = call.subject in untouched
                yield evidence if known else doubt(evidence, "earlier calls may be unknown")
        counts.note(exchange)


def _sound(p: Params, exchange: Exchange, consents: Consents) -> bool:
    """Whether consent is there for what a call is about, as far as it takes one."""
    about = next(one.about for one in p.operations if one.id == exchange.call.operation)
    key = str(exchange.call.arguments.get(about or ""))
    return not about or not p.grant or key in consents.sure(exchange.call.subject)


def _judge(p: Params, exchange: Exchange, counts: Counts, *, sound: bool) -> Iterator[Evidence]:
    name = exchange.call.operation
    if counts.least(exchange) >= p.limit:
        facet = _refusal_facet(p, exchange, counts)
        if facet:
            yield must_be_refused(facet, exchange, f"{p.limit} calls were served today")
        return
    most = counts.most(exchange)
    if not sound or most >= p.limit:
        return
    others = counts.others(exchange)
    closed = counts.closed.get((exchange.call.subject, name))
    if p.zone and closed and closed < exchange.at.astimezone(p.zone).date():
        if most == 0:
            why = f"a new day after {closed} has begun"
            yield must_be_served(f"{name}-next-day", exchange, why)
    elif most == 0 and others:
        yield must_be_served(others, exchange, OTHERS[others])
    else:
        yield must_be_served(f"{name}-served", exchange, f"{most} of {p.limit} calls used today")


def _refusal_facet(p: Params, exchange: Exchange, counts: Counts) -> str | None:
    """Return the facet on which a call beyond the limit bears.

    Late calls bear on whose midnight it is, but only after a refusal the same
    day: without one, nothing was enforced that midnight could have lifted.
    """
    late = _late(p, exchange.at)
    if late is None or p.zone is None:
        return f"{exchange.call.operation}-refused"
    closed = counts.closed.get((exchange.call.subject, exchange.call.operation))
    return late if closed == exchange.at.astimezone(p.zone).date() else None


def _late(p: Params, now: datetime) -> str | None:
    if p.zone is None:
        return None
    local = now.astimezone(p.zone)
    if local.time() >= LONG and length(local.date(), p.zone) > ORDINARY:
        return "long-day"
    return "before-midnight" if local.time() >= BEFORE else None


RULE = Rule(
    kind="quota",
    party=Party.BANK,
    parse=parse,
    facets=facets,
    price=price,
    probe=probe,
    check=check,
)
