"""`idempotency`: a call that repeats a key within some hours has no effect of its own.

The TPP sends a key with a request. If the key comes again with the same request, the bank
answers with what it made the first time, and carries it out once. If it comes with another
request, the bank refuses; a refusal counts only beside an accepted call with that request and
another key. After the hours nothing is said.

Two requests are the same if their arguments are, and their bodies: where a target file puts a
value of its own into each body, no call repeats another, and nothing is judged.

The TPP: it sends no key again with another request, where the bank refuses that.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import timedelta
from typing import Final

from assay.contract.model import Capability
from assay.history import Call, Effects, Exchange, History
from assay.rules import parameters, steps
from assay.rules.controls import Shared, refused_beside, same_but
from assay.rules.facets import Facts, make_facet
from assay.rules.lifecycle import request_steps, tracker
from assay.rules.lifecycle.parameters import check_argument, the_request
from assay.rules.queries import ordinary
from assay.rules.refusing_kind import RefusingKind
from assay.rules.rule import (
    Calls,
    Facet,
    Purpose,
    Scenario,
    Scope,
    Script,
    TppFacet,
    bound,
    facts_of,
    needs,
)
from assay.rules.steps import fresh_id
from assay.rules.verdict import (
    AGREES,
    DISAGREES,
    UNAUTHENTICATED,
    UNCLEAR,
    Evidence,
    describe_answer,
    tpp_evidence,
)

REPEATED, LATE, ONCE, CONFLICT = "repeated", "late", "once", "conflict"
#: The TPP's obligation.
TPP_FACET = "key-not-reused"
#: How long before the end of the hours a late call comes.
MARGIN: Final = timedelta(minutes=10)


@dataclass(frozen=True, slots=True, kw_only=True)
class Idempotency(RefusingKind):
    """The request, the argument that is its key, and for how long a key is remembered."""

    name = "idempotency"
    refusing_facets = (CONFLICT,)
    scope = Scope(calls=Calls.NAMED)
    purpose = Purpose.PROMISE
    applies_to = ("makes",)

    lifecycle: tracker.Lifecycle = the_request()
    key: str = parameters.word(key="key", references=check_argument)
    hours: int | None = parameters.whole(key="hours", required=False)
    varies: str = parameters.parameter(
        parameters.ref("word"),
        lambda value, _: str(value),
        key="varies",
        references=check_argument,
        required=False,
        default="",
    )

    def facts(self) -> Facts:
        """Return the key: it only identifies a call."""
        return Facts(call_ids={self.lifecycle.create.id: (self.key,)})

    def facets(self) -> tuple[Facet, ...]:
        """Return up to four facets, each with a trial of its own."""
        operation, name = self.lifecycle.create, self.lifecycle.request.id
        keyed, shown = bound(operation, "argument", self.key), bound(operation, "key")
        write = needs(Capability.PSU, Capability.WRITE)
        clock, effects = needs(Capability.CLOCK), needs(Capability.EFFECTS)
        described = [(REPEATED, f"a repeated {self.key} gives the same {name}", write, shown)]
        if self.hours is not None:
            late = f"a {self.key} repeated just before {self.hours} hours have passed gives the same {name}"
            described.append((LATE, late, write | clock, shown))
        done = f"a {name} with a repeated {self.key} is executed once"
        described.append((ONCE, done, write | effects | self.lifecycle.signing_needs, shown))
        if self.varies:
            varied = bound(operation, "other", self.varies)
            other = f"a repeated {self.key} with another {self.varies} is refused"
            described.append((CONFLICT, other, write, varied))
        return tuple(
            make_facet(id_, description, id_, needed, (*keyed, *required))
            for id_, description, needed, required in described
        )

    def probe(self, scenario: Scenario) -> Script:
        """Make a request and repeat it; in a conflict beside the other request with its own key."""
        psu = yield from request_steps.customer(self.lifecycle)
        plain = request_steps.request(self.lifecycle, psu)
        key, second = (fresh_id(plain, psu.now, scenario.id, n) for n in ("first", "second"))
        first = replace(plain, arguments={**plain.arguments, self.key: key})
        made = yield from steps.send(first)
        # What the target file made up for the first call is sent again.
        same = replace(first, arguments={**made.call.arguments, **first.arguments})
        if scenario.id == CONFLICT:
            changed = replace(same, varied=(self.varies,))
            arguments = {k: v for k, v in changed.arguments.items() if k != self.varies}
            control = replace(changed, arguments={**arguments, self.key: second})
            yield from steps.send(control)
            conflict = f"the same {self.key} with another {self.varies}"
            repeated = replace(changed, arguments={**arguments, self.key: key})
            yield from steps.send(replace(repeated, variation=conflict))
            return
        if scenario.id == ONCE:
            yield from request_steps.sign(self.lifecycle, made)
        if scenario.id == LATE and self.hours is not None:
            yield from steps.clock(psu.now + timedelta(hours=self.hours) - MARGIN)
        again = yield from steps.send(replace(same, variation=f"the same {self.key} again"))
        yield from request_steps.read(self.lifecycle, again)
        if scenario.id == ONCE:
            if request_steps.key_of(again) != request_steps.key_of(made):
                yield from request_steps.sign(self.lifecycle, again)
            yield from request_steps.inquire()

    def accepts_variation(self, scenario: Scenario) -> bool:
        """Whether a bank that conforms accepts the varied call: the same request again, it does."""
        return scenario.id != CONFLICT

    def check(self, history: History) -> Iterator[Evidence]:
        """Compare each call with the first of its key."""
        calls = [each for each in history.exchanges if self._concerns(each.call)]
        accepted: dict[Shared, list[Exchange]] = {}
        for each in calls:
            if each.accepted:
                accepted.setdefault(self._asked(each), []).append(each)
        first: dict[tuple[str, str, str], Exchange] = {}
        repeats: list[_Repeat] = []
        for exchange in calls:
            call = exchange.call
            named = (call.subject, call.by, str(call.arguments[self.key]))
            earlier = first.get(named)
            if earlier is None:
                # What a refused call leaves of its key, documents do not say.
                if not exchange.refused:
                    first[named] = exchange
            elif not earlier.accepted or self._forgotten(earlier, exchange):
                continue
            elif self._asked(earlier) != self._asked(exchange):
                if not self.varies:
                    continue
                controls = [
                    each.n
                    for each in accepted.get(self._asked(exchange), ())
                    if each.call.arguments[self.key] != call.arguments[self.key]
                ]
                why = "the key belongs to another request"
                # A bank that fails may yet answer with what it made the first time.
                yield from refused_beside(
                    CONFLICT, exchange, why, controls, earlier.n, failure_open=True
                )
            elif earlier.wire.request_body == exchange.wire.request_body:
                repeats.append(_Repeat(first=earlier, again=exchange))
                yield _judge_repeated(self._facet(earlier, exchange), earlier, exchange)
        yield from _judge_executions(history, repeats)

    def tpp_facet(self) -> TppFacet | None:
        """Return the obligation of the TPP, where another request is refused."""
        keyed = bound(self.lifecycle.create, "argument", self.key)
        text = f"no {self.key} is sent again with another {self.lifecycle.request.id}"
        return TppFacet(id=TPP_FACET, description=text, requires=keyed) if self.varies else None

    def check_tpp(self, history: History) -> Iterator[Evidence]:
        """Judge every request after the first one: its key is new, or its request is not."""
        first: dict[tuple[str, str, str], Exchange] = {}
        for exchange in history.exchanges if self.varies else ():
            call = exchange.call
            if not self._concerns(call):
                continue
            named = (call.subject, call.by, str(call.arguments[self.key]))
            earlier = first.get(named)
            new = earlier is None or self._forgotten(earlier, exchange)
            if earlier is None or new or self._asked(earlier) == self._asked(exchange):
                judged, done = AGREES, "the key is new" if new else "it is the same request"
            else:
                judged, done = DISAGREES, "it is another request with the same key"
            if first:
                owed = f"a new {self.key} for another request"
                beside = () if earlier is None else (earlier.n,)
                yield tpp_evidence(TPP_FACET, judged, exchange, owed, done, *beside)
            if new:
                first[named] = exchange

    def _concerns(self, call: Call) -> bool:
        own = call.operation == self.lifecycle.create.id and ordinary(call)
        return own and isinstance(call.arguments.get(self.key), str)

    def _asked(self, exchange: Exchange) -> Shared:
        """Return all that a call asks for, without its key."""
        call = facts_of(self.lifecycle.contract).without_call_ids(exchange).call
        # What the target file made up for the first call counts: it is sent again.
        return same_but(replace(call, generated=()))

    def _forgotten(self, first: Exchange, again: Exchange) -> bool:
        """Whether the hours are over, or nearly."""
        return self.hours is not None and again.at - first.at >= timedelta(hours=self.hours)

    def _facet(self, first: Exchange, again: Exchange) -> str:
        """Return what a repeated call shows: in the last hour, how long a key is remembered."""
        if self.hours is None or again.at - first.at < timedelta(hours=self.hours - 1, minutes=30):
            return REPEATED
        return LATE


@dataclass(frozen=True, slots=True, kw_only=True)
class _Repeat:
    """A call, and one that repeats it with the same key."""

    first: Exchange
    again: Exchange

    @property
    def keys(self) -> frozenset[str]:
        """The keys of the resources in the answers."""
        shown = (request_steps.key_of(each) for each in (self.first, self.again))
        return frozenset(key for key in shown if key is not None)


@dataclass(slots=True, kw_only=True)
class _Executions:
    """How often the fixtures report that each request was executed."""

    counts: Mapping[str, int] = field(default_factory=dict[str, int])

    def note(self, event: Effects) -> None:
        """Keep the larger number of each request."""
        counts: dict[str, int] = {}
        for effect in event.done or ():
            counts[effect.request] = counts.get(effect.request, 0) + 1
        self.counts = {
            key: max(counts.get(key, 0), self.counts.get(key, 0)) for key in {*counts, *self.counts}
        }


def _judge_executions(history: History, repeats: Sequence[_Repeat]) -> Iterator[Evidence]:
    """Judge how often a request that was repeated has been executed."""
    executions = _Executions()
    for event in history.events if repeats else ():
        if isinstance(event, Effects):
            executions.note(event)
    for repeat in repeats:
        number = sum(executions.counts.get(key, 0) for key in repeat.keys)
        if number:
            yield Evidence(
                facet=ONCE,
                agreement=AGREES if number == 1 else DISAGREES,
                expected="it is executed once",
                seen=f"it was executed {number} times" if number > 1 else "it was",
                exchanges=(repeat.first.n, repeat.again.n),
                variation=repeat.again.call.variation,
            )


def _judge_repeated(facet: str, first: Exchange, again: Exchange) -> Evidence:
    before, after = request_steps.key_of(first), request_steps.key_of(again)
    if again.accepted and before is not None and after is not None:
        agreement = AGREES if before == after else DISAGREES
    elif again.refused and again.wire.status != UNAUTHENTICATED:
        agreement = DISAGREES
    else:
        agreement = UNCLEAR
    return Evidence(
        facet=facet,
        agreement=agreement,
        expected=f"the resource of the first call: {before}",
        seen=describe_answer(again) + (f": {after}" if after is not None else ""),
        exchanges=(first.n, again.n),
        variation=again.call.variation,
        member=again.member_of(again.item, "key"),
    )
