"""Queries of a history that checks share: page walks, kinds of calls, answered questions.

Pure functions, each of which makes one pass over the history. Consents are in `rules.consents`.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from datetime import date, datetime, timedelta
from typing import cast
from zoneinfo import ZoneInfo

from assay.contract.model import Contract, Json, Operation
from assay.history import (
    ERROR_CODE,
    Accepted,
    Call,
    Cause,
    Exchange,
    History,
    Indeterminate,
    Item,
    ShownError,
    Subject,
)
from assay.rules.state.calendar import dates, within_a_day


@dataclass(frozen=True, slots=True, kw_only=True)
class PageWalk:
    """The pages of one question, in order."""

    pages: tuple[Exchange, ...]

    @property
    def call(self) -> Call:
        """The call that began the walk."""
        return self.pages[0].call

    @property
    def ended(self) -> bool:
        """Whether every page was served and the last one names no further page."""
        last = self.pages[-1].outcome
        return all(page.accepted for page in self.pages) and (
            isinstance(last, Accepted) and not last.next
        )

    def on_one_day(self, zone: ZoneInfo | None) -> bool:
        """Whether all pages were certainly read on one local day: on two they are no one list."""
        return len({within_a_day(page.at, zone) for page in self.pages}) == 1

    @property
    def items(self) -> tuple[Item, ...]:
        """All items of all pages."""
        return tuple(item for page in self.pages for item in page.items)

    @property
    def numbers(self) -> tuple[int, ...]:
        """The numbers of the exchanges."""
        return tuple(page.n for page in self.pages)

    @property
    def keys(self) -> frozenset[str]:
        """The keys of all items that have one."""
        return frozenset(item.key for item in self.items if item.key is not None)

    @property
    def has_unnamed_items(self) -> bool:
        """Whether some item has no key, so that the items cannot be compared as a whole."""
        return any(item.key is None for item in self.items)


def page_walks(history: History, operation: str) -> Iterator[PageWalk]:
    """Group the exchanges of an operation into page walks, each with the call that began it."""
    open_walks: list[list[Exchange]] = []
    named: dict[tuple[str, str], list[list[Exchange]]] = {}
    for exchange in history.exchanges:
        call = exchange.call
        if call.operation != operation or call.malformed or not call.own_token:
            continue
        if call.follow is None:
            pages = [exchange]
            open_walks.append(pages)
        elif waiting := named.get((call.subject, call.follow)):
            pages = waiting.pop()
            pages.append(exchange)
        else:
            continue
        if isinstance(exchange.outcome, Accepted) and exchange.outcome.next:
            named.setdefault((call.subject, exchange.outcome.next), []).append(pages)
    for pages in open_walks:
        yield PageWalk(pages=tuple(pages))


def resources_by_key(history: History, contract: Contract) -> Mapping[str, str]:
    """Return the resource of every key that a subject or a list in the history has named."""
    known: dict[str, str] = {}
    for event in history.events:
        if isinstance(event, Subject):
            known.update({thing.key: thing.resource for thing in event.owns})
        elif isinstance(event, Exchange):
            for item in event.items:
                resource = item.resource or ""
                if item.key is not None and resource in contract.resources:
                    known.setdefault(item.key, resource)
    return known


def served_operations(history: History) -> frozenset[tuple[str, str, bool]]:
    """Return who was answered plainly by which operation, and whether the customer was there."""
    return frozenset(
        (exchange.call.subject, exchange.call.operation, exchange.call.present)
        for exchange in history.exchanges
        if exchange.accepted and plain(exchange.call)
    )


def plain(call: Call) -> bool:
    """Whether a call is well formed, in no mode, and asks for a first page.

    `variation` does not count: it is a note of the probe, and recorded traffic has none.
    """
    return ordinary(call) and not call.mode


def ordinary(call: Call) -> bool:
    """Whether a call is well formed, in any mode, and asks for a first page.

    One that names another consent than the last is none.
    """
    return call.own_token and not (call.follow or call.malformed or call.consent)


def bare(call: Call, operation: Operation) -> bool:
    """Whether a plain call has no arguments but those that the operation needs, and all of them."""
    return _only(call, operation, operation.about, operation.grants)


def bare_or_ranged(call: Call, operation: Operation) -> bool:
    """Whether a plain call is bare but for the days that the operation takes."""
    return _only(
        call, operation, operation.about, operation.grants, operation.since, operation.until
    )


def _only(call: Call, operation: Operation, *names: str | None) -> bool:
    # What the target file adds to a consent is recorded with it.
    more = operation.arguments if operation.grants else ()
    only = call.arguments.keys() <= {*names, *more}
    return plain(call) and only and not set(call.without) & {*operation.arguments}


def has_value(value: Json) -> bool:
    """Whether a value says anything: not null, not empty, and no structure of such values."""
    match value:
        case Mapping():
            return any(map(has_value, cast("Mapping[str, Json]", value).values()))
        case list() | tuple():
            return any(map(has_value, cast("list[Json]", value)))
        case _:
            return value not in (None, "")


def has_error_field(error: ShownError, name: str) -> bool:
    """Whether a shown error has a value in a field, its code among the fields."""
    return bool(error.codes) if name == ERROR_CODE else has_value(error.fields.get(name))


def question(call: Call) -> tuple[str, str, str]:
    """Return subject, operation and arguments of a call: equal for equal questions."""
    return call.subject, call.operation, repr(sorted(call.arguments.items()))


def answered_questions(
    history: History, *, present: bool = True
) -> frozenset[tuple[str, str, str]]:
    """Return the questions to which a plain call was accepted at least once."""
    return frozenset(
        question(exchange.call)
        for exchange in history.exchanges
        if exchange.accepted and exchange.call.present is present and plain(exchange.call)
    )


def fresh_subjects(history: History) -> frozenset[str]:
    """Return the subjects that had no past when the history began."""
    return frozenset(name for name, subject in history.subjects.items() if subject.fresh)


def target_failed(exchange: Exchange) -> bool:
    """Whether the target itself failed (a 5xx answer)."""
    outcome = exchange.outcome
    return isinstance(outcome, Indeterminate) and outcome.cause is Cause.SERVER


def oldest_date(now: datetime, days: int, zone: ZoneInfo | None) -> date:
    """Return the oldest date that "up to N days" can still mean at `now`.

    With no zone known, the widest reading of "today" is taken.
    """
    return dates(now, zone)[0] - timedelta(days=days)
