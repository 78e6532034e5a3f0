"""`well-formed`: every answer that is declared as JSON is JSON, and accepted calls declare it.

Judged on the wire, below any binding: a target that breaks this makes most other
questions unanswerable, and this is the clause that says why.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import dataclass, replace

from assay.contract.model import Capability, Operation
from assay.history import Call, Exchange, History, Holding, Subject
from assay.judging.verdict import Evidence
from assay.rules import clauses, parameters, steps
from assay.rules.evidence import AGREES, DISAGREES, UNCLEAR
from assay.rules.lifecycle import request_steps
from assay.rules.rule import Facet, Kind, Scenario, Script, consent, needs

#: Entries of each thing, on so many last days: most banks show them on two pages.
MANY, FRESH = 18, 7


@dataclass(frozen=True, slots=True, kw_only=True)
class WellFormed(Kind):
    """The operations whose answers must be JSON."""

    name = "well-formed"

    operations: tuple[Operation, ...] = parameters.operations()
    grant: Operation | None = parameters.grant()

    def facets(self) -> tuple[Facet, ...]:
        """One facet for the body, one for what it is declared to be."""
        return tuple(
            Facet(
                id=id_,
                description=asks,
                scenario=Scenario(id="each"),
                needs=needs(Capability.PSU)
                | consent(self.grant, *self.operations)
                | needs(
                    *([Capability.WRITE] if any(one.request for one in self.operations) else [])
                ),
            )
            for id_, asks in (
                ("json", "every body that is declared as JSON is well-formed JSON"),
                ("media-type", "every accepted answer with a body declares JSON"),
            )
        )

    def probe(self, scenario: Scenario) -> Script:
        """Provoke a refusal, then call every operation about everything."""
        requests = [one for one in self.operations if one.request]
        if requests:
            yield from _requests(self, requests)
            return
        today = (yield from steps.clock()).date()
        entries = steps.days_before(today, *(1 + n % FRESH for n in range(MANY)))
        psu = yield from steps.arrange(
            "psu",
            *(Holding(resource=root.id, entries=entries) for root in steps.roots(self.contract)),
        )
        guarded = _guarded(self)
        if self.grant and guarded:
            yield from steps.send(
                Call(
                    operation=guarded.id,
                    subject="psu",
                    arguments=steps.arguments(guarded, _first(self, guarded, psu)),
                    variation="before any consent",
                )
            )
        yield from steps.grant(self.grant, "psu", *(one.key for one in psu.owns))
        for operation in self.operations:
            if operation == self.grant:
                continue
            about = steps.owners(self.contract, operation)
            keys = [one.key for one in psu.owns if one.resource in about]
            for key in keys if operation.about else keys[:1]:
                # A later page may be made elsewhere than the first.
                yield from steps.walk(
                    Call(
                        operation=operation.id,
                        subject="psu",
                        arguments=steps.arguments(operation, key),
                    ),
                    most=2 if _fills_a_page(self, operation) else 1,
                )

    def check(self, history: History) -> Iterator[Evidence]:
        """Judge every answer that has a body, whatever was asked."""
        for exchange in history.exchanges:
            wire = exchange.wire
            if wire.status and wire.body and not wire.truncated:
                yield from _judge(exchange)


def _fills_a_page(p: WellFormed, operation: Operation) -> bool:
    """Whether what the probe's customer owns fills more than one page of an operation."""
    size = clauses.page_size(p.contract, operation.id)
    return size is not None and bool(operation.about) and size < MANY


def _guarded(p: WellFormed) -> Operation | None:
    return next((one for one in p.operations if one.about), None)


def _requests(p: WellFormed, operations: list[Operation]) -> Script:
    """Call everything about requests, each for a customer of its own; and once wrongly."""
    call = None
    for n, operation in enumerate(operations):
        _, call = yield from request_steps.prepare_call(p.contract, operation, f"psu-{n + 1}")
        yield from request_steps.send_if_any(call)
    if call is not None:
        about = next((one.about for one in operations if one.id == call.operation), None)
        wrong = {**call.arguments, about or "": "nothing-that-exists"}
        yield from steps.send(
            replace(call, arguments=wrong, variation="about something that does not exist")
        )


def _first(p: WellFormed, operation: Operation, psu: Subject) -> str:
    about = steps.owners(p.contract, operation)
    return next(one.key for one in psu.owns if one.resource in about)


def is_json(media_type: str) -> bool:
    """Whether a media type is JSON's own or one with its suffix (RFC 6839)."""
    return media_type.endswith(("/json", "+json"))


def _refuse(name: str) -> object:
    raise ValueError(f"{name} is no JSON")


def _broken(body: bytes) -> str | None:
    """Say why a body is not JSON (RFC 8259); empty when it is, None when it is too deep."""
    try:
        # Numbers are left as they stand: one of 5,000 digits is still JSON.
        json.loads(body.decode("utf-8"), parse_constant=_refuse, parse_int=str, parse_float=str)
    except ValueError as error:
        return str(error)
    except RecursionError:
        return None
    return ""


def _judge(exchange: Exchange) -> Iterator[Evidence]:
    wire = exchange.wire
    declared = is_json(wire.media_type)
    if declared:
        broken = _broken(wire.body)
        yield Evidence(
            facet="json",
            agreement=UNCLEAR if broken is None else DISAGREES if broken else AGREES,
            expected=f"well-formed JSON, as {wire.media_type} says",
            seen="it is nested too deep to tell"
            if broken is None
            else f"it is not: {broken}"
            if broken
            else "it is",
            exchanges=(exchange.n,),
        )
    if 200 <= wire.status < 300:  # noqa: PLR2004 -- the class of success
        yield Evidence(
            facet="media-type",
            agreement=AGREES if declared else DISAGREES,
            expected="a JSON media type on an accepted answer",
            seen=wire.media_type or "none is declared",
            exchanges=(exchange.n,),
        )
