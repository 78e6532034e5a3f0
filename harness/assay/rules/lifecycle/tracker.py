"""Requests in a history: who made each, who signed it, and its outcome.

A request is something that is made, perhaps signed, changed or cancelled, and executed
later: a payment, an order, a booking. `Tracker` follows a history, event by
event, at constant cost for each event. What a contract offers around a request is in `lifecycle`.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from enum import Enum
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
    Indeterminate,
    State,
    Subject,
    Submitted,
    Withdrawn,
)
from assay.rules import clauses
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


class InstanceOutcome(Enum):
    """The outcome of a request, as far as the history shows."""

    REFUSED = "refused at once"
    REJECTED = "rejected later"
    DONE = "carried out"
    ENDED = "ended without being carried out"
    OPEN = "still open"
    UNKNOWN = "unknown"


#: The outcomes that a contract's "rejected" covers.
REJECTED = frozenset({InstanceOutcome.REFUSED, InstanceOutcome.REJECTED})
_OUTCOMES: Mapping[State, InstanceOutcome] = {
    State.OPEN: InstanceOutcome.OPEN,
    State.VALID: InstanceOutcome.DONE,
    State.DONE: InstanceOutcome.DONE,
    State.REJECTED: InstanceOutcome.REJECTED,
    State.ENDED: InstanceOutcome.ENDED,
}


@dataclass(slots=True, kw_only=True)
class Inquiries:
    """The number of inquiries at the fixture, in total and when time last passed."""

    count: int = 0
    count_when_time_passed: int = 0


@dataclass(slots=True, kw_only=True)
class Instance:
    """One attempt to make a request, and everything that happened to it since.

    `changed` are the arguments in force since the first accepted change. `state` is the last
    state that was read, at `seen_at`, in the exchange with the number `seen_in`. `effect` is the
    execution that the fixture reports. `inquiries_before` is the number of inquiries until anything
    last happened to the request. `made` and `changed` have no arguments that only identify a call.
    `unsigned` says that the call that makes it is all that it takes: if that is accepted, it is its
    signature, too.
    """

    made: Exchange
    subject: Subject | None
    key: str | None
    changed: Mapping[str, Json] | None = None
    state: State | None = None
    seen_at: datetime | None = None
    seen_in: int | None = None
    effect: Effect | None = None
    inquiries: Inquiries
    inquiries_before: int
    signings: Sequence[Authorised] = ()
    reads: Sequence[Exchange] = ()
    changes: Sequence[Exchange] = ()
    ends: Sequence[Exchange] = ()
    withdrawn: Sequence[Withdrawn] = ()
    submissions: Sequence[Submitted] = ()
    unsigned: bool = False

    @property
    def screen_flows(self) -> Sequence[Authorised]:
        """What customers did about it on the screens, since it was made."""
        return () if self.unsigned else self.signings

    @property
    def stands(self) -> bool:
        """Whether it was carried out, or was read as open although nobody has to sign it."""
        waits = self.unsigned and self.made.accepted and self.state is State.OPEN
        return self.done or (waits and (self.seen_in or 0) > self.made.n)

    @property
    def arguments(self) -> Mapping[str, Json]:
        """The arguments in force: from its creation, and then from each accepted change."""
        return self.made.call.arguments if self.changed is None else self.changed

    @property
    def mode(self) -> str | None:
        """The mode it was made in."""
        return self.made.call.mode

    @property
    def signed(self) -> Authorised | None:
        """The signature that the customer gave, if any was."""
        return next((each for each in self.signings if each.ending is Ending.CONFIRMED), None)

    @property
    def declined(self) -> Authorised | None:
        """The refusal that the customer gave, if any was."""
        return next((each for each in self.signings if each.ending is Ending.REFUSED), None)

    @property
    def inquired(self) -> bool:
        """Whether the fixture was asked since anything happened to it, or time passed."""
        since = max(self.inquiries_before, self.inquiries.count_when_time_passed)
        return self.key is not None and self.inquiries.count > since

    @property
    def done(self) -> bool:
        """Whether it was executed, or is a consent in force, by the target or the fixture."""
        return self.effect is not None or self.state in (State.DONE, State.VALID)

    @property
    def outcome(self) -> InstanceOutcome:
        """The outcome of the request, as far as the history shows."""
        if self.made.refused:
            return InstanceOutcome.REFUSED
        if self.effect is not None:
            return InstanceOutcome.DONE
        return (
            _OUTCOMES.get(self.state, InstanceOutcome.OPEN)
            if self.state
            else InstanceOutcome.UNKNOWN
        )

    @property
    def numbers(self) -> tuple[int, ...]:
        """The numbers of the exchanges and signatures about it, in order."""
        numbers = {self.made.n, self.seen_in or self.made.n, *(each.n for each in self.signings)}
        numbers |= {exchange.n for exchange in (*self.reads[-1:], *self.changes, *self.ends)}
        numbers |= {each.n for each in self.submissions}
        return tuple(sorted(numbers))

    def describe(self) -> str:
        """Describe its outcome."""
        status = self.made.wire.status
        if isinstance(self.made.outcome, Indeterminate):
            return self.made.outcome.why
        if self.made.refused:
            return f"it was refused ({status})"
        said = "" if self.state is None else f", then {self.state.value}"
        moved = " and was carried out" if self.effect and self.state is not State.DONE else ""
        refused = [each for each in self.submissions if each.refused]
        submitted = f", its submission was refused ({refused[-1].wire.status})" if refused else ""
        return f"it was accepted ({status}){submitted}{said}{moved}"


@dataclass(slots=True, kw_only=True)
class Tracker:
    """All requests of one kind so far; an event is about the last one that has its key."""

    lifecycle: Lifecycle
    requests: list[Instance] = field(default_factory=list[Instance])
    subjects: dict[str, Subject] = field(default_factory=dict[str, Subject])
    inquiries: Inquiries = field(default_factory=Inquiries)
    _known: dict[str, Instance] = field(default_factory=dict[str, Instance])
    _about: dict[str, str] = field(init=False)
    _ids: set[tuple[str, str]] = field(default_factory=set[tuple[str, str]])

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
                self._passed()
                request = self._known.get(event.step.request)
                if request:
                    request.signings = _with(request.signings, event)
                return request
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
            request.changes = _with(request.changes, exchange)
            request.inquiries_before = self.inquiries.count
            if exchange.accepted:
                sent = clauses.without_call_ids(lifecycle.contract, exchange).call.arguments
                new = {k: v for k, v in sent.items() if k != about}
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
        sent, rest = exchange.call.arguments, bare.call.arguments
        ids = {(name, repr(value)) for name, value in sent.items() if name not in rest}
        if ids & self._ids:
            return exchange
        self._ids |= ids
        return bare

    def _made(self, exchange: Exchange) -> Instance:
        item = exchange.item
        request = Instance(
            made=self._without_ids(exchange),
            subject=self.subjects.get(exchange.call.subject),
            key=item.key if item else None,
            inquiries=self.inquiries,
            inquiries_before=self.inquiries.count,
            unsigned=not self.lifecycle.signed,
        )
        if request.unsigned and request.key is not None and exchange.accepted:
            request.signings = [_signature_of(exchange, request.key)]
        self.requests.append(request)
        if request.key is not None:
            self._known[request.key] = request
        self._look(request, exchange)
        return request

    @staticmethod
    def _look(request: Instance, exchange: AnsweredCall) -> None:
        item = exchange.item
        if item is not None and item.state is not None:
            request.state, request.seen_at, request.seen_in = item.state, exchange.at, exchange.n


def _signature_of(made: Exchange, key: str) -> Authorised:
    """Return the call that makes a request as its signature, where nobody signs it."""
    return Authorised(
        n=made.n,
        step=Authorise(subject=made.call.subject, request=key, approval=None),
        ending=Ending.CONFIRMED,
        moments=(made.at,),
        wire=made.wire,
    )


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
