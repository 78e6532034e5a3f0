"""Generated values that one call carries, as far as the target file uses them."""

from __future__ import annotations

import json
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import replace
from datetime import UTC, date, tzinfo
from typing import TYPE_CHECKING, Any, cast
from urllib.parse import urlsplit
from uuid import uuid5

from assay.binding.encode import BARE
from assay.binding.path_slots import makers, repeated_slots, slots_of
from assay.binding.spelling import OperationBinding
from assay.binding.target import Target
from assay.binding.values import RequestValues, filled, has_day, sent
from assay.contract.model import Operation
from assay.contract.scalars import text_of
from assay.history import Call, Exchange
from assay.rules.state.calendar import local_day

if TYPE_CHECKING:
    from assay.running.executor import Executor


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


# -- Repeated values -----------------------------------------------------------------------------
# What a call about a request repeats of the call that made it: values in its path, or its body.
def repeated_values(
    executor: Executor, call: Call, target: Target, made: RequestValues
) -> Mapping[str, str]:
    """Return what stands in the slots of a path that repeat those of the making call.

    Of a request that this trial has not made, they are those of the last one that it made, or
    what the target file says.
    """
    bindings, operation = target.operations, executor.operations[call.operation]
    names = [*repeated_slots(operation, bindings.get(operation.id, BARE))]
    if not names:
        return {}
    values: dict[str, str] = {}
    making = _making(executor, call, operation)
    if making is not None:
        maker = executor.operations[making.call.operation]
        values = _values(making, maker, bindings.get(maker.id, BARE), made)
    else:
        for maker in makers(operation, executor.operations.values()):
            for name, spelling in bindings.get(maker.id, BARE).arguments.items():
                if spelling.value is not None:
                    text = text_of(sent(filled(spelling.value, made), spelling, made))
                    values |= {name: text, spelling.name: text}
    return {name: values[name] for name in names if name in values}


def repeated_body(executor: Executor, call: Call, operation: Operation) -> Mapping[str, Any]:
    """Return the body of a request as it was last accepted, for a change that sends it whole.

    A change of what this trial has not made repeats the last request that it made.
    """
    made = _making(executor, call, operation)
    if made is None:
        return {}
    body: object = None
    key = made.item.key if made.item else None
    for event in (made, *executor.events):
        if not isinstance(event, Exchange) or not event.accepted or event.n < made.n:
            continue
        about = executor.operations[event.call.operation]
        changed = about.changes and event.call.arguments.get(about.about or "") == key
        if event is made or changed:
            with suppress(ValueError):
                body = json.loads(event.wire.request_body)
    return cast("Mapping[str, Any]", body) if isinstance(body, dict) else {}


def _making(executor: Executor, call: Call, operation: Operation) -> Exchange | None:
    """Return the accepted call that made the request of a call, or any other request."""
    key = executor.submissions.key(str(call.arguments.get(operation.about or "", "")))
    making = {maker.id for maker in makers(operation, executor.operations.values())}
    last: Exchange | None = None
    for event in reversed(executor.events):
        if not isinstance(event, Exchange) or not event.accepted:
            continue
        if event.call.operation not in making:
            continue
        if event.item is not None and event.item.key == key:
            return event
        last = last or event
    return last


def _values(
    making: Exchange, maker: Operation, binding: OperationBinding, made: RequestValues
) -> dict[str, str]:
    """Return the arguments and slots of a making call, by name, as they were sent."""
    given = making.call.arguments
    values = {
        name: text_of(sent(value, binding.arguments.get(name), made))
        for name, value in given.items()
    }
    paths = binding.names(maker)
    alias = making.call.alias
    template = (binding.path or maker.path) if alias is None else paths[alias]
    return values | slots_of(template, urlsplit(making.wire.url).path)
