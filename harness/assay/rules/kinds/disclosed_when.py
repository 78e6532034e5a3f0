"""`disclosed-when`: a value is given once there is a consent, and not before.

"Not before" is judged only where the value was seen afterwards: a value that
never shows may simply stand elsewhere than the profile says.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace

from assay.contract.model import Capability, Clause, Contract, Operation, Party
from assay.history import Accepted, Call, Exchange, History, Holding
from assay.judging.verdict import Evidence
from assay.rules import parameters, steps
from assay.rules.queries import AGREES, DISAGREES, doubt, fresh, plain
from assay.rules.rule import BindingRequirement, Facet, Rule, Script, needs
from assay.rules.state.consents import EARLIER, Consents

AFTER, BEFORE = "disclosed-after", "withheld-before"


@dataclass(frozen=True, slots=True, kw_only=True)
class Params:
    """The operation, the value beside its list, and how consent is given."""

    operation: Operation
    value: str
    grant: Operation
    owner: str


def parse(clause: Clause, contract: Contract) -> Params:
    """Read the clause's parameters."""
    grant = parameters.granting(clause, contract)
    if grant is None:
        raise TypeError(f"{clause.id} names no granting operation")
    return Params(
        operation=parameters.operation(clause, contract),
        value=parameters.text(clause, "value"),
        grant=grant,
        owner=steps.roots(contract)[0].id,
    )


def facets(p: Params) -> tuple[Facet, ...]:
    """One facet after consent, one before."""
    wants = (BindingRequirement(operation=p.operation.id, feature="value", name=p.value),)
    return tuple(
        Facet(
            id=id_,
            description=asks,
            scenario="around-consent",
            needs=needs(Capability.PSU, Capability.CONSENT),
            requires=wants,
        )
        for id_, asks in (
            (AFTER, f"{p.value} is given once there is a consent"),
            (BEFORE, f"{p.value} is not given before"),
        )
    )


def price(p: Params, scenario: str) -> int:
    """Count the calls: before, consent, after."""
    return 3


def probe(p: Params, scenario: str) -> Script:
    """Read, consent, read again."""
    psu = yield from steps.arrange("psu", Holding(resource=p.owner))
    read = Call(operation=p.operation.id, subject="psu")
    yield from steps.send(replace(read, variation="before any consent"))
    yield from steps.grant(p.grant, "psu", psu.owns[0].key)
    yield from steps.send(read)


def _given(p: Params, exchange: Exchange) -> bool:
    outcome = exchange.outcome
    return isinstance(outcome, Accepted) and outcome.values.get(p.value) not in (None, "")


def check(p: Params, history: History) -> Iterator[Evidence]:
    """Judge every plain answer by whether its customer had consented."""
    untouched = fresh(history)
    consents = Consents(grant=p.grant)
    before: list[Exchange] = []
    shown: set[str] = set()
    for exchange in history.exchanges:
        call = exchange.call
        consents.note(exchange)
        if call.operation != p.operation.id or not plain(call) or not exchange.accepted:
            continue
        if not consents.perhaps(call.subject):
            before.append(exchange)
        elif consents.sure(call.subject):
            given = _given(p, exchange)
            if given:
                shown.add(call.subject)
            yield Evidence(
                facet=AFTER,
                agreement=AGREES if given else DISAGREES,
                expected=f"{p.value} in the answer",
                seen="it is given" if given else "it is not there",
                exchanges=(exchange.n,),
            )
    for exchange in before:
        given = _given(p, exchange)
        if given or exchange.call.subject in shown:
            evidence = Evidence(
                facet=BEFORE,
                agreement=DISAGREES if given else AGREES,
                expected=f"no {p.value} before consent",
                seen="it is given" if given else "it is withheld",
                exchanges=(exchange.n,),
                variation=exchange.call.variation,
            )
            known = exchange.call.subject in untouched
            yield evidence if known else doubt(evidence, EARLIER)


RULE = Rule(
    kind="disclosed-when",
    party=Party.BANK,
    parse=parse,
    facets=facets,
    price=price,
    probe=probe,
    check=check,
)
