"""`addressed`: operations answer about a request only to the TPP that made it.

Each operation has two facets: it refuses a key that never existed, and the key of another
TPP's request. All have one: an answer to the maker has the key that was asked about, if it has a key,
which the answer to a change may lack. Of a refusal the control is the same call by the TPP that made the request; for another
TPP's request, the caller must also be answered about a request of its own.

An unknown key is derived from a real one and looks like it. No other unknown key is
judged, because it may belong to a request from before the history began.

The TPP: it addresses only requests whose key it was given.
A key that no answer in the history returned may be older than the history. It is a breach
only if it belongs to another TPP, or if the bank refuses it and it does not look like the
keys that were returned.
"""

from __future__ import annotations

from collections.abc import Collection, Hashable, Iterator, Mapping, Sequence
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
from assay.rules import parameters, steps
from assay.rules.lifecycle import request_queries, request_steps, tracker
from assay.rules.lifecycle.parameters import check_about_request, the_request
from assay.rules.lifecycle.request_queries import same_format, same_value, similar_key, was_refused
from assay.rules.lifecycle.tracker import Tracker
from assay.rules.queries import ordinary
from assay.rules.refusing_kind import RefusingKind
from assay.rules.rule import (
    BindingRequirement,
    Calls,
    CallScenario,
    Facet,
    Purpose,
    Scope,
    Script,
    TppFacet,
    bound,
    facts_of,
    needs,
)
from assay.rules.verdict import (
    AGREES,
    DISAGREES,
    UNCLEAR,
    Agreement,
    Evidence,
    Standing,
    doubt,
    must_be_refused,
    tpp_evidence,
)

UNKNOWN, FOREIGN, SAME = "unknown", "foreign", "same-key"
#: The name of the second TPP in the probe.
OTHER = "other"
#: Keys with at least this many letters and digits cannot all be in use.
LONG = 12
EARLIER = "the key may belong to a request from before this history"
#: The TPP's obligation.
TPP_FACET = "own-requests-only"
OWED = "the TPP only uses keys of its own requests"


