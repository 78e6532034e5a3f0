"""How many calls of a day count against a quota: at least so many, at most so many.

Documents leave open what counts (page turns, refused calls, other names of a
method), nobody knows whether a call that timed out was counted, and without a
zone not even which calls fall on one day. So there are two counts: a call must
be refused when the smaller one is used up, and served while the larger is not.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field
from datetime import date, datetime, timedelta
from typing import TypeAlias
from zoneinfo import ZoneInfo

from assay.history import Exchange
from assay.rules.calendar import dates, within_a_day
from assay.rules.folds import plain

#: A subject, a method, and a key of the day.
Slot: TypeAlias = tuple[str, str, date | datetime]


@dataclass(slots=True, kw_only=True)
class Counts:
    """The calls so far. `closed` is the day of the last refusal beyond the limit."""

    limit: int
    zone: ZoneInfo | None
    closed: dict[tuple[str, str], date] = field(default_factory=dict[tuple[str, str], date])
    _least: Counter[tuple[Slot, int | None]] = field(
        default_factory=Counter[tuple[Slot, int | None]]
    )
    _most: Counter[Slot] = field(default_factory=Counter[Slot])
    _methods: dict[tuple[str, date | datetime], set[str]] = field(
        default_factory=dict[tuple[str, date | datetime], set[str]]
    )
    _subjects: dict[tuple[str, date | datetime], set[str]] = field(
        default_factory=dict[tuple[str, date | datetime], set[str]]
    )

    def least(self, exchange: Exchange) -> int:
        """Return how many calls surely count on the day of this one, under its name."""
        return self._least[self._slot(exchange)]

    def most(self, exchange: Exchange) -> int:
        """Return how many calls may count on the day of this one."""
        call, days = exchange.call, dates(exchange.at, self.zone)
        if self.zone is None:
            days = tuple(days[0] - timedelta(days=n) for n in range(3))
        return sum(self._most[call.subject, call.operation, day] for day in days)

    def others(self, exchange: Exchange) -> str | None:
        """Return the facet that a first call bears on when something else is used up."""
        call, day = exchange.call, within_a_day(exchange.at, self.zone)
        if self._methods.get((call.subject, day), set()) - {call.operation}:
            return "per-method"
        if self._subjects.get((call.operation, day), set()) - {call.subject}:
            return "per-customer"
        return None

    def note(self, exchange: Exchange) -> None:
        """Count a batch call."""
        call, slot = exchange.call, self._slot(exchange)
        if exchange.refused and self._least[slot] >= self.limit and self.zone:
            today = exchange.at.astimezone(self.zone).date()
            self.closed[call.subject, call.operation] = today
        self._most[call.subject, call.operation, dates(exchange.at, self.zone)[0]] += 1
        if exchange.accepted and plain(call):
            self._least[slot] += 1
        if self._least[slot] >= self.limit:
            day_key = slot[0][2]
            self._methods.setdefault((call.subject, day_key), set()).add(call.operation)
            self._subjects.setdefault((call.operation, day_key), set()).add(call.subject)

    def _slot(self, exchange: Exchange) -> tuple[Slot, int | None]:
        call = exchange.call
        day = within_a_day(exchange.at, self.zone)
        return (call.subject, call.operation, day), call.alias
