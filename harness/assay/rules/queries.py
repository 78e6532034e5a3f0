"""Queries of a history that checks share: page walks, kinds of calls, answered questions, consents.

Pure functions, each of which makes one pass over the history. `Consents` is the state of all
consents at one point: certain and possible ones. A consent whose answer was a server error may
have been accepted all the same, and where the document is silent, a later consent may or may
not have replaced an earlier one, and a list may show everything or only what is consented to.
A check reports only violations that are certain.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from collections.abc import Set as AbstractSet
from dataclasses import dataclass, field
from datetime import date, datetime, timedelta
from typing import cast
from zoneinfo import ZoneInfo

from assay.contract.model import Contract, Json, Operation
from assay.history import Accepted, Call, Cause, Exchange, History, Indeterminate, Item, Subject
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
    return call.own_token and not (call.follow or call.malformed or call.mode)


def ordinary(call: Call) -> bool:
    """Whether a call is well formed, in any mode, and asks for a first page."""
    return call.own_token and not (call.follow or call.malformed)


def bare(call: Call, operation: Operation) -> bool:
    """Whether a plain call has no arguments but those that the operation needs, and all of them."""
    return _only(call, operation, operation.about, operation.grants)


def bare_or_ranged(call: Call, operation: Operation) -> bool:
    """Whether a plain call is bare but for the days that the operation takes."""
    return _only(
        call, operation, operation.about, operation.grants, operation.since, operation.until
    )


def _only(call: Call, operation: Operation, *names: str | None) -> bool:
    only = call.arguments.keys() <= {*names}
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


# -- consents ------------------------------------------------------------------------
NONE: frozenset[str] = frozenset()
#: Why a missing consent of a subject with a past is not certain.
EARLIER = "but a consent from before this history may still hold"


def consented_keys(call: Call, grant: Operation) -> frozenset[str]:
    """Return the keys of the things that a call consents to."""
    listed = call.arguments.get(grant.grants or "")
    return (
        frozenset(map(str, listed))
        if isinstance(listed, list | tuple)
        else frozenset({listed})
        if isinstance(listed, str)
        else NONE
    )


def lists_keys(call: Call, grant: Operation) -> bool:
    """Whether a consent lists keys alone, each once: what else it holds may make it void."""
    listed = call.arguments.get(grant.grants or "")
    if not isinstance(listed, list | tuple) or not listed:
        return False
    return all(isinstance(key, str) for key in listed) and len(set(map(str, listed))) == len(listed)


def names_each_once(call: Call, grant: Operation) -> bool:
    """Whether a consent is a list of keys, each of them once."""
    listed = call.arguments.get(grant.grants or "")
    return isinstance(listed, list | tuple) and len(consented_keys(call, grant)) == len(listed)


@dataclass(slots=True, kw_only=True)
class Consents:
    """The state of all consents at a point of a history; `note` advances it.

    Only what the last consent names is certain: it may have replaced earlier ones.
    """

    grant: Operation | None
    _certain: dict[str, frozenset[str]] = field(default_factory=dict[str, frozenset[str]])
    _possible: dict[str, set[str]] = field(default_factory=dict[str, set[str]])
    _given: set[str] = field(default_factory=set[str])

    def note(self, exchange: Exchange) -> bool:
        """Process an exchange; return whether it may have changed a consent."""
        call = exchange.call
        if self.grant is None or call.operation != self.grant.id or exchange.refused:
            return False
        keys, name = consented_keys(call, self.grant), call.subject
        sure = self.certain(name)
        taken = exchange.accepted and plain(call) and lists_keys(call, self.grant)
        self._certain[name] = keys if taken else keys & sure
        self._possible.setdefault(name, set()).update(keys)
        self._given.add(name)
        return True

    def perhaps_given(self, subject: str) -> bool:
        """Whether a subject may have given a consent, if only one that names nothing."""
        return subject in self._given

    def certain(self, subject: str) -> frozenset[str]:
        """Return what a subject's consent certainly covers."""
        return self._certain.get(subject, NONE)

    def covers(self, operation: Operation, call: Call) -> bool:
        """Whether the caller certainly consented to what a call is about, where needed."""
        key = str(call.arguments.get(operation.about or ""))
        return not operation.about or not self.grant or key in self.certain(call.subject)

    def possible(self, subject: str) -> AbstractSet[str]:
        """Return what a subject's consent may cover."""
        return self._possible.get(subject, NONE)


@dataclass(frozen=True, slots=True, kw_only=True)
class NarrowedLists:
    """To what each list of a history may be narrowed by a consent; see `of`."""

    narrowed: Mapping[int, frozenset[str]]

    @classmethod
    def read(cls, history: History, grant: Operation | None) -> NarrowedLists:
        """Follow the consents of a history; without an operation that consents there are none."""
        narrowed: dict[int, frozenset[str]] = {}
        consents, lasting = Consents(grant=grant), set[str]()
        for event in history.events if grant else ():
            if isinstance(event, Subject):
                lasting |= set[str]() if event.fresh else {event.name}
            elif isinstance(event, Exchange):
                consents.note(event)
                name = event.call.subject
                if name in lasting or consents.perhaps_given(name):
                    narrowed[event.n] = consents.certain(name)
        return cls(narrowed=narrowed)

    def of(self, walk: PageWalk) -> frozenset[str] | None:
        """Return the keys that a list must have in spite of consents; None if none can narrow it.

        After a consent a target may list everything, or what is consented to. A customer who was
        there before the history may have consented to anything.
        """
        seen = [self.narrowed[page.n] for page in walk.pages if page.n in self.narrowed]
        return frozenset[str].intersection(*seen) if seen else None
