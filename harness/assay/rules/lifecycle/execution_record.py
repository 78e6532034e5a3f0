"""Record of one request in a history: what decides whether it is executed, and what was.

`executions` keeps the records of a whole history, with an index, so that no request is compared
with all others.

A change that was refused must not show, and a request that was refused must not be open. Only a
value that is exactly the refused one shows that it was stored; a refused request can be read only
if its refusal names a key.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Mapping
from dataclasses import dataclass, field
from datetime import date, datetime, timedelta
from decimal import Decimal
from typing import TypeAlias

from assay.contract.model import Json, Operation
from assay.contract.scalars import number_of
from assay.history import Authorised, Decision, Effect, Ending, Exchange, State
from assay.rules.lifecycle import request_queries
from assay.rules.lifecycle.signing import CLEAR
from assay.rules.lifecycle.tracker import Instance

#: Amounts that an account usually covers, and that no bank finds too small.
USUAL = Decimal(1), Decimal(1000)
#: Statuses of a page that the target itself made, with nothing gone wrong.
ANSWERED = range(200, 500)
#: The states of a request that is over without an execution.
OVER = frozenset({State.REJECTED, State.ENDED})


@dataclass(slots=True, kw_only=True)
class Record:
    """One request with all that decides whether it is executed.

    Places are indices into the history. `valid` says that nothing known speaks against it,
    `first` that no request came before it, `renewed` are the values in force since a change, and
    `amount` is the one asked for; they are `certain` unless a change of them is doubtful. `changed` says that it was changed since it was signed,
    `cancelled` where it was surely cancelled in time, and `revived` that something followed
    on that. `effects` are the executions that the fixture tells, each once.
    """

    request: Instance
    place: int
    valid: bool
    first: bool
    renewed: Mapping[str, Json] | None = None
    amount: Json = None
    certain: bool = True
    changed: bool = False
    signed: int | None = None
    cancelled: int | None = None
    revived: bool = False
    told: list[tuple[int, State, Exchange]] = field(
        default_factory=list[tuple[int, State, Exchange]]
    )
    effects: list[tuple[int, Effect, datetime]] = field(
        default_factory=list[tuple[int, Effect, datetime]]
    )

    @property
    def force(self) -> Mapping[str, Json]:
        """The values in force."""
        return self.request.made.call.arguments if self.renewed is None else self.renewed

    @property
    def effect(self) -> Effect | None:
        """The first execution that the fixture tells."""
        return self.effects[0][1] if self.effects else None

    @property
    def done(self) -> int | None:
        """The place at which it was first told or shown to be executed."""
        places = [place for place, *_ in self.effects]
        places += [place for place, state, _ in self.told if state is State.DONE]
        return min(places, default=None)

    @property
    def over(self) -> bool:
        """Whether the bank ever showed that it will not be executed."""
        return any(state in OVER for _, state, _ in self.told)

    @property
    def signature(self) -> Authorised | None:
        """The one plain signature of its customer, if that is all that was tried."""
        signings = self.request.signings
        if len(signings) != 1 or not request_queries.by_owner(self.request, signings[0]):
            return None
        signing = signings[0]
        # A page that ends the visit of an idle customer may look like the end of a signature.
        plain = signing.step.right and not signing.step.linger
        return signing if plain and signing.ending is Ending.CONFIRMED else None

    @property
    def denied(self) -> bool:
        """Whether all that its customer ever did on the screens was to refuse it."""
        return self._only(
            lambda signing: signing.step.decision is Decision.REFUSE and signing.ending.declines
        )

    def timed_out(self, limit: timedelta) -> bool:
        """Whether the customer was idle for so long, and was then disconnected by the bank."""
        return self._only(
            lambda signing: (
                signing.ending is Ending.DISCONNECTED
                and signing.wire.status in ANSWERED
                and _idle(signing) >= limit + CLEAR
            )
        )

    def _only(self, such: Callable[[Authorised], bool]) -> bool:
        signings = self.request.signings
        return bool(signings) and all(
            such(signing) and request_queries.by_owner(self.request, signing)
            for signing in signings
        )

    @property
    def usual(self) -> bool:
        """Whether its amount, if it has one, is one that an account usually covers."""
        return self.amount is None or is_usual(self.amount)


def _idle(signing: Authorised) -> timedelta:
    """Return how long the customer was idle before the end."""
    return signing.at - signing.moments[-2] if len(signing.moments) > 1 else timedelta(0)


#: Who made a request, for whom, in which mode.
RequestKind: TypeAlias = tuple[str, str, str | None]


def kind_of_request(record: Record) -> RequestKind:
    """Return by whom, for whom and in which mode a request was made."""
    call = record.request.made.call
    return call.subject, call.by, call.mode


def is_usual(amount: Json) -> bool:
    """Whether an amount is one that an account usually covers."""
    number = number_of(amount)
    return number is not None and USUAL[0] <= number <= USUAL[1]


@dataclass(slots=True, kw_only=True)
class Index:
    """What the bounds of one request depend on in all others, so that none looks at all.

    `contents` are the requests that may have been executed, by what was asked for; `last` is
    the similar request that was executed and due, or signed, last; `told` are the kinds of
    which the fixture told any; `days` are those on which deferred ones were executed, with
    their place among the records; `strangers` are the values of effects of no known request, by
    the names of their fields.
    """

    contents: dict[Hashable, set[int]] = field(default_factory=dict[Hashable, set[int]])
    last: dict[RequestKind, tuple[tuple[date, int], Record]] = field(
        default_factory=dict[RequestKind, tuple[tuple[date, int], Record]]
    )
    told: set[RequestKind] = field(default_factory=set[RequestKind])
    days: list[tuple[date, int]] = field(default_factory=list[tuple[date, int]])
    strangers: dict[tuple[str, ...], set[tuple[Hashable, ...]]] = field(
        default_factory=dict[tuple[str, ...], set[tuple[Hashable, ...]]]
    )
    _count: int = 0

    def add(self, record: Record, content: Hashable, day: date | None) -> None:
        """Add the next record, with what was asked for, and the day to which it is deferred."""
        kind = kind_of_request(record)
        if record.done is not None or record.request.signings:
            self.contents.setdefault(content, set()).add(id(record))
        if record.effect is not None:
            self.told.add(kind)
            if day is not None:
                self.days.append((record.effect.on, self._count))
        if record.done is not None and record.signature is not None and record.certain:
            rank = day or date.min, record.signed or 0
            last = self.last.get(kind)
            if last is None or rank > last[0]:
                self.last[kind] = rank, record
        self._count += 1


# -- refused changes and refused requests ----------------------------------------------------
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
