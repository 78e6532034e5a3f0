"""`addressed`: operations answer about a request only to the TPP that made it.

For each operation two facets: a key that there never was is refused, and so is another
provider's. The control is the maker, who is answered to the same call about the request
itself; for another provider's it is the caller, too, who is answered about his own.

A key that there never was is made from a real one and looks like it. Only such a key is
judged: whatever else a stranger asks for may have been made before the history began.

The TPP: a request is addressed by a key that it was given.
A key that no answer of the history gave may be one from before it. It surely is not if
the bank refuses it and it does not even look like those that were given, or if it is
another provider's.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterator, Mapping
from dataclasses import dataclass, field, replace

from assay.contract.model import Capability, Json, Operation
from assay.history import (
    Accepted,
    Advanced,
    Authorised,
    Call,
    Event,
    Exchange,
    History,
    Item,
    Lacking,
    Rejected,
    Unavailable,
    Withdrawn,
)
from assay.judging.verdict import Agreement, Evidence
from assay.rules import parameters, steps
from assay.rules.evidence import AGREES, DISAGREES, UNCLEAR, doubt, must_be_refused, tpp_evidence
from assay.rules.lifecycle import request_steps, tracker
from assay.rules.lifecycle.parameters import check_about_request, the_request
from assay.rules.lifecycle.request_queries import same_format, similar_key, was_refused
from assay.rules.lifecycle.tracker import Tracker
from assay.rules.queries import ordinary
from assay.rules.rule import (
    BindingRequirement,
    Facet,
    Kind,
    Scenario,
    Script,
    TppFacet,
    needs,
    scenario_of,
)

UNKNOWN, FOREIGN = "unknown", "foreign"
#: What another provider is called in this script.
OTHER = "other"
#: Of keys with so many letters and digits, nobody has used all.
LONG = 12
EARLIER = "it may be the key of a request from before this history"


#: The TPP's obligation.
TPP_FACET = "own-requests-only"
OWED = "that only requests are addressed whose key was given to the TPP"


@dataclass(frozen=True, slots=True, kw_only=True)
class AddressedScenario(Scenario):
    """An operation with a key that no request has, or with one of another TPP's request."""

    operation: Operation
    foreign: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class Addressed(Kind):
    """Operations about a request, which refuse unknown keys and those of another TPP."""

    name = "addressed"

    lifecycle: tracker.Lifecycle = the_request()
    operations: tuple[Operation, ...] = parameters.operations(also=check_about_request)

    def facets(self) -> tuple[Facet, ...]:
        """Two facets an operation, each in a trial of its own."""
        out: list[Facet] = []
        for one in self.operations:
            for word, whose in (
                (UNKNOWN, "that no request ever had"),
                (FOREIGN, "of another TPP"),
            ):
                foreign = word == FOREIGN
                others = needs(Capability.PROVIDERS) if foreign else needs()
                out.append(
                    Facet(
                        id=f"{one.id}-{word}",
                        description=f"{one.id} refuses a key {whose}",
                        scenario=AddressedScenario(
                            id=f"{one.id}:{word}", operation=one, foreign=foreign
                        ),
                        needs=needs(Capability.PSU, Capability.WRITE) | others,
                        requires=(
                            BindingRequirement(operation=self.lifecycle.create.id, feature="key"),
                            *_wants(self, one),
                        ),
                    )
                )
        return tuple(out)

    def probe(self, scenario: Scenario) -> Script:
        """Make a request, ask about it wrongly, and then as its maker."""
        tried = scenario_of(scenario, AddressedScenario)
        operation = tried.operation
        psu = yield from request_steps.customer(self.lifecycle)
        make = request_steps.request(
            self.lifecycle, psu, None if operation.shows else self.lifecycle.changeable_mode
        )
        made = yield from steps.send(make)
        call = _about(self, operation, made)
        if call is None:
            return
        if not tried.foreign:
            key = similar_key(request_steps.key_of(made) or "")
            arguments = {**call.arguments, operation.about or "": key}
            words = "about a request that there never was"
            if arguments != call.arguments:
                yield from steps.send(replace(call, arguments=arguments, variation=words))
                yield from steps.send(call)
            return
        theirs = yield from steps.send(replace(make, by=OTHER))
        yield from steps.send(replace(call, by=OTHER, variation="by another TPP"))
        yield from steps.send(call)
        yield from request_steps.send_if_any(_about(self, operation, theirs))

    def check(self, history: History) -> Iterator[Evidence]:
        """Judge every call about a key that is not the caller's own."""
        token_store = _Desk(
            book=tracker.Tracker(lifecycle=self.lifecycle),
            operations={one.id: one for one in self.operations},
        )
        asked = [one for one in map(token_store.note, history.events) if one is not None]
        answered = [one for one in asked if not one.word and one.exchange.accepted]
        questions = {one.question for one in answered}
        callers = {one.caller for one in answered}
        for one in asked:
            if one.word:
                controlled = one.question in questions and one.caller in callers
                shown = token_store.operations[one.exchange.call.operation].shows is not None
                yield from _judge(one, controlled=controlled, shown=shown)

    def tpp_facet(self) -> TppFacet:
        """Return the one obligation of the TPP."""
        return TppFacet(
            id=TPP_FACET,
            description="only requests are addressed whose key was given to the TPP",
            requires=(BindingRequirement(operation=self.lifecycle.create.id, feature="key"),),
        )

    def check_tpp(self, history: History) -> Iterator[Evidence]:
        """Judge every call about a request."""
        book = Tracker(lifecycle=self.lifecycle)
        makers: dict[str, set[str]] = {}
        about = {
            one.id: one.about or ""
            for one in (self.lifecycle.read, self.lifecycle.change, self.lifecycle.end)
            if one
        }
        for event in history.events:
            found = book.note(event)
            if not isinstance(event, Exchange):
                continue
            if found is not None and found.made is event and found.key is not None:
                makers.setdefault(found.key, set()).add(event.call.by)
            key = event.call.arguments.get(about.get(event.call.operation, ""))
            if event.call.operation in about and isinstance(key, str):
                yield from _judge_by_tpp(event, key, makers)


