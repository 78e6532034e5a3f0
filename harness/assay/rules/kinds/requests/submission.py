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
from typing import TypeAlias

from assay.contract.model import Capability, Json, Operation
from assay.contract.scalars import same_value
from assay.files.document import Finding, Pointer
from assay.history import Effect, Effects, Exchange, History, State, Submitted
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
#: Executions, by the keys of their requests.
_Executed: TypeAlias = Mapping[str, Sequence[Effect]]
#: How the ids of the facets end that are about one argument.
CHANGED = "-changed-refused"
_AFTERWARDS = {
    "description": "open, valid, done, rejected or ended",
    "x-hint": "in which state is the consent once its request was submitted?",
    "enum": [state.value for state in State],
}


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


@dataclass(slots=True, kw_only=True)
class _SubmittedRequests:
    """The requests of a history, and all executions by each inquiry, with the last submission before it."""

    tracker: Tracker
    inquiries: list[tuple[int, _Executed]] = field(default_factory=list["tuple[int, _Executed]"])

    def note(self, history: History) -> None:
        """Process a history."""
        last, executed = 0, dict[str, Sequence[Effect]]()
        for event in history.events:
            self.tracker.note(event)
            if isinstance(event, Submitted):
                last = event.n
            elif isinstance(event, Effects) and event.done is not None:
                # What an earlier inquiry has may be left out.
                names = {effect.request for effect in event.done}
                new = {key: [each for each in event.done if each.request == key] for key in names}
                executed = {**executed, **new}
                self.inquiries.append((last, executed))

    def executions(self, n: int, *, before: bool = False) -> _Executed | None:
        """Return all executions known after, or before, a submission; None if nobody asked."""
        found = [executed for last, executed in self.inquiries if (last < n) is before]
        return found[-1] if found else None

    def strangers(self, n: int) -> Sequence[Effect]:
        """Return the executions since a submission that are of no known request.

        What a bank executes of a submission that it refused has a key that nothing shows.
        """
        old, new = self.executions(n, before=True) or {}, self.executions(n) or {}
        keys = [key for key in new if key not in old and not self.tracker.find(key)]
        return [effect for key in keys for effect in new[key]]

    def executed(self, request: Instance, submission: Submitted) -> bool:
        """Whether a request was executed whose submission was refused, under any key.

        It was if that was of its thing, which no other request is about, and says what it says.
        """
        owned = self.tracker.lifecycle.create.owned or ""
        about = [each.arguments.get(owned) for each in self.tracker.requests]
        if request.done or about.count(request.arguments.get(owned)) != 1:
            return request.done

        def of_it(name: str, value: Json) -> bool:
            said = request.arguments, submission.call.arguments
            return any(same_value(each.get(name), value) for each in said)

        own = (each.fields for each in self.strangers(submission.n) if owned in each.fields)
        return any(all(of_it(name, fields[name]) for name in fields) for fields in own)


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
        _AFTERWARDS,
        lambda value, _: State(value),
        key="afterwards",
        references=_check_state,
        required=False,
        default=State.ENDED,
    )
    #: A submission always comes after the signature.
    rejection: str = parameters.derived(lambda _contract, _known: "unspecified")

    def refusing(self) -> Sequence[str]:
        """Return the facets of other values."""
        return [f"{name}{CHANGED}" for name in self.repeats]

    def facets(self) -> tuple[Facet, ...]:
        """Return a facet for each argument, those of what is executed, and that of the consent."""
        create, name = self.lifecycle.create, self.lifecycle.request.id
        write = needs(Capability.PSU, Capability.WRITE, Capability.SCA)
        effects = write | needs(Capability.EFFECTS)
        signed = (*self.lifecycle.approval_requirement(), *self.lifecycle.state_requirement())
        required = (*bound(create, "submission"), *signed)
        once = f"a {name} is executed once, however often it is submitted"
        facets = [make_facet(ONCE, once, ONCE, effects, required)]
        for n, each in enumerate(self.repeats):
            text = f"a submission with another {each} than the customer signed is refused"
            changing = (*required, *bound(create, "other", each))
            facets.append(make_facet(f"{each}{CHANGED}", text, each, write, changing))
            if not n:
                text = f"nothing is executed of a refused submission with another {each}"
                facets.append(make_facet(UNDONE, text, each, effects, changing))
        if self.consent is not None:
            text = f"the consent is {self.afterwards.value} once it was submitted"
            shown = (*required, *bound(self.consent, "state"))
            facets.append(make_facet(CONSENT, text, CONSENT, write, shown))
        return tuple(facets)

    def probe(self, scenario: Scenario) -> Script:
        """Have a request executed, and submit it again or read its consent; or another one wrongly."""
        lifecycle = self.lifecycle
        psu = yield from request_steps.customer(lifecycle, count=2)
        made = yield from steps.send(request_steps.request(lifecycle, psu))
        yield from request_steps.sign(lifecycle, made)
        if scenario.id == CONSENT:
            yield from request_steps.send_if_any(request_steps.call_about(self.consent, made))
            return
        yield from request_steps.inquire()
        if scenario.id == ONCE:
            yield from request_steps.submit(made, "it was submitted before")
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
        seen = _SubmittedRequests(tracker=Tracker(lifecycle=self.lifecycle))
        seen.note(history)
        requests = [*filter(request_queries.signed, comparison.comparable(seen.tracker))]
        for request in requests:
            others = [request.said_otherwise(each) for each in request.submissions]
            if others and others[0]:
                controls = [each for each in requests if self._is_control(request, each)]
                yield from self._changed(request, others, controls, seen)
            elif others[1:2] == [()] and request.submissions[0].accepted:
                yield _once(request, seen)
        by_key = {request.key: request for request in requests}
        shows = self.consent
        for exchange in history.exchanges:
            if shows and exchange.call.operation == shows.id and exchange.accepted:
                key = exchange.call.arguments.get(shows.about or "")
                yield from self._consent(exchange, by_key.get(str(key)))

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
        signing = request_queries.signature(request)
        if more or name not in self.repeats or signing is None or signing.n > first.n:
            return
        pairs = zip(request.submissions, others, strict=True)
        later = [each.n for each, other in pairs if each.accepted and not other]
        beside = later[:1] or [each.submissions[0].n for each in controls[-1:]]
        rejected = first.accepted and request.state is State.REJECTED
        ended = request.withdrawn or any(not end.refused for end in request.ends)
        agreement = UNCLEAR
        if first.accepted and not later and not rejected:
            waits = self.lifecycle.deferred(request.mode) and request.state is State.OPEN
            agreement = DISAGREES if request.done or waits else UNCLEAR
        elif (rejected or _is_refusal(first)) and beside and not ended:
            agreement = AGREES
        said = describe_answer(first) + (f"; {request.describe()}" if first.accepted else "")
        yield _evidence(f"{name}{CHANGED}", agreement, "a refusal", said, request, first, beside)
        if _is_refusal(first) and all(others):
            told = request.inquired and any(each.effect is not None for each in controls)
            done = seen.executed(request, first)
            agreement = AGREES if told and not seen.strangers(first.n) else UNCLEAR
            agreement = DISAGREES if done else agreement
            expected = "no execution of a submission that was refused"
            said = "it was executed" if done else "it was not executed"
            yield _evidence(UNDONE, agreement, expected, said, request, first, beside)

    def _consent(self, exchange: Exchange, request: Instance | None) -> Iterator[Evidence]:
        """Judge what shows the consent of a request that was submitted once, and not ended otherwise."""
        before = [each for each in request.submissions if each.n < exchange.n] if request else []
        if request is None or len(before) != 1 or request.ends or request.withdrawn:
            return
        if not before[0].accepted or request.said_otherwise(before[0]):
            return
        state = exchange.item.state if exchange.item else None
        agreement = AGREES if state is self.afterwards else DISAGREES if state else UNCLEAR
        yield Evidence(
            facet=CONSENT,
            agreement=agreement,
            expected=f"a consent that is {self.afterwards.value}",
            seen=f"it is {state.value}" if state else "its state is not known",
            exchanges=(request.made.n, before[0].n, exchange.n),
            decisive=exchange.n,
            member=exchange.member_of(exchange.item, "state"),
        )


