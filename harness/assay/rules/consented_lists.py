"""What consents explain in a history: lists that they narrow, and refusals for want of one."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from assay.contract.model import Contract, Operation
from assay.history import Exchange, History, Subject
from assay.rules.consents import Consents
from assay.rules.queries import PageWalk


@dataclass(frozen=True, slots=True, kw_only=True)
class NarrowedLists:
    """To what each list of a history may be narrowed by a consent; see `of`."""

    narrowed: Mapping[int, frozenset[str]]

    @classmethod
    def read(cls, contract: Contract, history: History, grant: Operation | None) -> NarrowedLists:
        """Follow the consents of a history; without an operation that consents there are none."""
        narrowed: dict[int, frozenset[str]] = {}
        consents, lasting = Consents(grant=grant, contract=contract), set[str]()
        for event in history.events if grant else ():
            consents.note(event)
            if isinstance(event, Subject):
                lasting |= set[str]() if event.fresh else {event.name}
            elif isinstance(event, Exchange):
                name = event.call.subject
                if name in lasting or consents.perhaps_given(name):
                    narrowed[event.n] = consents.certain(name)
        return cls(narrowed=narrowed)

    def of(self, walk: PageWalk) -> frozenset[str] | None:
        """Return the keys that a list must have in spite of consents; None if none can narrow it.

        After a consent a target may list everything, or what is consented to. A customer who was
        there before the history may have consented to anything.
        """
        seen = [self.narrowed[page.n] for page in walk.pages if page.n in self.narrowed]
        return frozenset[str].intersection(*seen) if seen else None


def without_unconsented(contract: Contract, history: History) -> History:
    """Return a history without the refusals that a missing consent may explain.

    They are refusals of operations that the contract serves under a consent only, to callers who
    may have had none: they show a check nothing that is not about consents.
    """
    makers = {
        operation.id: contract.operations[operation.consent]
        for operation in contract.operations.values()
        if operation.consent
    }
    if not makers:
        return history
    left_out: set[int] = set()
    for maker in {each.id: each for each in makers.values()}.values():
        consents = Consents.of(contract, maker, history)
        for exchange in history.exchanges:
            consents.note(exchange)
            call = exchange.call
            if exchange.refused and makers.get(call.operation) == maker:
                certain = consents.certain(call.subject) and call.consent is None
                left_out |= set() if certain else {exchange.n}
    if not left_out:
        return history
    events = (
        event
        for event in history.events
        if not (isinstance(event, Exchange) and event.n in left_out)
    )
    return History(events=tuple(events))