@dataclass(frozen=True, slots=True, kw_only=True)
class AddressedScenario(CallScenario):
    """A call of an operation with an unknown key, or with the key of another TPP's request."""

    foreign: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class Addressed(RefusingKind[AddressedScenario]):
    """Operations about a request, which refuse unknown keys and those of another TPP."""

    name = "addressed"
    scope = Scope(calls=Calls.NAMED)
    purpose = Purpose.SAFEGUARD

    lifecycle: tracker.Lifecycle = the_request()
    operations: tuple[Operation, ...] = parameters.operations(also=check_about_request)

    def facets(self) -> tuple[Facet, ...]:
        """Return two facets for each operation, each with a trial of its own, and one for all."""
        out: list[Facet] = []
        for operation in self.operations:
            for word, whose in (
                (UNKNOWN, "a key that belongs to no request"),
                (FOREIGN, "the key of another TPP's request"),
            ):
                foreign = word == FOREIGN
                others = needs(Capability.TPPS) if foreign else needs()
                out.append(
                    Facet(
                        id=f"{operation.id}-{word}",
                        description=f"{operation.id} refuses {whose}",
                        scenario=AddressedScenario(
                            id=f"{operation.id}:{word}", operation=operation, foreign=foreign
                        ),
                        needs=needs(Capability.PSU, Capability.WRITE) | others,
                        requires=(
                            *bound(self.lifecycle.create, "key"),
                            *self._requirements(operation),
                        ),
                    )
                )
        # The trial of a key that is unknown calls the operation as it should be, too.
        shows = next((each for each in self.operations if each.shows), self.operations[0])
        refused = next(each for each in out if each.id == f"{shows.id}-{UNKNOWN}")
        described = "an answer about a request has the key of that request"
        # A document seldom says that the answer repeats the key.
        repeated = bound(shows, "key", if_missing=Standing.NOT_APPLICABLE)
        keyed = (*refused.requires, *repeated)
        return (*out, replace(refused, id=SAME, description=described, requires=keyed))

    def refusing(self) -> Collection[str]:
        """Return the facets that expect a refusal."""
        return [facet.id for facet in self.own_facets if facet.id != SAME]

    def probe(self, scenario: AddressedScenario) -> Script:
        """Make a request, call the operation with the wrong key or TPP, then as its maker."""
        operation = scenario.operation
        psu = yield from request_steps.customer(self.lifecycle)
        make = request_steps.request(
            self.lifecycle, psu, None if operation.shows else self.lifecycle.changeable_mode
        )
        made = yield from steps.send(make)
        call = self._about(operation, made)
        if call is None:
            return
        if not scenario.foreign:
            given, about = request_steps.key_of(made) or "", operation.about or ""
            arguments = {**call.arguments, about: similar_key(given)}
            unknown = replace(call, arguments=arguments, invented={about: given})
            if arguments != call.arguments:
                variation = "about a request that does not exist"
                yield from steps.send(replace(unknown, variation=variation))
                yield from steps.send(call)
            return
        foreign = yield from steps.send(replace(make, by=OTHER))
        yield from steps.send(replace(call, by=OTHER, variation="by another TPP"))
        if operation.changes:  # what was refused must not show
            yield from request_steps.read(self.lifecycle, made)
        yield from steps.send(call)
        yield from request_steps.send_if_any(self._about(operation, foreign))

    def check(self, history: History) -> Iterator[Evidence]:
        """Judge every call about a key that is not the caller's own."""
        calls_so_far = _CallHistory(
            tracked=tracker.Tracker(lifecycle=self.lifecycle),
            operations={operation.id: operation for operation in self.operations},
        )
        calls = [call for call in map(calls_so_far.note, history.events) if call is not None]
        answered = [call for call in calls if not call.fault and call.exchange.accepted]
        questions = {call.question for call in answered}
        callers = {call.caller for call in answered}
        for call in calls:
            if call.fault:
                controlled = call.question in questions and call.caller in callers
                shown = calls_so_far.operations[call.exchange.call.operation].shows is not None
                yield from _judge(call, controlled=controlled, shown=shown)
            else:
                yield from self._same_key(call.exchange)

    def _same_key(self, exchange: Exchange) -> Iterator[Evidence]:
        """Compare the key in an answer to its maker with the one that was asked about."""
        operation, shown = exchange.call.operation, exchange.item
        asked = str(exchange.call.arguments.get(self.contract.operations[operation].about or ""))
        if exchange.accepted and shown is not None and shown.key is not None:
            good = asked.casefold() == shown.key.casefold()  # as UUIDs are written in either
            yield Evidence(
                facet=SAME,
                agreement=AGREES if good else DISAGREES,
                expected="the key of the request that was asked about",
                seen="the same key" if good else f"another key: {shown.key!r}",
                exchanges=(exchange.n,),
                member=exchange.member_of(shown, "key"),
            )

    def tpp_facet(self) -> TppFacet:
        """Return the one obligation of the TPP."""
        return TppFacet(
            id=TPP_FACET,
            description="the TPP only uses keys of its own requests",
            requires=bound(self.lifecycle.create, "key"),
        )

    def check_tpp(self, history: History) -> Iterator[Evidence]:
        """Judge every call about a request."""
        tracked = Tracker(lifecycle=self.lifecycle)
        makers: dict[str, set[str]] = {}
        made = [one.key for one in tracker.instances(history, self.lifecycle) if one.key]
        about = {
            operation.id: operation.about or ""
            for operation in (self.lifecycle.read, self.lifecycle.change, self.lifecycle.end)
            if operation
        }
        for event in history.events:
            request = tracked.note(event)
            if not isinstance(event, Exchange):
                continue
            if (
                request is not None
                and request_queries.makes(event, request)
                and request.key is not None
            ):
                makers.setdefault(request.key, set()).add(event.call.by)
            key = event.call.arguments.get(about.get(event.call.operation, ""))
            if event.call.operation in about and isinstance(key, str):
                yield from _judge_by_tpp(event, key, makers, made)

    def _requirements(self, operation: Operation) -> tuple[BindingRequirement, ...]:
        changed = self.lifecycle.changeable_arguments if operation.changes else ()
        return (
            *bound(operation, "argument", operation.about or ""),
            *bound(operation, "other", changed),
        )

    def _about(self, operation: Operation, made: Exchange) -> Call | None:
        if operation.changes:
            return request_steps.plain_change(self.lifecycle, made)
        return request_steps.call_about(operation, made)


@dataclass(frozen=True, slots=True, kw_only=True)
class _AddressedCall:
    """A call about a request; `fault` is "" for the maker, else UNKNOWN or FOREIGN.

    `question` is equal for a call and its control. It changes whenever something happens
    to the request that may change the answer.
    """

    exchange: Exchange
    fault: str
    question: Hashable
    sure: bool

    @property
    def caller(self) -> tuple[str, str]:
        """The operation and the TPP that called it."""
        return self.exchange.call.operation, self.exchange.call.by


