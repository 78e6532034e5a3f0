"""Queries of a history that checks share: page walks, kinds of calls, answered questions.

Pure functions, each of which makes one pass over the history; among them, which calls a limit of
calls may explain. Consents are in `rules.consents`.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Hashable, Iterator, Mapping
from dataclasses import dataclass, replace
from datetime import date, datetime, timedelta
from functools import partial
from typing import cast
from zoneinfo import ZoneInfo

from assay.contract.model import Contract, Json, Operation
from assay.history import (
    ERROR_CODE,
    Accepted,
    Authorised,
    Call,
    Cause,
    Event,
    Exchange,
    History,
    Indeterminate,
    Item,
    Lacking,
    Registered,
    ShownError,
    Subject,
    Submitted,
    Withdrawn,
)
from assay.rules.facets import CallLimit
from assay.rules.rule import facts_of
from assay.rules.state.calendar import dates, local_day, within_a_day
from assay.rules.verdict import Evidence


@dataclass(frozen=True, slots=True, kw_only=True)
class PageWalk:
    """The pages of one list, in order: nothing that may change the list came between them.

    `changes` are how often the lists of its customer may have changed before it.
    """

    pages: tuple[Exchange, ...]
    changes: int = 0

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

    def showing(
        self, evidence: Evidence, decides: Callable[[Item], bool], feature: str, name: str = ""
    ) -> Evidence:
        """Return evidence on the walk with the first page and item that decide, if one does."""
        for page in self.pages:
            for item in filter(decides, page.items):
                member = page.member_of(item, feature, name)
                return replace(evidence, decisive=page.n, member=member)
        return evidence

    @property
    def has_unnamed_items(self) -> bool:
        """Whether some item has no key, so that the items cannot be compared as a whole."""
        return any(item.key is None for item in self.items)


def page_walks(history: History, operation: str, contract: Contract) -> Iterator[PageWalk]:
    """Group the exchanges of an operation into page walks, each with the call that began it.

    Pages are of one list if one party read them on one local day, and nothing that may change the
    list came in between. A walk ends before a page of another list, which belongs to none.
    """
    walks: list[tuple[int, list[Exchange]]] = []
    named: dict[Hashable, list[list[Exchange]]] = {}
    changes = Counter[str]()
    for event in history.events:
        changes.update(_changed_lists(event, contract))
        if not isinstance(event, Exchange):
            continue
        call = event.call
        if call.operation != operation or call.malformed or not call.own_token:
            continue
        state = changes[call.subject], within_a_day(event.at, contract.zone)
        reader = call.subject, call.by, call.consent, state
        if call.follow is None:
            pages = [event]
            walks.append((changes[call.subject], pages))
        elif waiting := named.get((*reader, call.follow)):
            pages = waiting.pop()
            pages.append(event)
        else:
            continue
        if isinstance(event.outcome, Accepted) and event.outcome.next:
            named.setdefault((*reader, event.outcome.next), []).append(pages)
    for before, pages in walks:
        yield PageWalk(pages=tuple(pages), changes=before)


def _changed_lists(event: Event, contract: Contract) -> tuple[str, ...]:
    """Return whose lists an event may change: a consent or a request, or who the customer is."""
    match event:
        case Exchange(call=call) | Submitted(call=call):
            operation = contract.operations.get(call.operation)
            changing = operation is not None and (operation.grants or operation.writes)
            return (call.subject,) if changing and not event.refused else ()
        case Authorised(step=step):
            return step.subject, *((step.by,) if step.by else ())
        case Subject(name=name) | Withdrawn(subject=name) | Registered(subject=name):
            return (name,)
        case _:
            return ()


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


def at_own_bank(history: History) -> History:
    """Return a history up to the first call at another bank, or to where the trial goes on at one.

    A call there may change what follows. A trial that begins at another bank is all of that.
    """
    return history.once("at own bank", None, partial(_at_own_bank, history))


def _at_own_bank(history: History) -> History:
    called = False
    for place, event in enumerate(history.events):
        gone = isinstance(event, Lacking) and called
        if gone or (isinstance(event, Exchange) and event.call.bank is not None):
            return History(events=history.events[:place])
        called = called or isinstance(event, Exchange)
    return history


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


def is_part(exchange: Exchange) -> bool:
    """Whether an answer is one of several pages: what it lacks may be on another, even if it is empty."""
    return exchange.call.follow is not None or names_another(exchange)


def names_another(exchange: Exchange) -> bool:
    """Whether an answer names a further page."""
    return isinstance(exchange.outcome, Accepted) and bool(exchange.outcome.next)


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


# -- calls that a limit of calls may explain -------------------------------------------------
def perhaps_exhausted(contract: Contract, operation: str, history: History) -> frozenset[int]:
    """Return the numbers of the calls for which the limit with the customer may be used up.

    What counts, and since when, is open, so every earlier call of the customer does.
    """
    facts = facts_of(contract)
    most = facts.limit(operation, attended=True)
    if most is None:
        return frozenset()
    asked = Counter[str]()
    beyond: set[int] = set()
    together = facts.counted_together(operation)
    for exchange in history.exchanges:
        if exchange.call.operation in together:
            asked[exchange.call.subject] += 1
            if exchange.call.operation == operation and asked[exchange.call.subject] > most:
                beyond.add(exchange.n)
    return frozenset(beyond)


def perhaps_over_quota(contract: Contract, history: History) -> frozenset[int]:
    """Return the numbers of the calls without the customer that may be refused for their number.

    What counts is open, so every call without the customer does. Of a customer who was there
    before, the calls that were made before are unknown.
    """
    facts = facts_of(contract)
    limits = {**facts.limits(attended=False)}
    for operation, each in facts.call_limits.items():
        for limit in each:
            # A consent may name a smaller number.
            if limit.argument and not limit.attended:
                limits[operation] = min(limits[operation], _least_named(limit, history))
    asked = Counter[tuple[str, str, date | None]]()
    fresh = fresh_subjects(history)
    over: set[int] = set()
    for exchange in history.exchanges:
        call = exchange.call
        if call.operation in limits and not call.present:
            day = local_day(exchange.at, contract.zone) if contract.zone else None
            for together in facts.counted_together(call.operation):
                asked[call.subject, together, day] += 1
            number = asked[call.subject, call.operation, day]
            if number > limits[call.operation] or call.subject not in fresh:
                over.add(exchange.n)
    return frozenset(over)


def _least_named(limit: CallLimit, history: History) -> int:
    """Return the smallest number that a consent of a history names, or 0 where one names none."""
    named = [
        call.arguments.get(limit.argument)
        for call in (exchange.call for exchange in history.exchanges)
        if call.operation == limit.grant
    ]
    numbers = [number if isinstance(number, int) else 0 for number in named]
    return min([limit.number, *numbers])
