"""Cancellations in a history, and what happened to their requests since.

The data that the kind `cancellation` judges.
"""

from __future__ import annotations

from dataclasses import dataclass, field

from assay.history import Authorised, Event, Exchange, State, Withdrawn
from assay.rules.lifecycle import request_queries
from assay.rules.lifecycle.tracker import Instance, Lifecycle, Tracker

TPP, CUSTOMER = "by-tpp", "by-customer"


@dataclass(frozen=True, slots=True, kw_only=True)
class CancelAttempt:
    """One attempt to cancel a request, and the state of the request just before.

    `event` is the call, or the cancellation by the customer. `signed` is None where a
    signature may or may not have been given. `untouched` says that nothing had ended the
    request before, `open` that it was seen open since it was signed, `early` that its day
    had certainly not come.
    """

    at: int
    request: Instance
    event: Exchange | Withdrawn
    signed: bool | None
    untouched: bool
    open: bool
    early: bool

    @property
    def who(self) -> str:
        """Who cancelled it, as in the ids of the facets."""
        return CUSTOMER if isinstance(self.event, Withdrawn) else TPP

    @property
    def accepted(self) -> bool:
        """Whether it was accepted."""
        return self.event.done if isinstance(self.event, Withdrawn) else self.event.accepted


def _cancel_attempt(
    lifecycle: Lifecycle, mode: str, tracker: Tracker, at: int, event: Event
) -> CancelAttempt | None:
    """Return the cancellation that an event is, before the tracker processes it."""
    end = lifecycle.end
    if isinstance(event, Withdrawn) and event.done:
        request, now = tracker.find(event.request), event.now
    elif isinstance(event, Exchange) and end is not None and event.call.operation == end.id:
        if event.refused and (event.call.variation or event.call.without):
            return None  # what was asked for may have been something else
        request, now = tracker.find(str(event.call.arguments.get(end.about or ""))), event.at
        request = (
            request
            if request is not None and request_queries.is_by_requester(request, event.call)
            else None
        )
    else:
        return None
    if request is None or request.mode != mode:
        return None
    signed = request_queries.signed(request)
    over = any(withdrawal.done for withdrawal in request.withdrawn) or any(
        not end_call.refused for end_call in request.ends
    )
    since = max((signing.n for signing in request.signings), default=0)
    return CancelAttempt(
        at=at,
        request=request,
        event=event,
        signed=signed if signed or not request.signings else None,
        untouched=not over and not request.done and request.state in (None, State.OPEN),
        open=request.state is State.OPEN and (request.seen_in or 0) >= since,
        early=request_queries.is_before_due_day(lifecycle, request.arguments, now)
        and not request_queries.shown_for_another_day(lifecycle, request),
    )


@dataclass(slots=True, kw_only=True)
class CancelledInstance:
    """A cancelled request, and what was seen of it since.

    `revived` says whether something happened that may have reopened it.
    """

    cancel: CancelAttempt
    last_look: int | None = None
    revived: bool = False
    shown: list[Exchange] = field(default_factory=list[Exchange])


@dataclass(slots=True, kw_only=True)
class CancellationTracker:
    """The cancellations in a history, by the keys of their requests.

    `inquired` is the place of the last list of executions, which covers all requests.
    """

    lifecycle: Lifecycle
    mode: str
    tracker: Tracker
    cancels: list[CancelAttempt] = field(default_factory=list[CancelAttempt])
    cancelled: dict[str | None, CancelledInstance] = field(
        default_factory=dict[str | None, CancelledInstance]
    )
    done: dict[str | None, int] = field(default_factory=dict[str | None, int])
    opened: dict[str | None, int] = field(default_factory=dict[str | None, int])
    inquired: int = -1

    def note(self, at: int, event: Event) -> None:
        """Process an event."""
        asked = _cancel_attempt(self.lifecycle, self.mode, self.tracker, at, event)
        noted = self.tracker.note(event)
        instance = self.cancelled.get(noted.key) if noted is not None else None
        if asked is not None:
            self.cancels.append(asked)
            if asked.accepted:
                self.cancelled.setdefault(asked.request.key, CancelledInstance(cancel=asked))
        elif instance is not None:
            instance.revived = instance.revived or self._revives(event)
        for request in request_queries.requests_shown(self.tracker, event, noted):
            self._look(at, request, event)
        if request_queries.shows_all_executions(event):
            self.inquired = at

    def last_undone_look(self, instance: CancelledInstance) -> int | None:
        """Return the last place since the cancellation at which the request was seen not executed."""
        if self.inquired <= max(instance.cancel.at, instance.last_look or 0):
            return instance.last_look
        return self.inquired

    def _look(self, at: int, request: Instance, event: Event) -> None:
        instance, read = self.cancelled.get(request.key), self.lifecycle.read
        if request.done:
            self.done.setdefault(request.key, at)
        elif instance is not None:
            instance.last_look = at
        if isinstance(event, Exchange) and read is not None and event.call.operation == read.id:
            if instance is not None:
                instance.shown.append(event)
            elif request.state is State.OPEN:
                self.opened[request.key] = event.n

    def _revives(self, event: Event) -> bool:
        change = self.lifecycle.change
        return isinstance(event, Authorised) or (
            isinstance(event, Exchange) and change is not None and event.call.operation == change.id
        )
