"""Histories of any length: random calls of customers to the embedded bank.

A number of exchanges is really made. Longer histories repeat them, with new keys of
requests and later dates, either with other customers in every copy or with the same few
customers, who then own everything in the history.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, fields, is_dataclass, replace
from datetime import date, datetime, timedelta
from functools import cache
from itertools import count
from operator import is_
from random import Random
from typing import Any

from assay.contract.model import Contract, Operation
from assay.history import (
    Authorised,
    Call,
    Code,
    Decision,
    Effects,
    Event,
    Exchange,
    History,
    Holding,
    Malformed,
    Subject,
    Wire,
)
from assay.preparation.prepare import prepare
from assay.rules import steps
from assay.rules.lifecycle import request_steps
from assay.rules.lifecycle.tracker import Lifecycle, lifecycle_of_request
from assay.rules.rule import Script
from assay.running.environment import set_up
from assay.running.executor import run_probe

NAMES = ("psu-1", "psu-2", "psu-3", "psu-4")
MINUTES = (1, 1, 7, 40, 300, 1500)
SELDOM = 0.3
#: The variation of a read request.
VARIATION = Malformed.JUNK_QUERY
DAY = re.compile(r"\d{4}-\d\d-\d\d")


def driven(contract: str, length: int, seed: int = 4) -> tuple[Contract, History]:
    """Make this number of exchanges; return the contract and their history."""
    prepared = prepare([contract])
    known = prepared.plan.contracts[contract]
    environment, numbers = set_up(prepared.target), count(1)
    script = {"aisp": _accounts, "pis": _payments}[contract](known, Random(seed), length)  # noqa: S311 -- no secret
    try:
        done = run_probe(
            script,
            environment,
            known.operations,
            number=lambda: next(numbers),
            record=lambda _event, _access: None,
        )
    finally:
        environment.close()
    if done.stopped:
        raise RuntimeError(done.stopped)
    return known, History(events=tuple(_first(done.history.events, length)))


def _numbered(event: Event) -> bool:
    return isinstance(event, Exchange | Authorised)


def _accounts(contract: Contract, dice: Random, length: int) -> Script:
    """Consent, read, turn pages, repeat, read unknown resources, and wait, at random."""
    today = (yield from steps.clock()).date()
    few, many = (
        steps.days_before(today, *range(1, 9)),
        steps.days_before(today, *range(1, 120, 6)),
    )
    holdings = (
        Holding(resource="account", count=2, entries=few),
        Holding(resource="card", entries=many),
        Holding(resource="account", traits={"savings": True}),
    )
    people: list[Subject] = []
    for name in NAMES:
        people.append((yield from steps.arrange(name, *holdings)))  # noqa: PERF401 -- it yields
    grant = contract.operations["consents"]
    reads = [operation for operation in contract.operations.values() if operation is not grant]
    reads += 3 * [operation for operation in reads if operation.lists]
    call = _consent(grant, people[0], dice)
    for _ in range(length):
        psu = dice.choice(people)
        match dice.choice(("read", "read", "read", "read", "again", "again", "consent", "wait")):
            case "read":
                key = dice.choice(dice.choice((*people, *[psu] * 9)).owns).key
                call = _read(dice.choice(reads), psu, key, today, dice)
            case "consent":
                call = _consent(grant, psu, dice)
            case "wait":
                yield from _wait(dice)
            case _:
                pass
        exchange = yield from steps.send(call)
        next_page = getattr(exchange.outcome, "next", None)
        call = replace(call, follow=next_page) if next_page else call


def _consent(grant: Operation, psu: Subject, dice: Random) -> Call:
    keys = [owned.key for owned in dice.sample(psu.owns[:-1], dice.choice((1, 2, 3, 3)))]
    return Call(operation=grant.id, subject=psu.name, arguments={grant.grants or "": keys})


def _read(operation: Operation, psu: Subject, key: str, today: date, dice: Random) -> Call:
    """Return a valid read request, or one of its variations."""
    arguments = dict(steps.arguments(operation, key))
    if operation.since and dice.random() < SELDOM:
        arguments[operation.since] = str(today - timedelta(days=dice.choice((10, 200))))
    plain = Call(operation=operation.id, subject=psu.name, arguments=arguments)
    ways = [plain, plain, replace(plain, present=False), replace(plain, malformed=VARIATION)]
    ways += [replace(plain, alias=0)] if operation.aliases else []
    ways += [replace(plain, mode=mode) for mode in operation.modes]
    ways += [replace(plain, credentials=True)] if operation.disclosures else []
    return dice.choice(ways)


def _wait(dice: Random) -> Script:
    now = yield from steps.clock()
    yield from steps.clock(now + timedelta(minutes=dice.choice(MINUTES)))


def _payments(contract: Contract, dice: Random, length: int) -> Script:
    """Create, read, sign, refuse, change, cancel, inquire, register, withdraw, and wait."""
    around = lifecycle_of_request(contract, "payment")
    people: list[Subject] = []
    for name in NAMES:
        people.append((yield from request_steps.customer(around, name, count=3)))  # noqa: PERF401 -- it yields
    made = [(yield from _create(around, people[0], dice))]
    for _ in range(2 * length):
        psu = dice.choice(people)
        if dice.random() < SELDOM:
            made.append((yield from _create(around, psu, dice)))
        else:
            # Old requests have expired: only recent ones are continued.
            yield from _continue(around, dice.choice(made[-12:]), psu, dice)


def _create(around: Lifecycle, psu: Subject, dice: Random) -> steps.Part[Exchange]:
    mode = dice.choice((*("immediate", "deferred", "instant") * 3, "several"))
    sent = {
        "debtorAccount": dice.choice(psu.owns).key,
        # Now and then the same as before.
        "amount": f"{dice.randrange(1, 50)}.00",
    }
    psu = replace(psu, now=(yield from steps.clock()))
    call = request_steps.request(around, psu, mode, sent, ahead=dice.choice((1, 3)))
    wrong = {**call.arguments, "chargeBearer": "DEBT"}
    ways = [
        *[call] * 12,
        replace(call, without=("creditorAccount",)),
        replace(call, varied=("amount",)),
        replace(call, malformed=Malformed.NOT_JSON),
        replace(call, arguments=wrong),
    ]
    return (yield from steps.send(dice.choice(ways)))


def _continue(around: Lifecycle, made: Exchange, psu: Subject, dice: Random) -> Script:
    """Perform one more step with a request, or next to it."""
    change, age = (
        request_steps.call_about(around.change, made),
        timedelta(hours=dice.choice((1, 72, 100))),
    )
    ways: list[Script] = [
        request_steps.sign(around, made),
        request_steps.sign(around, made),
        request_steps.sign(around, made, replace(request_steps.SIGN, decision=Decision.REFUSE)),
        request_steps.sign(around, made, replace(request_steps.SIGN, code=Code.WRONG)),
        request_steps.send_if_any(change and replace(change, varied=around.changeable_arguments)),
        request_steps.send_if_any(request_steps.call_about(around.end, made)),
        request_steps.inquire(),
        request_steps.inquire(),
        request_steps.withdraw(made),
        request_steps.register(around, psu, "creditorAccount", age),
        request_steps.read(around, made),
        request_steps.read(around, made),
        _wait(dice),
    ]
    yield from dice.choice(ways)


# -- longer histories -----------------------------------------------------------------------
def stretched(history: History, length: int, *, same: bool) -> History:
    """Return a history of this length; with `same`, every copy has the same customers."""
    stretch = without_repeated_effects(history.events)
    each = sum(map(_numbered, stretch))
    out: list[Event] = []
    for n in range(-(-length // each)):
        copies = Copies(
            n=n, each=each, names=_names(stretch, n, same=same), days=n * _days(stretch)
        )
        out += [copies.of(one) for one in stretch if not (n and same and isinstance(one, Subject))]
    return History(events=tuple(_first(out, length)))


def _first(events: Iterable[Event], length: int) -> Iterator[Event]:
    for one in events:
        if _numbered(one):
            length -= 1
        if length < 0:
            return
        yield one


def without_repeated_effects(events: tuple[Event, ...]) -> tuple[Event, ...]:
    """Drop the effects that were reported before: repeated, they alone grow with the square."""
    known, out = set[str](), list[Event]()
    for one in events:
        if isinstance(one, Effects):
            done = tuple(each for each in one.done or () if each.request not in known)
            known |= {each.request for each in done}
            out.append(replace(one, done=done))
        else:
            out.append(one)
    return tuple(out)


def _names(events: tuple[Event, ...], n: int, *, same: bool) -> Mapping[str, str]:
    """Return the names that differ in the n-th copy."""
    old = {
        one.item.key
        for one in events
        if isinstance(one, Exchange) and "payment" in one.call.operation and one.item
    }
    if not same:
        for one in events:
            if isinstance(one, Subject):
                old |= {one.name, *(each.key for each in one.owns)}
    return {name: f"{name}-{n}" for name in old if name} if n else {}


def _days(events: tuple[Event, ...]) -> int:
    moments = [moment for one in events if (moment := _moment(one)) is not None]
    return (max(moments) - min(moments)).days + 1


def _moment(event: Event) -> datetime | None:
    return getattr(event, "at", None) or getattr(event, "now", None)


@cache
def _fields(kind: Any) -> tuple[str, ...]:
    return tuple(one.name for one in fields(kind))


@dataclass(frozen=True, slots=True, kw_only=True)
class Copies:
    """Makes the n-th copy of the events: renumbered, renamed, later."""

    n: int
    each: int
    names: Mapping[str, str]
    days: int

    def of(self, event: Event) -> Any:
        """Return the copy of an event."""
        copy = self._copy(event)
        return replace(copy, n=copy.n + self.n * self.each) if _numbered(copy) else copy

    def _copy(self, value: Any) -> Any:
        match value:
            case str():
                copy = self._renamed(value)
            case date():
                copy = value + timedelta(days=self.days)
            case tuple() | list():
                new = list(map(self._copy, value))
                copy = value if all(map(is_, new, value)) else type(value)(new)
            case Mapping():
                copy = self._changed(value)
            case _ if is_dataclass(value) and not isinstance(value, Wire):
                old = {name: getattr(value, name) for name in _fields(type(value))}
                changed = self._changed(old)
                copy = value if changed is old else replace(value, **changed)
            case _:
                copy = value
        return copy

    def _changed(self, old: Mapping[str, Any]) -> Any:
        new = {name: self._copy(one) for name, one in old.items()}
        return old if all(map(is_, new.values(), old.values())) else new

    def _renamed(self, text: str) -> str:
        name = self.names.get(text, text)
        if not DAY.fullmatch(name):
            return name
        return str(date.fromisoformat(name) + timedelta(days=self.days))
