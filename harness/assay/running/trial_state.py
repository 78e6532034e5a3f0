"""State of one trial: what it runs against, what happened and is known in it, what its calls carry.

A history names a request by one key, from the call that made it to its end. Since its submission,
the bank may have another one for it: that is what calls about it send then, and what answers show.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime, timedelta, tzinfo
from typing import Any, TypeAlias, cast
from urllib.parse import urlsplit
from uuid import UUID, uuid4, uuid5

from assay.binding.model.forms import as_json
from assay.binding.model.spelling import OperationBinding, makers, repeated_slots, slots_of
from assay.binding.model.target import Target
from assay.binding.wire.encode import BARE, Access
from assay.binding.wire.links import OutputValues
from assay.binding.wire.values import RequestValues, filled, has_day, sent
from assay.contract.model import Json, Operation
from assay.contract.scalars import text_of
from assay.errors import CannotArrange
from assay.fixtures.protocol import Fixture
from assay.history import (
    Accepted,
    Authorise,
    Call,
    Effect,
    Event,
    Exchange,
    Item,
    Lack,
    Lacking,
    Outcome,
    Rejected,
    State,
    Subject,
    Unavailable,
)
from assay.rules.rule import NO_BANKS
from assay.rules.state.calendar import local_day
from assay.running.environment import Environment
from assay.running.guard import FINAL, MADE, Customer, customer_of
from assay.sca.protocol import Signer

__all__ = ["CallValues", "KeptOutputs", "Submissions", "TrialState"]


@dataclass(slots=True)
class Submissions:
    """The requests that were submitted: the bank's key of each since, and those it refused then.

    A refusal counts only where the customer had signed the request. `others` are keys that the bank
    gave at later submissions, each with the request that was submitted again.
    """

    keys: dict[str, str] = field(default_factory=dict[str, str])
    others: dict[str, str] = field(default_factory=dict[str, str])
    refused: set[str] = field(default_factory=set[str])

    def accept(self, key: str, bank_key: str) -> None:
        """Note the key that the bank has for a request since a submission of it was accepted."""
        if self.keys.setdefault(key, bank_key) != bank_key:
            self.others[bank_key] = key

    def bank_key(self, key: str) -> str:
        """Return the key that the bank has for a request now."""
        return self.keys.get(key, key)

    def key(self, bank_key: str) -> str:
        """Return the key of a request in the history, by the bank's own."""
        first = (key for key, own in self.keys.items() if own == bank_key)
        return next(first, self.others.get(bank_key, bank_key))

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
        own = self.others | {bank_key: key for key, bank_key in self.keys.items()}
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
    #: The target's own ids of things, as the fixture provider says them: a list may not show them.
    told_ids: dict[str, str] = field(default_factory=dict[str, str])
    submissions: Submissions = field(default_factory=Submissions)
    #: The target's clock when it was last set or read.
    now: datetime | None = None

    @property
    def target(self) -> Target:
        """The target file of the run."""
        return self.environment.target

    def go_to_bank(self, step: Lack) -> Lacking:
        """Go on at a bank of the group, with its screens; its host is ours if the file has none.

        Raises:
            CannotArrange: the target file does not name the bank, or no customer can be there.

        """
        bank = self.target.group_bank(step.bank, step.mode)
        if bank is None and step.bank:
            raise CannotArrange(NO_BANKS, key=("banks",))
        # A fixture knows the bank by its name in the file, and not by what excludes it.
        now = self.fixture.lack(replace(step, bank=bank.name) if bank and step.bank else step)
        if self.environment.leave_closure(self.fixture):
            now = self.look()
        if bank is not None:
            target = replace(self.target, base_url=bank.base_url, hosts=())
            self.environment = replace(self.environment, target=target)
            self.signer = self.environment.signer(self.fixture)
        return Lacking(mode=step.mode, bank=step.bank or (bank.name if bank else ""), now=now)

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
        now = self.look()
        return self.move(now + span) if span else now

    def move(self, to: datetime | None) -> datetime:
        """Move the target's clock, or wait until it shows this time, where a run may; or read it.

        A clock that shows a later time already, because of what was waited for, is only read.

        Raises:
            CannotArrange: the clock cannot be moved there, or the run may not wait so long.

        """
        waiting = self.environment.waiting
        if to is not None and self.now is not None and to < self.now:
            to = None
        if to is None or waiting is None:
            return self.fixture.clock(to)
        return waiting.until(to, self.look)

    def learn(self, name: str, subject: Subject, access: Access) -> None:
        """Remember the credentials and the things of a customer who was set up under a name."""
        self.access[name] = access
        self.now = subject.now
        self.owners |= dict.fromkeys((owned.key for owned in subject.owns), name)
        self.resources |= {owned.key: owned.resource for owned in subject.owns}
        self.told_ids |= {owned.key: owned.id for owned in subject.owns if owned.id}

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


