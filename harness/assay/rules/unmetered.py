"""`unmetered`: calls that the customer asks for directly are not limited.

Far more of them than the batch quota are served; they do not use it up; and they
are served when it is used up. Batch calls by another customer are the control.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass

from assay.history import Call, History, Holding, Subject
from assay.model import Capability, Clause, Contract, Operation, Party
from assay.rules import params, script
from assay.rules.folds import must_be_served, plain, served
from assay.rules.rule import Facet, Rule, Script, needs
from assay.verdict import Evidence

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


def parse(clause: Clause, contract: Contract) -> Params:
    """Read the clause's parameters."""
    operations = params.operations(clause, contract)
    about = next((one for one in operations if one.about), operations[0])
    return Params(
        operations=operations,
        quota=params.whole(clause, "quota"),
        grant=params.granting(clause, contract),
        owner=script.owners(contract, about)[0],
    )


def facets(p: Params) -> tuple[Facet, ...]:
    """One facet a method, and two on the quota beside it."""
    psu = needs(Capability.PSU)
    batch = psu | needs(Capability.BATCH, Capability.TWO_PSU)
    each = tuple(
        Facet(
            id=f"{one.id}-unlimited",
            asks=f"{FAR * p.quota} attended calls of {one.id} are served",
            scenario=one.id,
            needs=psu,
        )
        for one in p.operations
    )
    return (
        *each,
        Facet(
            id=NOT_COUNTED,
            asks="attended calls do not use the batch quota up",
            scenario=NOT_COUNTED,
            needs=batch,
        ),
        Facet(
            id=EXHAUSTED,
            asks="attended calls are served when the batch quota is used up",
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


def _customer(p: Params, name: str) -> script.Part[Subject]:
    today = (yield from script.clock()).date()
    holding = Holding(resource=p.owner, entries=script.days_before(today, 1, 2))
    psu = yield from script.arrange(name, holding)
    yield from script.grant(p.grant, name, psu.owns[0].key)
    return psu


def _call(operation: Operation, psu: Subject, *, present: bool) -> Call:
    return Call(
        operation=operation.id,
        subject=psu.name,
        arguments=script.arguments(operation, psu.owns[0].key),
        present=present,
        deviation="" if present else "without the customer",
    )


def probe(p: Params, scenario: str) -> Script:
    """Call far more often than the quota; or around the quota, with a control."""
    psu = yield from _customer(p, "psu")
    if scenario not in {NOT_COUNTED, EXHAUSTED}:
        operation = next(one for one in p.operations if one.id == scenario)
        for _ in range(FAR * p.quota):
            yield from script.send(_call(operation, psu, present=True))
        return
    other = yield from _customer(p, "other")
    for operation in p.operations:
        counted = scenario == NOT_COUNTED
        yield from script.send(_call(operation, other, present=not counted))
        for _ in range((2 * p.quota if counted else p.quota) + 1):
            yield from script.send(_call(operation, psu, present=counted))
        yield from script.send(_call(operation, psu, present=not counted))


def check(p: Params, history: History) -> Iterator[Evidence]:
    """Judge attended calls, and batch calls that follow nothing but attended ones."""
    named = {one.id for one in p.operations}
    batch_works = {operation for _, operation in served(history, present=False)}
    works = {operation for _, operation in served(history)}
    attended: Counter[tuple[str, str]] = Counter()
    batch: Counter[tuple[str, str]] = Counter()
    refused: set[tuple[str, str]] = set()
    for exchange in history.exchanges:
        call = exchange.call
        slot = (call.subject, call.operation)
        if call.operation not in named or not plain(call):
            continue
        if call.present:
            if slot in refused and call.operation in works:
                yield must_be_served(EXHAUSTED, exchange, "the customer asks directly")
            elif attended[slot]:
                yield must_be_served(
                    f"{call.operation}-unlimited", exchange, "there is no limit with the customer"
                )
            attended[slot] += exchange.accepted
            continue
        if not batch[slot] and attended[slot] > p.quota and call.operation in batch_works:
            yield must_be_served(NOT_COUNTED, exchange, "only attended calls came before")
        batch[slot] += exchange.accepted
        if exchange.refused and batch[slot] >= p.quota:
            refused.add(slot)


RULE = Rule(
    kind="unmetered",
    party=Party.BANK,
    parse=parse,
    facets=facets,
    price=price,
    probe=probe,
    check=check,
)
