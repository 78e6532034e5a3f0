"""The request that is known to be good, from which all cases of an operation start."""

from __future__ import annotations

from dataclasses import replace

from assay.contract.model import Contract, Operation
from assay.errors import CannotArrange
from assay.history import Call, Holding
from assay.rules import steps
from assay.rules.clauses import clauses_of
from assay.rules.lifecycle import request_steps
from assay.rules.lifecycle.tracker import lifecycle_of_operation
from assay.rules.steps import Part


def ready(contract: Contract, operation: Operation, subject: str, alias: int | None) -> Part[Call]:
    """Bring about whatever a plain valid call takes, for a new customer; return the call.

    A method that is not offered has none: it comes after what shows that all else is well.
    """
    control = _control(contract, operation)
    call = yield from _plain(contract, control, subject)
    if control.id == operation.id:
        return replace(call, alias=alias)
    yield from steps.send(call)
    about = call.arguments.get(control.about or "")
    arguments = {operation.about: about} if operation.about else {}
    return replace(call, operation=operation.id, arguments=arguments, alias=alias)


def _control(contract: Contract, operation: Operation) -> Operation:
    """Return the method whose answer shows that all else is well: mostly it is the same."""
    controls = (clause.control_of(operation.id) for clause in clauses_of(contract))
    control = next((name for name in controls if name is not None), operation.id)
    return contract.operations[control]


def _plain(contract: Contract, operation: Operation, subject: str) -> Part[Call]:
    call: Call | None = None
    if operation.ends:
        # Where what can be changed is known, it is what can be ended, too.
        lifecycle = lifecycle_of_operation(contract, operation)
        psu = yield from request_steps.customer(lifecycle, subject)
        made = yield from steps.send(request_steps.request(lifecycle, psu, lifecycle.changeable))
        call = request_steps.about(operation, made)
    elif operation.request:
        _, call = yield from request_steps.ready(contract, operation, subject)
    if operation.request:
        if call is None:
            raise CannotArrange("a request that is made")
        return call
    owners = steps.owners(contract, operation)
    entries = steps.days_before((yield from steps.clock()).date(), 1, 2)
    psu = yield from steps.arrange(
        subject, *(Holding(resource=one, entries=entries) for one in owners)
    )
    if not psu.owns:
        raise CannotArrange("something that a customer owns")
    if not operation.grants:
        granting = (one for one in contract.operations.values() if one.grants and one.available)
        yield from steps.grant(next(granting, None), subject, *(one.key for one in psu.owns))
    arguments = steps.arguments(operation, psu.owns[0].key)
    return Call(operation=operation.id, subject=subject, arguments=arguments)
