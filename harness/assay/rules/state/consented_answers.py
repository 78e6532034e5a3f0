"""Answers for what a consent names: items that it covers, and data that is withheld all the same.

What a consent covers is served, refused, or empty although there are entries. The data of what is
not listed is withheld, even if a consent names it.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field, replace
from datetime import timedelta
from typing import Self

from assay.contract.model import Contract, Operation
from assay.history import Accepted, Call, Exchange, History, Holding, Owned
from assay.rules import steps
from assay.rules.consents import Consents, consented_keys
from assay.rules.lifecycle.request_queries import was_refused
from assay.rules.queries import bare_or_ranged, is_part, perhaps_over_quota, plain, question
from assay.rules.rule import Script
from assay.rules.state.calendar import dates
from assay.rules.verdict import (
    DISAGREES,
    FOR_A_WHILE,
    UNCLEAR,
    Evidence,
    counts_unattended,
    describe_answer,
    must_be_refused,
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


# -- data of what is not listed --------------------------------------------------------------
@dataclass(frozen=True, slots=True, kw_only=True)
class Withholding:
    """A resource, the traits that hide it, and the operations that refuse its data."""

    contract: Contract
    resource: str
    hides: tuple[str, ...]
    operations: tuple[Operation, ...]
    grant: Operation | None

    def probe(self) -> Script:
        """Ask for the data of a plain one, then of each hidden one once a consent names it."""
        today = (yield from steps.clock()).date()
        entries = steps.days_before(today, 1, 2)
        hidden = (
            Holding(resource=self.resource, traits={trait: True}, entries=entries)
            for trait in self.hides
        )
        psu = yield from steps.arrange(
            "psu", Holding(resource=self.resource, entries=entries), *hidden
        )
        plain_one, *others = (thing.key for thing in psu.owns)
        yield from steps.grant(self.grant, "psu", plain_one)
        calls = [steps.ask(operation, "psu", plain_one) for operation in self.operations]
        for ask in calls:
            yield from steps.send(ask)
        for trait, key in zip(self.hides, others, strict=True):
            state = f"one that is {trait}"
            abouts = [
                replace(ask, arguments=steps.arguments(operation, key), variation=f"about {state}")
                for operation, ask in zip(self.operations, calls, strict=True)
            ]
            if self.grant:
                for about in abouts:
                    yield from steps.send(about)
                naming = Call(
                    operation=self.grant.id,
                    subject="psu",
                    arguments={self.grant.grants or "": [plain_one, key]},
                    variation=f"naming {state}",
                )
                yield from steps.consent(self.grant, naming)
            for about in abouts:
                yield from steps.send(about)

    def check(self, history: History) -> Iterator[Evidence]:
        """Judge every call about a hidden one that a consent named, taken or not.

        What was served before, without that consent, is the business of the consent's scope.
        """
        asked = list(self._asked(history))
        over_quota = perhaps_over_quota(self.contract, history)
        controlled = {
            _manner(exchange.call)
            for exchange, owned, _ in asked
            if exchange.accepted and exchange.items and not any(owned.traits.values())
        }
        refused = set[tuple[object, ...]]()
        for exchange, owned, named in asked:
            states = [name for name, value in owned.traits.items() if value]
            call = exchange.call
            if _manner(call) not in controlled or len(states) != 1:
                continue
            same = (*question(call), call.present)
            if self.grant and not named:
                withheld = exchange.refused and not exchange.items
                refused |= {same} if withheld else set[tuple[object, ...]]()
            elif states[0] in self.hides and (same in refused or self.grant is None):
                why = f"the {self.resource} is {states[0]}"
                # The controls are asked in the same way, so a call with days is judged like others.
                evidence = must_be_refused(f"withholds-{states[0]}", exchange, why)
                if counts_unattended(evidence, exchange, over_quota):
                    yield evidence

    def _asked(self, history: History) -> Iterator[tuple[Exchange, Owned, bool]]:
        """Yield each call about an own thing, the thing, and whether a consent named it before."""
        subjects, named = history.subjects, set[tuple[str, str]]()
        operations = {thing.id: thing for thing in self.operations}
        for exchange in history.exchanges:
            call = exchange.call
            if self.grant and call.operation == self.grant.id and plain(call):
                named |= {(call.subject, key) for key in consented_keys(call, self.grant)}
            operation, subject = operations.get(call.operation), subjects.get(call.subject)
            if operation is None or subject is None or not bare_or_ranged(call, operation):
                continue
            owned = subject.owned(call.arguments.get(operation.about or ""))
            if owned is not None and owned.resource == self.resource:
                yield exchange, owned, (call.subject, owned.key) in named


def _manner(call: Call) -> tuple[str, str, bool, frozenset[str]]:
    """Return who asks by which operation and with what, and whether the customer is there."""
    return call.subject, call.operation, call.present, frozenset(call.arguments)
