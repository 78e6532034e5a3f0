"""Requests in a history: who made each, who signed it, and its outcome.

A request is something that is made, perhaps signed, changed or cancelled, and executed
later: a payment, an order, a booking. `Tracker` follows a history, event by
event, at constant cost for each event. What a contract offers around a request is in `lifecycle`.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime
from enum import Enum
from typing import TypeVar

from assay.contract.model import Capability, Contract, Json, Operation, Resource
from assay.contract.scalars import same_value
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
from assay.rules import steps
from assay.rules.rule import BindingRequirement, bound, facts_of, needs


# -- One request of a history: how it was made, signed, changed and ended, and its outcome -------
class InstanceOutcome(Enum):
    """The outcome of a request, as far as the history shows."""

    REFUSED = "refused at once"
    REJECTED = "rejected later"
    DONE = "executed"
    ENDED = "ended without being executed"
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
    signature, too. `settled` says that the bank no longer rejects what it was last read as.
    `distrusted` says that something wrong was entered on the screens of its customer since it was
    made and before it was last read, or before it was made, with none executed in between.
    `rejected_as_made` says that it was read as rejected, and a change of it was accepted after that.
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
    settled: bool = False
    distrusted: bool = False
    rejected_as_made: bool = False

    @property
    def screen_flows(self) -> Sequence[Authorised]:
        """What customers did about it on the screens, since it was made."""
        return () if self.unsigned else self.signings

    @property
    def stands(self) -> bool:
        """Whether it was executed, or was read as accepted although no customer has to sign it."""
        waits = self.unsigned and self.made.accepted and self.state is State.OPEN and self.settled
        return self.done or (waits and (self.seen_in or 0) > self.made.n)

    @property
    def undecided(self) -> bool:
        """Whether the bank may still reject it, although no customer has to sign it."""
        return (
            self.unsigned
            and self.made.accepted
            and self.outcome is InstanceOutcome.OPEN
            and not self.settled
        )

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
        """The signature that the customer of the request gave, if any was."""
        own = (each for each in self.signings if each.step.by in ("", self.made.call.subject))
        return next((each for each in own if each.ending is Ending.CONFIRMED), None)

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
    def stays_accepted(self) -> bool:
        """Whether it was accepted with the values that it was made with, and not rejected later."""
        accepted = self.made.accepted and not self.rejected_as_made
        return accepted and self.outcome is not InstanceOutcome.REJECTED

    @property
    def numbers(self) -> tuple[int, ...]:
        """The numbers of the exchanges and signatures about it, in order."""
        numbers = {self.made.n, self.seen_in or self.made.n, *(each.n for each in self.signings)}
        numbers |= {exchange.n for exchange in (*self.reads[-1:], *self.changes, *self.ends)}
        numbers |= {each.n for each in self.submissions}
        return tuple(sorted(numbers))

    def said_otherwise(self, submission: Submitted) -> tuple[str, ...]:
        """Return the arguments in which a submission says something else than the call that made it."""
        made, said = self.made.call.arguments, submission.call.arguments
        return tuple(
            each for each in made if not same_value(said.get(each, made[each]), made[each])
        )

    def describe(self) -> str:
        """Describe its outcome."""
        status = self.made.wire.status
        if isinstance(self.made.outcome, Indeterminate):
            return self.made.outcome.why
        if self.made.refused:
            return f"it was refused ({status})"
        word = "executed" if self.state is State.DONE else self.state and self.state.value
        said = f", then {word}" if word else ""
        moved = " and was executed" if self.effect and self.state is not State.DONE else ""
        refused = [each for each in self.submissions if each.refused]
        submitted = f", its submission was refused ({refused[-1].wire.status})" if refused else ""
        why = "; whether the bank has decided is unknown (`accepted` in item.state.values)"
        more = why if self.undecided else ""
        return f"it was accepted ({status}){submitted}{said}{moved}{more}"


# -- Requests in a history: who made each, who signed it, and its outcome ----
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
            request.distrusted |= not event.step.submits
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
                before, request.effect = request.done, effect
                self._trust(request, done_before=before)

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
                request.rejected_as_made |= request.state is State.REJECTED
                request.changed = {**request.arguments, **new}
        else:
            request.ends = _with(request.ends, exchange)
            request.inquiries_before = self.inquiries.count
        self._look(request, exchange)
        return request

    def _submitted(self, event: Submitted) -> Instance | None:
        """Process a submission: the refusal of a signed request is its rejection.

        That of one which says something else is not, nor that of one more: a bank may end the request for
        the first, and the second is about what was submitted before.
        """
        request = self._known.get(event.request)
        if request is not None:
            other = request.said_otherwise(event)
            again = any(each.accepted for each in request.submissions)
            request.submissions = _with(request.submissions, event)
            request.inquiries_before = self.inquiries.count
            request.distrusted |= bool(other)
            if again or (other and not event.accepted):
                return request
            if event.refused and request.signed is not None:
                request.state, request.seen_at, request.seen_in = State.REJECTED, event.at, event.n
            self._look(request, event)
        return request

    def _without_ids(self, exchange: Exchange) -> Exchange:
        """Return a call without what only identifies it: an id that was used before does more."""
        bare = facts_of(self.lifecycle.contract).without_call_ids(exchange)
        ids = _ids_of(exchange, bare)
        reused = self._knows(ids, exchange.n)
        for used in ids:
            self._ids.setdefault(used, exchange.n)
        return exchange if reused else bare

    def reuses_id(self, exchange: Exchange) -> bool:
        """Whether what only identifies a call identified an earlier one."""
        bare = facts_of(self.lifecycle.contract).without_call_ids(exchange)
        return self._knows(_ids_of(exchange, bare), exchange.n)

    def _knows(self, ids: Sequence[tuple[str, str]], n: int) -> bool:
        """Whether a call before the one of this number had one of these ids."""
        return any(self._ids.get(used, n) < n for used in ids)

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
            before = request.done
            request.state, request.seen_at, request.seen_in = item.state, exchange.at, exchange.n
            request.settled = item.accepted
            self._trust(request, done_before=before)

    def _trust(self, request: Instance, *, done_before: bool) -> None:
        """Process that a request was executed, or not, for whether its customer may be locked out."""
        if done_before and request.done:
            return  # the execution was known before
        subject, made = request.made.call.subject, request.made.n
        if self.wrong_entries.get(subject, made) > made:
            request.distrusted = True
        elif request.done:
            self.wrong_entries.pop(subject, None)


def _ids_of(exchange: Exchange, bare: Exchange) -> Sequence[tuple[str, str]]:
    """Return the arguments of a call that are left out where it is bare, with their values."""
    rest = bare.call.arguments
    return [(name, repr(v)) for name, v in exchange.call.arguments.items() if name not in rest]


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


# -- The operations of a contract around one kind of request, and what a request is about --------
@dataclass(frozen=True, slots=True, kw_only=True)
class Lifecycle:
    """The operations of a contract around one kind of request, and what it is about.

    `owner` is the resource of the customer that `create.owned` names.
    """

    request: Resource
    create: Operation
    read: Operation | None
    change: Operation | None
    end: Operation | None
    owner: str
    contract: Contract

    @property
    def operations(self) -> tuple[Operation, ...]:
        """The operations that the contract has."""
        parts = (self.create, self.read, self.change, self.end)
        return tuple(operation for operation in parts if operation is not None)

    @property
    def mode(self) -> str | None:
        """The mode of a plain request: the first that the contract names."""
        return self.create.modes[0] if self.create.modes and not self.create.grants else None

    @property
    def open_mode(self) -> str | None:
        """A mode in which a request is not executed at once, so that none repeats it: the plain one.

        Where nobody signs, it is a deferred one, if there is any.
        """
        return self.mode if self.signed else next(iter(self.deferred_modes), self.mode)

    @property
    def changeable_mode(self) -> str | None:
        """A mode in which requests can be changed, or the plain one where no clause names any."""
        only = facts_of(self.contract).changeable_modes.get(self.request.id, ())
        return next((modes[0] for modes in (*only, self.deferred_modes) if modes), self.mode)

    @property
    def changeable_arguments(self) -> tuple[str, ...]:
        """The arguments of a plain change: one argument, which is not the day.

        It is one that a clause calls changeable, if a clause names any: another may only identify
        the call, as a header does.
        """
        day = self.change.due.argument if self.change and self.change.due else None
        day = day or (self.create.due.argument if self.create.due else None)
        named = self.change.arguments if self.change else ()
        fields = facts_of(self.contract).changeable_fields.get(self.request.id) or named
        return tuple(name for name in named if name != day and name in fields)[:1]

    def new_values(self, change: Exchange) -> Mapping[str, Json]:
        """Return what a change asks for: the request's arguments in it that no call id is."""
        sent = facts_of(self.contract).without_call_ids(change).call.arguments
        return {name: value for name, value in sent.items() if name in self.create.arguments}

    @property
    def deferred_modes(self) -> tuple[str, ...]:
        """The modes whose requests are executed on a later day."""
        return self.create.due.modes if self.create.due else ()

    @property
    def signed(self) -> bool:
        """Whether a customer signs a request before it is executed."""
        return self.create.signed

    @property
    def signing_needs(self) -> frozenset[Capability]:
        """What it takes to sign a request: nothing where the call that makes it is enough."""
        return needs(Capability.SCA) if self.signed else needs()

    def deferred(self, mode: str | None) -> bool:
        """Whether a request of this mode is executed on a later day."""
        return mode in self.deferred_modes

    def state_requirement(self) -> tuple[BindingRequirement, ...]:
        """Require the target file to bind a request's state."""
        return bound(self.read, "state") if self.read else ()

    def open_mode_requirement(self) -> tuple[BindingRequirement, ...]:
        """Require the target file to bind the mode in which requests stay open, if not the plain one."""
        mode = self.open_mode
        if mode is None or mode == self.mode:
            return ()
        return bound(self.create, "mode", mode)

    def approval_requirement(self) -> tuple[BindingRequirement, ...]:
        """Require the target file to bind what it takes to sign a request, if it is signed."""
        if not self.signed:
            return ()
        return (*bound(self.create, "approval"), *bound(self.create, "key"))


def lifecycle_of_request(contract: Contract, request: str) -> Lifecycle:
    """Return the lifecycle of a request in a contract."""
    offered = [each for each in contract.operations.values() if each.available]

    def does(what: str) -> Operation | None:
        return next((each for each in offered if getattr(each, what) == request), None)

    create = does("makes")
    if create is None:
        raise TypeError(f"nothing makes {request}")
    roots = steps.roots(contract)
    return Lifecycle(
        request=contract.resources[request],
        create=create,
        read=does("shows"),
        change=does("changes"),
        end=does("ends"),
        owner=roots[0].id if roots else "",
        contract=contract,
    )


def lifecycle_of_operation(contract: Contract, operation: Operation) -> Lifecycle:
    """Return the lifecycle of the request that an operation makes, shows, changes or ends."""
    return lifecycle_of_request(contract, operation.request or "")
