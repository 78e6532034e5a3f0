"""State of one trial: what it runs against, and what happened and is known in it so far.

A history names a request by one key, from the call that made it to its end. Since its submission,
the bank may have another one for it: that is what calls about it send then, and what answers show.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from datetime import datetime, timedelta, tzinfo
from uuid import UUID, uuid4

from assay.binding.encode import BARE, Access
from assay.binding.spelling import OperationBinding
from assay.binding.target import Target
from assay.contract.model import Json, Operation
from assay.fixtures.protocol import Fixture
from assay.history import (
    Accepted,
    Authorise,
    Call,
    Effect,
    Event,
    Exchange,
    Item,
    Outcome,
    Rejected,
    State,
    Subject,
    Unavailable,
)
from assay.running.environment import Environment
from assay.running.guard import FINAL, MADE, Customer, customer_of
from assay.sca.protocol import Signer

__all__ = ["Submissions", "TrialState"]


@dataclass(slots=True)
class Submissions:
    """The requests that were submitted: the bank's key of each since, and those it refused then.

    A refusal counts only where the customer had signed the request.
    """

    keys: dict[str, str] = field(default_factory=dict[str, str])
    refused: set[str] = field(default_factory=set[str])

    def bank_key(self, key: str) -> str:
        """Return the key that the bank has for a request now."""
        return self.keys.get(key, key)

    def key(self, bank_key: str) -> str:
        """Return the key of a request in the history, by the bank's own."""
        return next((key for key, own in self.keys.items() if own == bank_key), bank_key)

    def effects(self, done: Iterable[Effect]) -> list[Effect]:
        """Return executions under the keys of the history."""
        return [replace(effect, request=self.key(effect.request)) for effect in done]

    def outcome(self, outcome: Outcome, refused: str | None) -> Outcome:
        """Return an outcome under the keys of the history.

        The answer is about the request `refused`, if it is one: that is not executed any more,
        however its consent is shown.
        """
        if not self.keys and refused is None:
            return outcome
        match outcome:
            case Accepted(items=items) if items is not None:
                return replace(outcome, items=self._items(items, refused))
            case Rejected(leaked=items) | Unavailable(leaked=items):
                return replace(outcome, leaked=self._items(items, refused))
            case _:
                return outcome

    def _items(self, items: tuple[Item, ...], refused: str | None) -> tuple[Item, ...]:
        own = {bank_key: key for key, bank_key in self.keys.items()}
        return tuple(
            replace(
                item,
                key=own.get(item.key or "", item.key),
                fields={name: _known(value, own) for name, value in item.fields.items()},
                state=State.REJECTED if refused and item.state is State.OPEN else item.state,
            )
            for item in items
        )


def _known(value: Json, own: Mapping[str, str]) -> Json:
    return own.get(value, value) if isinstance(value, str) else value


@dataclass(slots=True, kw_only=True)
class TrialState:
    """What the parts of one trial share."""

    environment: Environment
    fixture: Fixture
    signer: Signer
    operations: Mapping[str, Operation]
    #: Returns the number of the next exchange or signature.
    number: Callable[[], int]
    #: Unique to the trial.
    name: UUID = field(default_factory=uuid4)
    #: What happened so far.
    events: list[Event] = field(default_factory=list[Event])
    #: The credentials of each customer.
    access: dict[str, Access] = field(default_factory=dict[str, Access])
    #: The customers who own things, and the kinds of these, by key.
    owners: dict[str, str] = field(default_factory=dict[str, str])
    resources: dict[str, str] = field(default_factory=dict[str, str])
    submissions: Submissions = field(default_factory=Submissions)
    #: The target's clock when it was last set.
    now: datetime | None = None

    @property
    def target(self) -> Target:
        """The target file of the run."""
        return self.environment.target

    def binding(self, operation: str) -> OperationBinding:
        """Return how the target file spells an operation."""
        return self.target.operations.get(operation, BARE)

    def zone(self, operation: str) -> tzinfo | None:
        """Return the zone of the bank's days for an operation."""
        return self.environment.guard.zones.get(operation) or self.target.zone

    def look(self) -> datetime:
        """Read the target's clock, as far as it is known, without an event."""
        return self.fixture.clock(None)

    def wait(self, span: timedelta) -> datetime:
        """Let time pass at the target, and return its clock."""
        now = self.fixture.clock(None)
        return self.fixture.clock(now + span) if span else now

    def learn(self, name: str, subject: Subject, access: Access) -> None:
        """Remember the credentials and the things of a customer who was set up under a name."""
        self.access[name] = access
        self.now = subject.now
        self.owners |= dict.fromkeys((owned.key for owned in subject.owns), name)
        self.resources |= {owned.key: owned.resource for owned in subject.owns}

    def who(self, subject: str) -> Customer:
        """Return the customer to whom the accesses of a subject are counted."""
        access = self.access.get(subject, self.environment.common)
        owns = [key for key, owner in self.owners.items() if owner == subject]
        return customer_of(self.target, access, subject, owns)

    @property
    def exchanges(self) -> Iterator[Exchange]:
        """The exchanges so far."""
        return (event for event in self.events if isinstance(event, Exchange))

    def making(self, request: str) -> Exchange | None:
        """Return the accepted call that made a request."""
        for event in reversed(self.events):
            if not isinstance(event, Exchange) or event.item is None or event.item.key != request:
                continue
            if self.operations[event.call.operation].makes:
                return event
        return None

    def used_items(self, step: Call | Authorise) -> Counter[str]:
        """Return how much a step uses of the customers' items, by key.

        A bank may refuse what repeats an earlier request about the same item: most banks one that
        was signed, some even one that was only made. So a request that is final weighs more than
        any number of requests that are made and never signed.
        """
        if isinstance(step, Call):
            operation = self.operations[step.operation]
            if not operation.makes:
                return Counter()
            return self._named(step, MADE if operation.signed else FINAL)
        for event in self.exchanges:
            makes = self.operations[event.call.operation].makes
            if makes and any(item.key == step.request for item in event.items):
                return self._named(event.call, FINAL)
        return Counter()

    def _named(self, call: Call, weight: int) -> Counter[str]:
        values = (
            each
            for value in call.arguments.values()
            for each in (value if isinstance(value, list | tuple) else (value,))
        )
        keys = {value for value in values if isinstance(value, str) and value in self.owners}
        return Counter(dict.fromkeys(keys, weight))