# -- Outputs of answers of one trial, for later calls of the same customer and TPP ---------------
#: Outputs of answers by name; None is one that cannot be sent.
_Outputs: TypeAlias = dict[str, str | None]


@dataclass(slots=True)
class KeptOutputs:
    """The outputs of the last accepted answers, by customer and TPP; and of each consent, by key.

    `latest` are the numbers of the answers that had them, and `made` the keys of what was made.
    `of_submissions` are the outputs of each request's submission.
    """

    last: dict[tuple[str, str], _Outputs] = field(default_factory=dict[tuple[str, str], _Outputs])
    latest: dict[tuple[str, str], int] = field(default_factory=dict[tuple[str, str], int])
    made: dict[tuple[str, str], dict[str, tuple[int, str]]] = field(
        default_factory=dict[tuple[str, str], "dict[str, tuple[int, str]]"]
    )
    of_consents: dict[str, _Outputs] = field(default_factory=dict[str, _Outputs])
    of_submissions: dict[str, _Outputs] = field(default_factory=dict[str, _Outputs])

    def keep(self, exchange: Exchange, binding: OperationBinding | None) -> None:
        """Keep the outputs of an accepted answer."""
        call, outcome = exchange.call, exchange.outcome
        if binding is None or not binding.outputs or not isinstance(outcome, Accepted):
            return
        had = {name: outcome.outputs.get(name) for name in binding.outputs}
        self.last.setdefault((call.subject, call.by), {}).update(had)
        self.latest[call.subject, call.by] = exchange.n
        if exchange.item and exchange.item.key:
            self.of_consents[exchange.item.key] = had
            made = self.made.setdefault((call.subject, call.by), {})
            made[call.operation] = exchange.n, exchange.item.key

    def keep_submission(self, request: str, outcome: Accepted, binding: OperationBinding) -> None:
        """Keep the outputs of an accepted submission, for later calls about the request."""
        self.of_submissions[request] = {name: outcome.outputs.get(name) for name in binding.outputs}

    def last_made(self, call: Call, operations: Collection[str]) -> str | None:
        """Return the key of what one of these operations made last for the customer of a call.

        Of several TPPs it is the one that calls; any, if the call does not say which.
        """
        made = [
            last
            for (customer, tpp), each in self.made.items()
            if customer == call.subject and (tpp == call.by or not call.by)
            for operation, last in each.items()
            if operation in operations
        ]
        return max(made)[1] if made else None

    def values_for(
        self, call: Call, sources: Mapping[str, str], *, by_tpp: bool = True, request: str = ""
    ) -> OutputValues:
        """Return the outputs that a call can use; `sources` are all that the target file names.

        A call in the customer's name can use what any TPP was answered last, and one about a
        `request` what its submission was answered.
        """
        known = self.last.get((call.subject, call.by), {})
        if not by_tpp and not call.by:
            theirs = [each for each, had in self.last.items() if each[0] == call.subject and had]
            newest = max(theirs, key=lambda each: self.latest.get(each, 0), default=None)
            known = self.last[newest] if newest is not None else known
        if call.consent is not None:
            known = {**known, **self.of_consents.get(call.consent, {})}
        known = {**known, **self.of_submissions.get(request, {})}
        return OutputValues(
            sources=sources,
            values={name: value for name, value in known.items() if value is not None},
            unusable=frozenset(name for name, value in known.items() if value is None),
        )

    def without_later(self, customer: str, tpp: str) -> Callable[[], None]:
        """Return what restores the outputs of a customer and a TPP as they are now."""
        key = customer, tpp
        had, number = dict(self.last.get(key, {})), self.latest.get(key, 0)
        made = dict(self.made.get(key, {}))

        def restore() -> None:
            self.last[key], self.latest[key], self.made[key] = had, number, made

        return restore


# -- Values that calls carry: generated ones, and those of earlier answers ------------------------
#: The length of the text that is unique to a trial: it must fit into a reference or label.
TRIAL_LENGTH = 12


