"""`well-formed`: responses declared as JSON are JSON, and accepted calls declare it.

Raw responses are judged, without the target file: if a target breaks this clause, most
others cannot be tested, and this one says why.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import dataclass, replace
from http import HTTPStatus

from assay.contract.model import Capability, Operation
from assay.history import Exchange, History, Holding, Subject, Wire
from assay.rules import parameters, steps
from assay.rules.lifecycle import request_steps
from assay.rules.rule import (
    Calls,
    Facet,
    Kind,
    Purpose,
    Scenario,
    Scope,
    Script,
    consent,
    facts_of,
    needs,
)
from assay.rules.verdict import AGREES, DISAGREES, GATEWAY, UNCLEAR, Evidence

#: Entries of each thing, on so many last days: most banks show them on two pages.
MANY, FRESH = 18, 7
#: The trials, and what the facets of the second begin with: customers are few, so it is apart.
EACH, READS, READ = "each", "reads", "read-"


@dataclass(frozen=True, slots=True, kw_only=True)
class WellFormed(Kind):
    """The operations whose responses must be JSON."""

    name = "well-formed"
    scope = Scope(calls=Calls.CONTRACT)
    purpose = Purpose.PROMISE
    accepts_refusals = True

    operations: tuple[Operation, ...] = parameters.operations()
    grant: Operation | None = parameters.grant()

    @property
    def reads(self) -> tuple[Operation, ...]:
        """The operations that are not about requests."""
        return tuple(each for each in self.operations if not each.request)

    @property
    def requests(self) -> tuple[Operation, ...]:
        """The operations about requests."""
        return tuple(each for each in self.operations if each.request)

    def facets(self) -> tuple[Facet, ...]:
        """Return one facet for the body, and one for its media type; both twice beside requests."""
        both = bool(self.reads and self.requests)
        return tuple(
            Facet(
                id=f"{prefix}{id_}",
                description=description + (of if both else ""),
                scenario=Scenario(id=scenario),
                needs=needs(Capability.PSU, *([Capability.WRITE] if operations[0].request else ()))
                | consent(self.grant, *operations),
                exercises=tuple(operation.id for operation in operations),
            )
            for prefix, scenario, operations, of in (
                ("", EACH, self.requests or self.reads, ", of operations on requests"),
                *([(READ, READS, self.reads, ", of the other operations")] if both else ()),
            )
            for id_, description in (
                ("json", "every body declared as JSON is well-formed JSON"),
                ("media-type", "every accepted response with a body declares JSON"),
            )
        )

    def probe(self, scenario: Scenario) -> Script:
        """Call each operation about requests; or provoke a refusal, and read about each resource."""
        if self.requests and scenario.id == EACH:
            yield from self._requests(self.requests)
            return
        today = (yield from steps.clock()).date()
        entries = steps.days_before(today, *(1 + n % FRESH for n in range(MANY)))
        psu = yield from steps.arrange(
            "psu",
            *(Holding(resource=root.id, entries=entries) for root in steps.roots(self.contract)),
        )
        guarded = self._guarded()
        if self.grant and guarded:
            yield from steps.send(
                steps.ask(guarded, "psu", self._first(guarded, psu), "before any consent")
            )
        yield from steps.grant(self.grant, "psu", *(owned.key for owned in psu.owns))
        for operation in self.reads:
            if operation == self.grant:
                continue
            about = steps.owners(self.contract, operation)
            keys = [owned.key for owned in psu.owns if owned.resource in about]
            for key in keys if operation.about else keys[:1]:
                # A later page may be made elsewhere than the first.
                yield from steps.walk(
                    steps.ask(operation, "psu", key), most=2 if self._fills_a_page(operation) else 1
                )

    def check(self, history: History) -> Iterator[Evidence]:
        """Judge every response with a body, whatever the call, and accepted reads that declare one."""
        apart = {each.id for each in self.contract.operations.values() if not each.request}
        for exchange in history.exchanges:
            wire = exchange.wire
            if wire.status and (wire.body or _owes_content(wire)) and not wire.truncated:
                read = self.requests and self.reads and exchange.call.operation in apart
                yield from _judge(exchange, READ if read else "")

    def _fills_a_page(self, operation: Operation) -> bool:
        """Whether what the probe's customer owns fills more than one page of an operation."""
        size = facts_of(self.contract).page_sizes.get(operation.id)
        return size is not None and bool(operation.about) and size < MANY

    def _guarded(self) -> Operation | None:
        return next((operation for operation in self.reads if operation.about), None)

    def _requests(self, operations: tuple[Operation, ...]) -> Script:
        """Call every operation about requests, each for its own customer; once with a bad key."""
        wrong = None
        for n, operation in enumerate(operations):
            _, call = yield from request_steps.prepare_call(
                self.contract, operation, f"psu-{n + 1}"
            )
            yield from request_steps.send_if_any(call)
            if call is not None and operation.about:
                unknown = {**call.arguments, operation.about: "nothing-that-exists"}
                why = "about something that does not exist"
                wrong = replace(call, arguments=unknown, variation=why)
        yield from request_steps.send_if_any(wrong)

    def _first(self, operation: Operation, psu: Subject) -> str:
        about = steps.owners(self.contract, operation)
        return next(owned.key for owned in psu.owns if owned.resource in about)


def is_json(media_type: str) -> bool:
    """Whether a media type is JSON or has its suffix (RFC 6839)."""
    return media_type.endswith(("/json", "+json"))


def _refuse(name: str) -> object:
    raise ValueError(f"{name} is not JSON")


#: Numbers are not converted: one of 5,000 digits is still JSON.
_DECODER = json.JSONDecoder(parse_constant=_refuse, parse_int=str, parse_float=str)


def _broken(body: bytes) -> str | None:
    """Return why a body is not JSON (RFC 8259); "" if it is, None if it is too deep."""
    if not body:
        return "the body is empty"
    try:
        _DECODER.decode(body.decode("utf-8"))
    except ValueError as error:
        return str(error)
    except RecursionError:
        return None
    return ""


def _owes_content(wire: Wire) -> bool:
    """Whether an accepted read declares JSON, and says that it has none.

    An answer that does not say its length may have a body that a recording lacks.
    """
    read = wire.method == "GET" and wire.status == HTTPStatus.OK and is_json(wire.media_type)
    return read and wire.header("content-length") == "0"


def _judge(exchange: Exchange, prefix: str) -> Iterator[Evidence]:
    wire = exchange.wire
    declared = is_json(wire.media_type)
    if declared:
        broken = _broken(wire.body)
        # What a gateway in front of the bank answers says nothing of the bank.
        open_ = broken is None or (broken and (exchange.early or wire.status in GATEWAY))
        yield Evidence(
            facet=f"{prefix}json",
            agreement=UNCLEAR if open_ else DISAGREES if broken else AGREES,
            expected=f"well-formed JSON, as {wire.media_type} says",
            seen="it is nested too deeply to be judged"
            if broken is None
            else f"invalid JSON: {broken}"
            if broken
            else "well-formed JSON",
            exchanges=(exchange.n,),
        )
    if 200 <= wire.status < 300:  # noqa: PLR2004 -- the class of success
        yield Evidence(
            facet=f"{prefix}media-type",
            agreement=AGREES if declared else DISAGREES,
            expected="a JSON media type on an accepted response",
            seen=wire.media_type or "no media type",
            exchanges=(exchange.n,),
            member=exchange.member("header", "content-type"),
        )
