"""Why no exchange of a trial decides an obligation: what went wrong before, or what is not known."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from itertools import chain

from assay.contract.model import Operation
from assay.history import (
    Authorise,
    Authorised,
    Cause,
    Effects,
    Ending,
    History,
    Indeterminate,
    Renewed,
    State,
    Withdrawn,
)
from assay.judging.verdict import NO_EVIDENCE

__all__ = ["why_undecided"]


def why_undecided(history: History, operations: Mapping[str, Operation]) -> str:
    """Return why no exchange of a trial decides: the first step that was to succeed and did not."""
    for exchange in history.exchanges:
        if not exchange.accepted and not exchange.call.variation:
            failure = getattr(exchange.outcome, "why", "")
            what = failure or f"it was refused ({exchange.wire.status})"
            return f"not judged: the control call of {exchange.call.operation} failed: {what}"
    return next(chain(_unsigned(history), _unread(history, operations)), NO_EVIDENCE)


def _unread(history: History, operations: Mapping[str, Operation]) -> Iterator[str]:
    """Yield what the target file does not find: an answer, the key of a request, or its state."""
    for exchange in history.exchanges:
        outcome = exchange.outcome
        if isinstance(outcome, Indeterminate) and outcome.cause is Cause.BINDING:
            yield f"not judged: {exchange.call.operation}: {outcome.why}"
    for exchange in history.exchanges:
        name, item = exchange.call.operation, exchange.item
        making = name in operations and operations[name].makes
        if exchange.accepted and making and not (item and item.key):
            yield f"not judged: {name} shows no key of the new request (operations.{name}.item.key)"
    shown = {each.call.operation for each in history.exchanges if each.item and each.item.state}
    for exchange in history.exchanges:
        operation = exchange.call.operation
        if operation in shown and exchange.item and exchange.item.state is None:
            key = f"operations.{operation}.item.state.values"
            yield f"not judged: {operation} shows a state that is in no list of {key}"


def _cut_short(event: Authorised) -> bool:
    return event.ending in {Ending.DISCONNECTED, Ending.STOPPED}


def _chosen(event: Authorised) -> bool:
    """Whether it is known with which factor the customer signed; without screens it is."""
    return not event.screens or "factor" in event.screens or len(event.offered or ()) == 1


def _unsigned(history: History) -> Iterator[str]:
    """Yield why a customer could not sign as was to be shown, or why nothing shows what followed."""
    for event in history.events:
        match event:
            case Authorised(step=step) if not step.variation and (event.why or _cut_short(event)):
                what = event.why or f"the customer was disconnected ({event.wire.status})"
                yield f"not judged: the control signature: {what}"
            case Authorised(step=Authorise(factor=str(factor))) if not _chosen(event):
                yield f"not judged: no screen offered the factor {factor}"
            case Withdrawn(done=False):
                yield "not judged: the customer's cancellation at the bank was not accepted"
            case Renewed(done=False):
                yield "not judged: the token was not renewed"
            case _:
                pass
    confirmed = {
        event.step.request
        for event in history.events
        if isinstance(event, Authorised) and event.ending is Ending.CONFIRMED
        if not event.step.variation
    }
    for exchange in history.exchanges:
        item = exchange.item
        if item and item.key in confirmed and item.state is State.REJECTED:
            yield (
                "not judged: the control request was rejected after the customer had confirmed it"
                " (does it repeat a request of an earlier trial?)"
            )
    inquired = [event for event in history.events if isinstance(event, Effects)]
    if inquired and all(event.done is None for event in inquired):
        yield "not judged: the fixture provider does not report executed requests"
