"""`notice`: nothing is executed before its customer has signed it.

A request is not executed while it is unsigned, after the customer refused it, or when
another customer signs it, and no value of an argument exempts it. Each case has a control:
a similar request, due no earlier, that the customer signed and that had been executed
when the tested one was observed. It shows that the time of the tested request had come.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Final, TypeAlias

from assay.contract.model import Capability, Json
from assay.history import Authorise, Authorised, Decision, Exchange, History
from assay.rules.lifecycle import request_queries, request_steps, tracker
from assay.rules.lifecycle.parameters import some_modes, the_request, values_by_argument
from assay.rules.lifecycle.tracker import Instance
from assay.rules.rule import Calls, Facet, Kind, Purpose, Scenario, Scope, Script, bound, needs
from assay.rules.steps import Part, send
from assay.rules.verdict import AGREES, DISAGREES, UNCLEAR, Evidence

BEFORE, REFUSED, ANOTHER = "nothing-before-signing", "nothing-after-refusal", "only-the-owner"
#: Statuses of a last page that is a regular answer of the target.
ANSWERED = range(200, 500)
EARLIER = "it may have been signed before this history"
#: Why what another customer has signed may be theirs.
ANYBODY = "the request names nothing that its customer owns, so any customer who signs it may be its owner"
#: The step in place of the customer's signature, by scenario.
INSTEAD: Mapping[str, Authorise | None] = {
    "unsigned": None,
    "refused": replace(
        request_steps.SIGN, decision=Decision.REFUSE, variation="the customer refuses"
    ),
    "another": replace(request_steps.SIGN, by="other", variation="another customer signs"),
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Variant:
    """A request to test: its mode, and the arguments that differ from the usual ones."""

    mode: str | None
    arguments: Mapping[str, Json] = field(default_factory=dict[str, Json])


@dataclass(frozen=True, slots=True, kw_only=True)
class Notice(Kind):
    """A request, the modes in which it is tested, and values that might exempt it."""

    name = "notice"
    scope = Scope(calls=Calls.NAMED)
    purpose = Purpose.SAFEGUARD
    applies_to = ("makes",)

    lifecycle: tracker.Lifecycle = the_request(signed=True)
    named_modes: tuple[str, ...] = some_modes(key="modes")
    even: Mapping[str, Json] = values_by_argument(key="even")

    @property
    def modes(self) -> tuple[str | None, ...]:
        """The modes in which requests are tested."""
        return self.named_modes or (self.lifecycle.mode,)

    def unaffected_by(self) -> Mapping[str, str]:
        """Return the modes that the clause does not name."""
        others = (mode for mode in self.lifecycle.create.modes if mode not in self.modes)
        return {f"mode={mode}": "the clause names the modes that it is about" for mode in others}

    def variants(self, scenario: str) -> tuple[Variant, ...]:
        """Return the variants of a scenario; another customer signs an immediate one."""
        plain = tuple(Variant(mode=mode) for mode in self.modes)
        if scenario == "another":
            return (min(plain, key=lambda variant: self.lifecycle.deferred(variant.mode)),)
        if scenario == "refused":
            return plain
        first = self.modes[0]
        return (*plain, *(Variant(mode=first, arguments={k: v}) for k, v in self.even.items()))

    def exempt(self, arguments: Mapping[str, Json]) -> str | None:
        """Return the argument that has an exempting value, if any."""
        for name, value in self.even.items():
            if name in arguments and request_queries.same_value(arguments[name], value):
                return name
        return None

    def later(self, scenario: str) -> bool:
        """Whether a scenario waits for a day to come."""
        return any(self.lifecycle.deferred(variant.mode) for variant in self.variants(scenario))

    def facets(self) -> tuple[Facet, ...]:
        """Return facets for unsigned requests, each value, a refusal, and another customer."""
        descriptions = {
            BEFORE: ("unsigned", "no request is executed before it is signed"),
            **{
                f"even-{name}": (
                    "unsigned",
                    f"no request with {name} {value} is executed before it is signed",
                )
                for name, value in self.even.items()
            },
            REFUSED: ("refused", "no request is executed after the customer refused it"),
            ANOTHER: ("another", "no other customer can sign a request"),
        }
        return tuple(
            Facet(
                id=id_,
                description=description,
                scenario=Scenario(id=scenario),
                needs=self._needs(scenario),
                requires=(
                    *self.lifecycle.state_requirement(),
                    *self.lifecycle.approval_requirement(),
                    *bound(
                        self.lifecycle.create,
                        "mode",
                        (variant.mode for variant in self.variants(scenario)),
                    ),
                ),
            )
            for id_, (scenario, description) in descriptions.items()
        )

    def accepts_variation(self, scenario: Scenario) -> bool:
        """Return True: a call with a variation is accepted; only its later state differs."""
        return True

    def probe(self, scenario: Scenario) -> Script:
        """Leave requests unsigned until their days are over; sign controls that are no repeats."""
        lifecycle, instead = self.lifecycle, INSTEAD[scenario.id]
        variants = self.variants(scenario.id)
        psu = yield from request_steps.customer(lifecycle)
        ahead = request_steps.days_ahead(lifecycle, psu)
        if instead is not None and instead.by:
            yield from request_steps.customer(lifecycle, instead.by)

        def make(
            variant: Variant, *, ahead: int | None = None, variation: str = ""
        ) -> Part[Exchange]:
            given = lifecycle, psu, variant.mode, variant.arguments
            call = request_steps.request(*given, ahead=ahead, variation=variation)
            return (yield from send(call))

        unsigned: list[Exchange] = []
        for variant in variants:
            made = yield from make(variant, variation="" if instead else "never signed")
            if instead is not None:
                yield from request_steps.sign(self.lifecycle, made, instead)
            yield from request_steps.submit(made)
            unsigned.append(made)
        controls: list[Exchange] = []
        for late in (True, False):
            for variant in variants:
                if lifecycle.deferred(variant.mode) is late:
                    made = yield from make(variant, ahead=ahead + 1)
                    yield from request_steps.sign(self.lifecycle, made)
                    controls.append(made)
            if late and controls:
                yield from request_steps.wait_days(psu, ahead + 2)
        yield from request_steps.inquire()
        for made in (*controls, *unsigned):
            yield from request_steps.read(lifecycle, made)

    def check(self, history: History) -> Iterator[Evidence]:
        """Judge every request by its observed state and that of its control."""
        tracked = tracker.Tracker(lifecycle=self.lifecycle)
        timelines: dict[str | None, _Timeline] = {}
        inquired = -1
        for at, event in enumerate(history.events):
            request = tracked.note(event)
            if request is not None and request_queries.makes(event, request):
                new = _Timeline(request=request, made=at, now=self._phase(request))
                timelines.setdefault(request.key, new)
            elif request is not None and isinstance(event, Authorised):
                timelines[request.key].catch_up(inquired)
                timelines[request.key].now = self._phase(request)
            for observed in request_queries.requests_shown(tracked, event, request):
                if not request_queries.makes(event, observed) or observed.done:
                    timelines[observed.key].look(at)
            inquired = at if request_queries.shows_all_executions(event) else inquired
        judged = [timelines[request.key] for request in request_queries.with_own_key(tracked)]
        for timeline in judged:
            timeline.catch_up(inquired)
        controls = self._controls(judged)
        for timeline in judged:
            if timeline.phase and timeline.phase != _SIGNED and timeline.request.mode in self.modes:
                control = controls.get(self._control_key(timeline.request))
                yield from self._judge(timeline, timeline.phase, control)

    def _needs(self, scenario: str) -> frozenset[Capability]:
        clock = needs(Capability.CLOCK) if self.later(scenario) else needs()
        two = needs(Capability.TWO_PSU, Capability.SCREENS) if scenario == "another" else needs()
        return needs(Capability.PSU, Capability.WRITE, Capability.SCA) | clock | two

    def _phase(self, request: Instance) -> str | None:
        """Return the facet that a request tests in its present state, if any."""
        if request_queries.signed(request):
            return _SIGNED
        if request_queries.perhaps_signed(request):
            return None
        if request_queries.declined(request):
            return REFUSED
        if any(signing.step.decision is Decision.CONFIRM for signing in request.signings):
            return ANOTHER
        name = self.exempt(request.made.call.arguments)
        return f"even-{name}" if name else BEFORE

    def _control_key(self, request: Instance) -> _ControlKey:
        call = request.made.call
        return call.subject, call.by, call.mode, self.exempt(call.arguments)

    def _controls(self, timelines: Sequence[_Timeline]) -> Mapping[_ControlKey, _Timeline]:
        """Return the signed requests that were executed; of similar ones, the latest due."""
        out: dict[_ControlKey, _Timeline] = {}
        for timeline in timelines:
            if timeline.phase == _SIGNED and timeline.done is not None:
                key = self._control_key(timeline.request)
                former = out.get(key, timeline)
                out[key] = max(former, timeline, key=lambda each: self._day(each.request))
        return out

    def _names_its_owner(self, request: Instance) -> bool:
        """Whether a request names what it is about, where the contract has such an argument."""
        owned = self.lifecycle.create.owned
        return owned is None or request.arguments.get(owned) not in (None, "")

    def _day(self, request: Instance) -> str:
        """Return the day of a request as an ISO date; "" if it is not deferred."""
        day = request_queries.due_day(self.lifecycle, request.arguments)
        return day.isoformat() if day else ""

    def _judge(
        self, timeline: _Timeline, facet: str, control: _Timeline | None
    ) -> Iterator[Evidence]:
        request, control_numbers = timeline.request, tuple[int, ...]()
        why = "its control was not executed"
        if timeline.done is not None:
            theirs = facet == ANOTHER and not self._names_its_owner(request)
            known = request_queries.is_known(request) and not theirs
            agreement = DISAGREES if known else UNCLEAR
            why = ANYBODY if theirs else EARLIER
        elif timeline.quiet is None or (facet == ANOTHER and not _tried(request)):
            return
        elif control is None or control.done is None:
            agreement = UNCLEAR
        else:
            if self._day(control.request) < self._day(request) or control.done > timeline.quiet:
                return  # it was not observed after its control had been executed
            agreement, control_numbers = AGREES, control.request.numbers
        seen = request.describe()
        if agreement is UNCLEAR:
            seen = f"{seen}; {why}"
        yield Evidence(
            facet=facet,
            agreement=agreement,
            expected=_EXPECTED.get(facet, "not executed before it is signed"),
            seen=seen,
            exchanges=tuple(sorted({*request.numbers, *control_numbers})),
            controls=control_numbers,
            variation=request.made.call.variation or _variation(request),
        )


#: Equal for a request and its control: customer, TPP, mode, and exempting argument.
_ControlKey: TypeAlias = tuple[str, str, str | None, str | None]


@dataclass(slots=True, kw_only=True)
class _Timeline:
    """What a history shows of one request, made at event `made`, until it was executed.

    `quiet` is the last event at which it was observed not to be executed, `done` the first
    at which it was; `phase` is its signing phase at that event, `now` its current one.
    """

    request: Instance
    made: int
    now: str | None
    phase: str | None = None
    quiet: int | None = None
    done: int | None = None

    def catch_up(self, at: int) -> None:
        """Observe the state at event `at`, when all requests were last inquired."""
        if at > max(self.made, self.quiet or 0):
            self.look(at)

    def look(self, at: int) -> None:
        if self.done is not None:
            return
        self.phase = self.now
        if self.request.done:
            self.done = at
        else:
            self.quiet = at


_SIGNED: Final = "signed"


def _tried(request: Instance) -> bool:
    """Whether another customer filled in a screen and got an answer."""
    return any(
        signing.screens
        and signing.wire.status in ANSWERED
        and not request_queries.by_owner(request, signing)
        for signing in request.signings
    )


_EXPECTED: Mapping[str, str] = {
    REFUSED: "not executed after the customer refused it",
    ANOTHER: "not executed on another customer's signature",
}


def _variation(request: Instance) -> str:
    variations = (signing.step.variation for signing in request.signings)
    return next(filter(None, variations), "")
