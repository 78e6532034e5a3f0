"""Every pointer of the profile, matched against the answers that were really given.

What surrounds the items (`list`, `one`, links, values) is here, what is within one in
`items`. A pointer that finds nothing is a fault where the answer has something of a
similar name, and a question where it has not: the bank may leave it out.
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
    is_link,
    is_text,
    is_things,
    kind,
    look,
    mean,
    suggest,
)
from assay.history import Accepted, Indeterminate

__all__ = ["examine"]

#: What links to the screens are called, in the field.
_SCREENS = ("approval", "consentApproval", "scaRedirect", "redirect", "authorise", "confirmation")
_NO_CONTENT = 204


def examine(patient: DoctorContext) -> Iterator[Finding]:
    """Match the pointers of each operation, in the order of the contracts."""
    for operation in patient.operations:
        good = [one for one in patient.of(operation.id) if _shows(one)]
        if operation.available and good:
            yield from _operation(patient, operation, good)


def _shows(answer: SeenAnswer) -> bool:
    """Whether HTTP and the outcomes take an answer for a good one."""
    unread = isinstance(answer.exchange.outcome, Indeterminate)
    return answer.good and (unread or isinstance(answer.exchange.outcome, Accepted))


def _operation(
    patient: DoctorContext, operation: Operation, good: list[SeenAnswer]
) -> Iterator[Finding]:
    binding, bodies = good[0].binding, [one.body for one in good if one.body is not MISSING]
    if not bodies:
        expects = binding.list or binding.one is not None
        if expects and any(one.status != _NO_CONTENT for one in good):
            found = good[0].exchange.wire.media_type or "an empty body"
            # What calls itself JSON, and cannot be read, is no matter of the file.
            broken = found.endswith("json")
            found = f"{found} that cannot be read" if broken else found
            place = ("operations", operation.id) if broken else ("base_url",)
            weight = Weight.UNSEEN if broken else Weight.FAULT
            yield at(patient.target, place, "an answer in JSON", found, weight=weight)
        return
    unread = list(_whole(patient, operation, binding, bodies))
    yield from unread
    if not unread:
        yield from items.examine(patient, operation, good)
    yield from _around(patient, operation, good, bodies)


def _whole(
    patient: DoctorContext, operation: Operation, binding: OperationBinding, bodies: list[Json]
) -> Iterator[Finding]:
    """Look for the list of items, or for the one thing that is shown."""
    key = ("operations", operation.id)
    if binding.one is not None:
        what = "the one thing that is shown"
        one = PointerProbe(
            key=(*key, "one"), at=(binding.one,), what=what, fits=_is_object, named=False
        )
        found = look(patient.target, one, bodies)
        if found:
            yield found
    elif binding.list:
        yield from _listed(patient, operation, binding, bodies)
    elif operation.lists:
        meant = suggest(bodies, operation.id, is_things)
        hint = f"add list: {meant}" if meant else "add list: with a pointer at it"
        what, weight = "nothing that says where", Weight.UNSEEN
        yield at(patient.target, key, "where the list stands", what, hint, weight=weight)


def _listed(
    patient: DoctorContext, operation: Operation, binding: OperationBinding, bodies: list[Json]
) -> Iterator[Finding]:
    key = ("operations", operation.id, "list")
    found = [lists(body, pointer) for body in bodies for pointer in binding.list]
    if any(found):
        return
    there = any(one is not None for one in found)
    one = PointerProbe(key=key, at=binding.list, what="a list", fits=is_things, named=False)
    hint = mean(bodies, one)
    if not there:
        what = f"no list at {' or '.join(binding.list)}"
        yield at(patient.target, key, "the list of items", what, hint)
    elif hint:
        what = f"an empty list at {' or '.join(binding.list)}"
        yield at(patient.target, key, "the list of items", what, hint)
    elif not operation.about and any(one.owns for one in patient.subjects.values()):
        what, weight = "an empty list for a customer who owns something", Weight.DOUBT
        yield at(patient.target, key, "the list of items", what, weight=weight)


def _around(
    patient: DoctorContext, operation: Operation, good: list[SeenAnswer], bodies: list[Json]
) -> Iterator[Finding]:
    """Look for the links and the values that stand beside the items."""
    binding, key = good[0].binding, ("operations", operation.id)
    for n, pointer in enumerate(binding.links):
        if binding.next and pointer == binding.next.at:
            continue  # `turning` knows when there has to be one
        one = PointerProbe(
            key=(*key, "links", n),
            at=(pointer,),
            what="a link",
            fits=is_link,
            missing=Weight.UNSEEN,
        )
        found = look(patient.target, one, bodies)
        if found:
            yield found
    if binding.approval is not None and operation.makes:
        one = PointerProbe(
            key=(*key, "approval"),
            at=(binding.approval,),
            what="the link to the screens where the customer signs",
            fits=is_link,
            names=_SCREENS,
        )
        found = look(patient.target, one, bodies)
        if found:
            yield found
    for name, pointer in binding.values.items():
        yield from _value(patient, operation, name, pointer)


def _value(
    patient: DoctorContext, operation: Operation, name: str, pointer: str
) -> Iterator[Finding]:
    """Look for a value that a consent may have to come before."""
    answers = patient.plain(operation.id)
    given = {
        (one.story, one.exchange.call.subject): one.exchange.n
        for each in patient.operations
        if each.grants
        for one in patient.plain(each.id)
        if isinstance(one.exchange.outcome, Accepted)
    }
    late = [
        one
        for one in answers
        if one.exchange.n > given.get((one.story, one.exchange.call.subject), one.exchange.n)
    ]
    one = PointerProbe(
        key=("operations", operation.id, "values", name),
        at=(pointer,),
        what=f"{name} beside the list",
        fits=is_text,
        names=(name,),
        missing=Weight.DOUBT if late else Weight.UNSEEN,
    )
    found = look(patient.target, one, [one.body for one in late or answers])
    if found:
        yield found


def _is_object(value: Json) -> bool:
    return kind(value) == "an object"