def _once(request: Instance, seen: _SubmittedRequests) -> Evidence:
    """Judge the second submission of a request, which says the same as the first."""
    first, again = request.submissions[:2]
    key, after = request.key or "", seen.executions(again.n)
    number = len((after or {}).get(key, ()))
    before = len((seen.executions(again.n, before=True) or {}).get(key, ()))
    agreement = UNCLEAR
    if number > max(1, before):
        agreement = DISAGREES
    elif after is not None and before <= 1 and not seen.strangers(again.n):
        agreed = _is_refusal(again) or (again.accepted and number == 1)
        agreement = AGREES if agreed else UNCLEAR
    said = f"{describe_answer(again)}; executions: {number}"
    expected = "a refusal, or no second execution"
    return _evidence(ONCE, agreement, expected, said, request, again, [first.n])


def _is_refusal(submission: Submitted) -> bool:
    """Whether a submission was refused, neither for its token nor for a while."""
    return submission.refused and submission.wire.status not in {UNAUTHENTICATED, *FOR_A_WHILE}


def _evidence(  # noqa: PLR0917 -- what each piece of evidence has
    facet: str,
    agreement: Agreement,
    expected: str,
    seen: str,
    request: Instance,
    submission: Submitted,
    beside: Sequence[int],
) -> Evidence:
    numbers = {request.made.n, submission.n, *beside, *(each.n for each in request.signings)}
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
