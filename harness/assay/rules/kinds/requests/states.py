"""`states`: the words of a status, and the order in which one may follow another.

Every answer that shows the word is a reading of its item: the answer that makes a request, readings
of it, and lists. Between two readings a request may have passed through any number of states, so
the later word must be reachable from the earlier one, and not the next. A final word never changes.
Two readings that overlapped in time say nothing about their order.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from datetime import timedelta
from typing import Any, Final

from assay.contract.model import Capability, Contract, Operation
from assay.errors import did_you_mean
from assay.files.document import Finding, Pointer
from assay.history import Authorise, Call, Decision, Exchange, History, Holding
from assay.rules import parameters, steps
from assay.rules.facets import Facts, make_facet
from assay.rules.lifecycle import request_steps
from assay.rules.lifecycle.tracker import Lifecycle, lifecycle_of_request
from assay.rules.parameters import Raw, known
from assay.rules.rule import Calls, Facet, Kind, Purpose, Scenario, Scope, Script, bound, needs
from assay.rules.state.word_readings import (
    ENDED,
    SIGNED,
    TRANSITIONS,
    WordReading,
    check_words,
    readings,
    status_words,
    turning_points,
)
from assay.rules.verdict import AGREES, DISAGREES, Evidence

FIRST, WORDS, ORDER, FINAL, LATER = "first", "words", "order", "final", "final-later"
#: The trial in which requests end in each way, and the one in which days pass.
WAYS, DAYS = "ways", "days"
#: After this time a final word shows that it lasts.
LASTING: Final = timedelta(days=1)
#: How many days pass after the day of a request.
REST: Final = 7
_REFUSE: Final = Authorise(
    subject="",
    request="",
    approval=None,
    decision=Decision.REFUSE,
    variation="the customer refuses it",
)


def _check_resource(at: Pointer, name: str, clause: Raw, raw: Raw) -> Iterator[Finding]:
    """Find a resource that no operation shows, and one without the clause's field."""
    yield from known(at, name, raw["resources"], "resource")
    if name not in raw["resources"]:
        return
    if not any(
        name in (each.get("makes"), *each.get("lists", ())) for each in raw["operations"].values()
    ):
        yield at, f"no operation makes or lists {name!r}", "add `makes` or `lists` to one"
    fields, field = raw["resources"][name].get("fields", ()), str(clause.get("field"))
    if field not in fields:
        hint = did_you_mean(field, fields) or f"add it to resources.{name}.fields"
        yield at, f"{name!r} has no field {field!r}", hint


def _check_operation(at: Pointer, name: str, clause: Raw, raw: Raw) -> Iterator[Finding]:
    """Find an operation that does not show the clause's resource."""
    yield from known(at, name, raw["operations"], "operation")
    shows = raw["operations"].get(name, {})
    wanted = clause.get("resource")
    if name in raw["operations"] and wanted not in (shows.get("shows"), *shows.get("lists", ())):
        yield at, f"the operation {name!r} does not show {wanted!r}", ""


def _lifecycle(contract: Contract, fields: Mapping[str, Any]) -> Lifecycle | None:
    made = any(each.makes == fields["resource"] for each in contract.operations.values())
    return lifecycle_of_request(contract, fields["resource"]) if made else None


