"""`gives-back`: reading a request returns the values with which it was made.

A field that the target does not show is no fault, for documents seldom say that it
must; one that it shows must be as it was sent. Amounts are compared as numbers.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from assay.contract.model import Capability, Json
from assay.history import Exchange, History, State
from assay.judging.verdict import Evidence
from assay.rules import clauses, steps
from assay.rules.evidence import AGREES, DISAGREES, UNCLEAR
from assay.rules.lifecycle import request_queries, request_steps, tracker
from assay.rules.lifecycle.parameters import arguments, the_request
from assay.rules.rule import BindingRequirement, Facet, Kind, Scenario, Script, needs


@dataclass(frozen=True, slots=True, kw_only=True)
class GivesBack(Kind):
    """The fields of a request that are read back."""

    name = "gives-back"
    applies_to = (
        "makes",
        "shows",
    )

    lifecycle: tracker.Lifecycle = the_request()
    fields: tuple[str, ...] = arguments()

    def facets(self) -> tuple[Facet, ...]:
        """One facet a field."""
        read = self.lifecycle.read
        if read is None:
            return ()
        return tuple(
            Facet(
                id=field,
                description=f"{field} is read as it was sent",
                scenario=Scenario(id="each-mode"),
                needs=needs(Capability.PSU, Capability.WRITE),
                requires=(BindingRequirement(operation=read.id, feature="field", name=field),),
            )
            for field in self.fields
        )

    def probe(self, scenario: Scenario) -> Script:
        """Make a request in each mode, and read it."""
        psu = yield from request_steps.customer(self.lifecycle)
        for mode in _modes(self):
            made = yield from steps.send(request_steps.request(self.lifecycle, psu, mode))
            yield from request_steps.read(self.lifecycle, made)

    def check(self, history: History) -> Iterator[Evidence]:
        """Judge every reading by what was in force when it was read."""
        book = tracker.Tracker(lifecycle=self.lifecycle)
        for event in history.events:
            found = book.note(event)
            if (
                found is not None
                and isinstance(event, Exchange)
                and self.lifecycle.read is not None
                and event.call.operation == self.lifecycle.read.id
                and event.item is not None
            ):
                yield from _judge(self, found, event, event.item.fields)


def _modes(p: GivesBack) -> tuple[str | None, ...]:
    """Return a plain mode, and one that is put off to a day, if there is one."""
    due = p.lifecycle.create.due
    return tuple(dict.fromkeys([p.lifecycle.mode, *(due.modes[:1] if due else ())]))


def _judge(
    p: GivesBack, request: tracker.Instance, exchange: Exchange, shown: Mapping[str, Json]
) -> Iterator[Evidence]:
    if exchange.item is not None and exchange.item.state is State.REJECTED:
        return  # what became nothing need not be remembered as it was
    for field in p.fields:
        if field not in shown or field not in request.arguments:
            continue
        sent = request.arguments[field]
        if _forbidden(p, field, sent):
            continue
        good = request_queries.same_value(sent, shown[field])
        yield Evidence(
            facet=field,
            agreement=AGREES if good else UNCLEAR if _lost(request) else DISAGREES,
            expected=f"{field} as it was sent: {sent!r}",
            seen=f"{shown[field]!r}",
            exchanges=(request.made.n, exchange.n),
        )


def _forbidden(p: GivesBack, field: str, sent: Json) -> bool:
    """Whether a clause allows another value only, so that a bank may ignore this one."""
    fixed = (clause.fixed_value(field) for clause in clauses.clauses_of(p.lifecycle.contract))
    return any(value not in (None, sent) for value in fixed)


def _lost(request: tracker.Instance) -> bool:
    """Whether a change timed out, which may have been taken or not."""
    return any(not one.accepted and not one.refused for one in request.changes)
