"""`gives-back`: reading a request returns the values with which it was made.

A field that the target does not show, or shows as null, is no violation, because documents
seldom require it. A field that it shows must have the value that was sent; one sent as null
may be filled in. Amounts are compared as numbers, and another spelling of a value is open.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from datetime import datetime

from assay.contract.model import Capability, Json
from assay.contract.scalars import is_word
from assay.history import Exchange, History, State
from assay.rules import steps
from assay.rules.lifecycle import request_queries, request_steps, tracker
from assay.rules.lifecycle.parameters import arguments, the_request
from assay.rules.rule import (
    Calls,
    Facet,
    Kind,
    Purpose,
    Scenario,
    Scope,
    Script,
    bound,
    facts_of,
    needs,
)
from assay.rules.verdict import AGREES, DISAGREES, UNCLEAR, Evidence


@dataclass(frozen=True, slots=True, kw_only=True)
class GivesBack(Kind):
    """The fields of a request that a read must return unchanged."""

    name = "gives-back"
    scope = Scope(calls=Calls.NAMED)
    purpose = Purpose.PROMISE
    applies_to = ("makes", "shows")

    lifecycle: tracker.Lifecycle = the_request()
    fields: tuple[str, ...] = arguments()

    def facets(self) -> tuple[Facet, ...]:
        """Return one facet for each field."""
        read = self.lifecycle.read
        if read is None:
            return ()
        return tuple(
            Facet(
                id=field,
                description=f"a read returns {field} as it was sent",
                scenario=Scenario(id="each-mode"),
                needs=needs(Capability.PSU, Capability.WRITE),
                requires=(*bound(read, "field", field), *bound(self.lifecycle.create, "key")),
            )
            for field in self.fields
        )

    def probe(self, scenario: Scenario) -> Script:
        """Make a request in each mode, and read it."""
        psu = yield from request_steps.customer(self.lifecycle)
        for mode in self._modes():
            made = yield from steps.send(request_steps.request(self.lifecycle, psu, mode))
            yield from request_steps.read(self.lifecycle, made)

    def check(self, history: History) -> Iterator[Evidence]:
        """Compare every read with the values in force at that time."""
        tracked = tracker.Tracker(lifecycle=self.lifecycle)
        for event in history.events:
            request = tracked.note(event)
            if (
                request is not None
                and isinstance(event, Exchange)
                and self.lifecycle.read is not None
                and event.call.operation == self.lifecycle.read.id
                and event.item is not None
            ):
                yield from self._judge(request, event, event.item.fields)

    def _modes(self) -> tuple[str | None, ...]:
        """Return a plain mode, and a deferred one, if there is one."""
        due = self.lifecycle.create.due
        return tuple(dict.fromkeys([self.lifecycle.mode, *(due.modes[:1] if due else ())]))

    def _judge(
        self, request: tracker.Instance, exchange: Exchange, shown: Mapping[str, Json]
    ) -> Iterator[Evidence]:
        if exchange.item is not None and exchange.item.state is State.REJECTED:
            return  # a rejected request need not be stored as it was sent
        for field in self.fields:
            sent = request.arguments.get(field)
            if shown.get(field) in (None, "") or sent in (None, ""):
                continue
            if self._forbidden(field, sent) or self._altered(field, sent, request.made.at):
                continue
            good = request_queries.shows_argument(self.lifecycle, field, sent, shown[field])
            unclear = good is None or _lost(request, field)
            yield Evidence(
                facet=field,
                agreement=AGREES if good else UNCLEAR if unclear else DISAGREES,
                expected=f"{field} as it was sent: {sent!r}",
                seen=f"{shown[field]!r}",
                exchanges=(request.made.n, *_taken(request, field), exchange.n),
                member=exchange.member_of(exchange.item, "field", field),
            )

    def _forbidden(self, field: str, sent: Json) -> bool:
        """Whether a self allows another value only, so that a bank may ignore this one."""
        fixed = facts_of(self.lifecycle.contract).fixed_values.get(field, ())
        return not all(is_word(value, sent) for value in fixed)

    def _altered(self, field: str, sent: Json, at: datetime) -> bool:
        """Whether a self lets a bank keep another value than the one that was sent."""
        alterations = facts_of(self.lifecycle.contract).alterations.get(field, ())
        return any(alters(sent, at) for alters in alterations)


def _taken(request: tracker.Instance, field: str) -> Iterator[int]:
    """Yield the numbers of the changes of a field that were accepted."""
    for change in request.changes:
        if change.accepted and field in change.call.arguments:
            yield change.n


def _lost(request: tracker.Instance, field: str) -> bool:
    """Whether a change of a field timed out, so that it may have been accepted or not."""
    lost = [change for change in request.changes if not change.accepted and not change.refused]
    return any(field in change.call.arguments for change in lost)
