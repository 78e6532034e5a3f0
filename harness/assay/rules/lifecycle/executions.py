"""Reconciliation of a history: for each request, what may have been carried out of it.

The history alone gives each request a lower and an upper bound. Surely due is what is valid,
was accepted and wholly signed, and against which nothing speaks. Surely not due is what was
refused, rejected, denied, timed out, cancelled or never signed. What the fixture tells, and what
the bank shows, must lie within. Where an answer is lost or a value doubtful, there is no bound.
Nothing is judged here.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from datetime import date, datetime, timedelta

from assay.contract.model import Json
from assay.history import (
    Authorised,
    Effect,
    Effects,
    Event,
    Exchange,
    History,
    Lacking,
    Withdrawn,
)
from assay.rules import clauses
from assay.rules.lifecycle import request_queries
from assay.rules.lifecycle.changes import Change, change_of
from assay.rules.lifecycle.execution_record import Record
from assay.rules.lifecycle.tracker import Lifecycle, Tracker
from assay.rules.lifecycle.validity import PastRequests, is_valid
from assay.rules.state.calendar import dates

#: After so many days an execution is missing, whatever the calendar of banking days.
GRACE = 14


@dataclass(slots=True, kw_only=True)
class Books:
    """All requests of a history, and all inquiries about what was carried out."""

    lifecycle: Lifecycle
    past: PastRequests
    records: list[Record] = field(default_factory=list[Record])
    inquiries: list[tuple[int, datetime]] = field(default_factory=list[tuple[int, datetime]])
    strangers: list[Effect] = field(default_factory=list[Effect])
    creates: list[Exchange] = field(default_factory=list[Exchange])
    lacking: set[str] = field(default_factory=set[str])
    _by_request: dict[int, Record] = field(default_factory=dict[int, Record])

    @classmethod
    def of(cls, lifecycle: Lifecycle, history: History) -> Books:
        """Return the books of a history; requests that share a key are left out."""
        tracker = Tracker(lifecycle=lifecycle)
        books = cls(lifecycle=lifecycle, past=PastRequests(lifecycle=lifecycle, tracker=tracker))
        for place, event in enumerate(history.events):
            books._note(place, event)
        apart = {id(request) for request in request_queries.with_own_key(tracker)}
        books.records = [
            record
            for record in books.records
            if id(record.request) in apart or record.request.key is None
        ]
        return books

    def _note(self, place: int, event: Event) -> None:
        tracker, count = self.past.tracker, len(self.past.tracker.requests)
        creating = isinstance(event, Exchange) and event.call.operation == self.lifecycle.create.id
        valid = creating and isinstance(event, Exchange) and self._valid(event)
        change = change_of(self.lifecycle, tracker, event)
        cancelled = self._cancelled(event)
        self.past.note(event)
        if isinstance(event, Lacking):
            self.lacking.add(event.mode)
        if isinstance(event, Exchange) and creating:
            self.creates.append(event)
        if len(tracker.requests) > count:
            request = tracker.requests[-1]
            record = Record(
                request=request,
                place=place,
                valid=valid,
                first=len(self.creates) == 1,
                force=dict(request.arguments),
                amount=request.arguments.get(self.lifecycle.create.amount or ""),
            )
            self.records.append(record)
            self._by_request[id(request)] = record
        self._apply(place, event, change, cancelled)
        self._look(place, event)

    def _apply(
        self, place: int, event: Event, change: Change | None, cancelled: Record | None
    ) -> None:
        """Process what may alter whether, when or how a request is carried out."""
        if isinstance(event, Authorised):
            record = self._record(event.step.request)
            if record is not None:
                record.signed, record.changed = place, False
                record.revived = record.cancelled is not None
        elif cancelled is not None:
            cancelled.cancelled = place
        elif isinstance(event, Exchange) and not event.refused:
            operation = self.lifecycle.change
            if operation is None or event.call.operation != operation.id:
                return
            record = self._record(str(event.call.arguments.get(operation.about or "")))
            if record is None:
                return
            record.revived = record.cancelled is not None
            if change is None:
                by_requester = request_queries.is_by_requester(record.request, event.call)
                record.certain = record.certain and by_requester
            elif change.lost or not (change.untouched and change.ahead):
                record.certain = False
            else:
                record.force |= change.new
                record.changed = record.signed is not None

    def _look(self, place: int, event: Event) -> None:
        """Process what the fixture tells, or the bank shows, of requests."""
        if isinstance(event, Effects) and event.done is not None:
            self.inquiries.append((place, event.now))
            listed: dict[str, int] = {}
            for effect in event.done:
                listed[effect.request] = listed.get(effect.request, 0) + 1
                record = self._record(effect.request)
                if record is None:
                    if effect not in self.strangers:
                        self.strangers.append(effect)
                elif listed[effect.request] > 1 or all(
                    known.on != effect.on for _, known, _ in record.effects
                ):
                    record.effects.append((place, effect, event.now))
        elif isinstance(event, Exchange) and event.item is not None and event.item.state:
            read = self.lifecycle.read
            request = self.past.tracker.find(event.item.key or "")
            shows = read is not None and event.call.operation == read.id
            shows = shows or (request is not None and event is request.made)
            if request is not None and shows:
                record = self._by_request[id(request)]
                record.told.append((place, event.item.state, event))

    def _record(self, key: str) -> Record | None:
        request = self.past.tracker.find(key)
        return self._by_request[id(request)] if request is not None else None

    def _cancelled(self, event: Event) -> Record | None:
        """Return the request that an event surely cancels, in time, before it is processed."""
        end = self.lifecycle.end
        if isinstance(event, Withdrawn) and event.done:
            record, now = self._record(event.request), event.now
        elif isinstance(event, Exchange) and end is not None and event.accepted:
            if event.call.operation != end.id:
                return None
            record, now = self._record(str(event.call.arguments.get(end.about or ""))), event.at
            if record is None or not request_queries.is_by_requester(record.request, event.call):
                return None
        else:
            return None
        if record is None or record.done is not None or record.over or not record.certain:
            return None
        early = request_queries.is_before_due_day(self.lifecycle, record.force, now)
        return record if early else None

    def _valid(self, exchange: Exchange) -> bool:
        """Whether a request is certainly to be accepted, in whichever mode it is made."""
        create, call = self.lifecycle.create, exchange.call
        mode = call.mode or self.lifecycle.mode
        accepted = clauses.accepted_modes(self.lifecycle.contract, self.lifecycle.request.id)
        if call.malformed or mode in self.lacking or (accepted and mode not in accepted):
            return False
        arguments = dict(call.arguments)
        if create.due and self.lifecycle.deferred(mode):
            day = request_queries.due_day(self.lifecycle, arguments)
            if day is None or day <= dates(exchange.at, self.lifecycle.contract.zone)[-1]:
                return False
            del arguments[create.due.argument]
        plain = replace(call, mode=self.lifecycle.mode, arguments=arguments)
        return is_valid(create, replace(exchange, call=plain), self.past)

    # -- bounds ----------------------------------------------------------------------
    def repeats(self, record: Record) -> bool:
        """Whether a request with the same content may have been carried out."""
        content = self.content(record.request.made.call.arguments)
        return any(
            self.content(each.request.made.call.arguments) == content
            and bool(each.done is not None or each.request.signings)
            for each in self.records
            if each is not record
        )

    def content(self, arguments: Mapping[str, Json]) -> Hashable:
        """Return what was asked for, without the address to return to: equal for equal requests."""
        returns = self.lifecycle.create.returns
        return repr(sorted((k, repr(v)) for k, v in arguments.items() if k != returns))

    def plain(self, record: Record) -> bool:
        """Whether it is the main flow: a customer's first request, which nothing speaks against."""
        request, lifecycle = record.request, self.lifecycle
        segments = clauses.factors_by_segment(lifecycle.contract, lifecycle.request.id)
        segment = request.subject.segment if request.subject else None
        main = (request.mode or lifecycle.mode) == lifecycle.mode
        usual = segment in (None, next(iter(segments), None))
        return main and usual and record.first and record.valid and record.usual

    def surely_due(self, record: Record) -> bool:
        """Whether it must be carried out, once its day has come."""
        request = record.request
        ended = record.cancelled is not None or any(not end.refused for end in request.ends)
        ended = ended or any(withdrawal.done for withdrawal in request.withdrawn)
        plain = record.valid and record.certain and not record.changed and not ended
        return (
            plain
            and request.key is not None
            and request.made.accepted
            and request_queries.is_known(request)
            and record.signature is not None
            and record.usual
            and not self.repeats(record)
        )

    def day(self, record: Record) -> date | None:
        """Return the day to which it is deferred; None if it is not, or that is unknown."""
        deferred = self.lifecycle.deferred(record.request.mode)
        return request_queries.due_day(self.lifecycle, record.force) if deferred else None

    def signed_before_its_day(self, record: Record) -> bool:
        """Whether a deferred request was surely signed before its day."""
        signing = record.signature
        return signing is not None and request_queries.is_before_due_day(
            self.lifecycle, record.force, signing.at
        )

    def looks(self, record: Record) -> Iterator[tuple[int, datetime]]:
        """Yield when the fixture was asked, or the request read, since it was made."""
        yield from ((place, now) for place, now in self.inquiries if place > record.place)
        yield from ((place, read.at) for place, _, read in record.told if place > record.place)

    def missing(self, record: Record) -> bool | None:
        """Whether a request that is surely due is missing; None while it may still come."""
        since = record.signed or record.place
        quiet = [(place, now) for place, now in self.looks(record) if place > since]
        signing = record.signature
        if not quiet or signing is None:
            return None
        place, now = max(quiet)
        zone = self.lifecycle.contract.zone
        begin = dates(signing.at, zone)[-1]
        day = self.day(record)
        if self.lifecycle.deferred(record.request.mode):
            if day is None:
                return None
            begin = max(begin, day)
        if dates(now, zone)[0] > begin + timedelta(days=GRACE):
            return True
        like = (each for each in self.records if self._no_sooner(record, each, place))
        return True if any(like) else None

    def _no_sooner(self, record: Record, other: Record, place: int) -> bool:
        """Whether another request, due no sooner, had been carried out by a place."""
        if other is record or other.done is None or other.done > place or not other.signature:
            return False
        same = self.alike(record, other) and other.certain
        if self.lifecycle.deferred(record.request.mode):
            days = self.day(record), self.day(other)
            in_time = self.signed_before_its_day(record)
            return same and in_time and None not in days and str(days[1]) >= str(days[0])
        return same and (other.signed or 0) > (record.signed or 0)

    @staticmethod
    def alike(record: Record, other: Record) -> bool:
        """Whether two requests were made by one TPP, for one customer, in one mode."""
        first, second = record.request.made.call, other.request.made.call
        return (first.subject, first.by, first.mode) == (second.subject, second.by, second.mode)

    def control(self, record: Record) -> Record | None:
        """Return a request like one that was not carried out, due no sooner, that was."""
        place = max((place for place, _ in self.looks(record)), default=None)
        day = self.day(record)
        for each in self.records:
            if each is record or each.done is None or place is None or each.done > place:
                continue
            later = day is None or str(self.day(each)) >= str(day)
            if self.alike(record, each) and each.signature is not None and later:
                return each
        return None
