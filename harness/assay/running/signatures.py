"""Signature of a request by a customer, as the signer of a run gives it."""

from __future__ import annotations

from dataclasses import replace
from datetime import timedelta
from time import perf_counter
from typing import TYPE_CHECKING

from assay.binding.encode import Access
from assay.history import Accepted, Authorise, Authorised, Exchange
from assay.running.call_values import added_parameters
from assay.running.consent_tokens import authorised_flow

if TYPE_CHECKING:
    from assay.running.executor import Executor


def signed(executor: Executor, step: Authorise) -> Authorised:
    """Take a customer through the screens on which a request is signed; return the event.

    Raises:
        CannotArrange: the budget has no call left, or nothing can sign.

    """
    step = replace(step, approval=_newest_link(executor, step))
    access = executor.access.get(step.by or step.subject, Access())
    guard, signer = executor.environment.guard, executor.who(step.by or step.subject)
    guard.count()
    guard.note_use(signer, executor.used_items(step), executor.look)
    began = perf_counter()
    flow = authorised_flow(executor, step, access)
    flow = flow or executor.signer.sign(step, access, executor.wait)
    return Authorised(
        n=executor.number(),
        step=step,
        ending=flow.ending,
        moments=tuple(flow.moments) or (executor.wait(timedelta(0)),),
        offered=flow.offered,
        screens=tuple(flow.screens),
        redirected=flow.redirected,
        adds=added_parameters(executor, step.request),
        unspelt=flow.unspelt,
        coded=flow.coded,
        stuck=flow.stuck,
        why=flow.why,
        wire=replace(flow.wire, body=b"", request_body=b""),
        ms=(perf_counter() - began) * 1000,
    )


def _newest_link(executor: Executor, step: Authorise) -> str | None:
    """Return the link that the bank gave last: a request that was changed may have another."""
    for event in reversed(executor.events):
        if not isinstance(event, Exchange) or not isinstance(event.outcome, Accepted):
            continue
        about = executor.operations[event.call.operation].about or ""
        if event.outcome.approval and event.call.arguments.get(about) == (step.request or None):
            return event.outcome.approval
    return step.approval