@dataclass(frozen=True, slots=True, kw_only=True)
class States(Kind):
    """A resource, the field with its word, and which words may come first, next and last."""

    name = "states"
    scope = Scope(calls=Calls.CONTRACT)
    purpose = Purpose.PROMISE
    at_least_one_of = ("first", "transitions", "final", "words", "signed", "ended")

    resource: str = parameters.parameter(
        parameters.ref("resource"),
        lambda value, _: str(value),
        key="resource",
        references=_check_resource,
    )
    field: str = parameters.word(key="field")
    first: tuple[str, ...] = status_words("first")
    transitions: Mapping[str, tuple[str, ...]] = parameters.parameter(
        TRANSITIONS,
        lambda value, _: {key: tuple(names) for key, names in value.items()},
        key="transitions",
        references=check_words,
        required=False,
        default={},
    )
    final: tuple[str, ...] = status_words("final")
    words: tuple[str, ...] = status_words("words")
    signed: tuple[str, ...] = status_words("signed")
    ended: tuple[str, ...] = status_words("ended")
    shown_by: Operation | None = parameters.parameter(
        parameters.ref("operation"),
        lambda value, contract: contract.operations[value],
        key="operation",
        references=_check_operation,
        required=False,
    )
    lifecycle: Lifecycle | None = parameters.derived(_lifecycle)

    @property
    def all_words(self) -> tuple[str, ...]:
        """Every word that may be shown."""
        followed = (name for key, names in self.transitions.items() for name in (key, *names))
        return self.words or tuple(
            dict.fromkeys((*self.first, *followed, *self.signed, *self.ended, *self.final))
        )

    @property
    def operation(self) -> Operation | None:
        """The operation that shows the word."""
        listing = (
            each for each in self.contract.operations.values() if self.resource in each.lists
        )
        read = self.lifecycle.read if self.lifecycle else next(listing, None)
        return self.shown_by or read

    def facts(self) -> Facts:
        """Return every word that the clause knows."""
        return Facts(allowed_values={(self.resource, self.field): (self.all_words,)})

    def facets(self) -> tuple[Facet, ...]:
        """Return a facet for each thing that the clause says."""
        if self.operation is None:
            return ()
        clock = needs(Capability.PSU, Capability.CLOCK)
        write = needs(Capability.PSU, Capability.WRITE) if self.lifecycle else clock
        signed = write | self.lifecycle.signing_needs if self.lifecycle else clock
        name, ways, days = self.resource, Scenario(id=WAYS), Scenario(id=DAYS)
        described: list[tuple[str, str, Scenario, frozenset[Capability]]] = []
        if self.first and self.lifecycle:
            text = f"a new {name} is {' or '.join(self.first)}"
            described.append((FIRST, text, Scenario(id=FIRST), write))
        text = f"every {name} is {', '.join(self.all_words[:-1])} or {self.all_words[-1]}"
        described.append((WORDS, text, ways if self.lifecycle else days, signed))
        if self.transitions:
            text = f"the {self.field} changes only in the order that the document gives"
            described.append((ORDER, text, ways if self.lifecycle else days, signed))
        if self.signed and self.lifecycle:
            text = f"a signed {name} is {' or '.join(self.signed)}, or in a later state"
            described.append((SIGNED, text, ways, signed))
        if self.ended and self.lifecycle and self.lifecycle.end:
            text = f"a {name} that the TPP ended is {' or '.join(self.ended)}, or in a later state"
            described.append((ENDED, text, ways, signed))
        if self.final and self.lifecycle:
            text = f"a {name} that is {' or '.join(self.final)} does not change"
            described.append((FINAL, text, ways, signed))
        if self.final:
            text = "nor does it change on a later day"
            described.append((LATER, text, days, signed | clock))
        shown = bound(self.operation, "field", self.field)
        return tuple(
            make_facet(id_, text, scenario, needed, shown)
            for id_, text, scenario, needed in described
        )

    def probe(self, scenario: Scenario) -> Script:
        """Make requests and let each end in another way; or read a list on several days."""
        if self.lifecycle is None:
            yield from self._read_lists()
        elif scenario.id == FIRST:
            psu = yield from request_steps.customer(self.lifecycle)
            made = yield from steps.send(request_steps.request(self.lifecycle, psu))
            yield from self._read(made)
        elif scenario.id == WAYS:
            yield from self._end_in_each_way(self.lifecycle)
        else:
            yield from self._wait(self.lifecycle)

    def _read(self, made: Exchange) -> Script:
        yield from request_steps.send_if_any(request_steps.call_about(self.operation, made))

    def _end_in_each_way(self, lifecycle: Lifecycle) -> Script:
        """Let one request be signed in each sort of mode, one be refused, and one cancelled."""
        psu = yield from request_steps.customer(lifecycle)
        for mode in dict.fromkeys([lifecycle.mode, *lifecycle.deferred_modes[:1]]):
            made = yield from steps.send(request_steps.request(lifecycle, psu, mode))
            yield from self._read(made)
            yield from request_steps.sign(lifecycle, made)
            yield from self._read(made)
            yield from self._read(made)
        if lifecycle.signed:
            refused = yield from steps.send(request_steps.request(lifecycle, psu))
            yield from request_steps.sign(lifecycle, refused, _REFUSE)
            yield from self._read(refused)
            yield from self._read(refused)
        if lifecycle.end is not None:
            ending = request_steps.request(lifecycle, psu, lifecycle.open_mode)
            made = yield from steps.send(ending)
            if not lifecycle.signed:
                # Nothing else here shows that one word follows another.
                yield from self._read(made)
            yield from request_steps.send_if_any(request_steps.call_about(lifecycle.end, made))
            yield from self._read(made)
            yield from self._read(made)

    def _wait(self, lifecycle: Lifecycle) -> Script:
        """Read a signed request, and one that was refused or ended, until long after its day."""
        psu = yield from request_steps.customer(lifecycle)
        mode = next(iter(lifecycle.deferred_modes), lifecycle.mode)
        signed = yield from steps.send(request_steps.request(lifecycle, psu, mode))
        yield from request_steps.sign(lifecycle, signed)
        over = yield from steps.send(request_steps.request(lifecycle, psu, lifecycle.open_mode))
        if lifecycle.signed:
            yield from request_steps.sign(lifecycle, over, _REFUSE)
        else:
            yield from self._read(over)
            yield from request_steps.send_if_any(request_steps.call_about(lifecycle.end, over))
        over_in = request_steps.days_ahead(lifecycle, psu) + 1
        for days in (0, over_in, over_in + REST):
            if days:
                yield from request_steps.wait_days(psu, days)
            yield from self._read(signed)
            yield from self._read(over)

    def _read_lists(self) -> Script:
        """Read the list today, tomorrow, and a week later."""
        operation = self.operation
        if operation is None:
            return
        today = (yield from steps.clock()).date()
        owner = steps.owners(self.contract, operation)[0]
        entries = steps.days_before(today, 1, 2)
        psu = yield from steps.arrange("psu", Holding(resource=owner, count=2, entries=entries))
        given = steps.arguments(operation, psu.owns[0].key)
        plain = Call(operation=operation.id, subject="psu", arguments=given)
        for days in (0, 1, REST):
            if days:
                yield from request_steps.wait_days(psu, days)
            yield from steps.walk(plain)

    def check(self, history: History) -> Iterator[Evidence]:
        """Judge every reading by itself, and by the reading of the same thing before it."""
        last: dict[str, WordReading] = {}
        words = {SIGNED: self.signed, ENDED: self.ended}
        turns = turning_points(history, self.lifecycle, words)
        for reading in readings(history, self.contract, self.resource, self.field):
            good = reading.word in self.all_words
            yield self._evidence(WORDS, reading, ", ".join(self.all_words), good=good)
            before = last.get(reading.key)
            # What the document does not know has no place in its order, and is no first word.
            if not good:
                yield from self._judge_first(reading) if before is None else ()
                continue
            last[reading.key] = reading.after(before)
            turn = turns.get(reading.key)
            if turn is not None and reading.exchange.n > turn[0]:
                yield self._judge_turned(reading, *turn)
            if before is None:
                yield from self._judge_first(reading)
            elif not before.overlaps(reading):
                yield from self._judge_next(before, reading)

    def _judge_first(self, reading: WordReading) -> Iterator[Evidence]:
        """Judge the first word of what was made in the history."""
        if not self.first or not reading.made or self.lifecycle is None:
            return
        good = reading.word in self.first
        created = reading.exchange.call.operation == self.lifecycle.create.id
        passed = any(self._reaches(word, reading.word) for word in self.first)
        # A request that has come to an end at once, and one that is read later, may have had it.
        unknown = not self.transitions or reading.word not in self.all_words
        open_ = reading.word in self.final or (not created and (passed or unknown))
        if not good and open_:
            return
        yield self._evidence(FIRST, reading, " or ".join(self.first), good=good)

    def _judge_next(self, before: WordReading, reading: WordReading) -> Iterator[Evidence]:
        seen = (before.exchange.n,)
        if before.word in self.final:
            later = reading.exchange.at - before.since >= LASTING
            facet = LATER if later or self.lifecycle is None else FINAL
            good = before.word == reading.word
            yield self._evidence(facet, reading, f"still {before.word}", *seen, good=good)
        elif self.transitions and before.word != reading.word:
            good = self._reaches(before.word, reading.word)
            expected = f"a state that can follow {before.word}"
            yield self._evidence(ORDER, reading, expected, *seen, good=good)

    def _judge_turned(self, reading: WordReading, turn: int, facet: str) -> Evidence:
        """Judge a word after the request was signed or ended: one of these, or what can follow."""
        words = self.signed if facet == SIGNED else self.ended
        good = any(reading.word == word or self._reaches(word, reading.word) for word in words)
        expected = f"{' or '.join(words)}, or a later state"
        return self._evidence(facet, reading, expected, turn, good=good)

    def _reaches(self, word: str, later: str) -> bool:
        """Whether a word can follow another, directly or after others."""
        reached, open_ = {word}, [word]
        while open_:
            following = set(self.transitions.get(open_.pop(), ())) - reached
            reached |= following
            open_ += following
        return later in reached

    def _evidence(
        self, facet: str, reading: WordReading, expected: str, *before: int, good: bool
    ) -> Evidence:
        return Evidence(
            facet=facet,
            agreement=AGREES if good else DISAGREES,
            expected=f"{self.field}: {expected}",
            seen=f"{self.field}: {reading.word}",
            exchanges=(*before, reading.exchange.n),
            member=reading.exchange.member_of(reading.item, "field", self.field),
        )