def _wants(p: Addressed, operation: Operation) -> tuple[BindingRequirement, ...]:
    changed = p.lifecycle.changeable_arguments if operation.changes else ()
    return (
        BindingRequirement(operation=operation.id, feature="argument", name=operation.about or ""),
        *(
            BindingRequirement(operation=operation.id, feature="other", name=name)
            for name in changed
        ),
    )


def _about(p: Addressed, operation: Operation, made: Exchange) -> Call | None:
    call = request_steps.call_about(operation, made)
    return (
        replace(call, varied=p.lifecycle.changeable_arguments)
        if call and operation.changes
        else call
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class _Asked:
    """A call about a request; `word` says how the caller is not its maker, if so.

    `question` is what it shares with its control. It has a new one whenever something
    has happened to the request that may change the answer.
    """

    exchange: Exchange
    word: str
    question: Hashable
    sure: bool

    @property
    def caller(self) -> tuple[str, str]:
        """Who called what."""
        return self.exchange.call.operation, self.exchange.call.by


@dataclass(slots=True, kw_only=True)
class _Desk:
    """The makers of all requests so far, and how often each request has changed since."""

    book: tracker.Tracker
    operations: dict[str, Operation]
    makers: dict[str, set[str]] = field(default_factory=dict[str, set[str]])
    strays: dict[str, str] = field(default_factory=dict[str, str])
    moves: dict[str, int] = field(default_factory=dict[str, int])
    times: int = 0

    def note(self, event: Event) -> _Asked | None:
        """Take an event in, and return what was asked, if anything was."""
        request, asked = self.book.note(event), None
        match event:
            case Advanced() | Lacking():
                self.times += 1
            case Exchange() if request is not None and request.made is event:
                self._made(request)
            case Exchange() if event.call.operation in self.operations and ordinary(event.call):
                asked = self._asked(event)
            case _:
                pass
        if request is not None and request.key is not None and self._moves(event):
            self.moves[request.key] = self.moves.get(request.key, 0) + 1
        return asked

    def _made(self, request: tracker.Instance) -> None:
        if request.key is not None:
            self.makers.setdefault(request.key, set()).add(request.made.call.by)
            self.strays.setdefault(similar_key(request.key), request.key)

    def _moves(self, event: Event) -> bool:
        """Whether an event may change what becomes of later calls about its request."""
        if isinstance(event, Exchange):
            end = self.book.lifecycle.end
            return end is not None and event.call.operation == end.id and not event.refused
        return isinstance(event, Authorised | Withdrawn)

    def _asked(self, exchange: Exchange) -> _Asked | None:
        call, about = exchange.call, self.operations[exchange.call.operation].about or ""
        asked = str(call.arguments.get(about))
        key = asked if asked in self.makers else self.strays.get(asked, "")
        own = call.by in self.makers.get(key, ())
        word = UNKNOWN if key != asked else "" if own else FOREIGN
        if key not in self.makers or (word == UNKNOWN and not own):
            return None
        rest = sorted((name, repr(one)) for name, one in call.arguments.items() if name != about)
        when = self.times, self.moves.get(key, 0)
        return _Asked(
            exchange=exchange,
            word=word,
            question=(call.operation, key, when, call.mode, tuple(rest)),
            sure=word == FOREIGN or self._fresh(call) or sum(map(str.isalnum, asked)) >= LONG,
        )

    def _fresh(self, call: Call) -> bool:
        subject = self.book.subjects.get(call.subject)
        return subject is not None and subject.fresh


def _judge(one: _Asked, *, controlled: bool, shown: bool) -> Iterator[Evidence]:
    facet = f"{one.exchange.call.operation}-{one.word}"
    why = "no request has this key" if one.word == UNKNOWN else "it is another TPP's"
    evidence = must_be_refused(
        facet, _telling(one.exchange, shown=shown), why, controlled=controlled
    )
    if controlled or evidence.agreement is DISAGREES:
        yield evidence if one.sure else doubt(evidence, EARLIER)


def _telling(exchange: Exchange, *, shown: bool) -> Exchange:
    """Return an answer without the items that tell nothing.

    A refusal may repeat what was asked. An answer that was to show a request, and shows
    nothing, may be a refusal as well; one to a change need not show anything.
    """
    outcome, sent = exchange.outcome, exchange.call.arguments
    if isinstance(outcome, Rejected | Unavailable):
        leaked = tuple(one for one in outcome.leaked if _tells(one, sent))
        return replace(exchange, outcome=replace(outcome, leaked=leaked))
    if isinstance(outcome, Accepted) and outcome.items and shown:
        items = tuple(one for one in outcome.items if _tells(one, {}))
        return replace(exchange, outcome=replace(outcome, items=items))
    return exchange


def _tells(item: Item, sent: Mapping[str, Json]) -> bool:
    """Whether an item tells anything that the caller has not said himself."""
    named = item.key is not None and item.key not in map(str, sent.values())
    more = any(name not in sent or sent[name] != value for name, value in item.fields.items())
    return named or more or item.state is not None


def _judge_by_tpp(
    exchange: Exchange, key: str, makers: Mapping[str, set[str]]
) -> Iterator[Evidence]:
    if exchange.call.by in makers.get(key, ()):
        yield tpp_evidence(TPP_FACET, AGREES, exchange, OWED, "it was given in this history")
        return
    refused = was_refused(exchange)
    judged: Agreement = UNCLEAR
    why = "no answer of this history gave it"
    if key in makers:
        judged, why = DISAGREES, "it was given to another TPP"
    elif refused and makers and not any(same_format(key, one) for one in makers):
        judged, why = DISAGREES, f"{why}, and it looks like none that was given"
    elif exchange.accepted:
        judged, why = AGREES, "the bank knows it as this TPP's"
    yield tpp_evidence(
        TPP_FACET, judged, exchange, OWED, f"{why}; {EARLIER}" if judged is UNCLEAR else why
    )
