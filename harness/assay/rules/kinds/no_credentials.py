"""`no-credentials`: a request that carries the customer's credentials is not honoured.

The credentials take the place of the provider's own authorisation, spelt as the
profile says. The control is the same request, properly authorised.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace

from assay.contract.model import Capability, Clause, Contract, Operation, Party
from assay.history import Call, History, Holding
from assay.judging.verdict import Evidence
from assay.rules import parameters, steps
from assay.rules.lifecycle import request_steps
from assay.rules.queries import must_be_refused, ordinary
from assay.rules.rule import BindingRequirement, Facet, Rule, Script, consent, needs


@dataclass(frozen=True, slots=True, kw_only=True)
class Params:
    """The operations that could be tricked so, and what a customer owns."""

    operations: tuple[Operation, ...]
    owner: str
    contract: Contract


def parse(clause: Clause, contract: Contract) -> Params:
    """Read the clause's parameters."""
    return Params(
        operations=parameters.operations(clause, contract),
        owner=steps.roots(contract)[0].id,
        contract=contract,
    )


def facets(p: Params) -> tuple[Facet, ...]:
    """One facet an operation."""
    return tuple(
        Facet(
            id=operation.id,
            description=f"{operation.id} is refused with the customer's credentials alone",
            scenario=operation.id,
            needs=needs(Capability.PSU, Capability.CREDENTIALS)
            | consent(operation)
            | needs(*([Capability.WRITE] if operation.request else [])),
            requires=(BindingRequirement(operation=operation.id, feature="credentials"),),
        )
        for operation in p.operations
    )


def price(p: Params, scenario: str) -> int:
    """Count the calls: the control and the variation."""
    operation = next(one for one in p.operations if one.id == scenario)
    return 2 + (request_steps.before(operation) if operation.request else 0)


def probe(p: Params, scenario: str) -> Script:
    """Call properly, then with the customer's credentials instead."""
    operation = next(one for one in p.operations if one.id == scenario)
    if operation.request:
        _, ready = yield from request_steps.ready(p.contract, operation)
        if ready is None:
            return
        call = ready
    else:
        psu = yield from steps.arrange("psu", Holding(resource=p.owner))
        call = Call(
            operation=operation.id,
            subject="psu",
            arguments=steps.arguments(operation, psu.owns[0].key),
        )
    yield from steps.send(call)
    yield from steps.send(
        replace(
            call,
            credentials=True,
            variation="the customer's credentials instead of an authorisation",
        )
    )


def check(p: Params, history: History) -> Iterator[Evidence]:
    """Judge every call with credentials whose proper twin was answered."""
    known = {
        (one.call.subject, one.call.operation)
        for one in history.exchanges
        if one.accepted and one.call.present and ordinary(one.call)
    }
    named = {operation.id for operation in p.operations}
    for exchange in history.exchanges:
        call = exchange.call
        controlled = (call.subject, call.operation) in known
        if call.credentials and controlled and call.operation in named:
            yield must_be_refused(call.operation, exchange, "it carries the customer's credentials")


RULE = Rule(
    kind="no-credentials",
    party=Party.BANK,
    parse=parse,
    facets=facets,
    price=price,
    probe=probe,
    check=check,
)
