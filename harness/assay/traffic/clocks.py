"""Clocks of a bank whose times a recording does not show.

A recorder writes the time of its own machine. Where the clock of a bank can be moved, as that of a
sandbox, a call may have come on any day of the bank: earlier or later, days after the call before,
on the same day as all others, or in announced hours of maintenance. A violation that is none by one
of these clocks may be none at all.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from itertools import accumulate, chain
from typing import TypeAlias
from zlib import crc32

from assay.contract.model import Contract
from assay.history import Exchange, History, Submitted
from assay.rules.rule import facts_of
from assay.rules.state.calendar import leaves_room

#: A call in a history.
AnyCall: TypeAlias = Exchange | Submitted
#: Returns when a call was made by another clock, by its number and the recorded time.
Clock: TypeAlias = Callable[[int, datetime], datetime]

#: How far a clock may be from that of the recorder; the weekday is the same.
FAR = timedelta(weeks=143)
#: How much time may pass between two calls, in seconds, and how many clocks run so.
STEPS = (0, 0, 180, 3600, 90_000, 17_300_000)
RUNS = 8
#: The time, in seconds, after which such a clock begins again: other customers have other clocks.
_LONGEST = 50_000_000_000
_HALF_HOUR = timedelta(minutes=30)
_HALF_HOURS_A_WEEK = 7 * 48


def other_clocks(history: History, contracts: Iterable[Contract]) -> Iterator[History]:
    """Yield a history by other clocks that the bank may have had."""
    first = next((exchange.at for exchange in history.exchanges), None)
    if first is None:
        return
    count = len(history.exchanges)
    instants = [first, *_in_closed_hours(contracts, first)]
    running = (_running(first, seed, count) for seed in range(RUNS))
    for clock in chain((shifted(-FAR), shifted(FAR)), map(_standing, instants), running):
        yield with_changed_calls(history, _by(clock))


def _by(clock: Clock) -> Callable[[AnyCall], AnyCall]:
    return lambda event: replace(event, at=clock(event.n, event.at))


def with_changed_calls(history: History, change: Callable[[AnyCall], AnyCall]) -> History:
    """Return a history in which each call is changed."""
    changed = (
        change(each) if isinstance(each, Exchange | Submitted) else each for each in history.events
    )
    return History(events=tuple(changed))


def shifted(by: timedelta) -> Clock:
    """Return a clock that is ahead of the recorder's, or behind."""
    return lambda _, at: later(at, by)


def _standing(instant: datetime) -> Clock:
    """Return a clock that stands still, but for what keeps calls in their order."""
    return lambda n, _: later(instant, timedelta(microseconds=n))


def later(instant: datetime, by: timedelta) -> datetime:
    """Return a later instant, or the same where time ends."""
    moved = instant + by
    return moved if leaves_room(moved) else instant


def _running(first: datetime, seed: int, count: int) -> Clock:
    """Return a clock that was moved on between many calls, the same every time."""
    steps = (STEPS[crc32(b"%d %d" % (seed, n)) % len(STEPS)] + 1 for n in range(count))
    passed = [*accumulate(steps, initial=0)]
    return lambda n, _: later(first, timedelta(seconds=passed[min(n, count)] % _LONGEST))


def _in_closed_hours(contracts: Iterable[Contract], first: datetime) -> Iterator[datetime]:
    """Yield an instant at which the interface of each contract is announced to be closed."""
    begin = first.astimezone(UTC).replace(minute=0, second=0, microsecond=0)
    for contract in contracts:
        week = (begin + n * _HALF_HOUR for n in range(_HALF_HOURS_A_WEEK))
        instant = next(filter(facts_of(contract).closed_at, week), None)
        if instant is not None:
            yield instant
