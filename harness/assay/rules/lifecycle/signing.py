"""Signatures of requests in a history, their time limits, and steps that make one.

A `Signing` is one flow of a customer through the target's screens, with the request's
state before it, and its outcome. A `TimedFlow` measures its idle time and its total time.
Less than a second from a limit nothing is concluded: a document seldom says which side
includes the limit, and a timer may know whole seconds only. Nothing is judged here.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from datetime import timedelta
from functools import partial

from assay.contract.model import Capability, Json
from assay.history import (
    Authorise,
    Authorised,
    Ending,
    Exchange,
    History,
    State,
    Staying,
    Subject,
)
from assay.rules.lifecycle import request_queries, request_steps
from assay.rules.lifecycle.tracker import Instance, Lifecycle, Tracker
from assay.rules.rule import BindingRequirement, needs
from assay.rules.steps import Part, send
from assay.rules.verdict import Agreement, Evidence

#: Statuses from here on say that the target failed; status 0 says that no answer came.
FAILED = 500
#: Statuses with which the screens refuse something.
REFUSALS = range(400, FAILED)

#: The capabilities needed to sign a request on the screens.
NEEDS = needs(Capability.PSU, Capability.WRITE, Capability.SCA, Capability.SCREENS)


def _changes_nothing(request: Instance, change: Exchange) -> bool:
    """Whether a change was accepted, and says what the request said already."""
    sent = request.made.call.arguments
    return change.accepted and all(
        value in (request.key, sent.get(name)) for name, value in change.call.arguments.items()
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class Signing:
    """One flow through the screens; `before` is the state of the request before it, if known."""

    request: Instance
    event: Authorised
    before: State | None

    @property
    def subject(self) -> str:
        """The customer of the request."""
        return self.request.made.call.subject

    @property
    def plain(self) -> bool:
        """Whether the customer entered everything correctly, and confirmed."""
        return request_queries.plain(self.request, self.event)

    @property
    def alone(self) -> bool:
        """Whether nothing else can have decided the outcome of the request."""
        request = self.request
        changes = [change for change in request.changes if not _changes_nothing(request, change)]
        others = changes or request.ends or request.withdrawn or len(request.signings) > 1
        return not others and self.before in (None, State.OPEN)

    @property
    def failed(self) -> bool:
        """Whether the target failed in the end, or did not answer: the outcome is unknown."""
        return self.event.wire.status == 0 or self.event.wire.status >= FAILED

    @property
    def confirmed(self) -> bool:
        """Whether the screens showed that they accepted the confirmation."""
        return self.event.ending is Ending.CONFIRMED

    @property
    def done(self) -> bool:
        """Whether the request was executed."""
        return self.request.done

    @property
    def undone(self) -> bool:
        """Whether it was certainly not executed: it was read or inquired after the signature."""
        return not self.done and self._looked

    @property
    def over(self) -> bool:
        """Whether it will certainly never be executed."""
        return self.undone and self.request.state in (State.REJECTED, State.ENDED)

    @property
    def _looked(self) -> bool:
        reads = (read for read in self.request.reads if read.n > self.event.n)
        return self.request.inquired or any(read.item and read.item.state for read in reads)

    def evidence(self, facet: str, agreement: Agreement, expected: str, *beside: int) -> Evidence:
        """Return evidence on this signature; `beside` are the other exchanges that it depends on."""
        event = self.event
        sent = f", and sent to {event.redirected}" if event.redirected else ""
        refused = self.confirmed and event.wire.status in REFUSALS
        ended = f"the decision was answered with {event.wire.status}" if refused else ""
        return Evidence(
            facet=facet,
            agreement=agreement,
            expected=expected,
            seen=f"{ended or _ENDED[event.ending]}{sent}; of the request, {self.request.describe()}",
            exchanges=tuple(sorted({*self.request.numbers, *beside})),
            variation=event.step.variation or self.request.made.call.variation,
            decisive=event.n,
            controls=beside,
        )


_ENDED: Mapping[Ending, str] = {
    Ending.CONFIRMED: "the screens accepted the confirmation",
    Ending.REFUSED: "the customer refused",
    Ending.DISCONNECTED: "the customer was disconnected",
    Ending.STOPPED: "the screens did not let the customer go on",
    Ending.LEFT: "the customer left the screens",
}


def signings(lifecycle: Lifecycle, history: History) -> tuple[Signing, ...]:
    """Return every signature of a request that was made in the history, in order."""
    what, contract = f"signings {lifecycle.request.id}", lifecycle.contract
    return history.once(what, contract, partial(_signings, lifecycle, history))


def _signings(lifecycle: Lifecycle, history: History) -> tuple[Signing, ...]:
    tracker = Tracker(lifecycle=lifecycle)
    given: list[tuple[Instance, Authorised, State | None]] = []
    for event in history.events:
        known = tracker.find(event.step.request) if isinstance(event, Authorised) else None
        before = known.state if known else None
        tracker.note(event)
        if known and isinstance(event, Authorised):
            given.append((known, event, before))
    apart = {id(request) for request in request_queries.with_own_key(tracker)}
    return tuple(
        Signing(request=request, event=event, before=before)
        for request, event, before in given
        if id(request) in apart
    )


def requirements(lifecycle: Lifecycle) -> tuple[BindingRequirement, ...]:
    """Require the target file to bind what it takes to sign a request, and its state."""
    return (*lifecycle.state_requirement(), *lifecycle.approval_requirement())


def make(
    lifecycle: Lifecycle,
    psu: Subject,
    n: int,
    mode: str | None = None,
    arguments: Mapping[str, Json] | None = None,
) -> Part[Exchange]:
    """Make the n-th request of a customer, each about another thing, so that none repeats one."""
    about: dict[str, Json] = {}
    if lifecycle.create.owned:
        about[lifecycle.create.owned] = psu.owns[n % len(psu.owns)].key
    call = request_steps.request(lifecycle, psu, mode, {**about, **(arguments or {})})
    return (yield from send(call))


def try_to_sign(
    lifecycle: Lifecycle,
    psu: Subject,
    n: int,
    how: Authorise = request_steps.SIGN,
    arguments: Mapping[str, Json] | None = None,
) -> Part[tuple[Exchange, Authorised | None]]:
    """Make the n-th request, let the customer sign it as `how` says, and read it."""
    made = yield from make(lifecycle, psu, n, None, arguments)
    signed = yield from request_steps.sign(lifecycle, made, how)
    yield from request_steps.read(lifecycle, made)
    return made, signed


# -- time limits ---------------------------------------------------------------------
IDLE, OVERALL = "idle", "overall"
#: The distance from a limit at which both sides are certain, for timers of whole seconds, too.
CLEAR = timedelta(seconds=1)


@dataclass(frozen=True, slots=True, kw_only=True)
class TimeLimits:
    """All time limits by their measure, and the measure that is judged."""

    measure: str
    spans: Mapping[str, timedelta]

    @property
    def limit(self) -> timedelta:
        """The limit that is judged."""
        return self.spans[self.measure]

    @property
    def idle(self) -> bool:
        """Whether the idle time is judged."""
        return self.measure == IDLE

    def __str__(self) -> str:
        minutes = int(self.limit.total_seconds() // 60)
        return f"{minutes} minutes " + ("idle" if self.idle else "in total")


@dataclass(frozen=True, slots=True, kw_only=True)
class TimedFlow:
    """A plain flow through the screens, and its times.

    `last` is the idle time before the end, `since` how long after the first page the
    customer was last seen to be connected.
    """

    signing: Signing
    total: timedelta
    longest: timedelta
    last: timedelta
    since: timedelta

    def __str__(self) -> str:
        return f"{_minutes_and_seconds(self.total)} in total, the last {_minutes_and_seconds(self.last)} idle"

    @property
    def stays(self) -> Staying:
        """What the customer did to stay on the screens; the first one may be at the link itself."""
        return Staying.LINK if self.signing.event.reopened else self.signing.event.step.stays

    def within(self, limits: TimeLimits, measure: str) -> bool:
        """Whether it certainly stayed within the limit of a measure, if there is one."""
        took = self.longest if measure == IDLE else self.total
        return measure not in limits.spans or took <= limits.spans[measure] - CLEAR

    def beyond(self, limits: TimeLimits) -> bool:
        """Whether it certainly took longer than the limit that is judged.

        Where the customer was disconnected in the end, only the last pause can be the reason.
        """
        idle = self.longest if self.signing.confirmed else self.last
        return (idle if limits.idle else self.total) >= limits.limit + CLEAR


def timed_flows(lifecycle: Lifecycle, history: History) -> Iterator[TimedFlow]:
    """Return every flow whose end can only depend on its times.

    Where several sign at one moment, each pauses for all: when a page was loaded is not known.
    """
    for flow in signings(lifecycle, history):
        moments, screens = list(flow.event.moments), flow.event.screens
        # A second login begins a new flow; without a screen the position is unknown.
        seen = len(moments) > 1 and screens and screens.count("password") <= 1
        seen = seen and not flow.event.step.together
        if seen and flow.plain and flow.alone and not flow.failed:
            gaps = [later - sooner for sooner, later in itertools.pairwise(moments)]
            yield TimedFlow(
                signing=flow,
                total=moments[-1] - moments[0],
                longest=max(gaps),
                last=gaps[-1],
                since=moments[-2] - moments[0],
            )


def _minutes_and_seconds(span: timedelta) -> str:
    """Format a span in minutes and seconds."""
    minutes, seconds = divmod(span.total_seconds(), 60)
    return f"{minutes:.0f}:{seconds:04.1f}"
