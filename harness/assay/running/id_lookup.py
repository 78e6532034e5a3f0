"""Look-up of the target's own ids for items that a call names.

The list that has them is read as any TPP reads it, with the customer present. Where it takes a
consent, one is made, signed and ended for that alone, before the customer's first other consent.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from assay.binding.spelling import OperationBinding
from assay.contract.model import Operation
from assay.errors import CannotArrange
from assay.history import Call, Exchange
from assay.rules import steps
from assay.rules.evidence import describe_answer
from assay.rules.lifecycle import request_steps
from assay.rules.steps import perform_all

if TYPE_CHECKING:
    from assay.running.executor import Executor


def look_up_ids(executor: Executor, call: Call, binding: OperationBinding) -> None:
    """Look up the ids of what a call names, where the target uses its own.

    Raises:
        CannotArrange: the list does not have them.

    """
    if call.follow is not None:
        return
    operation = executor.operations[call.operation]
    if operation.grants and operation.makes:
        for lister in _listers(executor, operation):
            _read_under_consent(executor, lister, call)
    for name, spelling in binding.arguments.items():
        if spelling.found is None:
            continue
        given = call.arguments.get(name)
        for key in given if isinstance(given, list | tuple) else (given,):
            _look_up(executor, spelling.found, name, str(key), call)


def _look_up(executor: Executor, lister: str, name: str, key: str, call: Call) -> None:
    owner = executor.owners.get(key)
    if owner is None or key in executor.ids:
        return  # a key without an owner is sent as it is
    _read_under_consent(executor, lister, Call(operation=lister, subject=owner, by=call.by))
    if key in executor.ids:
        return
    last = executor.read_list(lister, owner)
    known = executor.environment.ids
    if key in executor.ids or key in known:
        executor.ids.setdefault(key, known.get(key, ""))
        return
    path = ("operations", lister, "item", "id")
    if last is not None and not last.accepted:
        raise CannotArrange(f"a list of {lister} for {name}: {describe_answer(last)}", key=path[:2])
    what = f"the target's own id for {name}, which {lister} did not list ({'.'.join(path)})"
    raise CannotArrange(what, key=path)


def _listers(executor: Executor, maker: Operation) -> frozenset[str]:
    """Return the lists with ids that take the consent which an operation makes."""
    bindings = executor.environment.target.operations.values()
    named = {each.found for binding in bindings for each in binding.arguments.values()}
    return frozenset(
        name
        for name in named
        if name in executor.operations and executor.operations[name or ""].consent == maker.id
        if name is not None
    )


def _read_under_consent(executor: Executor, lister: str, call: Call) -> None:
    """Read a customer's list once under a consent of its own, if it takes one."""
    maker = executor.operations.get(executor.operations[lister].consent or "")
    owner = call.subject
    keys = [key for key, name in executor.owners.items() if name == owner]
    if maker is None or not keys or (owner, call.by) in executor.kept.looked_up:
        return
    executor.kept.looked_up.add((owner, call.by))
    restore = executor.kept.without_later(owner, call.by)
    arguments = {maker.grants or "": keys}
    asked = Call(operation=maker.id, subject=owner, arguments=arguments, by=call.by)
    made = perform_all(steps.consent(maker, asked), executor.perform)
    executor.read_list(lister, owner)
    ending = next((each for each in executor.operations.values() if each.ends == maker.makes), None)
    end = request_steps.call_about(ending, made)
    ended = executor.perform(end) if end is not None else None
    # One that is still in force is what later calls send, until there is another.
    if isinstance(ended, Exchange) and ended.accepted:
        restore()
