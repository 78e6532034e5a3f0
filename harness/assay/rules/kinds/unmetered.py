"""`unmetered`: calls that the customer asks for directly are not limited.

Far more of them than the batch quota are served; they do not use it up; and they
are served when it is used up. Batch calls by another customer are the control.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field
from datetime import date, datetime
from typing import TypeAlias
from zoneinfo import ZoneInfo

from assay.contract.model import Capability, Clause, Contract, Operation, Party
from assay.history import Call, Exchange, History, Subject
from assay.judging.verdict import Evidence
from assay.rules import parameters, steps
from assay.rules.queries import answered, bare, doubt, fresh, must_be_served, plain, question
from assay.rules.rule import Facet, Rule, Script, consent, needs
from assay.rules.state.calendar import within_a_day
from assay.rules.state.consents import Consents

#: A subject, a method, and a key of the day.
Slot: TypeAlias = tuple[str, str, date | datetime]

#: How many times the quota "far more" is.
FAR = 5
NOT_COUNTED, EXHAUSTED = "not-counted", "after-exhausted"


@dataclass(frozen=True, slots=True, kw_only=True)
class Params:
    """The methods, the batch quota beside which they stand, how consent is given."""

    operations: tuple[Operation, ...]
    quota: int
    grant: Operation | None
    owner: str
    zone: ZoneInfo | None


def parse(clause: Clause, contract: Contract) -> Params:
    """Read the clause's parameters."""
    operations = parameters.operations(clause, contract)
    about = next((one for one in operations if one.about), operations[0])
    return Params(
        operations=operations,
        quota=parameters.whole(clause, "quota"),
        grant=parameters.granting(clause, contract),
        owner=steps.owners(contract, about)[0],
        zone=contract.zone,
    )


def facets(p: Params) -> tuple[Facet, ...]:
    """One facet a method, and two on the quota beside it."""
    psu = needs(Capability.PSU) | consent(p.grant, *p.operations)
    batch = psu | needs(Capability.BATCH, Capability.TWO_PSU)
    each = tuple(
        Facet(
            id=f"{one.id}-unlimited",
            description=f"{FAR * p.quota} attended calls of {one.id} are served",
            scenario=one.id,
            needs=psu,
        )
        for one in p.operations
    )
    return (
        *each,
        Facet(
            id=NOT_COUNTED,
            description="attended calls do not use the batch quota up",
            scenario=NOT_COUNTED,
            needs=batch,
        ),
        Facet(
            id=EXHAUSTED,
            description="attended calls are served when the batch quota is used up",
            scenario=EXHAUSTED,
            needs=batch,
        ),
    )


def price(p: Params, scenario: str) -> int:
    """Count the calls of a scenario."""
    first, many = (1 if p.grant else 0), len(p.operations)
    match scenario:
        case "not-counted":
            return 2 * first + many * (2 * p.quota + 1 + 1 + 1)
        case "after-exhausted":
            return 2 * first + many * (p.quota + 1 + 1 + 1)
        case _:
            return first + FAR * p.quota


def _call(operation: Operation, psu: Subject, *, present: bool) -> Call:
    return Call(
        operation=operation.id,
        subject=psu.name,
        arguments=steps.arguments(operation, psu.owns[0].key),
        present=present,
        variation="" if present else "without the customer",
    )


def probe(p: Params, scenario: str) -> Script:
    """Call far more often than the quota; or around the quota, with a control."""
    psu = yield from steps.customer("psu", p.owner, p.grant)
    if scenario not in {NOT_COUNTED, EXHAUSTED}:
        operation = next(one for one in p.operations if one.id == scenario)
        for _ in range(FAR * p.quota):
            yield from steps.send(_call(operation, psu, present=True))
        return
    other = yield from steps.customer("other", p.owner, p.grant)
    for operation in p.operations:
        counted = scenario == NOT_COUNTED
        yield from steps.send(_call(operation, other, present=not counted))
        for _ in range((2 * p.quota if counted else p.quota) + 1):
            yield from steps.send(_call(operation, psu, present=counted))
        yield from steps.send(_call(operation, psu, present=not counted))


def check(p: Params, history: History) -> Iterator[Evidence]:
    """Judge attended calls, and batch calls that follow nothing but attended ones.

    A question is judged if it was answered, to the same customer, at some time;
    only calls of one day can use a daily quota up.
    """
    named = {one.id: one for one in p.operations}
    batch, attended = answered(history, present=False), answered(history)
    controls = Controls(
        questions=batch | attended,
        batch=frozenset(operation for _, operation, _ in batch),
        attended=frozenset(operation for _, operation, _ in attended),
        fresh=fresh(history),
    )
    consents = Consents(grant=p.grant)
    counts = _Counts(quota=p.quota)
    for exchange in history.exchanges:
        call = exchange.call
        consents.note(exchange)
        operation = named.get(call.operation)
        if operation is None:
            continue
        day = within_a_day(exchange.at, p.zone)
        key = str(call.arguments.get(operation.about or ""))
        consented = not operation.about or not p.grant or key in consents.sure(call.subject)
        if question(call) in controls.questions and bare(call, operation) and consented:
            yield from _judge(exchange, counts, controls, day)
        counts.note(exchange, day)


@dataclass(frozen=True, slots=True, kw_only=True)
class Controls:
    """What was answered in a history: questions, and methods either way."""

    questions: frozenset[tuple[str, str, str]]
    batch: frozenset[str]
    attended: frozenset[str]
    fresh: frozenset[str]


@dataclass(slots=True, kw_only=True)
class _Counts:
    """How often (subject, method) was served on a day, either way."""

    quota: int
    attended: Counter[Slot] = field(default_factory=Counter[Slot])
    batch: Counter[Slot] = field(default_factory=Counter[Slot])
    tried: set[tuple[str, str]] = field(default_factory=set[tuple[str, str]])
    refused: set[Slot] = field(default_factory=set[Slot])

    def note(self, exchange: Exchange, day: date | datetime) -> None:
        call = exchange.call
        slot = (call.subject, call.operation, day)
        served = exchange.accepted and plain(call)
        if call.present:
            self.attended[slot] += served
            return
        self.tried.add(slot[:2])
        self.batch[slot] += served
        if exchange.refused and self.batch[slot] >= self.quota:
            self.refused.add(slot)


def _judge(
    exchange: Exchange, counts: _Counts, controls: Controls, day: date | datetime
) -> Iterator[Evidence]:
    call = exchange.call
    slot = (call.subject, call.operation, day)
    if not call.present:
        alone = slot[:2] not in counts.tried and counts.attended[slot] > counts.quota
        if alone and call.operation in controls.batch:
            evidence = must_be_served(NOT_COUNTED, exchange, "only attended calls came before")
            known = call.subject in controls.fresh
            yield evidence if known else doubt(evidence, "earlier calls may be unknown")
    elif slot in counts.refused and call.operation in controls.attended:
        yield must_be_served(EXHAUSTED, exchange, "the customer asks directly")
    elif counts.attended[slot] and not (exchange.accepted and counts.attended[slot] < counts.quota):
        yield must_be_served(
            f"{call.operation}-unlimited", exchange, "there is no limit with the customer"
        )


RULE = Rule(
    kind="unmetered",
    party=Party.BANK,
    parse=parse,
    facets=facets,
    price=price,
    probe=probe,
    check=check,
)
