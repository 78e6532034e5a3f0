"""Answers for items that a consent covers: served, refused, or empty although there are entries."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field, replace
from datetime import timedelta
from typing import Self

from assay.contract.model import Contract, Operation
from assay.history import Accepted, Call, Exchange, History, Owned
from assay.rules.consents import Consents
from assay.rules.lifecycle.request_queries import was_refused
from assay.rules.queries import is_part, plain, question
from assay.rules.state.calendar import dates
from assay.rules.verdict import (
    DISAGREES,
    FOR_A_WHILE,
    UNCLEAR,
    Evidence,
    describe_answer,
    must_be_served,
)

#: Entries at most this old are in every history, however short.
LATELY = timedelta(days=7)


@dataclass(frozen=True, slots=True, kw_only=True)
class ServedThings:
    """What was served under a consent, as (operation, subject, key).

    `ways` are the first two, whether the customer was there, and whether days were given.
    """

    things: frozenset[tuple[str, str, str]]
    ways: frozenset[tuple[str, str, bool, bool]]

    @classmethod
    def of(
        cls, contract: Contract, operations: Iterable[Operation], grant: Operation, history: History
    ) -> Self:
        """Collect what a history shows as served."""
        about = {operation.id: operation.about or "" for operation in operations}
        things, ways = set[tuple[str, str, str]](), set[tuple[str, str, bool, bool]]()
        consents = Consents.of(contract, grant, history)
        for exchange in history.exchanges:
            call = exchange.call
            consents.note(exchange)
            if call.operation in about and exchange.accepted and exchange.items:
                key = str(call.arguments.get(about[call.operation]))
                if key in consents.certain(call.subject):
                    things.add((call.operation, call.subject, key))
                    ways.add(_way(call))
        return cls(things=frozenset(things), ways=frozenset(ways))

    def serves(self, call: Call) -> bool:
        """Whether the caller was served something in the same way."""
        return _way(call) in self.ways


def _way(call: Call) -> tuple[str, str, bool, bool]:
    return call.operation, call.subject, call.present, len(call.arguments) > 1


@dataclass(frozen=True, slots=True)
class UncoveredCalls:
    """Calls that were refused before their customer gave any consent in a history.

    No consent from before the history covers what they ask for. A refusal for the number of calls
    or their time shows nothing.
    """

    _refused: set[tuple[str, ...]] = field(default_factory=set[tuple[str, ...]])

    def note(self, exchange: Exchange, consents: Consents) -> None:
        """Process an exchange, which `consents` has processed."""
        call = exchange.call
        sound = plain(call) and call.present and exchange.wire.status not in FOR_A_WHILE
        if sound and was_refused(exchange) and not consents.possible(call.subject):
            self._refused.add((*question(call), call.by))

    def has(self, call: Call) -> bool:
        """Whether the same call was refused before any consent."""
        return (*question(call), call.by) in self._refused


def served_with_consent(facet: str, exchange: Exchange, owned: Owned) -> Evidence:
    """Judge a call that a consent covers; an empty answer by the recent entries."""
    evidence = must_be_served(facet, exchange, "a consent covers it")
    if not exchange.accepted or exchange.items:
        return evidence
    if isinstance(exchange.outcome, Accepted) and exchange.outcome.items is None:
        seen = f"{describe_answer(exchange)}; nothing is listed (operations.{exchange.call.operation}.list)"
        return replace(evidence, agreement=UNCLEAR, seen=seen)
    if is_part(exchange):
        seen = f"{describe_answer(exchange)}, and further pages follow"
        return replace(evidence, agreement=UNCLEAR, seen=seen)
    today = dates(exchange.at, None)
    filled = any(today[-1] - entry.on <= LATELY and entry.on <= today[0] for entry in owned.entries)
    return replace(
        evidence,
        agreement=DISAGREES if filled else UNCLEAR,
        seen=f"{describe_answer(exchange)}"
        + (", although there are recent entries" if filled else ""),
    )