@dataclass(slots=True, kw_only=True)
class _CallHistory:
    """The TPPs that made each request so far, and how often each request has changed."""

    tracked: tracker.Tracker
    operations: dict[str, Operation]
    makers: dict[str, set[str]] = field(default_factory=dict[str, set[str]])
    unknown_keys: dict[str, str] = field(default_factory=dict[str, str])
    changes: dict[str, int] = field(default_factory=dict[str, int])
    epoch: int = 0

    def note(self, event: Event) -> _AddressedCall | None:
        """Record an event; return the call to judge, if the event is one."""
        request, call = self.tracked.note(event), None
        match event:
            case Advanced() | Lacking():
                self.epoch += 1
            case Exchange() if request is not None and request_queries.makes(event, request):
                self._note_maker(request)
            case Exchange() if event.call.operation in self.operations and ordinary(event.call):
                call = self._addressed_call(event)
            case _:
                pass
        if request is not None and request.key is not None and self._may_change(event):
            self.changes[request.key] = self.changes.get(request.key, 0) + 1
        return call

    def _note_maker(self, request: tracker.Instance) -> None:
        if request.key is not None:
            self.makers.setdefault(request.key, set()).add(request.made.call.by)
            self.unknown_keys.setdefault(similar_key(request.key), request.key)

    def _may_change(self, event: Event) -> bool:
        """Whether an event may change the answers to later calls about its request."""
        if isinstance(event, Exchange):
            end = self.tracked.lifecycle.end
            return end is not None and event.call.operation == end.id and not event.refused
        return isinstance(event, Authorised | Withdrawn)

    def _addressed_call(self, exchange: Exchange) -> _AddressedCall | None:
        call, about = exchange.call, self.operations[exchange.call.operation].about or ""
        key = str(call.arguments.get(about))
        unknown = call.invented.get(about) or self.unknown_keys.get(key, "")
        known = key if key in self.makers else unknown
        own = call.by in self.makers.get(known, ())
        fault = UNKNOWN if known != key else "" if own else FOREIGN
        if known not in self.makers or (fault == UNKNOWN and not own):
            return None
        asked = facts_of(self.tracked.lifecycle.contract).without_call_ids(exchange).call.compared
        rest = sorted((name, repr(value)) for name, value in asked.items() if name != about)
        when = self.epoch, self.changes.get(known, 0)
        return _AddressedCall(
            exchange=exchange,
            fault=fault,
            question=(call.operation, known, when, call.mode, tuple(rest)),
            sure=fault == FOREIGN or self._fresh(call) or sum(map(str.isalnum, key)) >= LONG,
        )

    def _fresh(self, call: Call) -> bool:
        subject = self.tracked.subjects.get(call.subject)
        return subject is not None and subject.fresh


def _judge(call: _AddressedCall, *, controlled: bool, shown: bool) -> Iterator[Evidence]:
    facet = f"{call.exchange.call.operation}-{call.fault}"
    why = "no request has this key" if call.fault == UNKNOWN else "the request is another TPP's"
    evidence = must_be_refused(
        facet, _disclosing(call.exchange, shown=shown), why, controlled=controlled
    )
    if controlled or evidence.agreement is DISAGREES:
        yield evidence if call.sure else doubt(evidence, EARLIER)


def _disclosing(exchange: Exchange, *, shown: bool) -> Exchange:
    """Return an exchange without the items that disclose nothing new.

    A refusal may repeat the arguments of the call. An empty answer of an operation that
    shows the request may be a refusal; the answer to a change may be empty.
    """
    outcome, sent = exchange.outcome, exchange.call.arguments
    if isinstance(outcome, Rejected | Unavailable):
        leaked = tuple(item for item in outcome.leaked if _discloses(item, sent))
        return replace(exchange, outcome=replace(outcome, leaked=leaked))
    if isinstance(outcome, Accepted) and outcome.items and shown:
        items = tuple(item for item in outcome.items if _discloses(item, {}))
        return replace(exchange, outcome=replace(outcome, items=items))
    return exchange


def _discloses(item: Item, sent: Mapping[str, Json]) -> bool:
    """Whether an item discloses anything that the call itself did not contain."""
    named = item.key is not None and item.key not in map(str, sent.values())
    shown = {name: value for name, value in item.fields.items() if value not in (None, "")}
    discloses = any(
        name not in sent or not same_value(sent[name], value) for name, value in shown.items()
    )
    return named or discloses or item.state is not None


def _judge_by_tpp(
    exchange: Exchange, key: str, makers: Mapping[str, set[str]], made: Sequence[str]
) -> Iterator[Evidence]:
    if exchange.call.by in makers.get(key, ()):
        yield tpp_evidence(
            TPP_FACET, AGREES, exchange, OWED, "the key was returned to it in this history"
        )
        return
    refused = was_refused(exchange)
    judged: Agreement = UNCLEAR
    why = "no answer in this history returned the key"
    if key in makers:
        judged, why = DISAGREES, "the key was returned to another TPP"
    elif refused and made and not any(same_format(key, known) for known in made):
        judged, why = DISAGREES, f"{why}, and it resembles none that was returned"
    elif exchange.accepted:
        judged, why = AGREES, "the bank accepts the key from this TPP"
    yield tpp_evidence(
        TPP_FACET, judged, exchange, OWED, f"{why}; {EARLIER}" if judged is UNCLEAR else why
    )
