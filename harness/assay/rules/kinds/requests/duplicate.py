"""`duplicate`: the bank rejects a request identical to one already executed, and no other.

Two requests are identical if all arguments, the mode and the day are equal. A request that
differs in a parameter or in the day must be accepted, and so must the repeat of one that was
never executed; one that differs only in the mode is not judged. If it is rejected, the probe
looks for another cause: the state of the first request, and the same one of another customer.
Of two identical requests that are signed at one moment, one is executed, if the bank executes
requests at once.

The TPP: it does not repeat a request that it knew to be executed on the same day. If
only the return address differs, the verdict is open: no clause names it as a parameter.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from datetime import timedelta
from typing import TypeAlias

from assay.contract.model import Capability
from assay.files.document import Finding, Pointer
from assay.history import Call, Decision, History, State, Subject
from assay.rules import parameters as rules_parameters
from assay.rules import steps
from assay.rules.facets import Facts
from assay.rules.lifecycle import comparison, request_queries, request_steps, tracker
from assay.rules.lifecycle.comparison import (
    CANCELLED,
    NEXT_DAY,
    REFUSED,
    REPEAT,
    UNSIGNED,
    ComparisonTracker,
    Explanations,
    Likeness,
    Relation,
    changed_facet,
    later_day,
    same_day,
)
from assay.rules.lifecycle.parameters import arguments, check_modes, the_request
from assay.rules.lifecycle.request_steps import RequestResult, make_sign_read, today
from assay.rules.lifecycle.tracker import Instance, InstanceOutcome, Lifecycle, Tracker
from assay.rules.parameters import Raw, maker
from assay.rules.refusing_kind import RefusingKind
from assay.rules.rule import (
    BindingRequirement,
    Facet,
    Purpose,
    Scenario,
    Script,
    TppFacet,
    bound,
    facts_of,
    needs,
)
from assay.rules.state.calendar import local_day
from assay.rules.steps import Part, send, sign_together
from assay.rules.verdict import AGREES, DISAGREES, UNCLEAR, Agreement, Evidence, tpp_evidence

#: The scenarios in which the first request is never executed.
NEVER_DONE = frozenset({CANCELLED, REFUSED, UNSIGNED})
AT_ONCE = "at-once"
#: The longest time from a signature to the reading of a request that was executed with it.
SOON = timedelta(minutes=1)
#: A repeat on the same day is tried this long after the first request, too, beside the one at once.
LATER = timedelta(hours=2)
#: A signing step in which the customer refuses.
NO = replace(request_steps.SIGN, decision=Decision.REFUSE)


def _at_once(at: Pointer, wanted: list[str], clause: Raw, raw: Raw) -> Iterator[Finding]:
    """Find fault with modes in which nothing is executed that could be repeated."""
    yield from check_modes(at, wanted, clause, raw)
    for index, name in enumerate(wanted):
        if name in maker(clause, raw).get("due", {}).get("modes", ()):
            hint = "name only modes in which a request is executed when it is signed"
            yield (*at, index), f"requests in the mode {name!r} are deferred to a day", hint


#: The TPP's obligation, and what it says.
TPP_FACET = "not-repeated"
OWED = "the TPP repeats no request that was executed on the same day"


@dataclass(frozen=True, slots=True, kw_only=True)
class Duplicate(RefusingKind):
    """The parameters that make two requests different, and the modes to test."""

    name = "duplicate"
    refusing_facets = (REPEAT,)
    purpose = Purpose.LIMIT
    applies_to = ("makes",)

    lifecycle: Lifecycle = the_request()
    parameters: tuple[str, ...] = arguments(key="parameters")
    named_modes: tuple[str, ...] = rules_parameters.names(
        rules_parameters.ref("words"), key="modes", references=_at_once, required=False
    )

    @property
    def modes(self) -> tuple[str | None, ...]:
        """The modes in which repeats are tried."""
        return self.named_modes or (self.lifecycle.mode,)

    def unaffected_by(self) -> Mapping[str, str]:
        """Return repetition, and the deferred modes: when one was executed, its day is over."""
        why = "the day of a deferred request is over once it was executed"
        modes = {f"mode={mode}": why for mode in self.lifecycle.deferred_modes}
        return {"turn": "the clause itself is about repetition", **modes}

    def facts(self) -> Facts:
        """Return the request, which is rejected as a repeat."""
        return Facts(unrepeatable=frozenset({self.lifecycle.request.id}))

    def parameter(self, facet: str) -> str | None:
        """Return the parameter that a facet is about, if it is about one."""
        return next((name for name in self.parameters if changed_facet(name) == facet), None)

    def mode(self, facet: str) -> str | None:
        """Return the mode of the first request: only a deferred one can be cancelled."""
        deferred = self.lifecycle.deferred_modes
        return deferred[0] if facet == CANCELLED and deferred else self.modes[0]

    def facets(self) -> tuple[Facet, ...]:
        """Return one facet for the repeat, one for each difference, one for each outcome."""
        descriptions = (
            (REPEAT, "a repeat of an executed request is rejected"),
            *(
                (changed_facet(name), f"a request that differs in {name} is accepted")
                for name in self.parameters
            ),
            (NEXT_DAY, "a repeat on the next day is accepted"),
            (CANCELLED, "a repeat of a cancelled request is accepted"),
            (REFUSED, "a repeat of a request that the customer refused is accepted"),
            (UNSIGNED, "a repeat of a request that was never signed is accepted"),
            (AT_ONCE, "of two identical requests signed at one moment, one is executed"),
        )
        kept, signed = self.lifecycle.end and self.lifecycle.deferred_modes, self.lifecycle.signed
        left_out = {CANCELLED: not kept, REFUSED: not signed, UNSIGNED: not signed}
        left_out[AT_ONCE] = not signed
        return tuple(
            Facet(
                id=id_,
                description=description,
                scenario=Scenario(id=id_),
                needs=_needs(id_) | self.lifecycle.signing_needs,
                requires=tuple(self._requirements(id_)),
            )
            for id_, description in descriptions
            if not left_out.get(id_)
        )

    def accepts_variation(self, scenario: Scenario) -> bool:
        """Return True: the call is accepted; a repeat is rejected when it is signed."""
        return True

    def probe(self, scenario: Scenario) -> Script:
        """Sign identical requests at one moment; or make one, and then a second one."""
        yield from self._at_one_moment() if scenario.id == AT_ONCE else self._again(scenario)

    def _at_one_moment(self) -> Script:
        lifecycle = self.lifecycle
        psu = yield from request_steps.customer(lifecycle)
        call = request_steps.request(lifecycle, psu, self.mode(AT_ONCE))
        first = yield from send(call)
        made = facts_of(lifecycle.contract).without_call_ids(first).call.arguments
        second = yield from send(replace(call, arguments={**made, **call.arguments}))
        yield from sign_together(first, second)
        for each in (first, second):
            yield from request_steps.read(lifecycle, each)

    def _again(self, scenario: Scenario) -> Script:
        """Bring a request into its state and make a second one; if that is rejected, find out why."""
        lifecycle, parameter = self.lifecycle, self.parameter(scenario.id)
        owned = parameter is not None and parameter == lifecycle.create.owned
        psu = yield from request_steps.customer(lifecycle, count=2 if owned else 1)
        call = request_steps.request(lifecycle, psu, self.mode(scenario.id))
        first = yield from send(call)
        if scenario.id != UNSIGNED:
            yield from request_steps.sign(
                lifecycle, first, NO if scenario.id == REFUSED else request_steps.SIGN
            )
        if scenario.id == CANCELLED:
            yield from request_steps.send_if_any(request_steps.call_about(lifecycle.end, first))
        elif scenario.id not in NEVER_DONE:
            yield from request_steps.read(lifecycle, first)
        # What the target file made up for the first request is sent again; a day is not.
        made = facts_of(lifecycle.contract).without_call_ids(first).call.arguments
        same = replace(call, arguments={**made, **call.arguments})
        if scenario.id == NEXT_DAY:
            yield from self._hours_later(psu, same)
            yield from request_steps.wait_days(psu, 1)
        else:
            call = same
        outcome = yield from make_sign_read(lifecycle, self._second(scenario.id, call, psu))
        if outcome.rejected:
            if scenario.id in NEVER_DONE:
                yield from request_steps.read(lifecycle, first)
            if not (owned or scenario.id in (REPEAT, NEXT_DAY)):
                # In these scenarios the first request itself is the comparison.
                yield from self._compare_with_another_customer(scenario.id)
        elif scenario.id == self._followed_by_a_repeat:
            again = replace(same, variation="the first request again, after a different one")
            yield from make_sign_read(lifecycle, again)

    @property
    def _followed_by_a_repeat(self) -> str | None:
        """The one scenario in which a different request comes before a repeat: each costs calls."""
        others = (name for name in self.parameters if name != self.lifecycle.create.owned)
        return next(map(changed_facet, others), None)

    def _hours_later(self, psu: Subject, same: Call) -> Script:
        """Repeat a request later on the day on which it was executed, if that is long enough."""
        zone = self.lifecycle.contract.zone
        if local_day(psu.now + LATER + SOON, zone) == today(self.lifecycle, psu):
            yield from steps.clock(psu.now + LATER)
            again = replace(same, variation="the same request again, hours later")
            yield from make_sign_read(self.lifecycle, again)

    def check(self, history: History) -> Iterator[Evidence]:
        """Compare every request with those that came before it."""
        compared = ComparisonTracker(
            lifecycle=self.lifecycle,
            parameters=self.parameters,
            modes=self.modes,
            tracker=tracker.Tracker(lifecycle=self.lifecycle),
        )
        for event in history.events:
            compared.note(event)
        explanations = Explanations.of(compared)
        for request in comparison.comparable(compared.tracker):
            yield from self._judge(request, explanations)
        yield from self._at_once(comparison.comparable(compared.tracker))

    def _at_once(self, requests: Iterable[Instance]) -> Iterator[Evidence]:
        """Judge identical requests that their customer signed at one moment."""
        groups: dict[tuple[str, int, Likeness], list[Instance]] = {}
        for request in requests:
            signed = request_queries.signature(request)
            if signed and signed.step.together and request.mode in self.modes:
                key = (request.made.call.subject, signed.step.together, comparison.sent(request))
                groups.setdefault(key, []).append(request)
        for first, *others in groups.values():
            for other in others:
                yield from _evidence(
                    other, Relation(facet=AT_ONCE, former=first, n=other.made.n), _one(first, other)
                )

    def tpp_facet(self) -> TppFacet:
        """Return the one obligation of the TPP."""
        return TppFacet(id=TPP_FACET, description=OWED)

    def check_tpp(self, history: History) -> Iterator[Evidence]:
        """Judge every request made after another one was executed."""
        tracked = Tracker(lifecycle=self.lifecycle)
        done: dict[Likeness, Instance] = {}
        last: Instance | None = None
        returns = (self.lifecycle.create.returns,)
        for event in history.events:
            request = tracked.note(event)
            if request is None:
                continue
            if (
                request_queries.makes(event, request)
                and request.mode in self.modes
                and not self.lifecycle.deferred(request.mode)
            ):
                former = done.get(comparison.sent(request, but=returns))
                judged = self._judge_by_tpp(request, former, last)
                if judged is not None and (compared := former or last):
                    seen = f"{'the same' if former else 'a different'} request was executed"
                    yield tpp_evidence(
                        TPP_FACET, judged, request.made, OWED, seen, *compared.numbers
                    )
            elif request.done and comparison.unchanged(request):
                done[comparison.sent(request, but=returns)] = last = request

    def _requirements(self, facet: str) -> Iterator[BindingRequirement]:
        create, parameter = self.lifecycle.create, self.parameter(facet)
        yield from self.lifecycle.state_requirement()
        yield from self.lifecycle.approval_requirement()
        yield from bound(create, "mode", (self.mode(facet),))
        if parameter != create.owned:
            yield from bound(create, "other", (parameter,))

    def _second(self, scenario: str, call: Call, psu: Subject) -> Call:
        """Return the second call: the first one with one difference."""
        create, parameter = self.lifecycle.create, self.parameter(scenario)
        if parameter is None:
            return replace(call, variation=_AGAIN.get(scenario, "the same request again"))
        call = replace(call, variation=f"with another {parameter}")
        if parameter == create.owned:
            return replace(call, arguments={**call.arguments, parameter: psu.owns[1].key})
        rest = {name: value for name, value in call.arguments.items() if name != parameter}
        return replace(call, arguments=rest, varied=(parameter,))

    def _compare_with_another_customer(self, scenario: str) -> Part[RequestResult | None]:
        """Make the same second request for another customer, who has made none before."""
        other = yield from request_steps.customer(self.lifecycle, "another")
        call = request_steps.request(self.lifecycle, other, self.mode(scenario))
        second = replace(self._second(scenario, call, other), variation="")
        return (yield from make_sign_read(self.lifecycle, second))

    def _judge(self, request: Instance, explanations: Explanations) -> Iterator[Evidence]:
        """Judge a repeat as such, and any other request by its difference from earlier ones."""
        if _rejected(request) and request_queries.rejected_otherwise(request):
            return
        # Where nothing is signed, no obligation is about what was not.
        judged = {facet.id for facet in self.own_facets}
        every = explanations.compared.relations[id(request)]
        relations = [relation for relation in every if relation.facet in judged]
        for relation in relations:
            if relation.facet == REPEAT and same_day(self.lifecycle, relation.former, request):
                yield from _evidence(request, relation, _repeat(request))
                return
        for relation in relations:
            if self._is_certain(request, relation):
                again = relation.facet == REPEAT
                named = replace(relation, facet=NEXT_DAY) if again else relation
                yield from _evidence(request, named, self._other(request, named, explanations))

    def _is_certain(self, request: Instance, relation: Relation) -> bool:
        """Whether a relation is certain: on the same day, or for a repeat on a later one."""
        former = relation.former
        if relation.facet == REPEAT:
            return later_day(self.lifecycle, former, request)
        if relation.facet in NEVER_DONE:
            return not former.done
        return same_day(self.lifecycle, former, request)

    def _other(
        self, request: Instance, relation: Relation, explanations: Explanations
    ) -> _Judgement | None:
        if _rejected(request):
            why, control = (
                explanations.explanation(request, relation),
                explanations.control(request),
            )
            return UNCLEAR if why else DISAGREES, why, (control,) if control else ()
        if request.stands:
            return AGREES, "", ()
        if not request_queries.signature(request):
            return None
        still = self.lifecycle.deferred(request.mode) and request.outcome is InstanceOutcome.OPEN
        return (AGREES, "", ()) if still else (UNCLEAR, "", ())

    def _judge_by_tpp(
        self, request: Instance, former: Instance | None, last: Instance | None
    ) -> Agreement | None:
        """Compare a request with an identical one, else with any that was executed."""
        if former is None:
            return AGREES if last is not None else None
        if later_day(self.lifecycle, former, request):
            return AGREES
        exact = comparison.sent(former) == comparison.sent(request)
        return DISAGREES if exact and same_day(self.lifecycle, former, request) else UNCLEAR


def _needs(facet: str) -> frozenset[Capability]:
    if facet == AT_ONCE:
        return needs(Capability.PSU, Capability.WRITE, Capability.SCREENS, Capability.TOGETHER)
    day = needs(Capability.CLOCK, Capability.ZONE) if facet == NEXT_DAY else needs()
    return day | needs(Capability.PSU, Capability.WRITE)


_AGAIN: Mapping[str, str] = {
    NEXT_DAY: "the same request on the next day",
    CANCELLED: "the same request again, after a cancellation",
    REFUSED: "the same request again, after a refusal",
    UNSIGNED: "the same request again, the first one unsigned",
}


#: The agreement, a remark, and the other requests that the evidence rests on.
_Judgement: TypeAlias = tuple[Agreement, str, tuple[Instance, ...]]


def _rejected(request: Instance) -> bool:
    """Whether it was rejected, and not for who made it."""
    late = request.outcome is InstanceOutcome.REJECTED
    return late or request_queries.was_refused(request.made)


def _repeat(request: Instance) -> _Judgement | None:
    if _rejected(request):
        return AGREES, "", ()
    if request.stands:
        return DISAGREES, "", ()
    return (UNCLEAR, "", ()) if request_queries.signature(request) else None


def _one(first: Instance, other: Instance) -> _Judgement:
    """Judge two requests that were signed at one moment: one is executed, and one is rejected."""
    if first.done and other.done:
        # Where they are executed later, neither was yet when the other one was signed.
        return DISAGREES if _done_soon(first) and _done_soon(other) else UNCLEAR, "", ()
    one = (first.done and _rejected(other)) or (other.done and _rejected(first))
    return AGREES if one else UNCLEAR, "", ()


def _done_soon(request: Instance) -> bool:
    signed, seen = request_queries.signature(request), request.seen_at
    return (
        request.state is State.DONE
        and signed is not None
        and seen is not None
        and seen - signed.at <= SOON
    )


def _evidence(
    request: Instance, relation: Relation, judged: _Judgement | None
) -> Iterator[Evidence]:
    if judged is None:
        return
    agreement, why, controls = judged
    beside = tuple(n for each in (relation.former, *controls) for n in each.numbers)
    yield Evidence(
        facet=relation.facet,
        agreement=agreement,
        expected=_EXPECTED.get(relation.facet, "accepted: it differs in one thing"),
        seen=f"{request.describe()}; {why}" if why else request.describe(),
        exchanges=tuple(sorted({*request.numbers, *beside})),
        variation=request.made.call.variation,
        decisive=request.made.n,
        controls=beside,
    )


_EXPECTED: Mapping[str, str] = {
    AT_ONCE: "executed once: the same request was signed at the same moment",
    REPEAT: "rejected: the same request was already executed that day",
    NEXT_DAY: "accepted: the same request was executed on an earlier day",
    CANCELLED: "accepted: the same request was cancelled, not executed",
    REFUSED: "accepted: the customer refused the same request",
    UNSIGNED: "accepted: the same request was never signed",
}
