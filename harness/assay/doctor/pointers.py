"""Checks of the pointers of the target file against the answers received.

Pointers to what surrounds the items (`list`, `one`, links, values) are examined here, those
into one item in `items`. A pointer that finds nothing is a fault if the answer has something
with a similar name, and a question otherwise: the bank may leave it out.
"""

from __future__ import annotations

from collections.abc import Iterator

from assay.binding.pointer import MISSING, lists
from assay.binding.spelling import OperationBinding
from assay.contract.model import Json, Operation
from assay.doctor import items
from assay.doctor.context import DoctorContext, SeenAnswer
from assay.doctor.finding import Finding, Weight, at
from assay.doctor.pointer_probe import (
    PointerProbe,
    compare,
    correction,
    is_link,
    is_text,
    is_things,
    kind,
    suggest,
)
from assay.history import Accepted, Indeterminate

__all__ = ["examine"]

#: Usual names of links to SCA screens.
_SCREENS = ("approval", "consentApproval", "scaRedirect", "redirect", "authorise", "confirmation")
_NO_CONTENT = 204


def examine(context: DoctorContext) -> Iterator[Finding]:
    """Examine the pointers of each operation, in the order of the contracts."""
    for operation in context.operations:
        good = [one for one in context.of(operation.id) if _readable(one)]
        if operation.available and good:
            yield from _operation(context, operation, good)


def _readable(answer: SeenAnswer) -> bool:
    """Whether an answer is successful by HTTP and no outcome says otherwise."""
    open_ = isinstance(answer.exchange.outcome, Indeterminate)
    return answer.good and (open_ or isinstance(answer.exchange.outcome, Accepted))


def _operation(
    context: DoctorContext, operation: Operation, good: list[SeenAnswer]
) -> Iterator[Finding]:
    binding, bodies = good[0].binding, [one.body for one in good if one.body is not MISSING]
    if not bodies:
        expects = binding.list or binding.one is not None
        if expects and any(one.status != _NO_CONTENT for one in good):
            found = good[0].exchange.wire.media_type or "an empty body"
            # JSON that cannot be read is no mistake of the file.
            broken = found.endswith("json")
            found = f"{found} that cannot be read" if broken else found
            place = ("operations", operation.id) if broken else ("base_url",)
            weight = Weight.UNSEEN if broken else Weight.FAULT
            yield at(context.target, place, "an answer in JSON", found, weight=weight)
        return
    misplaced = list(_items_place(context, operation, binding, bodies))
    yield from misplaced
    if not misplaced:
        yield from items.examine(context, operation, good)
    yield from _around(context, operation, good, bodies)


def _items_place(
    context: DoctorContext, operation: Operation, binding: OperationBinding, bodies: list[Json]
) -> Iterator[Finding]:
    """Examine the pointer to the list of items, or to the single item."""
    key = ("operations", operation.id)
    if binding.one is not None:
        what = "the single item of the answer"
        probe = PointerProbe(
            key=(*key, "one"), at=(binding.one,), what=what, fits=_is_object, named=False
        )
        yield from compare(context.target, probe, bodies)
    elif binding.list:
        yield from _listed(context, operation, binding, bodies)
    elif operation.lists:
        meant = suggest(bodies, operation.id, is_things)
        hint = f"add list: {meant}" if meant else "add `list`"
        found, weight = "none", Weight.UNSEEN
        yield at(context.target, key, "a pointer to the list", found, hint, weight=weight)


def _listed(
    context: DoctorContext, operation: Operation, binding: OperationBinding, bodies: list[Json]
) -> Iterator[Finding]:
    key = ("operations", operation.id, "list")
    found = [lists(body, pointer) for body in bodies for pointer in binding.list]
    if any(found):
        return
    there = any(one is not None for one in found)
    probe = PointerProbe(key=key, at=binding.list, what="a list", fits=is_things, named=False)
    hint = correction(bodies, probe)
    if not there:
        what = f"no list at {' or '.join(binding.list)}"
        yield at(context.target, key, "the list of items", what, hint)
    elif hint:
        what = f"an empty list at {' or '.join(binding.list)}"
        yield at(context.target, key, "the list of items", what, hint)
    elif not operation.about and any(one.owns for one in context.subjects.values()):
        what, weight = "an empty list for a customer that owns something", Weight.DOUBT
        yield at(context.target, key, "the list of items", what, weight=weight)


def _around(
    context: DoctorContext, operation: Operation, good: list[SeenAnswer], bodies: list[Json]
) -> Iterator[Finding]:
    """Examine the pointers to links and values beside the items."""
    binding, key = good[0].binding, ("operations", operation.id)
    for n, pointer in enumerate(binding.links):
        if binding.next and pointer == binding.next.at:
            continue  # `pagination` examines it
        probe = PointerProbe(
            key=(*key, "links", n),
            at=(pointer,),
            what="a link",
            fits=is_link,
            missing=Weight.UNSEEN,
        )
        yield from compare(context.target, probe, bodies)
    if binding.approval is not None and operation.makes:
        probe = PointerProbe(
            key=(*key, "approval"),
            at=(binding.approval,),
            what="the link to the SCA screens",
            fits=is_link,
            names=_SCREENS,
        )
        yield from compare(context.target, probe, bodies)
    for name, pointer in binding.values.items():
        yield from _value(context, operation, name, pointer)


def _value(
    context: DoctorContext, operation: Operation, name: str, pointer: str
) -> Iterator[Finding]:
    """Examine the pointer to a value that the bank may show only after a consent."""
    answers = context.plain(operation.id)
    given = {
        (one.probe, one.exchange.call.subject): one.exchange.n
        for each in context.operations
        if each.grants
        for one in context.plain(each.id)
        if isinstance(one.exchange.outcome, Accepted)
    }
    late = [
        one
        for one in answers
        if one.exchange.n > given.get((one.probe, one.exchange.call.subject), one.exchange.n)
    ]
    probe = PointerProbe(
        key=("operations", operation.id, "values", name),
        at=(pointer,),
        what=f"{name} beside the list",
        fits=is_text,
        names=(name,),
        missing=Weight.DOUBT if late else Weight.UNSEEN,
    )
    yield from compare(context.target, probe, [one.body for one in late or answers])


def _is_object(value: Json) -> bool:
    return kind(value) == "an object"
