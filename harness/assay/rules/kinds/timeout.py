"""`timeout`: a customer who takes too long on the signing screens is disconnected.

A contract may bound how long a customer is idle, and how long it all takes. So a
disconnection is laid to the limit that nothing else explains: that of an idle customer
says nothing of the whole, and neither does one before which nobody saw that activity
begins the idle time anew. Whether a pause was too long shows beside one who made none.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from datetime import timedelta
from typing import Any, Final

from assay.contract.model import Capability, Contract
from assay.history import Ending, History, State
from assay.judging.verdict import Agreement, Evidence
from assay.rules import parameters
from assay.rules.evidence import AGREES, DISAGREES, UNCLEAR
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
from assay.rules.rule import Facet, Kind, Scenario, Script, needs
from assay.rules.state.calendar import dates

ALIVE, DEAD, RENEWS = "alive-before", "dead-after", "activity-renews"
NOWHERE, NOTHING = "no-redirection", "nothing-done"
NONE = timedelta(0)
#: What part of the idle limit a customer waits who does something now and then.
PART: Final = 3 / 4
#: What part of a limit has to be waited before having survived it says anything...
NEAR: Final = 0.95
#: ...and before a disconnection can be laid to it; a control takes no longer than this.
HALF: Final = 1 / 2
SCENARIO = "patience"


def _limits(contract: Contract, known: Mapping[str, Any]) -> TimeLimits:
    """Return the limits that this clause and those of its kind beside it set."""
    spans: dict[str, timedelta] = {}
    for clause in contract.clauses:
        if clause.kind == "timeout" and clause.params["request"] == known["lifecycle"].request.id:
            span = timedelta(minutes=int(str(clause.params["minutes"])))
            spans[str(clause.params["measure"])] = span
    spans[known["measure"]] = timedelta(minutes=known["minutes"])
    return TimeLimits(measure=known["measure"], spans=spans)


@dataclass(frozen=True, slots=True, kw_only=True)
class Timeout(Kind):
    """The limits in time that the contract sets to signing a request."""

    name = "timeout"
    applies_to = ("makes",)
    limits = ("measure", "minutes", "edge")

    lifecycle: tracker.Lifecycle = the_request()
    measure: str = parameters.choice(
        "idle", "overall", key="measure", description="idle or overall"
    )
    minutes: int = parameters.whole(key="minutes")
    edge: str = parameters.choice(
        "unspecified",
        key="edge",
        description="unspecified",
        hint="the probes stay clear of the edge itself; no check of a stated answer exists yet",
    )
    time_limits: TimeLimits = parameters.derived(_limits)

    @property
    def deferred(self) -> str | None:
        """A mode that is put off to a day, if there is one."""
        due = self.lifecycle.create.due
        return due.modes[0] if due and due.modes else None

    def facets(self) -> tuple[Facet, ...]:
        """Both sides of the limit, what renews it, and what must not follow once it is over."""
        asks = {
            ALIVE: f"just before {self.time_limits} the customer can still sign",
            DEAD: f"just after {self.time_limits} the customer cannot sign any more",
        }
        if self.time_limits.idle:
            asks[RENEWS] = "whatever is done on the screens begins the time anew"
        if self.lifecycle.create.returns:
            asks[NOWHERE] = f"after {self.time_limits} the customer is not sent back"
        asks[NOTHING] = f"what was not signed within {self.time_limits} is never carried out"
        return tuple(
            Facet(
                id=id_,
                description=words,
                scenario=Scenario(id=SCENARIO),
                needs=signing.NEEDS | needs(Capability.CLOCK),
                requires=signing.requirements(self.lifecycle),
            )
            for id_, words in asks.items()
        )

    def probe(self, scenario: Scenario) -> Script:
        """Sign at once, just in time, now and then, and too late; then let days pass."""
        lifecycle = self.lifecycle
        psu = yield from request_steps.customer(lifecycle, count=5)
        less = _waits(self)
        more = (*less[:-1], less[-1] + 2 * CLEAR)
        in_time = replace(
            request_steps.SIGN, linger=less, variation=f"just less than {self.time_limits}"
        )
        too_late = replace(
            request_steps.SIGN, linger=more, variation=f"just more than {self.time_limits}"
        )
        yield from signing.try_to_sign(lifecycle, psu, 0)
        yield from signing.try_to_sign(lifecycle, psu, 1, in_time)
        if self.time_limits.idle:
            pause = self.time_limits.limit * PART
            minutes = f"{pause.total_seconds() / 60:g} minutes before each screen"
            paced = replace(request_steps.SIGN, pace=pause, variation=minutes)
            yield from signing.try_to_sign(lifecycle, psu, 2, paced)
        late, _ = yield from signing.try_to_sign(lifecycle, psu, 3, too_late)
        every = [late]
        if self.deferred:
            made = yield from signing.make(lifecycle, psu, 4, self.deferred)
            yield from request_steps.sign(made, too_late)
            every.append(made)
        yield from request_steps.wait_days(psu, request_steps.DAYS_AHEAD + 1)
        for made in every:
            yield from request_steps.read(lifecycle, made)

    def check(self, history: History) -> Iterator[Evidence]:
        """Judge every plain way by the time it took, beside one that took little."""
        tries = tuple(timed_flows(self.lifecycle, history))
        quick: dict[str, TimedFlow] = {}
        held: dict[str, timedelta] = {}
        for one in tries:
            if one.signing.confirmed and one.signing.done:
                subject = one.signing.subject
                if one.total <= self.time_limits.limit * HALF:
                    quick.setdefault(subject, one)
                if one.total <= self.time_limits.limit - CLEAR:
                    held[subject] = max(held.get(subject, NONE), one.longest)
        for one in tries:
            control = quick.get(one.signing.subject)
            if one.beyond(self.time_limits):
                yield from _late(self, one, control)
            elif all(one.within(self.time_limits, measure) for measure in (IDLE, OVERALL)):
                yield from _in_time(self, one, control, held.get(one.signing.subject, NONE))


def _waits(p: Timeout) -> tuple[timedelta, ...]:
    """Return what to wait, so that it is just less than the limit, and of nothing else."""
    wanted = p.time_limits.limit - CLEAR
    idle = p.time_limits.spans.get(IDLE)
    if p.time_limits.idle or idle is None:
        return (wanted,)
    step = idle * PART
    whole = int((wanted - timedelta.resolution) // step)
    return (*[step] * whole, wanted - step * whole)


def _other(p: Timeout) -> str:
    return OVERALL if p.time_limits.idle else IDLE


def _in_time(
    p: Timeout, one: TimedFlow, control: TimedFlow | None, held: timedelta
) -> Iterator[Evidence]:
    """Judge one who was never too slow, by any limit."""
    # Of the whole time, whoever is here took less than its limit.
    renewing = one.total >= p.time_limits.limit + CLEAR
    if not renewing and one.total > p.time_limits.limit - CLEAR:
        return
    facet = RENEWS if renewing else ALIVE
    took = one.longest if p.time_limits.idle else one.total
    lost = one.signing.event.ending is Ending.DISCONNECTED and not one.signing.done and control
    if one.signing.confirmed and one.signing.done:
        agreement = AGREES
    else:
        sure = lost and (_renewed(one, held, p) if renewing else _early(p, one))
        agreement = DISAGREES if sure else UNCLEAR
    # That a short pause was survived, or not for whatever reason, says little.
    if agreement is DISAGREES or renewing or took >= p.time_limits.limit * NEAR:
        beside = control.signing.request.numbers if control and control is not one else ()
        yield _evidence(one, facet, agreement, beside)


def _early(p: Timeout, one: TimedFlow) -> bool:
    """Whether nothing but an early end of the time explains a disconnection."""
    if not p.time_limits.idle and IDLE in p.time_limits.spans:
        # Activity was seen to renew the idle time: that was not the reason, then.
        return one.since > p.time_limits.spans[IDLE]
    return one.last >= p.time_limits.limit * HALF


def _renewed(one: TimedFlow, held: timedelta, p: Timeout) -> bool:
    """Whether activity did not renew the time: the pause itself was not too long.

    Once it was seen to renew, the disconnection has another reason.
    """
    return held >= one.last and one.since <= p.time_limits.limit


def _late(p: Timeout, one: TimedFlow, control: TimedFlow | None) -> Iterator[Evidence]:
    """Judge one who was too slow."""
    fate = one.signing
    beside = control.signing.request.numbers if control else ()
    if fate.confirmed and fate.done:
        yield _evidence(one, DEAD, DISAGREES, beside)
        return
    if not one.within(p.time_limits, _other(p)):
        return  # it may have been for the other reason
    ended = not fate.confirmed or fate.over
    if fate.undone:
        signed = fate.confirmed and fate.request.state is not State.ENDED
        yield _evidence(one, DEAD, AGREES if control and not signed else UNCLEAR, beside)
    if not fate.done and p.lifecycle.create.returns:
        sent = _sent(p, fate, control)
        # One who was sent back was not disconnected, whatever became of the request.
        if ended or sent is DISAGREES:
            yield _evidence(one, NOWHERE, sent, beside)
    if ended:
        yield _evidence(one, NOTHING, _moved(p, fate, control), beside)


def _evidence(
    one: TimedFlow, facet: str, agreement: Agreement, beside: tuple[int, ...]
) -> Evidence:
    """Say what was seen, and after what time."""
    found = one.signing.evidence(facet, agreement, _EXPECTED[facet], *beside)
    return replace(found, seen=f"after {one}, {found.seen}")


def _sent(p: Timeout, fate: Signing, control: TimedFlow | None) -> Agreement:
    """Judge where somebody was sent who was disconnected: anywhere but back."""
    redirected = fate.event.redirected
    if redirected is None:
        # Another was seen to be sent somewhere: a redirection would have shown.
        return AGREES if control and control.signing.event.redirected else UNCLEAR
    back = str(fate.request.arguments.get(p.lifecycle.create.returns or ""))
    return DISAGREES if same_url(back, redirected) or same_host(back, redirected) else UNCLEAR


def _moved(p: Timeout, fate: Signing, control: TimedFlow | None) -> Agreement:
    """Judge what became of a request whose customer was disconnected."""
    if fate.done:
        sure = fate.before is State.OPEN and fate.event.ending is Ending.DISCONNECTED
        return DISAGREES if sure else UNCLEAR
    sure = fate.over or (fate.undone and not _waits_for_its_day(p, fate.request))
    return AGREES if sure and control else UNCLEAR


def _waits_for_its_day(p: Timeout, request: Instance) -> bool:
    """Whether it is put off to a day that was not surely over when it was looked at."""
    if not p.lifecycle.deferred(request.mode):
        return False
    day = request_queries.due_day(p.lifecycle, request.arguments)
    return (
        not day
        or not request.seen_at
        or day >= dates(request.seen_at, p.lifecycle.contract.zone)[0]
    )


_EXPECTED: Mapping[str, str] = {
    ALIVE: "that the customer can still sign, and that it is carried out",
    DEAD: "that the customer is disconnected and cannot sign any more",
    RENEWS: "that the customer can still sign, having done something in time again and again",
    NOWHERE: "that the customer who was disconnected is not sent back",
    NOTHING: "that it is never carried out, since its customer was disconnected",
}
