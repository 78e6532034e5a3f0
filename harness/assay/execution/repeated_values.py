"""What a call about a request repeats of the call that made it: values in its path, or its body."""

from __future__ import annotations

import json
from collections.abc import Mapping
from contextlib import suppress
from typing import TYPE_CHECKING, Any, cast
from urllib.parse import urlsplit

from assay.binding.encode import BARE
from assay.binding.path_slots import makers, repeated_slots, slots_of
from assay.binding.spelling import OperationBinding
from assay.binding.target import Target
from assay.binding.values import RequestValues, filled, sent
from assay.contract.model import Operation
from assay.contract.scalars import text_of
from assay.history import Call, Exchange

if TYPE_CHECKING:
    from assay.execution.executor import Executor


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
