"""`deletion`: what is deleted is gone, and nothing else is, at any time.

The control of a refused read, and of a list that lacks something, is that an earlier one showed it. Other things
stay, also those of another customer that a customer tries to delete, whatever the answer says. A refused deletion
counts only where a later read shows the thing. What is deleted later (202) or was changed since is uncertain.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from http import HTTPStatus

from assay.contract.model import Capability, Operation
from assay.history import Advanced, Event, Exchange, History, Lacking, State
from assay.rules import parameters, steps
from assay.rules.lifecycle import request_queries, request_steps, tracker
from assay.rules.lifecycle.changes import UNKNOWN
from assay.rules.lifecycle.execution_record import OVER
from assay.rules.lifecycle.parameters import check_deletable, the_request
from assay.rules.lifecycle.request_queries import is_by_requester, refused_for_good
from assay.rules.queries import bare, ordinary, page_walks
from assay.rules.refusing_kind import RefusingKind
from assay.rules.rule import Calls, Facet, Purpose, Scenario, Scope, Script, bound, needs
from assay.rules.verdict import (
    AGREES,
    DISAGREES,
    UNCLEAR,
    Agreement,
    Evidence,
    describe_answer,
    doubt,
    failed_instead,
)

ACCEPTED, GONE, ENDED, UNLISTED = "accepted", "read-refused", "read-ended", "unlisted"
REPEATED, OTHERS = "repeated", "others-stay"
_READ = {False: "cannot be read", True: "is shown as ended"}


@dataclass(slots=True, kw_only=True)
class _Thing:
    """One thing: the calls that last showed it and that deleted it, and a deletion that was refused since."""

    request: tracker.Instance
    seen: int = 0
    deleted: int = 0
    refusal: Exchange | None = None
    uncertain: bool = False

    def evidence(
        self, facet: str, agreement: Agreement, expected: str, exchange: Exchange, *others: int
    ) -> Evidence:
        """Return evidence that an answer about the thing gives."""
        numbers = {self.request.made.n, self.seen, self.deleted, *others, exchange.n} - {0}
        evidence = Evidence(
            facet=facet,
            agreement=agreement,
            expected=expected,
            seen=describe_answer(exchange),
            exchanges=tuple(sorted(numbers)),
            decisive=exchange.n,
        )
        return evidence if self.request.subject else doubt(evidence, UNKNOWN)


@dataclass(frozen=True, slots=True, kw_only=True)
class Deletion(RefusingKind):
    """Something that is made and deleted, and the list that shows it."""

    name = "deletion"
    scope = Scope(calls=Calls.NAMED)
    purpose = Purpose.PROMISE
    applies_to = ("ends",)
    refusing_facets = (GONE,)

    lifecycle: tracker.Lifecycle = the_request(also=check_deletable)
    list: Operation | None = parameters.operation(key="list", lists=True, required=False)
    shown: bool = parameters.flag(key="shown-as-ended")

    def facets(self) -> tuple[Facet, ...]:
        """Return the facets of a deletion, and one of what else is there."""
        end, own = self.lifecycle.end, needs(Capability.PSU, Capability.WRITE)
        rows = {
            ACCEPTED: "a deletion is accepted",
            (ENDED if self.shown else GONE): f"what is deleted {_READ[self.shown]}",
            REPEATED: "deleting something again causes no server error",
            OTHERS: "nothing else is deleted, neither the customer's own nor that of another one",
        }
        if self.list is not None:
            rows[UNLISTED] = f"{self.list.id} does not show what is deleted"
        more = {ENDED: self.lifecycle.state_requirement(), UNLISTED: bound(self.list, "key")}
        named = bound(end, "argument", (end.about if end else "",))
        return tuple(
            Facet(
                id=id_,
                description=description,
                scenario=Scenario(id=OTHERS if id_ == OTHERS else "deleted"),
                needs=own | needs(Capability.TWO_PSU) if id_ == OTHERS else own,
                requires=(*bound(self.lifecycle.create, "key"), *named, *more.get(id_, ())),
            )
            for id_, description in rows.items()
        )

    def probe(self, scenario: Scenario) -> Script:
        """Delete something, and read it, or what else there is, before and after that."""
        psu = yield from request_steps.customer(self.lifecycle)
        made = yield from steps.send(request_steps.request(self.lifecycle, psu))
        delete = request_steps.call_about(self.lifecycle.end, made)
        if scenario.id != OTHERS:
            for _ in range(2):
                yield from request_steps.read(self.lifecycle, made)
                if self.list is not None:
                    key = psu.owns[0].key if psu.owns else ""
                    yield from steps.walk(steps.ask(self.list, psu.name, key))
                yield from request_steps.send_if_any(delete)
            return
        other = yield from request_steps.customer(self.lifecycle, "other")
        second = yield from steps.send(request_steps.request(self.lifecycle, psu))
        theirs = yield from steps.send(request_steps.request(self.lifecycle, other))
        foreign = request_steps.call_about(self.lifecycle.end, theirs)
        if foreign is not None:
            foreign = replace(foreign, subject=psu.name, variation="of another customer's")
        for calls in ((delete, foreign), ()):
            for each in (second, theirs):
                yield from request_steps.read(self.lifecycle, each)
            for call in calls:
                yield from request_steps.send_if_any(call)

    def check(self, history: History) -> Iterator[Evidence]:
        """Judge each read and each list by what was deleted before it."""
        tracked = tracker.Tracker(lifecycle=self.lifecycle)
        deletions = _Deletions(clause=self, tracked=tracked)
        found = [evidence for event in history.events for evidence in deletions.note(event)]
        apart = {request.key for request in request_queries.with_own_key(tracked)}
        yield from (evidence for key, evidence in found if key in apart)
        gone = {key: thing for key, thing in deletions.things.items() if key in apart}
        if self.list is not None:
            yield from self._lists(history, self.list, gone)

    def _lists(
        self, history: History, list_: Operation, things: Mapping[str | None, _Thing]
    ) -> Iterator[Evidence]:
        """Judge the lists after a deletion: none shows what was deleted, as an earlier one did."""
        listed: dict[str, _Thing] = {}
        for walk in page_walks(history, list_.id, self.contract):
            first, judged = walk.pages[0], AGREES
            if not (first.accepted and bare(walk.call, list_)):
                continue
            about = listed.get(walk.call.subject) if walk.ended else None
            for item in walk.items:
                thing = things.get(item.key)
                if thing is None or thing.uncertain or not thing.deleted:
                    continue
                before = first.n < thing.deleted
                if before and is_by_requester(thing.request, walk.call):
                    listed[walk.call.subject] = thing
                elif not before and judged is not DISAGREES:
                    about, judged = thing, UNCLEAR if item.state in OVER else DISAGREES
            if about is not None and about.deleted < first.n:
                expected = "a list without what was deleted"
                yield about.evidence(UNLISTED, judged, expected, first, *walk.numbers)


@dataclass(slots=True, kw_only=True)
class _Deletions:
    """What was made since time last passed, by its key, and the last deletion that was accepted."""

    clause: Deletion
    tracked: tracker.Tracker
    things: dict[str | None, _Thing] = field(default_factory=dict[str | None, _Thing])
    last: int = 0

    def note(self, event: Event) -> Iterator[tuple[str | None, Evidence]]:
        """Process an event, and yield what it shows, with the key of the thing."""
        request = self.tracked.note(event)
        if isinstance(event, Advanced | Lacking):
            self.things.clear()  # what there was may have ended by itself
        if request is None or request.key is None:
            return
        thing = self.things.get(request.key)
        if thing is None or thing.request is not request:
            uncertain = bool(request.ends or request.withdrawn)
            self.things[request.key] = _Thing(request=request, uncertain=uncertain)
        elif not isinstance(event, Exchange):
            thing.uncertain = thing.uncertain or bool(thing.deleted or thing.seen)
        elif not thing.uncertain:
            yield from ((request.key, each) for each in self._about(thing, event))

    def _about(self, thing: _Thing, exchange: Exchange) -> Iterator[Evidence]:
        call, end, read = exchange.call, self.clause.lifecycle.end, self.clause.lifecycle.read
        ends = end is not None and call.operation == end.id
        reads = read is not None and call.operation == read.id
        if is_by_requester(thing.request, call) and (ends or reads):
            judge = self._deleted if ends else self._gone if thing.deleted else self._stays
            yield from judge(thing, exchange)
        elif not (reads or exchange.refused):
            # Another customer cannot delete it; another TPP perhaps can.
            foreign = ends and ordinary(call) and call.subject != thing.request.made.call.subject
            thing.uncertain = not foreign and (ends or bool(thing.deleted))

    def _deleted(self, thing: _Thing, exchange: Exchange) -> Iterator[Evidence]:
        """Judge a deletion by the customer and the TPP that made the thing."""
        refused, failed = refused_for_good(exchange), failed_instead(exchange)
        if thing.deleted and (failed or refused or exchange.accepted):
            judged = DISAGREES if failed else AGREES
            yield thing.evidence(REPEATED, judged, "no server error", exchange)
        elif exchange.accepted:
            self.last = thing.deleted = exchange.n
            thing.uncertain = exchange.wire.status == HTTPStatus.ACCEPTED or State.OPEN in (
                item.state for item in exchange.items
            )
            yield thing.evidence(ACCEPTED, AGREES, "a deletion to be accepted", exchange)
        elif refused and not exchange.call.variation:
            thing.refusal = exchange
        elif not thing.deleted:
            thing.uncertain = not exchange.refused

    def _gone(self, thing: _Thing, exchange: Exchange) -> Iterator[Evidence]:
        """Judge a read of what was deleted; a refusal counts if an earlier read showed it."""
        item = exchange.item if exchange.accepted else None
        over, shown = item is not None and item.state in OVER, self.clause.shown
        refused = refused_for_good(exchange) and thing.seen > 0
        failed = failed_instead(exchange) and thing.seen > 0
        there = item is not None and not over and not (shown and item.state is None)
        good, wrong = (over, refused or there) if shown else (refused, failed or there)
        judged = AGREES if good else DISAGREES if wrong else UNCLEAR
        expected = f"what is deleted {_READ[shown]}"
        yield thing.evidence(ENDED if shown else GONE, judged, expected, exchange)

    def _stays(self, thing: _Thing, exchange: Exchange) -> Iterator[Evidence]:
        """Judge a read of a thing that its customer did not delete, if an earlier read showed it."""
        item = exchange.item if exchange.accepted else None
        there = item is not None and item.state not in OVER
        if item is None and not refused_for_good(exchange):
            return
        if there and thing.refusal is not None:
            expected = "a deletion to be accepted"
            yield thing.evidence(ACCEPTED, DISAGREES, expected, thing.refusal, exchange.n)
        if thing.seen and self.last > thing.seen:
            judged, expected = (
                AGREES if there else DISAGREES,
                "a thing that its customer did not delete",
            )
            yield thing.evidence(OTHERS, judged, expected, exchange, self.last)
        thing.uncertain = not there
        if there:
            thing.seen, thing.refusal = exchange.n, None
