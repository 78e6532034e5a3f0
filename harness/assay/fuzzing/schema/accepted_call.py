"""The call from which the schema cases of an operation start: one that a bank accepts."""

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


def ready_call(
    contract: Contract, operation: Operation, subject: str, alias: int | None
) -> Part[Call]:
    """Set up whatever a call without variation needs, for a new customer; return the call.

    A method that is not offered has no such call: its control shows that all else is valid.
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
    """Return the operation whose answer shows that all else is valid, usually the same one."""
    controls = (clause.control_of(operation.id) for clause in clauses_of(contract))
    control = next((name for name in controls if name is not None), operation.id)
    return contract.operations[control]


def _plain(contract: Contract, operation: Operation, subject: str) -> Part[Call]:
    call: Call | None = None
    if operation.ends:
        # An operation that can change a request can also end it.
        lifecycle = lifecycle_of_operation(contract, operation)
        psu = yield from request_steps.customer(lifecycle, subject)
        made = yield from steps.send(
            request_steps.request(lifecycle, psu, lifecycle.changeable_mode)
        )
        call = request_steps.call_about(operation, made)
    elif operation.request:
        _, call = yield from request_steps.prepare_call(contract, operation, subject)
    if operation.request:
        if call is None:
            raise CannotArrange("a request that is made")
        return call
    owners = steps.owners(contract, operation)
    entries = steps.days_before((yield from steps.clock()).date(), 1, 2)
    holdings = (Holding(resource=owner, entries=entries) for owner in owners)
    psu = yield from steps.arrange(subject, *holdings)
    if not psu.owns:
        raise CannotArrange("something that a customer owns")
    if not operation.grants:
        every = contract.operations.values()
        grants = (grant for grant in every if grant.grants and grant.available)
        yield from steps.grant(next(grants, None), subject, *(owned.key for owned in psu.owns))
    arguments = steps.arguments(operation, psu.owns[0].key)
    return Call(operation=operation.id, subject=subject, arguments=arguments)
