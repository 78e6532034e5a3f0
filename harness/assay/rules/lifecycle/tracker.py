"""Requests in a history: who made each, who signed it, and its outcome.

A request is something that is made, perhaps signed, changed or cancelled, and executed
later: a payment, an order, a booking. `Tracker` follows a history, event by
event, at constant cost for each event. What a contract offers around a request is in `lifecycle`.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import TypeVar

from assay.contract.model import Json
from assay.history import (
    Advanced,
    AnsweredCall,
    Authorise,
    Authorised,
    Effect,
    Effects,
    Ending,
    Event,
    Exchange,
    History,
    State,
    Subject,
    Submitted,
    Withdrawn,
)
from assay.rules import clauses
from assay.rules.lifecycle.instance import REJECTED, Inquiries, Instance, InstanceOutcome
from assay.rules.lifecycle.lifecycle import (
    Lifecycle,
    lifecycle_of_operation,
    lifecycle_of_request,
)

__all__ = [
    "REJECTED",
    "Inquiries",
    "Instance",
    "InstanceOutcome",
    "Lifecycle",
    "Tracker",
    "instances",
    "lifecycle_of_operation",
    "lifecycle_of_request",
]

E = TypeVar("E")


@dataclass(slots=True, kw_only=True)
class Tracker:
    """All requests of one kind so far; an event is about the last one that has its key."""

    lifecycle: Lifecycle
    requests: list[Instance] = field(default_factory=list[Instance])
    subjects: dict[str, Subject] = field(default_factory=dict[str, Subject])
    inquiries: Inquiries = field(default_factory=Inquiries)
    #: The last wrong entry of each customer whose requests the bank may reject since.
    wrong_entries: dict[str, int] = field(default_factory=dict[str, int])
    _known: dict[str, Instance] = field(default_factory=dict[str, Instance])
    _about: dict[str, str] = field(init=False)
    _ids: dict[tuple[str, str], int] = field(default_factory=dict[tuple[str, str], int])

    def __post_init__(self) -> None:
        """Look up which argument of each operation names a request."""
        named = (self.lifecycle.end, self.lifecycle.change, self.lifecycle.read)
        self._about = {each.id: each.about or "" for each in named if each}

    def note(self, event: Event) -> Instance | None:
        """Process an event; return the request that it is about, if any."""
        match event:
            case Exchange():  # the first, for most are
                return self._exchange(event)
            case Subject():
                self.subjects[event.name] = event
            case Authorised():
                return self._authorised(event)
            case Submitted():
                return self._submitted(event)
            case Withdrawn():
                request = self._known.get(event.request)
                if request:
                    request.withdrawn = _with(request.withdrawn, event)
                    request.inquiries_before = self.inquiries.count
                return request
            case Advanced():
                self._passed()
            case Effects(done=done) if done is not None:
                self._effects(done)
            case _:
                pass
        return None

    def find(self, key: str) -> Instance | None:
        """Return the request that has a key, if it was made in this history."""
        return self._known.get(key)

    def _authorised(self, event: Authorised) -> Instance | None:
        """Process a flow of a customer through the screens."""
        self._passed()
        if event.step.by or not event.step.right:
            who = event.step.subject, event.step.by
            self.wrong_entries |= dict.fromkeys(who, event.n)
        request = self._known.get(event.step.request)
        if request:
            request.signings = _with(request.signings, event)
        return request

    def _passed(self) -> None:
        """Note that time passed, in which requests may have been executed."""
        self.inquiries.count_when_time_passed = self.inquiries.count

    def _effects(self, done: tuple[Effect, ...]) -> None:
        """Process the fixture's list of executions, which concerns all requests at once."""
        self.inquiries.count += 1
        for effect in done:
            request = self._known.get(effect.request)
            if request is not None:
                request.effect = effect
                self._trust(request)

    def _exchange(self, exchange: Exchange) -> Instance | None:
        call, lifecycle = exchange.call, self.lifecycle
        if call.operation == lifecycle.create.id and not (call.malformed or call.credentials):
            return self._made(exchange)
        about = self._about.get(call.operation)
        request = None if about is None else self._known.get(str(call.arguments.get(about)))
        if request is None or call.malformed:
            return None
        if lifecycle.read and call.operation == lifecycle.read.id:
            request.reads = _with(request.reads, exchange)
        elif lifecycle.change is not None and call.operation == lifecycle.change.id:
            new = lifecycle.new_values(exchange)
            request.changes = _with(request.changes, _asking_for(exchange, new))
            request.inquiries_before = self.inquiries.count
            if exchange.accepted:
                request.changed = {**request.arguments, **new}
        else:
            request.ends = _with(request.ends, exchange)
            request.inquiries_before = self.inquiries.count
        self._look(request, exchange)
        return request

    def _submitted(self, event: Submitted) -> Instance | None:
        """Process a submission: the refusal of a signed request is its rejection."""
        request = self._known.get(event.request)
        if request is not None:
            request.submissions = _with(request.submissions, event)
            request.inquiries_before = self.inquiries.count
            if event.refused and request.signed is not None:
                request.state, request.seen_at, request.seen_in = State.REJECTED, event.at, event.n
            self._look(request, event)
        return request

    def _without_ids(self, exchange: Exchange) -> Exchange:
        """Return a call without what only identifies it: an id that was used before does more."""
        bare = clauses.without_call_ids(self.lifecycle.contract, exchange)
        reused = self.reuses_id(exchange)
        for used in self._ids_of(exchange):
            self._ids.setdefault(used, exchange.n)
        return exchange if reused else bare

    def reuses_id(self, exchange: Exchange) -> bool:
        """Whether what only identifies a call identified an earlier one."""
        return any(self._ids.get(used, exchange.n) < exchange.n for used in self._ids_of(exchange))

    def _ids_of(self, exchange: Exchange) -> Iterator[tuple[str, str]]:
        rest = clauses.without_call_ids(self.lifecycle.contract, exchange).call.arguments
        for name, value in exchange.call.arguments.items():
            if name not in rest:
                yield name, repr(value)

    def _made(self, exchange: Exchange) -> Instance:
        item = exchange.item
        request = Instance(
            made=self._without_ids(exchange),
            subject=self.subjects.get(exchange.call.subject),
            key=item.key if item else None,
            inquiries=self.inquiries,
            inquiries_before=self.inquiries.count,
            unsigned=not self.lifecycle.signed,
            distrusted=exchange.call.subject in self.wrong_entries,
        )
        if request.unsigned and request.key is not None and exchange.accepted:
            request.signings = [_signature_of(exchange, request.key)]
        self.requests.append(request)
        if request.key is not None:
            self._known[request.key] = request
        self._look(request, exchange)
        return request

    def _look(self, request: Instance, exchange: AnsweredCall) -> None:
        item = exchange.item
        if item is not None and item.state is not None:
            request.state, request.seen_at, request.seen_in = item.state, exchange.at, exchange.n
            request.settled = item.accepted
            self._trust(request)

    def _trust(self, request: Instance) -> None:
        """Process that a request was executed, or not, for whether its customer may be locked out."""
        subject, made = request.made.call.subject, request.made.n
        if self.wrong_entries.get(subject, made) > made:
            request.distrusted = True
        elif request.done:
            self.wrong_entries.pop(subject, None)


def _signature_of(made: Exchange, key: str) -> Authorised:
    """Return the call that makes a request as its signature, where nobody signs it."""
    return Authorised(
        n=made.n,
        step=Authorise(subject=made.call.subject, request=key, approval=None),
        ending=Ending.CONFIRMED,
        moments=(made.at,),
        wire=made.wire,
    )


def _asking_for(change: Exchange, new: Mapping[str, Json]) -> Exchange:
    """Return a change with what it asks for as its only arguments."""
    return replace(change, call=replace(change.call, arguments=new))


def _with(events: Sequence[E], event: E) -> list[E]:
    """Return a list with another event: the same one, unless nothing was there before."""
    if isinstance(events, list):
        events.append(event)
        return events
    return [*events, event]


def instances(history: History, lifecycle: Lifecycle) -> Iterator[Instance]:
    """Return all requests of a history, as they stand at its end."""
    tracker = Tracker(lifecycle=lifecycle)
    for event in history.events:
        tracker.note(event)
    yield from tracker.requests
