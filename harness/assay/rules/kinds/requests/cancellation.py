"""`cancellation`: a cancelled request is shown as ended and is never executed.

A request is cancelled before its day, through the interface or by the customer elsewhere,
unsigned or signed. The control is another request in the same mode, signed, not cancelled
and due no earlier, that was executed. A cancellation that was not accepted proves nothing.
Until when a request can be cancelled is open: it is a violation if it never can, signed or not, and
if the target fails over one that comes in time.

The TPP: it does not cancel a request that has been executed.
Documents may leave open which requests can be cancelled and until when, but never whether
a request can be cancelled that the TPP has seen executed.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from datetime import date
from typing import TypeAlias

from assay.contract.model import Capability
from assay.history import Exchange, History, State, Subject
from assay.rules import parameters
from assay.rules.lifecycle import request_queries, request_steps, tracker
from assay.rules.lifecycle.cancellations import (
    CUSTOMER,
    TPP,
    CancelAttempt,
    CancellationTracker,
    CancelledInstance,
)
from assay.rules.lifecycle.parameters import check_deferred, the_request
from assay.rules.lifecycle.request_queries import is_by_requester
from assay.rules.lifecycle.tracker import Instance, Tracker
from assay.rules.rule import (
    Calls,
    Facet,
    Kind,
    Purpose,
    Scenario,
    Scope,
    Script,
    TppFacet,
    bound,
    needs,
)
from assay.rules.steps import Part, attempted, send
from assay.rules.verdict import (
    AGREES,
    DISAGREES,
    UNCLEAR,
    Evidence,
    describe_answer,
    failed_instead,
    tpp_evidence,
)

ACCEPTED = "accepted"
#: The TPP's obligation.
TPP_FACET = "before-carried-out"
OWED = "a request is cancelled before it is executed"


@dataclass(frozen=True, slots=True, kw_only=True)
class CancellationScenario(Scenario):
    """A cancellation through the interface, or by the customer `elsewhere`.

    `waits` says that the probe waits for the day of the request.
    """

    elsewhere: bool
    waits: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class Cancellation(Kind[CancellationScenario]):
    """Cancellations of a request, in a mode that leaves time for them."""

    name = "cancellation"
    scope = Scope(calls=Calls.NAMED)
    purpose = Purpose.PROMISE
    applies_to = ("ends",)

    lifecycle: tracker.Lifecycle = the_request()
    mode: str = parameters.mode(also=check_deferred)

    def facets(self) -> tuple[Facet, ...]:
        """Return one facet for acceptance, and two for each way of cancelling."""
        out: list[Facet] = []
        subjects = {CUSTOMER: "a request that the customer cancelled"}
        if self.lifecycle.end is not None:
            accepted = "a cancellation is accepted, and none causes a server error"
            out.append(self._facet(ACCEPTED, accepted, TPP))
            subjects = {TPP: "a cancelled request", **subjects}
        for canceller, subject in subjects.items():
            out.append(self._facet(f"{canceller}-shown", f"{subject} is shown as ended", canceller))
            description = f"{subject} is never executed"
            out.append(self._facet(f"{canceller}-never-done", description, canceller, waits=True))
        return tuple(out)

    def accepts_variation(self, scenario: CancellationScenario) -> bool:
        """Return True: a call with a variation is accepted; only its later state differs."""
        return True

    def probe(self, scenario: CancellationScenario) -> Script:
        """Cancel an unsigned and a signed request; or wait for the day of two cancelled ones.

        One of these was changed since it was signed: a gateway may cancel what it was before. The
        control is due a day later, so that it is not a repeat of the others.
        """
        psu = yield from request_steps.customer(self.lifecycle)
        if not scenario.waits:
            made = yield from send(request_steps.request(self.lifecycle, psu, self.mode))
            yield from self._cancel(made, scenario)
            yield from request_steps.read(self.lifecycle, made)
            made = yield from send(request_steps.request(self.lifecycle, psu, self.mode))
            yield from request_steps.sign(self.lifecycle, made)
            yield from request_steps.read(self.lifecycle, made)
            yield from self._cancel(made, scenario)
            yield from request_steps.read(self.lifecycle, made)
            return
        made = yield from send(
            request_steps.request(self.lifecycle, psu, self.mode, variation="cancelled")
        )
        yield from request_steps.sign(self.lifecycle, made)
        yield from self._cancel(made, scenario)
        changed = yield from self._changed(psu)
        if changed is not None:
            yield from self._cancel(changed, scenario)
        ahead = request_steps.days_ahead(self.lifecycle, psu)
        control = yield from send(
            request_steps.request(self.lifecycle, psu, self.mode, ahead=ahead + 1)
        )
        yield from request_steps.sign(self.lifecycle, control)
        yield from request_steps.wait_days(psu, ahead + 2)
        yield from request_steps.inquire()
        yield from request_steps.read(self.lifecycle, control)
        yield from request_steps.read(self.lifecycle, made)
        if changed is not None:
            yield from request_steps.read(self.lifecycle, changed)

    def check(self, history: History) -> Iterator[Evidence]:
        """Judge every cancellation, and the later state of each cancelled request."""
        cancellations = CancellationTracker(
            lifecycle=self.lifecycle,
            mode=self.mode,
            tracker=tracker.Tracker(lifecycle=self.lifecycle),
        )
        for at, event in enumerate(history.events):
            cancellations.note(at, event)
        requests = {
            request.key: request for request in request_queries.with_own_key(cancellations.tracker)
        }
        attempts = [
            cancel
            for cancel in cancellations.cancels
            if cancel.request.key in requests and cancel.untouched
        ]
        yield from self._must_be_taken(attempts, cancellations.opened)
        controls = self._controls(requests.values(), cancellations.done)
        for key, cancelled in cancellations.cancelled.items():
            if key in requests:
                yield from _shown(cancelled)
                made = cancelled.cancel.request.made.call
                control = controls.get((made.subject, made.by))
                yield from self._done(cancelled, cancellations, control)

    def tpp_facet(self) -> TppFacet:
        """Return the one obligation of the TPP."""
        return TppFacet(id=TPP_FACET, description="the TPP cancels no request that was executed")

    def check_tpp(self, history: History) -> Iterator[Evidence]:
        """Judge every cancellation of a request that was made in this history."""
        tracked, end = Tracker(lifecycle=self.lifecycle), self.lifecycle.end
        for event in history.events:
            if isinstance(event, Exchange) and end is not None and event.call.operation == end.id:
                request = tracked.find(str(event.call.arguments.get(end.about or "")))
                if request is not None and is_by_requester(request, event.call):
                    numbers = request.made.n, request.seen_in or request.made.n
                    mode = f"it is {request.mode}"
                    if request.done:
                        yield tpp_evidence(
                            TPP_FACET, DISAGREES, event, OWED, "it was executed", *numbers
                        )
                    elif request.mode == self.mode:
                        yield tpp_evidence(TPP_FACET, AGREES, event, OWED, mode, *numbers)
                    else:
                        yield tpp_evidence(
                            TPP_FACET,
                            UNCLEAR,
                            event,
                            OWED,
                            f"{mode}: the document leaves open whether it can",
                            *numbers,
                        )
            tracked.note(event)

    def _facet(self, id_: str, description: str, canceller: str, *, waits: bool = False) -> Facet:
        create, end = self.lifecycle.create, self.lifecycle.end
        clock = needs(Capability.CLOCK) if waits else needs()
        elsewhere = needs(Capability.DIRECT_ACCESS) if canceller == CUSTOMER else needs()
        named = end.arguments if end and canceller == TPP else ()
        return Facet(
            id=id_,
            description=description,
            scenario=CancellationScenario(
                id=f"{canceller}-day" if waits else canceller,
                elsewhere=canceller == CUSTOMER,
                waits=waits,
            ),
            needs=needs(Capability.PSU, Capability.WRITE)
            | self.lifecycle.signing_needs
            | clock
            | elsewhere,
            requires=(
                *self.lifecycle.state_requirement(),
                *self.lifecycle.approval_requirement(),
                *bound(create, "mode", self.mode),
                *bound(end, "argument", named),
            ),
        )

    def _changed(self, psu: Subject) -> Part[Exchange | None]:
        """Make a request that is changed once it is signed, where the target has changes."""
        if self.lifecycle.change is None:
            return None
        what = "cancelled after a change"
        made = yield from send(
            request_steps.request(self.lifecycle, psu, self.mode, variation=what)
        )
        yield from request_steps.sign(self.lifecycle, made)
        change = request_steps.plain_change(self.lifecycle, made)
        sent = None if change is None else (yield from attempted(change))
        return made if isinstance(sent, Exchange) else None

    def _cancel(self, made: Exchange, scenario: CancellationScenario) -> Part[None]:
        if scenario.elsewhere:
            yield from request_steps.withdraw(made)
        else:
            yield from request_steps.send_if_any(request_steps.call_about(self.lifecycle.end, made))

    def _must_be_taken(
        self, attempts: Iterable[CancelAttempt], opened: Mapping[str | None, int]
    ) -> Iterator[Evidence]:
        """Judge the cancellations by each caller together: one must be accepted, signed or not.

        A refusal counts only if the request was still open afterwards.
        """
        signed = self.lifecycle.signed
        either, when = {True, not signed}, ", before signing or after" if signed else ""
        groups: dict[tuple[str, str], list[tuple[CancelAttempt, Exchange]]] = {}
        for cancel in attempts:
            call = cancel.event
            if isinstance(call, Exchange) and failed_instead(call):
                yield Evidence(
                    facet=ACCEPTED,
                    agreement=DISAGREES if cancel.early else UNCLEAR,
                    expected="a cancellation to be accepted or refused",
                    seen=describe_answer(call),
                    exchanges=_numbers(cancel, call),
                    decisive=call.n,
                )
            elif isinstance(call, Exchange) and (cancel.early or not call.refused):
                made = cancel.request.made.call
                groups.setdefault((made.subject, made.by), []).append((cancel, call))
        for group in groups.values():
            taken = [
                (cancel, call)
                for cancel, call in group
                if call.accepted and cancel.signed is not None
            ]
            refused = [
                (cancel, call)
                for cancel, call in group
                if request_queries.was_refused(call) and opened.get(cancel.request.key, 0) > call.n
            ]
            closed = either <= {cancel.signed for cancel, _ in refused}
            counted = taken or (refused if closed else group)
            yield Evidence(
                facet=ACCEPTED,
                agreement=AGREES if taken else DISAGREES if closed else UNCLEAR,
                expected=f"a cancellation to be accepted{when}",
                seen=describe_answer(counted[0][1]),
                exchanges=tuple(
                    sorted({n for cancel, call in counted for n in _numbers(cancel, call)})
                ),
                decisive=counted[0][1].n,
            )

    def _controls(
        self, requests: Iterable[Instance], done: Mapping[str | None, int]
    ) -> Mapping[tuple[str, str], _Control]:
        """Return the latest request of each caller that was signed, not cancelled and executed."""
        out: dict[tuple[str, str], _Control] = {}
        for request in requests:
            day = request_queries.due_day(self.lifecycle, request.arguments)
            whole = request_queries.signed(request) and not request.ends and not request.withdrawn
            if request.mode == self.mode and request.key in done and day is not None and whole:
                caller = (request.made.call.subject, request.made.call.by)
                if caller not in out or day > out[caller][0]:
                    out[caller] = (day, done[request.key], request)
        return out

    def _done(
        self,
        cancelled: CancelledInstance,
        cancellations: CancellationTracker,
        control: _Control | None,
    ) -> Iterator[Evidence]:
        """Judge whether a cancelled request was executed, once its day has certainly come."""
        cancel, quiet = cancelled.cancel, cancellations.last_undone_look(cancelled)
        done = cancellations.done.get(cancel.request.key)
        request, day = (
            cancel.request,
            request_queries.due_day(self.lifecycle, cancel.request.arguments),
        )
        controls: tuple[int, ...] = ()
        if done is not None and done > cancel.at:
            agreement = DISAGREES if cancel.early and not cancelled.revived else UNCLEAR
        elif (
            done is None and control and day and cancel.signed and _is_observed(quiet, day, control)
        ):
            agreement = AGREES
            controls = control[2].numbers
        else:
            return
        yield Evidence(
            facet=f"{cancel.who}-never-done",
            agreement=agreement,
            expected="the cancelled request never to be executed",
            seen=request.describe(),
            exchanges=tuple(sorted({*request.numbers, *controls})),
            variation=request.made.call.variation,
            controls=controls,
        )


def _numbers(cancel: CancelAttempt, call: Exchange) -> tuple[int, ...]:
    request = cancel.request
    numbers = (request.made.n, *(signing.n for signing in request.signings), call.n)
    return tuple(n for n in numbers if n <= call.n)


def _shown(cancelled: CancelledInstance) -> Iterator[Evidence]:
    """Judge every read of a request since it was cancelled."""
    cancel = cancelled.cancel
    for read in cancelled.shown:
        state = read.item.state if read.item else None
        if state in (State.ENDED, State.REJECTED):
            if not cancel.open:
                continue  # it may have ended earlier, for another reason
            agreement = AGREES
        else:
            sure = state is State.OPEN or cancel.early
            agreement = DISAGREES if sure and not cancelled.revived else UNCLEAR
        yield Evidence(
            facet=f"{cancel.who}-shown",
            agreement=agreement,
            expected="the cancelled request to be shown as ended",
            seen=f"it is {state.value if state else 'unknown'}",
            exchanges=(cancel.request.made.n, read.n),
        )


#: The day of a request that was executed, the event that showed it, and the request.
_Control: TypeAlias = tuple[date, int, Instance]


def _is_observed(quiet: int | None, day: date, control: _Control) -> bool:
    """Whether a request was observed after a control due no earlier had been executed."""
    then, since, _ = control
    return then >= day and quiet is not None and quiet >= since
