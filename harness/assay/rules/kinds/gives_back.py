"""`gives-back`: reading a request gives back what was asked for when it was made.

A field that the target does not show is no fault, for documents seldom say that it
must; one that it shows must be as it was sent. Amounts are compared as numbers.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from assay.contract.model import Capability, Clause, Contract, Json, Party
from assay.history import Exchange, History, State
from assay.judging.verdict import Evidence
from assay.rules import parameters, steps
from assay.rules.lifecycle import request_queries, request_steps, tracker
from assay.rules.queries import AGREES, DISAGREES, UNCLEAR
from assay.rules.rule import BindingRequirement, Facet, Rule, Script, needs


@dataclass(frozen=True, slots=True, kw_only=True)
class Params:
    """The request, and the fields that are looked at."""

    lifecycle: tracker.Lifecycle
    fields: tuple[str, ...]


def parse(clause: Clause, contract: Contract) -> Params:
    """Read the clause's parameters."""
    return Params(
        lifecycle=tracker.of_clause(clause, contract), fields=parameters.texts(clause, "fields")
    )


def facets(p: Params) -> tuple[Facet, ...]:
    """One facet a field."""
    read = p.lifecycle.read
    if read is None:
        return ()
    return tuple(
        Facet(
            id=field,
            description=f"{field} is read as it was sent",
            scenario="each-mode",
            needs=needs(Capability.PSU, Capability.WRITE),
            requires=(BindingRequirement(operation=read.id, feature="field", name=field),),
        )
        for field in p.fields
    )


def _modes(p: Params) -> tuple[str | None, ...]:
    """Return a plain mode, and one that is put off to a day, if there is one."""
    due = p.lifecycle.create.due
    return tuple(dict.fromkeys([p.lifecycle.mode, *(due.modes[:1] if due else ())]))


def price(p: Params, scenario: str) -> int:
    """Count the calls: making and reading in each mode."""
    return 2 * len(_modes(p))


def probe(p: Params, scenario: str) -> Script:
    """Make a request in each mode, and read it."""
    psu = yield from request_steps.customer(p.lifecycle)
    for mode in _modes(p):
        made = yield from steps.send(request_steps.request(p.lifecycle, psu, mode))
        yield from request_steps.read(p.lifecycle, made)


def check(p: Params, history: History) -> Iterator[Evidence]:
    """Judge every reading by what was in force when it was read."""
    book = tracker.Tracker(lifecycle=p.lifecycle)
    for event in history.events:
        found = book.note(event)
        if (
            found is not None
            and isinstance(event, Exchange)
            and p.lifecycle.read is not None
            and event.call.operation == p.lifecycle.read.id
            and event.item is not None
        ):
            yield from _judge(p, found, event, event.item.fields)


def _judge(
    p: Params, request: tracker.Instance, exchange: Exchange, shown: Mapping[str, Json]
) -> Iterator[Evidence]:
    if exchange.item is not None and exchange.item.state is State.REJECTED:
        return  # what became nothing need not be remembered as it was
    for field in p.fields:
        if field not in shown or field not in request.arguments:
            continue
        sent = request.arguments[field]
        good = request_queries.alike(sent, shown[field])
        yield Evidence(
            facet=field,
            agreement=AGREES if good else UNCLEAR if _lost(request) else DISAGREES,
            expected=f"{field} as it was sent: {sent!r}",
            seen=f"{shown[field]!r}",
            exchanges=(request.made.n, exchange.n),
        )


def _lost(request: tracker.Instance) -> bool:
    """Whether a change timed out, which may have been taken or not."""
    return any(not one.accepted and not one.refused for one in request.changes)


RULE = Rule(
    kind="gives-back",
    party=Party.BANK,
    parse=parse,
    facets=facets,
    price=price,
    probe=probe,
    check=check,
)
