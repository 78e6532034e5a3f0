"""Checks of the pointers of the target file against the answers received.

`POINTERS` has a function for each binding feature that is a pointer. Those to what surrounds
the items are here, those into one item in `items`. A pointer that finds nothing is a fault if
the answer has something with a similar name, and a question otherwise: the bank may leave it
out.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Final

from assay.binding.model.features import BINDING_FEATURES
from assay.binding.model.pointer import MISSING, find, lists
from assay.binding.model.spelling import ItemBinding
from assay.binding.model.submission import SUBMISSION
from assay.binding.wire.links import usable
from assay.contract.model import Json, Operation
from assay.contract.scalars import same
from assay.files.document import Pointer
from assay.history import Indeterminate
from assay.onboarding.doctor import items
from assay.onboarding.doctor.pointer_probe import (
    AnsweredOperation,
    Meant,
    PointerProbe,
    compare,
    correction,
    differs_in_spelling,
    is_id,
    is_link,
    is_reference,
    is_things,
    kind,
    members,
    nearest,
    paired,
    respelt,
    suggest,
    values,
)
from assay.onboarding.doctor.probes import AGAIN
from assay.onboarding.doctor.record import Examined, Finding, SeenAnswer, Weight
from assay.onboarding.doctor.rule_answers import error_pointers
from assay.rules.queries import has_value

#: Usual names of links to SCA screens.
_SCREENS = ("approval", "consentApproval", "scaRedirect", "redirect", "authorise", "confirmation")
_NO_CONTENT = 204


def _list(seen: AnsweredOperation) -> Iterator[Finding]:
    """Examine the pointer to the list of items, where no single item is shown."""
    operation, pointers = seen.operation, seen.binding.list
    if seen.binding.one is not None:
        return
    if pointers:
        yield from _listed(seen)
    elif operation.lists:
        pointer = suggest(seen.bodies, operation.id, is_things)
        hint = f"add list: {pointer}" if pointer else "add `list`"
        place, expected = ("operations", operation.id), "a pointer to the list"
        yield seen.record.finding(place, expected, "none", hint, weight=Weight.UNSEEN)


def _listed(seen: AnsweredOperation) -> Iterator[Finding]:
    """Examine whether the pointers find a list, with items if the customer has any."""
    pointers, where = seen.binding.list, " or ".join(seen.binding.list)
    found_lists = [lists(body, pointer) for body in seen.bodies for pointer in pointers]
    if any(found_lists):
        yield from _unlisted(seen)
        yield from _further(seen)
        return
    probe = PointerProbe(feature="list", at=pointers, fits=is_things, named=False)
    instead, what = correction(seen.bodies, probe), ""
    if len(pointers) == 1 and (owned := items.owned_list(seen)) is not None:
        instead = Meant(of=pointers[0], value=owned, certain=True)
    if all(items is None for items in found_lists):
        what = f"no list at {where}"
    elif instead:
        what = f"an empty list at {where}"
    elif not seen.operation.about and any(each.owns for each in seen.record.subjects.values()):
        what = "an empty list for a customer who owns items"
    if what:
        yield seen.doubt("list", probe.expected, what, instead=instead)


def _unlisted(seen: AnsweredOperation) -> Iterator[Finding]:
    """Report one of several pointers that finds no list in any answer."""
    for n, pointer in enumerate(seen.binding.list):
        if all(lists(body, pointer) is None for body in seen.bodies):
            similar = nearest(pointer, _unread(seen))
            weight = Weight.DOUBT if similar else Weight.UNSEEN
            expected, found = "another list of items", f"no list at {pointer}"
            instead = Meant(of=pointer, value=similar) if similar else None
            yield seen.doubt("list", expected, found, below=(n,), weight=weight, instead=instead)


def _further(seen: AnsweredOperation) -> Iterator[Finding]:
    """Report a list that no pointer finds, with items of the customers that no other list has."""
    shown = {item.key for answer in seen.answers for item in answer.items}
    missing = items.known_keys(seen) - shown
    for at, value in _unread(seen).items() if missing else ():
        if any(found in missing for _, found in members(value) if isinstance(found, str)):
            found = f"items of the customer at {at}, too"
            yield seen.doubt("list", "every list of items", found, f"add {at} to list")
            return


def _unread(seen: AnsweredOperation) -> Mapping[str, Json]:
    """Return each list of objects in the bodies that no pointer finds, and that is in no list."""
    known = [f"{pointer}/" for pointer in seen.binding.list]
    return {
        at: value
        for body in seen.bodies
        for at, value in members(body)
        if is_things(value) and not any(f"{at}/".startswith(each) for each in known)
    }


def _one(seen: AnsweredOperation) -> Iterator[Finding]:
    """Examine the pointer to the single item of a response."""
    keys = seen.binding.item.key

    def fits(value: Json) -> bool:
        if "" in keys:
            return is_id(value)
        return _is_object(value) and (not keys or any(is_id(find(value, key)) for key in keys))

    at = () if seen.binding.one is None else (seen.binding.one,)
    if any(map(_is_object, values(seen.bodies, at))) and "" not in keys:
        return iter(())  # whether it is the right one, its key shows
    return compare(seen, PointerProbe(feature="one", at=at, fits=fits, named=False))


def _is_object(value: Json) -> bool:
    return kind(value) == "an object"


def _approval(seen: AnsweredOperation) -> Iterator[Finding]:
    """Examine the pointer to the link to the SCA screens."""
    pointer = seen.binding.approval if seen.operation.makes else None
    at = () if pointer is None else (pointer,)
    return compare(seen, PointerProbe(feature="approval", at=at, fits=is_link, names=_SCREENS))


def _links(seen: AnsweredOperation) -> Iterator[Finding]:
    """Examine the pointers to links, except that to the next page (see `request_effects`)."""
    for n, pointer in enumerate(seen.binding.links):
        if seen.binding.next is None or pointer not in seen.binding.next.links:
            yield from _link(seen, n, pointer)


def _link(seen: AnsweredOperation, n: int, pointer: str) -> Iterator[Finding]:
    """Examine one pointer to a link, which an answer may leave out."""
    binding, below = seen.binding, (n,)
    shown = [value for value in values(seen.bodies, (pointer,)) if value is not None]
    echoed = next((name for value in shown for name in _sent_as(seen, value)), "")
    if echoed:
        found = f"the value that was sent as {echoed}"
        yield seen.doubt("links", "a link of the bank", found, below=below)
    elif shown and not any(map(is_reference, shown)):
        found = f"{kind(shown[0])} at {pointer}"
        yield seen.doubt("links", "a link", found, below=below)
    elif not shown:
        known = {*binding.links, binding.approval, *(binding.next.links if binding.next else ())}
        similar = respelt(seen.bodies, pointer, known, is_link)
        if similar or pointer not in binding.optional_links:
            weight = Weight.DOUBT if similar else Weight.UNSEEN
            instead = Meant(of=pointer, value=similar) if similar else None
            hint = "" if similar else "if the bank may omit it, write {at: …, optional: true}"
            found = f"nothing at {pointer}"
            yield seen.doubt(
                "links", "a link", found, hint, below=below, weight=weight, instead=instead
            )


def _sent_as(seen: AnsweredOperation, value: Json) -> Iterator[str]:
    """Yield the arguments that were sent with a value, if any were."""
    for answer in seen.record.answers:
        for name, sent in answer.call.arguments.items():
            if isinstance(sent, str) and sent and sent == value:
                yield name


def _values(seen: AnsweredOperation) -> Iterator[Finding]:
    """Examine the pointers to values that the bank may show only after a consent."""
    record, operation = seen.record, seen.operation
    answers = record.plain(operation.id) if seen.binding.values else ()
    granting = [each.id for each in record.operations if each.grants]
    given = {answer.subject: answer.n for answer in record.plain(*granting) if answer.accepted}
    late = [answer for answer in answers if answer.n > given.get(answer.subject, answer.n)]
    for name, pointer in seen.binding.values.items():
        what = f"{name} beside the items"
        if other := _other_meaning(seen, pointer):
            yield seen.doubt("value", what, f"{pointer}, {other}", name=name)
            continue
        probe = PointerProbe(
            feature="value",
            name=name,
            at=(pointer,),
            what=what,
            # A text or a structure; before a consent, it may be empty.
            fits=lambda value: has_value(value) or not late,
            names=(name,),
            missing=Weight.DOUBT if late else Weight.UNSEEN,
            # Before a consent it need not be there: only another spelling is the same value.
            spelling_only=not late,
        )
        yield from compare(seen, probe, [answer.body for answer in late or answers])


def _other_meaning(seen: AnsweredOperation, pointer: str) -> str:
    """Return what the target file says elsewhere that a pointer to a value finds, if it does."""
    binding = seen.binding
    if binding.next is not None and pointer in binding.next.pointers:
        return "a pointer to the next page"
    if any(pointer.startswith(f"{at}/") for at in binding.list):
        return "which is in the list"
    return "which is a link" if pointer in binding.links else ""


def _outputs(seen: AnsweredOperation) -> Iterator[Finding]:
    """Examine the pointers to values that later calls send."""
    for name, where in seen.binding.outputs.items():
        probe = PointerProbe(feature="output", name=name, at=where.at, fits=_is_sendable)
        yield from compare(seen, probe)


def _is_sendable(value: Json) -> bool:
    return usable(value) is not None


# -- Checks of the headers of answers in which the target file finds a key, a link or an output
# Another header with a similar name shows that the name is misspelt. Otherwise it is in doubt
# whether the bank leaves the header out; a header with links that the TPP follows is optional.


def _headers(seen: AnsweredOperation) -> Iterator[Finding]:
    """Examine every header that the binding of an operation reads."""
    binding, operation = seen.binding, seen.operation
    if operation.makes and binding.item.key_header:
        yield from _header(seen, "key", binding.item.key_header)
    if operation.makes and binding.approval_header:
        yield from _header(seen, "approval", binding.approval_header)
    for name, output in binding.outputs.items():
        if output.header:
            yield from _header(seen, "output", output.header, name)
    for header in binding.link_headers:
        yield from (finding for finding in _header(seen, "links", header) if finding.hint)


def _header(
    seen: AnsweredOperation, feature: str, header: str, name: str = ""
) -> Iterator[Finding]:
    """Report a header that no answer has."""
    names = [each for answer in seen.answers for each, _ in answer.wire.headers]
    if any(each.lower() == header.lower() for each in names):
        return
    wanted = f"/{header.lower()}"
    similar = next((each for each in names if differs_in_spelling(f"/{each.lower()}", wanted)), "")
    expected, found = f"{BINDING_FEATURES[feature].title} in a header", f"no header {header}"
    instead = Meant(of=header, value=similar) if similar else None
    yield seen.doubt(feature, expected, found, name=name, instead=instead)


# -- Checks of `volatile`: the values of an item that change from one answer to the next by themselves
# The rules compare all other values of an item. So the probe of reads ends with the same calls once
# more, and a value that has changed by then is either missing under `volatile`, or a fault of the bank.

#: The most values that one finding names.
_MOST_CHANGED = 3


def _volatile(seen: AnsweredOperation) -> Iterator[Finding]:
    """Examine the pointers, which an item may lack, and what no pointer names."""
    for n, pointer in enumerate(seen.binding.item.volatile or ()):
        probe = PointerProbe(
            feature="volatile", below=(n,), at=(pointer,), fits=lambda _: True, spelling_only=True
        )
        yield from (finding for finding in compare(seen, probe) if finding.hint)
    again = (each for each in seen.answers if each.call.variation == AGAIN)
    for answer in again:
        before = _before(seen, answer)
        if changed := _changed(before, answer) if before else ():
            pointers = ", ".join(changed[:_MOST_CHANGED])
            expected = "the same values in two answers to the same call"
            hint = f"if they change by themselves, add {pointers}"
            yield seen.doubt("volatile", expected, f"other values at {pointers}", hint)


def _before(seen: AnsweredOperation, again: SeenAnswer) -> SeenAnswer | None:
    """Return the last ordinary answer to the same call; after it, nothing was consented to."""
    record, call = seen.record, again.call
    granted = [each.n for each in record.grants if each.subject == again.subject]
    former = [
        each
        for each in seen.answers
        if each.subject == again.subject
        and each.ordinary
        and each.call.arguments == call.arguments
        and max(granted, default=-1) < each.n < again.n
    ]
    return max(former, key=lambda each: each.n, default=None)


def _changed(before: SeenAnswer, after: SeenAnswer) -> tuple[str, ...]:
    """Return the pointers at what differs in the items of two answers, except what is volatile.

    A value that has a meaning for the contract does not change by itself, nor does the order of
    the items or their number: that is for the rules to judge.
    """
    old, new = _by_key(before), _by_key(after)
    known = (*_bound(before.binding.item), *(before.binding.item.volatile or ()))
    pointers = (
        pointer
        for key in old.keys() & new.keys()
        for pointer in _different(old[key], new[key])
        if not any(f"{pointer}/".startswith(f"{each}/") for each in known)
    )
    return tuple(sorted({*pointers}))


def _by_key(answer: SeenAnswer) -> Mapping[str, Json]:
    """Return the items as they were sent, by their keys, or by their fields where they have none.

    Of several that cannot be told apart, none: they may come in any order.
    """
    named = [
        (item.key or repr((item.on, sorted(item.fields.items()))), dict(shown))
        for shown, item in paired(answer)
    ]
    number = Counter(name for name, _ in named)
    return {name: shown for name, shown in named if number[name] == 1}


def _bound(item: ItemBinding) -> Iterator[str]:
    """Yield the pointers at what has a meaning for the contract."""
    yield from (*item.key, *item.on, *filter(None, (item.id,)))
    yield from (pointer for each in item.fields.values() for pointer in each.at)
    if item.resource:
        yield item.resource.at
    if item.state:
        yield from item.state.at


def _different(old: Json, new: Json) -> Iterator[str]:
    """Yield the pointers at the values that differ, or that one of two items lacks."""
    for pointer in dict.fromkeys(at for item in (old, new) for at, _ in members(item)):
        mine, others = find(old, pointer), find(new, pointer)
        inside = isinstance(mine, dict) and isinstance(others, dict)
        if isinstance(mine, list) and isinstance(others, list):
            inside = len(mine) == len(others)
        above = find(old, pointer.rpartition("/")[0]), find(new, pointer.rpartition("/")[0])
        if not inside and MISSING not in above and not same(mine, others):
            yield pointer


# -- All pointers of an operation

#: The examination of each feature that is a pointer; lists and items first.
POINTERS: Final[Mapping[str, Callable[[AnsweredOperation], Iterator[Finding]]]] = {
    "list": _list,
    "one": _one,
    "key": items.key,
    "id": items.bank_id,
    "on": items.date,
    "resource": items.resource,
    "state": items.state,
    "volatile": _volatile,
    "field": items.fields,
    "approval": _approval,
    "links": _links,
    "value": _values,
    "output": _outputs,
}


def examine(record: Examined) -> Iterator[Finding]:
    """Examine the pointers of each operation, in the order of the contracts."""
    for operation in record.operations:
        if operation.available:
            answers = [each for each in record.of(operation.id) if _readable(each)]
            yield from _answered(record, operation, [each for each in answers if not each.part])
            yield from _answered(record, operation, [each for each in answers if each.part])
    yield from error_pointers(record)
    yield from _not_submitted(record)
    for operation in record.operations:
        answers = [each for each in record.submissions if each.operation is operation]
        yield from _answered(record, operation, [each for each in answers if _readable(each)])


def _not_submitted(record: Examined) -> Iterator[Finding]:
    """Report a submission that no probe has come to."""
    for operation in record.submitting:
        if not any(answer.operation is operation for answer in record.submissions):
            place = ("operations", operation.id, SUBMISSION)
            found = "no request was signed, so none was submitted"
            yield record.finding(place, "", found, weight=Weight.UNSEEN)


def _answered(
    record: Examined, operation: Operation, answers: Sequence[SeenAnswer]
) -> Iterator[Finding]:
    """Examine the pointers into answers that have one binding, if there are any."""
    if answers:
        seen = AnsweredOperation(record=record, operation=operation, answers=answers)
        yield from _pointers(seen) if seen.bodies else _unreadable(seen)
        yield from _headers(seen)


def _readable(answer: SeenAnswer) -> bool:
    """Whether an answer is successful by HTTP and no outcome says otherwise."""
    undecided = isinstance(answer.outcome, Indeterminate)
    return answer.good and (undecided or answer.accepted)


def _pointers(seen: AnsweredOperation) -> Iterator[Finding]:
    """Examine every feature; pointers into items only where the items are in their place."""
    has_items = bool(seen.items)
    for feature, examine_feature in POINTERS.items():
        if has_items or "item" not in BINDING_FEATURES[feature].section:
            findings = tuple(examine_feature(seen))
            if findings and feature in {"list", "one"}:
                has_items = False
            yield from findings


def _unreadable(seen: AnsweredOperation) -> Iterator[Finding]:
    """Report that no answer has a body that can be read, although the file points into it."""
    expects = seen.binding.list or seen.binding.one is not None
    if not expects or all(answer.status == _NO_CONTENT for answer in seen.answers):
        return
    found = seen.answers[0].wire.media_type or "an empty body"
    place: Pointer = ("base_url",)
    weight = Weight.DOUBT
    if found.endswith("json"):
        # JSON that cannot be read is no mistake of the file.
        place, weight = ("operations", seen.operation.id), Weight.UNSEEN
        found = f"{found} that cannot be read"
    yield seen.record.finding(place, "an answer in JSON", found, weight=weight)
