"""Generated values that one call carries, as far as the target file uses them."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, date, tzinfo
from typing import TYPE_CHECKING
from uuid import uuid5

from assay.binding.encode import BARE
from assay.binding.target import Target
from assay.binding.values import RequestValues, has_day
from assay.execution.repeated_values import repeated_body, repeated_values
from assay.history import Call, Exchange
from assay.rules.state.calendar import local_day

if TYPE_CHECKING:
    from assay.execution.executor import Executor

__all__ = ["added_parameters", "making", "values_for"]

#: The length of the text that is unique to a trial: it must fit into a reference or label.
TRIAL_LENGTH = 12


def values_for(executor: Executor, call: Call, target: Target) -> RequestValues:
    """Return the generated values of one request, as far as the target file uses them.

    Two equal calls have the same `alike`, and all calls of a trial the same `trial`; `unique` is
    different in every call.
    """
    binding, operation = (
        target.operations.get(call.operation, BARE),
        executor.operations[call.operation],
    )
    spellings = (*binding.arguments.values(), *binding.modes.values())
    values = any("{" in f"{spelling.value}{spelling.other}" for spelling in spellings)
    standing = target.headers or target.queries or binding.headers or binding.queries
    plain = RequestValues(
        zone=_zone(executor, call),
        ids=executor.ids,
        resources=executor.resources,
        outputs=executor.kept.values_for(
            call,
            executor.environment.target.outputs,
            by_tpp=operation.by_tpp,
            request=executor.submissions.key(str(call.arguments.get(operation.about or "", ""))),
        ),
    )
    slots = repeated_values(executor, call, target, plain)
    if binding.whole:
        plain = replace(plain, body=repeated_body(executor, call, operation))
    if not (standing or binding.template or values):
        return replace(plain, slots=slots)
    executor.generated += 1
    texts = (target.headers, target.queries, binding.headers, binding.queries, binding.template)
    dated = has_day((*texts, *(each.value for each in spellings), *(s.other for s in spellings)))
    equal = repr(replace(call, by="", variation="", present=True, alias=None, host=None))
    return replace(
        plain,
        slots=slots,
        now=(executor.now or executor.look()).isoformat(),
        today=_today(executor, call) if dated else None,
        unique=str(uuid5(executor.name, str(executor.generated))),
        alike=uuid5(executor.name, equal).hex[:30],
        trial=executor.name.hex[:TRIAL_LENGTH],
    )


def _today(executor: Executor, call: Call) -> date:
    """Return the calendar day at the bank, by its clock and its time zone."""
    return local_day(executor.look(), _zone(executor, call) or UTC)


def _zone(executor: Executor, call: Call) -> tzinfo | None:
    """Return the zone of the bank's days for an operation."""
    environment = executor.environment
    return environment.guard.zones.get(call.operation) or environment.target.zone


def making(executor: Executor, request: str) -> Exchange | None:
    """Return the accepted call that made a request."""
    for event in reversed(executor.events):
        if not isinstance(event, Exchange) or event.item is None or event.item.key != request:
            continue
        if executor.operations[event.call.operation].makes:
            return event
    return None


def added_parameters(executor: Executor, request: str) -> tuple[str, ...] | None:
    """Return the query parameters that the target adds to the return address of a request."""
    for event in executor.events:
        if isinstance(event, Exchange) and event.item is not None and event.item.key == request:
            operation = executor.operations[event.call.operation]
            binding = executor.environment.target.operations.get(operation.id, BARE)
            spelling = binding.arguments.get(operation.returns or "")
            if operation.makes and spelling is not None:
                return spelling.adds
    return None
