"""`host-affinity`: once a host is chosen, every link of an answer stays on it.

A target whose profile names no links for an operation has none that could lead
astray; the facet is then not applicable. Links are looked at, never followed
off the host.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from urllib.parse import urljoin, urlsplit

from assay.contract.model import Capability, Clause, Contract, Operation, Party
from assay.history import Call, History, Holding, Indeterminate
from assay.judging.verdict import Evidence, Standing
from assay.rules import parameters, steps
from assay.rules.lifecycle import request_steps
from assay.rules.queries import AGREES, DISAGREES, must_be_served, ordinary, question
from assay.rules.rule import BindingRequirement, Facet, Rule, Script, consent, needs

#: Enough of everything that most banks name a next page.
MANY = 18
#: The ports that a URL need not name.
PORTS = {"http": 80, "https": 443}


@dataclass(frozen=True, slots=True, kw_only=True)
class Params:
    """The operations whose links are looked at, and how consent is given."""

    operations: tuple[Operation, ...]
    grant: Operation | None
    contract: Contract
    every_host: bool = False


#: The facet and the scenario of the target's other hosts.
EVERY = "every-host"


def parse(clause: Clause, contract: Contract) -> Params:
    """Read the clause's parameters."""
    return Params(
        operations=parameters.operations(clause, contract),
        grant=parameters.granting(clause, contract),
        contract=contract,
        every_host=clause.params.get("every-host") is True,
    )


def facets(p: Params) -> tuple[Facet, ...]:
    """One facet an operation, and one for the target's other hosts."""
    out = tuple(
        Facet(
            id=f"{operation.id}-links",
            description=f"every link in an answer of {operation.id} stays on the host",
            scenario=operation.id,
            needs=needs(Capability.PSU)
            | (consent(p.grant) if operation.about else needs())
            | needs(*([Capability.WRITE] if operation.request else [])),
            requires=(
                BindingRequirement(
                    operation=operation.id,
                    feature="links",
                    if_missing=Standing.NOT_APPLICABLE,
                ),
            ),
        )
        for operation in p.operations
    )
    if not p.every_host:
        return out
    writes = needs(*([Capability.WRITE] if p.operations[0].request else []))
    return (
        *out,
        Facet(
            id=EVERY,
            description="every host of the target answers",
            scenario=EVERY,
            needs=needs(Capability.PSU, Capability.HOSTS) | writes,
        ),
    )


def price(p: Params, scenario: str) -> int:
    """Count the calls: consent where it is about something, and the question."""
    if scenario == EVERY:
        return 2 + (request_steps.before(p.operations[0]) if p.operations[0].request else 0)
    request = next((one for one in p.operations if one.id == scenario and one.request), None)
    if request:
        return 1 + request_steps.before(request)
    about = next(one.about for one in p.operations if one.id == scenario)
    return 2 if about and p.grant else 1


def probe(p: Params, scenario: str) -> Script:
    """Own enough for a second page, and read the first."""
    if scenario == EVERY:
        yield from _every(p)
        return
    operation = next(one for one in p.operations if one.id == scenario)
    if operation.request:
        _, call = yield from request_steps.ready(p.contract, operation)
        yield from request_steps.maybe(call)
        return
    today = (yield from steps.clock()).date()
    owners = steps.owners(p.contract, operation)
    if operation.about:
        entries = steps.days_before(today, *range(1, MANY + 1))
        holding = Holding(resource=owners[0], entries=entries)
    else:
        holding = Holding(resource=owners[0], count=MANY)
    psu = yield from steps.arrange("psu", holding)
    key = psu.owns[0].key
    if operation.about:
        yield from steps.grant(p.grant, "psu", key)
    yield from steps.send(
        Call(
            operation=operation.id,
            subject="psu",
            arguments=steps.arguments(operation, key),
        )
    )


def _every(p: Params) -> Script:
    """Call the first operation on the host that is chosen, and on another."""
    operation = p.operations[0]
    if operation.request:
        _, call = yield from request_steps.ready(p.contract, operation)
    else:
        psu = yield from steps.customer("psu", steps.roots(p.contract)[0].id, None)
        arguments = steps.arguments(operation, psu.owns[0].key)
        call = Call(operation=operation.id, subject="psu", arguments=arguments)
    yield from request_steps.maybe(call)
    if call is not None:
        yield from request_steps.maybe(
            replace(call, host=0, variation="on another host of the target")
        )


def host(url: str) -> str:
    """Return a URL's host with its port, unless it is the scheme's own; "" for none."""
    try:
        parts = urlsplit(url)
        name, port = parts.hostname or "", parts.port
    except ValueError:
        return ""
    return f"{name}:{port}" if port and port != PORTS.get(parts.scheme) else name


def _absolute(base: str, link: str) -> str:
    try:
        return urljoin(base, link)
    except ValueError:  # what is no URL leads nowhere on this host
        return ""


def check(p: Params, history: History) -> Iterator[Evidence]:
    """Judge every answer that carries links."""
    named = {operation.id for operation in p.operations}
    if p.every_host:
        yield from _hosts(p, history)
    for exchange in history.exchanges:
        wire = exchange.wire
        known = not isinstance(exchange.outcome, Indeterminate)
        if exchange.call.operation not in named or not wire.links or not known:
            continue
        here = host(wire.url)
        hosts = [host(_absolute(wire.url, link)) for link in wire.links]
        astray = [one for one in hosts if one != here]
        yield Evidence(
            facet=f"{exchange.call.operation}-links",
            agreement=DISAGREES if astray else AGREES,
            expected=f"links on {here} only",
            seen=f"a link to {astray[0] or 'no host at all'}"
            if astray
            else f"{len(hosts)} links, all there",
            exchanges=(exchange.n,),
        )


def _hosts(p: Params, history: History) -> Iterator[Evidence]:
    """Judge calls on another host whose twin was accepted on the chosen one."""
    known: set[tuple[str, ...]] = set()
    for exchange in history.exchanges:
        call = exchange.call
        if not ordinary(call) or call.operation not in {one.id for one in p.operations}:
            continue
        asked = (*question(call), str(call.mode))
        if call.host is None and exchange.accepted:
            known.add(asked)
        elif call.host is not None and asked in known:
            yield must_be_served(EVERY, exchange, "every host answers alike")


RULE = Rule(
    kind="host-affinity",
    party=Party.BANK,
    parse=parse,
    facets=facets,
    price=price,
    probe=probe,
    check=check,
)
