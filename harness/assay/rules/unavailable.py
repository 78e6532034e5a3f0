"""`unavailable`: a method is not offered, with or without a consent.

Any refusal will do, for documents seldom say which; an empty list is no refusal.
The control is another method, which must answer the same customer in the trial.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from assay.history import Call, History, Holding
from assay.model import Capability, Clause, Contract, Operation, Party
from assay.rules import params, script
from assay.rules.consents import Consents
from assay.rules.folds import DISAGREES, must_be_refused, plain, served
from assay.rules.rule import Facet, Rule, Script, needs
from assay.verdict import Evidence

WITHOUT, WITH = "refused-without-consent", "refused-with-consent"


@dataclass(frozen=True, slots=True, kw_only=True)
class Params:
    """The method that is not there, one that is, and how consent is given."""

    operation: Operation
    control: Operation
    grant: Operation | None
    owner: str


def parse(clause: Clause, contract: Contract) -> Params:
    """Read the clause's parameters."""
    return Params(
        operation=params.operation(clause, contract),
        control=params.operation(clause, contract, "control"),
        grant=params.granting(clause, contract),
        owner=script.roots(contract)[0].id,
    )


def facets(p: Params) -> tuple[Facet, ...]:
    """One facet before any consent, one after, where there is such a thing."""
    out = [
        Facet(
            id=WITHOUT,
            asks="it is refused before any consent",
            scenario="without",
            needs=needs(Capability.PSU),
        )
    ]
    if p.grant:
        out.append(
            Facet(
                id=WITH,
                asks="it is refused with a consent too",
                scenario="with",
                needs=needs(Capability.PSU, Capability.CONSENT),
            )
        )
    return tuple(out)


def price(p: Params, scenario: str) -> int:
    """Count the calls of a scenario."""
    return 2 if scenario == "without" else 3


def probe(p: Params, scenario: str) -> Script:
    """Call the control, then the method."""
    psu = yield from script.arrange("psu", Holding(resource=p.owner))
    key = psu.owns[0].key
    if scenario == "with":
        yield from script.grant(p.grant, "psu", key)
    yield from script.send(
        Call(
            operation=p.control.id,
            subject="psu",
            arguments=script.arguments(p.control, key),
        )
    )
    yield from script.send(
        Call(operation=p.operation.id, subject="psu", deviation="a method that is not offered")
    )


def check(p: Params, history: History) -> Iterator[Evidence]:
    """Judge every call of the method by a customer whom the control has answered."""
    known = served(history)
    consents = Consents(grant=p.grant)
    for exchange in history.exchanges:
        call = exchange.call
        consents.note(exchange)
        controlled = (call.subject, p.control.id) in known
        sure, perhaps = consents.sure(call.subject), consents.perhaps(call.subject)
        if call.operation == p.operation.id and plain(call) and controlled:
            judged = must_be_refused(
                WITH if sure else WITHOUT, exchange, "the method is not available"
            )
            # Offered is offered; but a refusal must be known to be before or after.
            if judged.agreement is DISAGREES or sure or not perhaps:
                yield judged


RULE = Rule(
    kind="unavailable",
    party=Party.BANK,
    parse=parse,
    facets=facets,
    price=price,
    probe=probe,
    check=check,
)
