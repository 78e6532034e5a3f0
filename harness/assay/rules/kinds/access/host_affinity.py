"""`host-affinity`: every link in a response points to the host that was called.

If the target file binds no links for an operation, its facet is not applicable. Links are
read but never followed to another host. A link to the bank's screens is not among them: the
customer's browser follows it, and screens may have a host of their own.

A request that was made at this bank is not read, changed or cancelled at the host of another bank
of its group. The control is the same call at this bank, afterwards: an accepted change or end
elsewhere needs none.

The TPP: once a host is chosen, the flow stays on it.
A flow is all calls about one request, or all calls about the resources of one customer.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from urllib.parse import urljoin, urlsplit

from assay.contract.model import Capability, Operation
from assay.history import Authorised, Exchange, History, Indeterminate
from assay.rules import parameters, steps
from assay.rules.controls import Shared, refused_beside, same_but
from assay.rules.lifecycle import request_steps
from assay.rules.lifecycle.tracker import lifecycle_of_operation
from assay.rules.queries import ordinary
from assay.rules.rule import (
    Calls,
    CallScenario,
    Facet,
    Kind,
    Purpose,
    Scenario,
    Scope,
    Script,
    TppFacet,
    bound,
    consent,
    facts_of,
    needs,
)
from assay.rules.verdict import (
    AGREES,
    DISAGREES,
    Evidence,
    Standing,
    doubt,
    must_be_served,
    tpp_evidence,
)

#: Enough items for a next page at most banks.
MANY = 18
#: The default ports of the schemes.
PORTS = {"http": 80, "https": 443}
#: The TPP's obligation.
TPP_FACET = "stays-on-host"


@dataclass(frozen=True, slots=True, kw_only=True)
class HostAffinity(Kind):
    """Operations whose links must point to the host that was called."""

    name = "host-affinity"
    scope = Scope(calls=Calls.NAMED)
    purpose = Purpose.PROMISE
    accepts_refusals = True
    across_banks = True
    of_each_bank = True

    operations: tuple[Operation, ...] = parameters.operations()
    grant: Operation | None = parameters.grant()
    every_host: bool = parameters.flag(key="every-host")

    def facets(self) -> tuple[Facet, ...]:
        """Return one facet for each operation, and one for the target's other hosts."""
        out = tuple(
            Facet(
                id=f"{operation.id}-links",
                description=f"every link for the TPP in a response of {operation.id} points to the called host",
                scenario=CallScenario(id=f"{operation.id}:links", operation=operation),
                needs=needs(Capability.PSU)
                | (consent(self.grant) if operation.about else needs())
                | needs(*([Capability.WRITE] if operation.request else [])),
                requires=bound(operation, "links", if_missing=Standing.NOT_APPLICABLE),
            )
            for operation in self.operations
        )
        out += tuple(
            Facet(
                id=f"{operation.id}{ELSEWHERE}",
                description=f"{operation.id} of a request that was made here is refused at another bank's host",
                scenario=CallScenario(id=f"{operation.id}{ELSEWHERE}", operation=operation),
                needs=needs(Capability.PSU, Capability.WRITE),
                requires=bound(operation, "banks", if_missing=Standing.NOT_APPLICABLE),
            )
            for operation in self._about_requests
        )
        if not self.every_host:
            return out
        writes = needs(*([Capability.WRITE] if self.operations[0].request else []))
        return (
            *out,
            Facet(
                id=EVERY,
                description="every host of the target answers",
                scenario=Scenario(id=EVERY),
                needs=needs(Capability.PSU, Capability.HOSTS) | writes,
            ),
        )

    @property
    def _about_requests(self) -> Sequence[Operation]:
        """The operations about the requests that the clause is about."""
        if not self.operations[0].request:
            return ()
        lifecycle = lifecycle_of_operation(self.contract, self.operations[0])
        return [each for each in lifecycle.operations if not each.makes and each.available]

    def probe(self, scenario: Scenario) -> Script:
        """Own enough items for a second page, and read the first page."""
        if isinstance(scenario, CallScenario) and scenario.id.endswith(ELSEWHERE):
            yield from self._elsewhere(scenario.operation)
            return
        if not isinstance(scenario, CallScenario):
            yield from self._every()
            return
        operation = scenario.operation
        days, count = (range(1, MANY + 1), 1) if operation.about else ((), MANY)
        call = yield from request_steps.plain_call(
            self.contract, operation, self.grant, days=days, count=count
        )
        yield from request_steps.send_if_any(call)

    def check(self, history: History) -> Iterator[Evidence]:
        """Judge every response with links."""
        named = {operation.id for operation in self.operations}
        if self.every_host:
            yield from self._hosts(history)
        yield from self._at_other_banks(history)
        for exchange in history.exchanges:
            wire = exchange.wire
            known = not isinstance(exchange.outcome, Indeterminate)
            own = exchange.call.operation in named and exchange.call.bank is None
            if not own or not wire.links or not known:
                continue
            here = host(wire.url)
            hosts = {link: host(_absolute(wire.url, link)) for link in wire.links}
            astray = [link for link, name in hosts.items() if name != here]
            yield Evidence(
                facet=f"{exchange.call.operation}-links",
                agreement=DISAGREES if astray else AGREES,
                expected=f"links on {here} only",
                seen=f"a link to {hosts[astray[0]] or 'no host at all'}"
                if astray
                else f"{len(wire.links)} links to this host",
                exchanges=(exchange.n,),
                member=exchange.member("links", astray[0]) if astray else None,
            )

    def tpp_facet(self) -> TppFacet:
        """Return the one obligation of the TPP."""
        return TppFacet(
            id=TPP_FACET, description="all later requests of a flow use the host of the first one"
        )

    def check_tpp(self, history: History) -> Iterator[Evidence]:
        """Judge every later call of a flow."""
        chosen: dict[str, Exchange] = {}
        for exchange in history.exchanges:
            operation = self.contract.operations.get(exchange.call.operation)
            if operation is None:
                continue
            if operation.makes:
                if exchange.item is not None and exchange.item.key is not None:
                    chosen[f"request {exchange.item.key}"] = exchange
                continue
            if operation.request or operation.by_tpp:
                flow = f"request {exchange.call.arguments.get(operation.about or '')}"
                if flow not in chosen:
                    continue
            else:
                flow = f"customer {exchange.call.subject}"
            first = chosen.setdefault(flow, exchange)
            if first is exchange:
                continue
            here, there = host(first.wire.url), host(exchange.wire.url)
            owed = f"the flow stays on {here}"
            judged = AGREES if here == there else DISAGREES
            yield tpp_evidence(
                TPP_FACET, judged, exchange, owed, f"it continued on {there}", first.n
            )

    def _every(self) -> Script:
        """Call the first operation on the chosen host, and on another."""
        operation = self.operations[0]
        if operation.request:
            _, call = yield from request_steps.prepare_call(self.contract, operation)
        else:
            psu = yield from steps.customer("psu", steps.roots(self.contract)[0].id, None)
            call = steps.ask(operation, "psu", psu.owns[0].key)
        yield from request_steps.send_if_any(call)
        if call is not None:
            yield from request_steps.send_if_any(
                replace(call, host=0, variation="on another host of the target")
            )

    def _elsewhere(self, operation: Operation) -> Script:
        """Make a call about a request at another bank, and at that of the request."""
        if operation.ends:
            lifecycle = lifecycle_of_operation(self.contract, operation)
            psu = yield from request_steps.customer(lifecycle)
            mode = next(iter(lifecycle.deferred_modes), None)
            made = yield from steps.send(request_steps.request(lifecycle, psu, mode))
            call = request_steps.call_about(operation, made)
        else:
            _, call = yield from request_steps.prepare_call(self.contract, operation)
        if call is not None:
            elsewhere = replace(call, bank=0, variation="at the host of another bank")
            yield from steps.send(elsewhere)
            yield from steps.send(call)

    def _at_other_banks(self, history: History) -> Iterator[Evidence]:
        """Judge calls about requests at other banks, beside the same calls at that of the request."""
        named = {operation.id: operation.about or "" for operation in self._about_requests}
        made: set[str | None] = set()
        controls: dict[Shared, list[int]] = {}
        for exchange in history.exchanges:
            if exchange.call.bank is None and exchange.accepted:
                controls.setdefault(same_but(exchange.call), []).append(exchange.n)
        for exchange in history.exchanges:
            call = exchange.call
            operation = self.contract.operations.get(call.operation)
            if call.bank is None:
                if operation is not None and operation.makes and exchange.item is not None:
                    made.add(exchange.item.key)
                continue
            key = named.get(call.operation)
            if key is not None and call.arguments.get(key) in made and ordinary(call):
                why, beside = (
                    "the request was made at another bank",
                    controls.get(same_but(call), ()),
                )
                facet = f"{call.operation}{ELSEWHERE}"
                yield from refused_beside(facet, exchange, why, beside, failure_open=True)

    def _hosts(self, history: History) -> Iterator[Evidence]:
        """Judge calls to another host if the same call was accepted on the chosen one.

        One that makes a request may be refused as a repeat where the first may have been executed.
        """
        unrepeatable = facts_of(self.contract).unrepeatable
        named = {operation.id: operation for operation in self.operations}
        perhaps_repeated: dict[Shared, bool] = {}
        for event in history.events:
            if isinstance(event, Authorised):
                perhaps_repeated |= dict.fromkeys(perhaps_repeated, True)
            if not isinstance(event, Exchange) or event.call.operation not in named:
                continue
            call, operation = event.call, named[event.call.operation]
            if not ordinary(call) or call.bank is not None:
                continue
            control = same_but(replace(call, host=None))
            if call.host is None and event.accepted:
                perhaps_repeated[control] = not operation.signed
            elif call.host is not None and control in perhaps_repeated:
                evidence = must_be_served(EVERY, event, "every host gives the same answer")
                repeats = operation.makes in unrepeatable and perhaps_repeated[control]
                if repeats and evidence.agreement is DISAGREES:
                    evidence = doubt(evidence, "it may repeat a request that was executed")
                yield evidence


#: The facet and the scenario of the target's other hosts.
EVERY = "every-host"
#: How the facets and scenarios of calls at other banks end.
ELSEWHERE = "-elsewhere"


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
    except ValueError:  # an invalid URL does not point to this host
        return ""
