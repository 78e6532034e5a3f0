"""Refused changes and refused requests, beside what is shown or executed afterwards.

A change that was refused must not show, and a request that was refused must not be open. Only a
value that is exactly the refused one shows that it was stored; a refused request can be read only
if its refusal names a key.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from assay.contract.model import Json, Operation
from assay.history import Exchange, State
from assay.rules.lifecycle import request_queries
from assay.rules.lifecycle.execution_record import Record


@dataclass(frozen=True, slots=True, kw_only=True)
class Look:
    """A look at a request after a refused change; `stored` are the refused values that it shows."""

    record: Record
    numbers: tuple[int, ...]
    stored: Mapping[str, Json]
    kept: Mapping[str, Json]


@dataclass(slots=True, kw_only=True)
class Refusals:
    """What was refused so far in a history.

    `changes` are the refused values with the number of their call, by request; `keys` are those
    that the refusal of a request names; `looks` are at changed requests, each once, for `said` has
    what they show; `opened` are readings of refused ones that show them as open or executed.
    """

    changes: dict[int, list[tuple[int, Mapping[str, Json]]]] = field(
        default_factory=dict[int, list[tuple[int, Mapping[str, Json]]]]
    )
    keys: dict[str, Record] = field(default_factory=dict[str, Record])
    looks: list[Look] = field(default_factory=list[Look])
    said: set[str] = field(default_factory=set[str])
    opened: dict[int, Exchange] = field(default_factory=dict[int, Exchange])

    def request(self, record: Record) -> None:
        """Process a request that was made, if it was refused."""
        made = record.request.made
        if request_queries.was_refused(made):
            self.keys |= {item.key: record for item in made.items if item.key}

    def change(self, operation: Operation, exchange: Exchange, record: Record) -> None:
        """Process a refused change of a request, by whichever TPP."""
        call = exchange.call
        if call.malformed or call.credentials or not request_queries.was_refused(exchange):
            return
        new = {
            name: value
            for name, value in call.arguments.items()
            if name != operation.about
            and name in record.force
            and not request_queries.same_value(value, record.force[name])
        }
        if new:
            self.changes.setdefault(id(record), []).append((exchange.n, new))

    def look(self, record: Record, shown: Mapping[str, Json], *numbers: int) -> None:
        """Process what is shown, or was executed, of a request."""
        refused = self.changes.get(id(record), [])
        if not refused or not record.certain:
            return
        stored: dict[str, Json] = {}
        kept: dict[str, Json] = {}
        for _, values in refused:
            for name in values.keys() & shown.keys():
                if request_queries.same_value(shown[name], record.force[name]):
                    kept[name] = shown[name]
                elif request_queries.same_value(shown[name], values[name]):
                    stored[name] = shown[name]
        if stored or kept:
            calls = (record.request.made.n, *(n for n, _ in refused), *numbers)
            # An inquiry may say again what an earlier one said.
            said = repr((id(record), calls, stored, kept))
            if said not in self.said:
                self.said.add(said)
                self.looks.append(Look(record=record, numbers=calls, stored=stored, kept=kept))

    def read(self, exchange: Exchange) -> None:
        """Process the reading of a request by a key that a refusal named."""
        item = exchange.item
        record = self.keys.get(item.key or "") if item is not None else None
        if item is not None and record is not None and item.state in (State.OPEN, State.DONE):
            self.opened.setdefault(id(record), exchange)