@dataclass(slots=True)
class CallValues:
    """The values that the calls of one trial carry."""

    trial: TrialState
    #: The target's own ids of things, by key.
    ids: dict[str, str] = field(default_factory=dict[str, str])
    kept: KeptOutputs = field(default_factory=KeptOutputs)
    #: How many calls had generated values.
    generated: int = 0

    def of(self, call: Call, target: Target) -> RequestValues:
        """Return the values of one request, as far as the target file uses them.

        Two equal calls have the same `alike`, and all calls of a trial the same `trial`; `unique` is
        different in every call.
        """
        trial, operation = self.trial, self.trial.operations[call.operation]
        binding = target.operations.get(call.operation, BARE)
        spellings = (*binding.arguments.values(), *binding.modes.values())
        values = any("{" in f"{spelling.value}{spelling.other}" for spelling in spellings)
        standing = target.headers or target.queries or binding.headers or binding.queries
        plain = RequestValues(
            zone=trial.zone(call.operation),
            ids=self.ids,
            resources=trial.resources,
            outputs=self.kept.values_for(
                call,
                trial.target.outputs,
                by_tpp=operation.by_tpp,
                request=self._request(call, operation),
            ),
        )
        slots = self._repeated(call, target, plain)
        if binding.whole:
            plain = replace(plain, body=self._repeated_body(call, operation))
        if not (standing or binding.template or values):
            return replace(plain, slots=slots)
        self.generated += 1
        texts = (target.headers, target.queries, binding.headers, binding.queries, binding.template)
        spelt = (*(each.value for each in spellings), *(each.other for each in spellings))
        equal = repr(replace(call, by="", variation="", present=True, alias=None, host=None))
        today = local_day(trial.look(), plain.zone or UTC) if has_day((*texts, *spelt)) else None
        return replace(
            plain,
            slots=slots,
            now=(trial.now or trial.look()).isoformat(),
            today=today,
            unique=str(uuid5(trial.name, str(self.generated))),
            alike=uuid5(trial.name, equal).hex[:30],
            trial=trial.name.hex[:TRIAL_LENGTH],
        )

    def _request(self, call: Call, operation: Operation) -> str:
        """Return the key of the request that a call is about."""
        return self.trial.submissions.key(str(call.arguments.get(operation.about or "", "")))

    def _repeated(self, call: Call, target: Target, made: RequestValues) -> Mapping[str, str]:
        """Return what stands in the slots of a path that repeat those of the making call.

        Of a request that this trial has not made, they are those of the last one that it made, or
        what the target file says.
        """
        bindings, operation = target.operations, self.trial.operations[call.operation]
        names = [*repeated_slots(operation, bindings.get(operation.id, BARE))]
        if not names:
            return {}
        values: dict[str, str] = {}
        making = self._making(call, operation)
        if making is not None:
            maker = self.trial.operations[making.call.operation]
            values = _values(making, maker, bindings.get(maker.id, BARE), made)
        else:
            for maker in makers(operation, self.trial.operations.values()):
                for name, spelling in bindings.get(maker.id, BARE).arguments.items():
                    if spelling.value is not None:
                        text = text_of(sent(filled(spelling.value, made), spelling, made))
                        values |= {name: text, spelling.name: text}
        return {name: values[name] for name in names if name in values}

    def _repeated_body(self, call: Call, operation: Operation) -> Mapping[str, Any]:
        """Return the body of a request as it was last accepted, for a change that sends it whole.

        A change of what this trial has not made repeats the last request that it made.
        """
        made = self._making(call, operation)
        if made is None:
            return {}
        body: object = None
        key = made.item.key if made.item else None
        for event in (made, *self.trial.exchanges):
            if not event.accepted or event.n < made.n:
                continue
            about = self.trial.operations[event.call.operation]
            changed = about.changes and event.call.arguments.get(about.about or "") == key
            if event is made or changed:
                with suppress(ValueError):
                    wire = event.wire
                    body = json.loads(as_json(wire.request_headers, wire.request_body))
        return cast("Mapping[str, Any]", body) if isinstance(body, dict) else {}

    def _making(self, call: Call, operation: Operation) -> Exchange | None:
        """Return the accepted call that made the request of a call, or any other request."""
        key = self._request(call, operation)
        making = {maker.id for maker in makers(operation, self.trial.operations.values())}
        last: Exchange | None = None
        for event in reversed(self.trial.events):
            if not isinstance(event, Exchange) or not event.accepted:
                continue
            if event.call.operation not in making:
                continue
            if event.item is not None and event.item.key == key:
                return event
            last = last or event
        return last


def _values(
    making: Exchange, maker: Operation, binding: OperationBinding, made: RequestValues
) -> dict[str, str]:
    """Return the arguments and slots of a making call, by name, as they were sent."""
    given = making.call.arguments
    values = {
        name: text_of(sent(value, binding.arguments.get(name), made))
        for name, value in given.items()
    }
    paths = binding.names(maker)
    alias = making.call.alias
    template = (binding.path or maker.path) if alias is None else paths[alias]
    return values | slots_of(template, urlsplit(making.wire.url).path)
