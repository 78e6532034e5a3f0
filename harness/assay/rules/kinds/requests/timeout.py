"""`timeout`: a customer who takes too long on the signing screens is disconnected.

A contract may limit the idle time and the overall time. A disconnection counts for a limit
only if the other limit cannot explain it: an idle customer proves nothing about the overall
limit, nor does a disconnection before activity was seen to restart the idle time. The
control is a customer who signs without a pause. Where a screen cannot be loaded again, the
customer stays connected by sending no factor, or by opening the link again: the control of
one who was disconnected then is one who stayed in the same way, and was not. An opened link
may begin a new flow, so that it shows a limit only where a disconnection was seen.

Where the contract or the bank says on which side the limit itself is, who takes exactly as long is judged,
too, if the clock was seen to stand: a signature took no time on a clock that shows milliseconds. All times
of the flow are whole seconds, so that it does not matter how a timer rounds.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import timedelta
from typing import Any, Final

from assay.contract.model import Capability, Contract
from assay.history import Authorise, Authorised, Ending, History, State, Staying, Subject
from assay.rules import parameters, steps
from assay.rules.facets import Facts
from assay.rules.lifecycle import request_queries, request_steps, signing, tracker
from assay.rules.lifecycle.parameters import the_request
from assay.rules.lifecycle.request_queries import same_host, same_url
from assay.rules.lifecycle.signing import (
    CLEAR,
    IDLE,
    OVERALL,
    Signing,
    TimedFlow,
    TimeLimits,
    timed_flows,
)
from assay.rules.lifecycle.tracker import Instance
from assay.rules.rule import Calls, Facet, Kind, Purpose, Scenario, Scope, Script, needs
from assay.rules.state.calendar import dates
from assay.rules.steps import Part
from assay.rules.verdict import AGREES, DISAGREES, UNCLEAR, Agreement, Evidence

ALIVE, DEAD, RENEWS = "alive-before", "dead-after", "activity-renews"
NOWHERE, NOTHING = "no-redirection", "nothing-done"
NONE = timedelta(0)
#: The pause of a slow but active customer, as a part of the idle limit.
PART: Final = 3 / 4
#: The part of a limit that must pass before staying connected proves anything...
NEAR: Final = 0.95
#: ...and before a disconnection can be blamed on it; a control is at most this slow.
HALF: Final = 1 / 2
#: How long before a limit on a clock that runs: the screens take time themselves.
RUNNING: Final = timedelta(seconds=5)
SCENARIO, EDGE = "patience", "edge"
#: The facet of who takes exactly as long as the limit, by the edge.
AT_LIMIT: Final[Mapping[str, str]] = {"included": "alive-at-limit", "excluded": "dead-at-limit"}
#: A time between two seconds, at which a clock that stands is told from one that shows whole seconds,
#: and what its microseconds are no multiple of.
BETWEEN, COARSE = timedelta(microseconds=123_456), 10_000
#: The ways to stay on the screens, in the order in which they are tried, each with its screen.
WAYS: Final = (
    (Staying.RELOAD, "decision"),
    (Staying.NO_FACTOR, "factor"),
    (Staying.LINK, "password"),
)


def _limits(contract: Contract, known: Mapping[str, Any]) -> TimeLimits:
    """Return the limits of all timeout clauses for the request."""
    spans: dict[str, timedelta] = {}
    for clause in contract.clauses:
        if clause.kind == "timeout" and clause.params["request"] == known["lifecycle"].request.id:
            span = timedelta(minutes=int(str(clause.params["minutes"])))
            spans[str(clause.params["measure"])] = span
    spans[known["measure"]] = timedelta(minutes=known["minutes"])
    return TimeLimits(measure=known["measure"], spans=spans)


@dataclass(frozen=True, slots=True, kw_only=True)
class Timeout(Kind):
    """A limit on the time in which a customer signs a request."""

    name = "timeout"
    scope = Scope(calls=Calls.NAMED, needs=(Authorised,))
    purpose = Purpose.LIMIT
    applies_to = ("makes",)
    limits = ("measure", "minutes", "edge")

    lifecycle: tracker.Lifecycle = the_request(signed=True)
    measure: str = parameters.choice(
        "idle", "overall", key="measure", description="idle or overall"
    )
    minutes: int = parameters.whole(key="minutes")
    edge: str = parameters.choice(
        *AT_LIMIT,
        "unspecified",
        key="edge",
        description="included, excluded or unspecified",
        hint="can a customer still sign who takes exactly as long?",
    )
    time_limits: TimeLimits = parameters.derived(_limits)

    @property
    def deferred(self) -> str | None:
        """A deferred mode, if there is one."""
        due = self.lifecycle.create.due
        return due.modes[0] if due and due.modes else None

    def facts(self) -> Facts:
        """Return the limit of what is measured."""
        limit = {self.measure: self.time_limits.limit}
        return Facts(signing_limits={self.lifecycle.request.id: limit})

    def facets(self) -> tuple[Facet, ...]:
        """Return facets for both sides of the limit, its renewal, and what must not follow."""
        descriptions = {
            ALIVE: f"the customer can still sign just before {self.time_limits}",
            DEAD: f"the customer can no longer sign just after {self.time_limits}",
        }
        if self.time_limits.idle:
            descriptions[RENEWS] = "activity on the screens restarts the idle time"
        if self.lifecycle.create.returns:
            descriptions[NOWHERE] = (
                f"the customer is not redirected to the TPP after {self.time_limits}"
            )
        descriptions[NOTHING] = f"a request not signed within {self.time_limits} is never executed"
        if at_limit := AT_LIMIT.get(self.edge):
            can = "can still" if self.edge == "included" else "can no longer"
            descriptions[at_limit] = f"the customer {can} sign after exactly {self.time_limits}"
        return tuple(
            Facet(
                id=id_,
                description=description,
                scenario=Scenario(id=EDGE if id_ in AT_LIMIT.values() else SCENARIO),
                needs=signing.NEEDS | needs(Capability.CLOCK),
                requires=signing.requirements(self.lifecycle),
            )
            for id_, description in descriptions.items()
        )

    def probe(self, scenario: Scenario) -> Script:
        """Sign at once, just in time, with pauses, and too late; then let days pass."""
        if scenario.id == EDGE:
            yield from self._probe_edge()
            return
        lifecycle = self.lifecycle
        psu = yield from request_steps.customer(lifecycle, count=5)
        before = yield from _clear_before()
        shorter = self._waits(before)
        longer = (*shorter[:-1], shorter[-1] + before + CLEAR)
        in_time = replace(
            request_steps.SIGN, linger=shorter, variation=f"just less than {self.time_limits}"
        )
        too_late = replace(
            request_steps.SIGN, linger=longer, variation=f"just more than {self.time_limits}"
        )
        yield from signing.try_to_sign(lifecycle, psu, 0)
        way = yield from self._stay(psu, in_time)
        too_late = replace(too_late, stays=way.stays, linger_on=way.linger_on)
        if self.time_limits.idle:
            pause = self.time_limits.limit * PART
            minutes = f"{pause.total_seconds() / 60:g} minutes before each screen"
            paced = replace(request_steps.SIGN, pace=pause, variation=minutes)
            yield from signing.try_to_sign(lifecycle, psu, 2, paced)
        late, _ = yield from signing.try_to_sign(lifecycle, psu, 3, too_late)
        made_late = [late]
        if self.deferred:
            made = yield from signing.make(lifecycle, psu, 4, self.deferred)
            yield from request_steps.sign(lifecycle, made, too_late)
            made_late.append(made)
        yield from request_steps.wait_days(psu, request_steps.days_ahead(lifecycle, psu) + 1)
        for made in made_late:
            yield from request_steps.submit(made)
            yield from request_steps.read(lifecycle, made)

    def _probe_edge(self) -> Script:
        """Sign at once, between two seconds, and then after exactly the limit, if the clock stands."""
        psu = yield from request_steps.customer(self.lifecycle, count=2)
        second = (yield from steps.clock()).replace(microsecond=0) + timedelta(seconds=1)
        shown = yield from steps.clock(second + BETWEEN)
        _, signed = yield from signing.try_to_sign(self.lifecycle, psu, 0)
        # The time until it was executed may have passed since: whole seconds.
        now = yield from steps.clock()
        stands = signed is not None and {*signed.moments} == {shown}
        if not stands or (now - shown) % timedelta(seconds=1):
            return
        yield from steps.clock(now.replace(microsecond=0) + timedelta(minutes=1))
        exact = replace(
            request_steps.SIGN,
            linger=self._waits(NONE),
            variation=f"exactly {self.time_limits}",
        )
        yield from self._stay(psu, exact)

    def _stay(self, psu: Subject, how: Authorise) -> Part[Authorise]:
        """Sign just in time, in the first way in which a customer can stay; return the signature."""
        for stays, screen in WAYS:
            how = replace(how, stays=stays, linger_on=screen)
            _, signed = yield from signing.try_to_sign(self.lifecycle, psu, 1, how)
            if signed is None or signed.ending is not Ending.STOPPED or len(how.linger) == 1:
                break
        return how

    def check(self, history: History) -> Iterator[Evidence]:
        """Judge every signing by its duration, compared with a quick one."""
        shown: set[str] = set()
        for evidence in self._judge(history):
            shown.add(evidence.facet)
            yield evidence
        for signature in signing.signings(self.lifecycle, history):
            if signature.event.ending is Ending.STOPPED and signature.event.step.linger:
                for evidence in self._cut_short(signature):
                    if evidence.facet not in shown:
                        yield evidence

    def _judge(self, history: History) -> Iterator[Evidence]:
        """Judge every signing whose duration is known."""
        flows = tuple(timed_flows(self.lifecycle, history))
        quick, longest = self._controls(flows)
        # Only a flow that was seen to end shows that the link does not begin another.
        ended = (each for each in flows if each.beyond(self.time_limits) and each.signing.undone)
        begun = all(each.signing.confirmed or each.stays is not Staying.LINK for each in ended)
        stood = any(map(_stood, flows))
        for flow in flows:
            subject = flow.signing.subject
            control = quick.get(subject)
            if self.edge in AT_LIMIT and self._is_exact(flow):
                yield self._at_limit(flow, control, stood=stood)
            if flow.stays is not Staying.RELOAD:
                control = next((each for each in flows if self._stayed(each, flow)), None)
            for evidence in self._of(flow, control, longest.get(subject, NONE)):
                doubtful = flow.stays is Staying.LINK and begun
                if evidence.agreement is DISAGREES and flow.stays is not Staying.RELOAD:
                    # A bank may end a flow for what is sent again and again.
                    doubtful |= control is None or evidence.facet == ALIVE
                yield replace(evidence, agreement=UNCLEAR) if doubtful else evidence

    def _controls(
        self, flows: Sequence[TimedFlow]
    ) -> tuple[Mapping[str, TimedFlow], Mapping[str, timedelta]]:
        """Return each customer's first quick signing, and the longest pause of one in time."""
        quick: dict[str, TimedFlow] = {}
        longest: dict[str, timedelta] = {}
        for flow in flows:
            if flow.signing.confirmed and flow.signing.done:
                subject = flow.signing.subject
                if flow.total <= self.time_limits.limit * HALF:
                    quick.setdefault(subject, flow)
                if flow.total <= self.time_limits.limit - CLEAR:
                    longest[subject] = max(longest.get(subject, NONE), flow.longest)
        return quick, longest

    def _of(
        self, flow: TimedFlow, control: TimedFlow | None, longest: timedelta
    ) -> Iterator[Evidence]:
        """Judge a signing beyond the limit, or within all limits."""
        if flow.beyond(self.time_limits):
            yield from self._late(flow, control)
        elif all(flow.within(self.time_limits, measure) for measure in (IDLE, OVERALL)):
            yield from self._in_time(flow, control, longest)

    def _is_exact(self, flow: TimedFlow) -> bool:
        """Whether a flow took exactly as long as the limit, whatever a bank measures it from."""
        moments, limit = flow.signing.event.moments, self.time_limits.limit
        if any(moment.microsecond for moment in moments) or not flow.signing.event.step.linger:
            return False
        if self.time_limits.idle:
            return flow.last == limit and flow.since == NONE
        begun = flow.signing.request.made.at == moments[0]
        return begun and flow.total == limit and flow.within(self.time_limits, IDLE)

    def _at_limit(self, flow: TimedFlow, control: TimedFlow | None, *, stood: bool) -> Evidence:
        """Judge a signature after exactly the limit, on a clock that stood."""
        signature, included = flow.signing, self.edge == "included"
        alive = signature.confirmed and signature.done
        dead = signature.event.ending is Ending.DISCONNECTED and signature.undone
        sure = stood and control and (alive or dead) and flow.stays is Staying.RELOAD
        agreement = UNCLEAR if not sure else AGREES if alive is included else DISAGREES
        controls = control.signing.request.numbers if control else ()
        return _evidence(flow, AT_LIMIT[self.edge], agreement, controls)

    def _stayed(self, other: TimedFlow, flow: TimedFlow) -> bool:
        """Whether another customer stayed connected in the same way, as often, and signed in time."""
        step, like = flow.signing.event.step, other.signing.event.step
        same = (other.signing.subject, other.stays) == (flow.signing.subject, flow.stays)
        in_time = other.within(self.time_limits, IDLE) and other.within(self.time_limits, OVERALL)
        signed = (
            other.signing.confirmed and other.signing.done and len(like.linger) >= len(step.linger)
        )
        return other is not flow and same and in_time and signed

    def _waits(self, before: timedelta) -> tuple[timedelta, ...]:
        """Return pauses that end just before this limit, and stay well below the other."""
        wanted = self.time_limits.limit - before
        idle = self.time_limits.spans.get(IDLE)
        if self.time_limits.idle or idle is None:
            return (wanted,)
        step = idle * PART
        whole = int((wanted - timedelta.resolution) // step)
        return (*[step] * whole, wanted - step * whole)

    def _other(self) -> str:
        return OVERALL if self.time_limits.idle else IDLE

    def _in_time(
        self, flow: TimedFlow, control: TimedFlow | None, longest: timedelta
    ) -> Iterator[Evidence]:
        """Judge a signing within all limits."""
        # The overall time of these is below its limit.
        renewing = flow.total >= self.time_limits.limit + CLEAR
        if not renewing and flow.total > self.time_limits.limit - CLEAR:
            return
        facet = RENEWS if renewing else ALIVE
        took = flow.longest if self.time_limits.idle else flow.total
        lost = (
            flow.signing.event.ending is Ending.DISCONNECTED and not flow.signing.done and control
        )
        if flow.signing.confirmed and flow.signing.done:
            agreement = AGREES
        else:
            sure = lost and (_renewed(flow, longest, self) if renewing else self._early(flow))
            agreement = DISAGREES if sure else UNCLEAR
        # The result of a short pause proves little.
        if agreement is DISAGREES or renewing or took >= self.time_limits.limit * NEAR:
            controls = control.signing.request.numbers if control and control is not flow else ()
            yield _evidence(flow, facet, agreement, controls)

    def _early(self, flow: TimedFlow) -> bool:
        """Whether only a limit that is too short explains a disconnection."""
        if not self.time_limits.idle and IDLE in self.time_limits.spans:
            # Activity was seen to restart the idle time, so that was not the cause.
            return flow.since > self.time_limits.spans[IDLE]
        return flow.last >= self.time_limits.limit * HALF

    def _late(self, flow: TimedFlow, control: TimedFlow | None) -> Iterator[Evidence]:
        """Judge a signing beyond the limit."""
        signing = flow.signing
        controls = control.signing.request.numbers if control else ()
        if signing.confirmed and signing.done:
            yield _evidence(flow, DEAD, DISAGREES, controls)
            return
        if not flow.within(self.time_limits, self._other()):
            return  # the other limit may be the cause
        ended = not signing.confirmed or signing.over
        if signing.undone:
            signed = signing.confirmed and signing.request.state is not State.ENDED
            yield _evidence(flow, DEAD, AGREES if control and not signed else UNCLEAR, controls)
        if not signing.done and self.lifecycle.create.returns:
            sent = self._sent(signing, control)
            # One who was sent back was not disconnected, whatever became of the request.
            if ended or sent is DISAGREES:
                yield _evidence(flow, NOWHERE, sent, controls)
        if ended:
            yield _evidence(flow, NOTHING, self._moved(signing, control), controls)

    def _cut_short(self, signing: Signing) -> Iterator[Evidence]:
        """Say why a customer could not stay on the screens for as long as was to be tested."""
        pauses, limit = signing.event.step.linger, self.time_limits.limit
        wanted = max(pauses) if self.time_limits.idle else sum(pauses, NONE)
        if wanted < limit * NEAR:
            return
        late = [DEAD, NOTHING, *([NOWHERE] if self.lifecycle.create.returns else [])]
        exact = wanted == limit and self.edge in AT_LIMIT
        for facet in late if wanted > limit else [AT_LIMIT[self.edge] if exact else ALIVE]:
            evidence = signing.evidence(facet, UNCLEAR, _EXPECTED[facet])
            seen = f"{evidence.seen}; {signing.event.why}" if signing.event.why else evidence.seen
            yield replace(evidence, seen=seen)

    def _sent(self, signing: Signing, control: TimedFlow | None) -> Agreement:
        """Judge the redirection of a disconnected customer: anywhere but back."""
        redirected = signing.event.redirected
        if redirected is None:
            # The control was redirected, so a redirection would have been seen.
            return AGREES if control and control.signing.event.redirected else UNCLEAR
        back = str(signing.request.arguments.get(self.lifecycle.create.returns or ""))
        return DISAGREES if same_url(back, redirected) or same_host(back, redirected) else UNCLEAR

    def _moved(self, signing: Signing, control: TimedFlow | None) -> Agreement:
        """Judge the state of a request whose customer was disconnected."""
        if signing.done:
            sure = signing.before is State.OPEN and signing.event.ending is Ending.DISCONNECTED
            return DISAGREES if sure else UNCLEAR
        sure = signing.over or (signing.undone and not self._waits_for_its_day(signing.request))
        return AGREES if sure and control else UNCLEAR

    def _waits_for_its_day(self, request: Instance) -> bool:
        """Whether its day was not certainly over when it was last observed."""
        if not self.lifecycle.deferred(request.mode):
            return False
        day = request_queries.due_day(self.lifecycle, request.arguments)
        return (
            not day
            or not request.seen_at
            or day >= dates(request.seen_at, self.lifecycle.contract.zone)[0]
        )


def _stood(flow: TimedFlow) -> bool:
    """Whether a whole flow took no time on a clock that shows milliseconds."""
    moments = flow.signing.event.moments
    return len(moments) > len(WAYS) and not flow.total and bool(moments[0].microsecond % COARSE)


def _clear_before() -> Part[timedelta]:
    """Return how long before the limit a customer is just in time, by the kind of clock."""
    first = yield from steps.clock()
    return CLEAR if first == (yield from steps.clock()) else RUNNING


def _renewed(flow: TimedFlow, longest: timedelta, clause: Timeout) -> bool:
    """Whether activity failed to restart the idle time; the pause itself was short enough.

    If it was seen to restart it, the disconnection has another cause.
    """
    return longest >= flow.last and flow.since <= clause.time_limits.limit


def _evidence(
    flow: TimedFlow, facet: str, agreement: Agreement, controls: tuple[int, ...]
) -> Evidence:
    """Return evidence that names the time that had passed."""
    evidence = flow.signing.evidence(facet, agreement, _EXPECTED[facet], *controls)
    return replace(evidence, seen=f"after {flow}, {evidence.seen}")


_EXPECTED: Mapping[str, str] = {
    ALIVE: "the customer can still sign, and the request is executed",
    DEAD: "the customer is disconnected and can no longer sign",
    RENEWS: "the customer can still sign after activity within the idle time",
    NOWHERE: "the disconnected customer is not redirected to the TPP",
    NOTHING: "never executed, because the customer was disconnected",
    AT_LIMIT["included"]: "the customer can still sign at the limit itself",
    AT_LIMIT["excluded"]: "the customer can no longer sign at the limit itself",
}
