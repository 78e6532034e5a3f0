"""`submission`: what a TPP submits is what the customer signed, and it is submitted once.

At some banks a consent comes first: the customer signs it, and a second call, the submission, has the
request executed. The clause says which arguments that call must repeat. One with another value is refused,
and nothing is executed of it; a second submission of the same consent is refused, or changes nothing.
How the bank shows the consent afterwards is judged where the clause names an operation that shows it.

A refusal counts only beside a submission of an equal request that was accepted, or of the same one later. What
was accepted is a violation once it is shown as executed, or waits for its day: a bank may reject it
after that. A consent of which a wrong submission was refused may have ended with it, so that nothing more is
judged. Submissions that differ in two things, or that follow a change of the request, are not judged.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from assay.contract.model import Capability, Contract, Operation
from assay.contract.scalars import same_value
from assay.files.document import Finding, Pointer
from assay.history import Call, Effect, Effects, Exchange, History, State, Submitted
from assay.rules import parameters, steps
from assay.rules.facets import make_facet
from assay.rules.lifecycle import comparison, request_queries, request_steps
from assay.rules.lifecycle.parameters import check_arguments, the_request
from assay.rules.lifecycle.tracker import REJECTED, Instance, Lifecycle, Tracker
from assay.rules.parameters import Raw, known, ref
from assay.rules.refusing_kind import RefusingKind
from assay.rules.rule import Facet, Purpose, Scenario, Scope, Script, bound, needs
from assay.rules.verdict import (
    AGREES,
    DISAGREES,
    FOR_A_WHILE,
    UNAUTHENTICATED,
    UNCLEAR,
    Agreement,
    Evidence,
    describe_answer,
)

UNDONE, ONCE, CONSENT = "changed-undone", "once", "consent-afterwards"
#: How the ids of the facets end that are about one argument.
CHANGED = "-changed-refused"


def _check_shows(at: Pointer, name: str, clause: Raw, raw: Raw) -> Iterator[Finding]:
    """Find an operation that does not show the request."""
    yield from known(at, name, raw["operations"], "operation")
    if name in raw["operations"] and raw["operations"][name].get("shows") != clause["request"]:
        hint = f"add `shows: {clause['request']}` to operations.{name}"
        yield at, f"{name!r} shows no {clause['request']!r}", hint


def _check_state(at: Pointer, _name: str, clause: Raw, _raw: Raw) -> Iterator[Finding]:
    """Find a state of a consent that no operation shows."""
    if "consent" not in clause:
        yield at, "nothing shows the consent", "add `consent`, the operation that shows it"


def _no_moment(_contract: Contract, _known: Mapping[str, Any]) -> str:
    return "unspecified"


@dataclass(slots=True, kw_only=True)
class _ExecutionCount:
    """How often a request was executed by the last inquiry, and by the last before it came again."""

    now: int = 0
    before: int | None = None
    asked: bool = False


@dataclass(slots=True, kw_only=True)
class _SubmittedRequests:
    """What the check needs of a history: its requests, and how often each was executed.

    `strangers` are executions of no known request, each after the last submission with a number: what
    a bank executes of a submission that it refused has a key that nothing shows.
    """

    tracker: Tracker
    strangers: list[tuple[int, Effect]] = field(default_factory=list["tuple[int, Effect]"])
    executions: dict[str, _ExecutionCount] = field(default_factory=dict[str, _ExecutionCount])

    @classmethod
    def of(cls, lifecycle: Lifecycle, history: History) -> _SubmittedRequests:
        """Process a history."""
        seen = cls(tracker=Tracker(lifecycle=lifecycle))
        last = 0
        for event in history.events:
            last = event.n if isinstance(event, Submitted) else last
            request = seen.tracker.find(event.request) if isinstance(event, Submitted) else None
            if isinstance(event, Submitted) and request is not None and request.submitted:
                known = seen.of_request(event.request)
                known.asked = False
                if known.before is None:
                    known.before = known.now
            seen.tracker.note(event)
            if isinstance(event, Effects) and event.done is not None:
                seen._count([effect.request for effect in event.done])
                seen._meet(
                    [each for each in event.done if not seen.tracker.find(each.request)], last
                )
        return seen

    def of_request(self, key: str) -> _ExecutionCount:
        """Return how often a request was executed."""
        return self.executions.setdefault(key, _ExecutionCount())

    def executed(self, request: Instance, submission: Submitted) -> bool:
        """Whether a request was executed whose submission was refused, under any key.

        It was if that was of its thing, which no other request is about, and says what it says.
        """
        owned = self.tracker.lifecycle.create.owned or ""
        about = [each.arguments.get(owned) for each in self.tracker.requests]
        if request.done or about.count(request.arguments.get(owned)) != 1:
            return request.done
        return any(
            n == submission.n
            and owned in effect.fields
            and all(
                any(
                    same_value(said.get(name), value)
                    for said in (request.arguments, submission.call.arguments)
                )
                for name, value in effect.fields.items()
            )
            for n, effect in self.strangers
        )

    def unknown(self, submission: Submitted) -> bool:
        """Whether something was executed after a submission that may be of it."""
        return any(n == submission.n for n, _ in self.strangers)

    def _meet(self, effects: Sequence[Effect], last: int) -> None:
        known = [effect for _, effect in self.strangers]
        self.strangers += [(last, effect) for effect in effects if effect not in known]

    def _count(self, done: Sequence[str]) -> None:
        for key in {*done, *self.executions}:
            # What an earlier inquiry has may be left out.
            known = self.of_request(key)
            known.now, known.asked = max(known.now, done.count(key)), True


@dataclass(frozen=True, slots=True, kw_only=True)
class Submission(RefusingKind):
    """The request, what its submission must repeat, and the state of its consent afterwards."""

    name = "submission"
    scope = Scope(needs=(Submitted,))
    purpose = Purpose.LIMIT
    applies_to = ("makes",)

    lifecycle: Lifecycle = the_request(signed=True)
    repeats: tuple[str, ...] = parameters.names(
        ref("words"), key="repeats", references=check_arguments, required=False
    )
    consent: Operation | None = parameters.parameter(
        ref("operation"),
        lambda id_, contract: contract.operations[id_],
        key="consent",
        references=_check_shows,
        required=False,
    )
    afterwards: State = parameters.parameter(
        {
            "description": "open, valid, done, rejected or ended",
            "x-hint": "in which state is the consent once its request was submitted?",
            "enum": [state.value for state in State],
        },
        lambda value, _: State(value),
        key="afterwards",
        references=_check_state,
        required=False,
        default=State.ENDED,
    )
    #: A submission always comes after the signature.
    rejection: str = parameters.derived(_no_moment)

    def refusing(self) -> Sequence[str]:
        """Return the facets of other values."""
        return [f"{name}{CHANGED}" for name in self.repeats]

    def facets(self) -> tuple[Facet, ...]:
        """Return a facet for each argument, those of what is executed, and that of the consent."""
        create, name = self.lifecycle.create, self.lifecycle.request.id
        write = needs(Capability.PSU, Capability.WRITE) | self.lifecycle.signing_needs
        effects = write | needs(Capability.EFFECTS)
        required = (
            *bound(create, "submission"),
            *self.lifecycle.approval_requirement(),
            *self.lifecycle.state_requirement(),
        )
        facets = [
            make_facet(
                f"{each}{CHANGED}",
                f"a submission with another {each} than the customer signed is refused",
                each,
                write,
                (*required, *bound(create, "other", each)),
            )
            for each in self.repeats
        ]
        for each in self.repeats[:1]:
            text = f"nothing is executed of a refused submission with another {each}"
            others = bound(create, "other", each)
            facets.append(make_facet(UNDONE, text, each, effects, (*required, *others)))
        text = f"a {name} is executed once, however often it is submitted"
        facets.append(make_facet(ONCE, text, ONCE, effects, required))
        if self.consent is not None:
            text = f"the consent is {self.afterwards.value} once it was submitted"
            state = bound(self.consent, "state")
            facets.append(make_facet(CONSENT, text, CONSENT, write, (*required, *state)))
        return tuple(facets)

    def accepts_variation(self, scenario: Scenario) -> bool:
        """Whether a bank that conforms accepts a varied call: only a submission varies."""
        return True

    def probe(self, scenario: Scenario) -> Script:
        """Have a request executed, and submit it again or read its consent; or another one wrongly."""
        lifecycle = self.lifecycle
        psu = yield from request_steps.customer(lifecycle, count=2)
        first = yield from steps.send(request_steps.request(lifecycle, psu))
        yield from request_steps.sign(lifecycle, first)
        key = request_steps.key_of(first)
        if scenario.id == CONSENT and self.consent is not None and key is not None:
            about = {self.consent.about or "": key}
            yield Call(operation=self.consent.id, subject=psu.name, arguments=about)
            return
        yield from request_steps.inquire()
        made = first
        if scenario.id == ONCE:
            yield from request_steps.submit(first, "it was submitted before")
        else:
            owned = lifecycle.create.owned
            other = {owned: psu.owns[1].key} if owned else {}
            made = yield from steps.send(request_steps.request(lifecycle, psu, None, other))
            yield from request_steps.sign(lifecycle, made, request_steps.NOT_SUBMITTED)
            variation = f"its {scenario.id} is not what the customer signed"
            yield from request_steps.submit(made, variation, scenario.id)
        yield from request_steps.read(lifecycle, made)
        yield from request_steps.inquire()

    def check(self, history: History) -> Iterator[Evidence]:
        """Judge every submission of a request that its customer has signed."""
        seen = _SubmittedRequests.of(self.lifecycle, history)
        requests = [
            each for each in comparison.comparable(seen.tracker) if request_queries.signed(each)
        ]
        for request in requests:
            others = [request.said_otherwise(each) for each in request.submissions]
            if len(others) > 1 and not (others[0] or others[1]) and request.submissions[0].accepted:
                yield from self._once(request, seen)
            if others and others[0]:
                controls = [each for each in requests if self._is_control(request, each)]
                yield from self._changed(request, others, controls, seen)
        if self.consent is not None:
            yield from self._consents(history, {each.key: each for each in requests}, self.consent)

    def _is_control(self, request: Instance, other: Instance) -> bool:
        """Whether another request is equal, and its submission was accepted and says the same."""
        first = next(iter(other.submissions), None)
        plain = first is not None and first.accepted and not other.said_otherwise(first)
        sorts = (comparison.sort_of(self.lifecycle, each) for each in (request, other))
        return plain and len({*sorts}) == 1 and other.outcome not in REJECTED

    def _changed(
        self,
        request: Instance,
        others: Sequence[Sequence[str]],
        controls: Sequence[Instance],
        seen: _SubmittedRequests,
    ) -> Iterator[Evidence]:
        """Judge the first submission of a request, which says something else than what was signed."""
        first, (name, *more) = request.submissions[0], others[0]
        if more or name not in self.repeats or not _after_signature(request, first):
            return
        later = [
            each.n
            for each, other in zip(request.submissions, others, strict=True)
            if each.accepted and not other
        ]
        beside = later[:1] or [each.submissions[0].n for each in controls[-1:]]
        rejected = first.accepted and request.state is State.REJECTED
        ended = request.withdrawn or any(not end.refused for end in request.ends)
        agreement = UNCLEAR
        if first.accepted and not later and not rejected:
            waits = self.lifecycle.deferred(request.mode) and request.state is State.OPEN
            agreement = DISAGREES if request.done or waits else UNCLEAR
        elif (rejected or _is_refusal(first)) and beside and not ended:
            agreement = AGREES
        became = f"; {request.describe()}" if first.accepted else ""
        yield _evidence(
            f"{name}{CHANGED}",
            agreement,
            first,
            expected="a refusal",
            seen=describe_answer(first) + became,
            request=request,
            beside=beside,
        )
        if _is_refusal(first) and all(others):
            done = seen.executed(request, first)
            told = request.inquired and any(each.effect is not None for each in controls)
            agreement = AGREES if told and not seen.unknown(first) else UNCLEAR
            agreement = DISAGREES if done else agreement
            yield _evidence(
                UNDONE,
                agreement,
                first,
                expected="no execution of a submission that was refused",
                seen="it was executed" if done else "it was not executed",
                request=request,
                beside=beside,
            )

    def _once(self, request: Instance, seen: _SubmittedRequests) -> Iterator[Evidence]:
        """Judge the second submission of a request, which says the same as the first."""
        first, again = request.submissions[:2]
        executions = seen.of_request(request.key or "")
        number, before = executions.now, executions.before or 0
        agreement = UNCLEAR
        if number > max(1, before):
            agreement = DISAGREES
        elif seen.unknown(again) or not executions.asked or before > 1:
            agreement = UNCLEAR
        elif number == 1 or _is_refusal(again):
            agreement = AGREES
        yield _evidence(
            ONCE,
            agreement,
            again,
            expected="a refusal, or no second execution",
            seen=f"{describe_answer(again)}; executions: {number}",
            request=request,
            beside=[first.n],
        )

    def _consents(
        self, history: History, requests: Mapping[str | None, Instance], operation: Operation
    ) -> Iterator[Evidence]:
        """Judge what shows the consent of a request since its submission was accepted."""
        for exchange in history.exchanges:
            if exchange.call.operation != operation.id or not exchange.accepted:
                continue
            request = requests.get(str(exchange.call.arguments.get(operation.about or "")))
            before = (
                [each for each in request.submissions if each.n < exchange.n] if request else []
            )
            if request is None or not before or not before[0].accepted or len(before) > 1:
                continue
            if request.said_otherwise(before[0]) or request.ends or request.withdrawn:
                continue
            yield self._state(exchange, request, before[0])

    def _state(self, exchange: Exchange, request: Instance, before: Submitted) -> Evidence:
        state = exchange.item.state if exchange.item else None
        agreement = UNCLEAR
        if state is not None:
            agreement = AGREES if state is self.afterwards else DISAGREES
        return Evidence(
            facet=CONSENT,
            agreement=agreement,
            expected=f"a consent that is {self.afterwards.value}",
            seen=f"it is {state.value}" if state else "its state is not known",
            exchanges=(request.made.n, before.n, exchange.n),
            decisive=exchange.n,
            member=exchange.member_of(exchange.item, "state"),
        )


def _after_signature(request: Instance, submission: Submitted) -> bool:
    """Whether the customer had signed a request before it was submitted."""
    signing = request_queries.signature(request)
    return signing is not None and signing.n < submission.n


def _is_refusal(submission: Submitted) -> bool:
    """Whether a submission was refused, neither for its token nor for a while."""
    unclear = {UNAUTHENTICATED, *FOR_A_WHILE}
    return submission.refused and submission.wire.status not in unclear


def _evidence(
    facet: str,
    agreement: Agreement,
    submission: Submitted,
    *,
    expected: str,
    seen: str,
    request: Instance,
    beside: Sequence[int],
) -> Evidence:
    signing = request_queries.signature(request)
    numbers = {request.made.n, submission.n, *beside, *([signing.n] if signing else ())}
    return Evidence(
        facet=facet,
        agreement=agreement,
        expected=expected,
        seen=seen,
        exchanges=tuple(sorted(numbers)),
        decisive=submission.n,
        controls=tuple(beside),
        variation=submission.call.variation,
    )
