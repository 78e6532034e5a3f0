"""Reconciliation of a history: for each request, what may have been executed of it.

The history alone gives each request a lower and an upper bound. Surely due is what is valid,
was accepted and wholly signed, and against which nothing speaks. Surely not due is what was
refused, rejected, denied, timed out, cancelled or never signed. What the fixture tells, and what
the bank shows, must lie within. Where an answer is lost or a value doubtful, there is no bound.
Nothing is judged here.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Hashable, Mapping
from dataclasses import dataclass, field, replace
from datetime import date, datetime, timedelta

from assay.contract.model import Json
from assay.contract.scalars import canonical
from assay.history import Authorised, Effect, Effects, Event, Exchange, History, Lacking, Withdrawn
from assay.rules.controls import digest_of
from assay.rules.lifecycle import request_queries
from assay.rules.lifecycle.changes import Change, change_of
from assay.rules.lifecycle.execution_record import Index, Record, Refusals, kind_of_request
from assay.rules.lifecycle.tracker import Lifecycle, Tracker
from assay.rules.lifecycle.validity import PastRequests, is_valid
from assay.rules.rule import facts_of
from assay.rules.state.calendar import dates

#: Days after which an execution is missing, whatever the calendar of banking days.
GRACE = 14


@dataclass(slots=True, kw_only=True)
class Books:
    """All requests of a history, and all inquiries about what was executed.

    `strangers` are the effects of no known request, `creates` counts the calls that make one;
    `unkeyed` says that one may have been made whose key is not known.
    """

    lifecycle: Lifecycle
    past: PastRequests
    records: list[Record] = field(default_factory=list[Record])
    inquiries: list[tuple[int, datetime]] = field(default_factory=list[tuple[int, datetime]])
    creates: int = 0
    unkeyed: bool = False
    strangers: dict[str, Effect] = field(default_factory=dict[str, Effect])
    lacking: set[str] = field(default_factory=set[str])
    refusals: Refusals = field(default_factory=Refusals)
    _by_request: dict[int, Record] = field(default_factory=dict[int, Record])
    _index: Index = field(default_factory=Index)

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
        for record in books.records:
            content = books.content(record.request.made.call.arguments)
            books._index.add(record, content, books.day(record))
        books._index.days.sort()
        for effect in books.strangers.values():
            names = tuple(sorted(effect.fields))
            values = tuple(canonical(effect.fields[name]) for name in names)
            books._index.strangers.setdefault(names, set()).add(values)
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
            self.creates += 1
            keyless = event.accepted and (event.item is None or event.item.key is None)
            lost = not event.accepted and not event.refused
            self.unkeyed = self.unkeyed or keyless or lost
        if len(tracker.requests) > count:
            request = tracker.requests[-1]
            record = Record(
                request=request,
                place=place,
                valid=valid,
                first=self.creates == 1,
                amount=request.arguments.get(self.lifecycle.create.amount or ""),
            )
            if request.unsigned and request.signings:
                record.signed = place
            self.records.append(record)
            self._by_request[id(request)] = record
            self.refusals.request(record)
        self._apply(place, event, change, cancelled)
        self._look(place, event)

    def _apply(
        self, place: int, event: Event, change: Change | None, cancelled: Record | None
    ) -> None:
        """Process what may alter whether, when or how a request is executed."""
        if isinstance(event, Authorised):
            record = self._record(event.step.request)
            if record is not None:
                record.signed, record.changed = place, False
                record.revived = record.cancelled is not None
        elif cancelled is not None:
            cancelled.cancelled = place
        elif isinstance(event, Exchange):
            operation = self.lifecycle.change
            if operation is None or event.call.operation != operation.id:
                return
            record = self._record(str(event.call.arguments.get(operation.about or "")))
            if record is None:
                return
            if event.refused:
                self.refusals.change(operation, event, record)
                return
            record.revived = record.cancelled is not None
            if change is None:
                by_requester = request_queries.is_by_requester(record.request, event.call)
                record.certain = record.certain and by_requester
            elif change.lost or not (change.untouched and change.ahead):
                record.certain = False
            else:
                record.renewed = {**record.force, **change.new}
                record.changed = record.signed is not None and not record.request.unsigned

    def _look(self, place: int, event: Event) -> None:
        """Process what the fixture tells, or the bank shows, of requests."""
        if isinstance(event, Effects) and event.done is not None:
            self.inquiries.append((place, event.now))
            listed: dict[str, int] = {}
            for effect in event.done:
                listed[effect.request] = listed.get(effect.request, 0) + 1
                record = self._record(effect.request)
                if record is None:
                    self.strangers[effect.request] = effect
                    continue
                if all(known != effect for _, known, _ in record.effects):
                    self.refusals.look(record, effect.fields)
                if listed[effect.request] > len(record.effects) or (
                    listed[effect.request] == 1
                    and all(known.on != effect.on for _, known, _ in record.effects)
                ):
                    record.effects.append((place, effect, event.now))
                    self.refusals.look(record, effect.fields)
        elif isinstance(event, Exchange) and event.item is not None and event.item.state:
            read = self.lifecycle.read
            request = self.past.tracker.find(request_queries.key_shown(event, read))
            shows = read is not None and event.call.operation == read.id
            shows = shows or (request is not None and request_queries.makes(event, request))
            if shows:
                self.refusals.read(event)
            if request is not None and shows:
                record = self._by_request[id(request)]
                if not request_queries.makes(event, request):
                    self.refusals.look(record, event.item.fields, event.n)
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
        accepted = facts_of(self.lifecycle.contract).accepted_modes.get(self.lifecycle.request.id)
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
        """Whether a request with the same content may have been executed."""
        alike = self._index.contents.get(self.content(record.request.made.call.arguments), set())
        return bool(alike - {id(record)})

    def content(self, arguments: Mapping[str, Json]) -> Hashable:
        """Return what was asked for, without the address to return to: equal for equal requests.

        Null asks for nothing, so that a bank may leave it out.
        """
        returns = self.lifecycle.create.returns
        given = {k: v for k, v in arguments.items() if k != returns and v is not None}
        return digest_of(sorted((k, repr(v)) for k, v in given.items()))

    def plain(self, record: Record) -> bool:
        """Whether it is the main flow: a customer's first request, which nothing speaks against."""
        segments = facts_of(self.lifecycle.contract).factors_by_segment.get(
            self.lifecycle.request.id, {}
        )
        request = record.request
        segment = request.subject.segment if request.subject else None
        usual = segment in (None, next(iter(segments), None))
        return usual and self.in_main_flow(record)

    def in_main_flow(self, record: Record) -> bool:
        """Whether it is the main flow, for a customer of any segment."""
        main = (record.request.mode or self.lifecycle.mode) == self.lifecycle.mode
        return main and record.first and record.valid and record.usual

    def surely_due(self, record: Record) -> bool:
        """Whether it must be executed, once its day has come."""
        request = record.request
        ended = record.cancelled is not None or any(not end.refused for end in request.ends)
        ended = ended or any(withdrawal.done for withdrawal in request.withdrawn)
        plain = record.valid and record.certain and not record.changed and not ended
        return (
            plain
            and request.key is not None
            and request.made.accepted
            and record.signature is not None
            and record.usual
            and not (request.distrusted or self.repeats(record))
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

    def last_look(self, record: Record) -> tuple[int, datetime] | None:
        """Return where the fixture was last asked, or the request read, since it was made."""
        looks = [(place, read.at) for place, _, read in record.told if place > record.place]
        looks += [look for look in self.inquiries[-1:] if look[0] > record.place]
        return max(looks, default=None)

    def asked_since(self, place: int) -> bool:
        """Whether the fixture was asked what was executed, after a place."""
        return bool(self.inquiries) and self.inquiries[-1][0] > place

    def missing(self, record: Record) -> bool:
        """Whether a request that is surely due is missing, and cannot just be still to come."""
        look, signing = self.last_look(record), record.signature
        if look is None or signing is None or look[0] <= (record.signed or 0):
            return False
        zone, day = self.lifecycle.contract.zone, self.day(record)
        begin = dates(signing.at, zone)[-1]
        deferred = self.lifecycle.deferred(record.request.mode)
        if deferred and day is None:
            return False
        if dates(look[1], zone)[0] > max(begin, day or begin) + timedelta(days=GRACE):
            return True
        if deferred and not self.signed_before_its_day(record):
            return False
        other = self._control(record, look[0])
        return other is not None and (deferred or (other.signed or 0) > (record.signed or 0))

    def control(self, record: Record) -> Record | None:
        """Return a request like one that was not executed, due no sooner, that was."""
        look = self.last_look(record)
        return self._control(record, look[0]) if look is not None else None

    def _control(self, record: Record, place: int) -> Record | None:
        """Return the similar request, due last or signed last, that was executed by a place."""
        _, other = self._index.last.get(kind_of_request(record), (None, None))
        if other is None or other is record or other.done is None or other.done > place:
            return None
        day, then = self.day(record), self.day(other)
        return other if day is None or (then is not None and then >= day) else None

    def another_was_done(self, record: Record) -> bool:
        """Whether the fixture told of a request of this TPP, for this customer, in this mode."""
        return kind_of_request(record) in self._index.told

    def tells(self, record: Record) -> bool:
        """Whether what the fixture tells is of this history.

        It told of a request of the history, or names the thing of a customer who was new.
        """
        subject, owned = record.request.subject, self.lifecycle.create.owned
        new = subject is not None and subject.fresh and owned is not None
        return bool(self._index.told) or (
            new and any(owned in effect.fields for effect in self.strangers.values())
        )

    def executed_between(self, first: date, last: date) -> Record | None:
        """Return a deferred request that was executed on a day before the last one."""
        at = bisect_left(self._index.days, (first, -1))
        if at == len(self._index.days) or self._index.days[at][0] >= last:
            return None
        return self.records[self._index.days[at][1]]

    def stranger_like(self, made: Exchange) -> bool:
        """Whether something was executed, of no known request, with the values of a refused one."""
        if any(item.key in self.strangers for item in made.items):
            return True
        sent = made.call.arguments
        return any(
            tuple(canonical(sent[name]) for name in names) in values
            for names, values in self._index.strangers.items()
            if names and all(name in sent for name in names)
        )
