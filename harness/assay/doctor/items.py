"""Checks of the pointers into one item: key, date, resource, state and fields.

More than names is known: what the customer owns, what a request was sent with, which values
a contract allows in a field. A pointer that finds another value is recognised by that. The
keys of what customers own are known, and links to a created request end with its key.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from decimal import Decimal, InvalidOperation

from assay.binding.decode import same
from assay.binding.spelling import FieldAt, ItemBinding
from assay.contract.files.document import Pointer
from assay.contract.model import Contract, Json, Operation
from assay.doctor.context import DoctorContext, SeenAnswer
from assay.doctor.finding import Finding, Weight, at
from assay.doctor.pointer_probe import (
    Fits,
    PointerProbe,
    compare,
    correction,
    is_day,
    is_text,
    kind,
    nearest,
    values,
)
from assay.rules.clauses import clauses_of

#: How many different words of a bank are reported for one key.
_MOST_WORDS = 5
#: A shorter value may be part of a link by chance.
_DISTINCTIVE = 4


def examine(
    context: DoctorContext, operation: Operation, good: list[SeenAnswer]
) -> Iterator[Finding]:
    """Examine what the target file says of an operation's items."""
    items = raw_items(good)
    if not items:
        return
    target, binding = context.target, good[0].binding.item
    place = ("operations", operation.id, "item")
    yield from _key(context, operation, binding, good)
    if binding.on:
        probe = PointerProbe(
            key=(*place, "on"), at=binding.on, what="a date", fits=is_day, named=False
        )
        yield from compare(target, probe, items)
    if binding.id is not None:
        own = "the bank's own name of the item"
        probe = PointerProbe(key=(*place, "id"), at=(binding.id,), what=own, fits=is_text)
        yield from compare(target, probe, items)
    if binding.resource:
        kinds = {name: (word,) for name, word in binding.resource.values.items()}
        yield from _words(context, (*place, "resource"), (binding.resource.at,), kinds, items)
    if binding.state:
        states = {state.value: words for state, words in binding.state.values.items()}
        yield from _words(context, (*place, "state"), binding.state.at, states, items)
    for name, where in binding.fields.items():
        yield from _field(context, operation, name, where, good)


def raw_items(good: Sequence[SeenAnswer]) -> list[Json]:
    """Return every item of some answers, as it was sent."""
    return [item for answer in good for item in answer.raw_items]


# -- Words for resources and states


def _words(
    context: DoctorContext,
    place: Pointer,
    pointers: tuple[str, ...],
    known: Mapping[str, tuple[Json, ...]],
    items: Sequence[Json],
) -> Iterator[Finding]:
    """Examine the words by which a bank says what an item is, or which state it has."""
    target = context.target
    single = [word for words in known.values() for word in words if not isinstance(word, tuple)]
    paired = any(isinstance(word, tuple) for words in known.values() for word in words)

    def fits(value: Json) -> bool:
        return any(same(value, word) for word in single)

    probe = PointerProbe(
        key=(*place, "at"),
        at=pointers,
        what="one of the words under `values`",
        fits=fits if single else is_text,
        named=False,
    )
    shown = values(items, pointers)
    if not shown:
        yield from compare(target, probe, items)
        return
    if paired:
        return  # words that only mean something together cannot be examined one by one
    unknown = [value for value in shown if not fits(value)]
    hint = correction(items, probe) if len(unknown) == len(shown) else ""
    if hint:
        yield at(target, probe.key, probe.what, f"another word at {pointers[0]}", hint)
        return
    different = list({str(value): value for value in unknown}.values())
    for value in different[:_MOST_WORDS]:
        yield _unknown_word(context, (*place, "values"), known, value)


def _unknown_word(
    context: DoctorContext, place: Pointer, known: Mapping[str, tuple[Json, ...]], value: Json
) -> Finding:
    """Report a word that is missing, at the entry with a similar one if there is any."""
    word = str(value) if isinstance(value, str | int) else kind(value)
    similar = nearest(word, (str(one) for words in known.values() for one in words))
    entry = next((name for name, words in known.items() if similar in map(str, words)), None)
    masked = context.redactor.bounded(word, 40)
    where = (*place, entry) if entry else place
    expected = "a word listed in the target file"
    return at(context.target, where, expected, repr(masked), f"add {masked!r}")


# -- Fields


def _field(
    context: DoctorContext, operation: Operation, name: str, where: FieldAt, good: list[SeenAnswer]
) -> Iterator[Finding]:
    """Examine a field: it must exist and hold a value that it can have."""
    if operation.request and not _sent_values(context, operation, name):
        return
    fits = _field_fits(context, operation, name)
    items = raw_items(good)
    shown = [value for value in values(items, where.at) if value is not None]
    if shown and (fits is None or any(map(fits, _decoded(good, name)))):
        return
    probe = PointerProbe(
        key=("operations", operation.id, "item", "fields", name),
        at=where.at,
        what=f"the field {name}",
        fits=fits or is_plain,
        named=fits is None,
        names=(name,),
    )
    hint = correction(items, probe)
    if shown and not hint:
        return
    place = probe.key
    if not shown and not hint and operation.request:
        place = _argument_of(context, operation, name) or place
    found = f"another value at {where.at[0]}" if shown else f"nothing at {where.at[0]}"
    weight = Weight.FAULT if hint else Weight.DOUBT
    yield at(context.target, place, probe.what, found, hint, weight=weight)


def _decoded(good: Sequence[SeenAnswer], name: str) -> list[Json]:
    """Return a field of every item as decoded."""
    items = (item for answer in good for item in answer.exchange.items)
    return [item.fields[name] for item in items if name in item.fields]


def is_plain(value: Json) -> bool:
    """Whether it is a text, a number, or true or false."""
    return not isinstance(value, dict | list) and value is not None


def _argument_of(context: DoctorContext, operation: Operation, name: str) -> Pointer | None:
    """Return the place of the argument from which a field of a request has its value."""
    for one in context.operations:
        if one.makes and one.makes == operation.request and name in one.arguments:
            return ("operations", one.id, "arguments", name)
    return None


def _sent_values(context: DoctorContext, operation: Operation, name: str) -> list[Json]:
    """Return what accepted calls sent for a field of a request."""
    return [
        answer.exchange.call.arguments[name]
        for each in context.operations
        if operation.request in (each.makes, each.changes)
        for answer in context.plain(each.id)
        if name in answer.exchange.call.arguments and answer.exchange.accepted
    ]


def _field_fits(context: DoctorContext, operation: Operation, name: str) -> Fits | None:
    """Return what recognises the value of a field, if anything is known of it."""
    if operation.request:
        sent = _sent_values(context, operation, name)
        return lambda value: any(alike(value, one) for one in sent)
    contract = _contract(context, operation)
    keys = {resource.key for resource in contract.resources.values()}
    if name in keys or name == operation.about:
        owned = {one.key for subject in context.subjects.values() for one in subject.owns}
        return lambda value: isinstance(value, str) and value in owned
    allowed = _allowed_values(contract, name)
    if not allowed:
        return None
    return lambda value: all(any(same(value, one) for one in each) for each in allowed)


def _allowed_values(contract: Contract, name: str) -> list[Sequence[Json]]:
    """Return the values that each clause allows in a field."""
    every = (clause.allowed_values(name) for clause in clauses_of(contract))
    return [values for values in every if values is not None]


def _contract(context: DoctorContext, operation: Operation) -> Contract:
    return next(one for one in context.contracts_bound if operation.id in one.operations)


def alike(value: Json, sent: Json) -> bool:
    """Whether a value in an answer may be one that was sent."""
    if same(value, sent) or str(value) == str(sent):
        return True
    try:
        return Decimal(str(value)) == Decimal(str(sent))
    except InvalidOperation:
        return str(value)[:10] == str(sent)[:10] and is_day(sent)


# -- Keys


def _key(
    context: DoctorContext, operation: Operation, item: ItemBinding, good: list[SeenAnswer]
) -> Iterator[Finding]:
    """Examine the key: it must exist, and identify the item."""
    if not item.keyed or item.key_header:
        return
    place, items = ("operations", operation.id, "item", "key"), raw_items(good)
    if operation.makes:
        yield from _created_key(context, item, place, good)
        return
    known = _known_keys(context, operation, item)
    probe = PointerProbe(
        key=place,
        at=item.key,
        what="the key of an item",
        fits=(lambda value: is_text(value) and value in known) if known else is_text,
        named=not known,
    )
    finding = next(compare(context.target, probe, items), None)
    foreign = known and (finding is None or not finding.hint) and not operation.about
    if foreign and any(map(is_text, values(items, item.key))):
        yield from _foreign_keys(context, place, good)
    elif finding is not None and (known or not values(items, item.key)):
        yield finding


def _foreign_keys(
    context: DoctorContext, place: Pointer, good: list[SeenAnswer]
) -> Iterator[Finding]:
    """Report each customer whose list shows none of the items that the customer owns."""
    roles = {role.name for role in context.target.fixtures.roles}
    shown: defaultdict[str, set[str]] = defaultdict(set)
    for answer in good:
        subject_name = f"{answer.probe} {answer.exchange.call.subject}"
        shown[subject_name] |= {item.key for item in answer.exchange.items if item.key}
    for subject_name, keys in shown.items():
        subject, role = context.subjects.get(subject_name), context.role_of.get(subject_name, "")
        if keys and subject and subject.owns and not keys & {one.key for one in subject.owns}:
            where: Pointer = ("fixtures", "roles", role, "owns") if role in roles else place
            expected, found = "keys of items that the customer owns", "other keys in the list"
            yield at(context.target, where, expected, found, weight=Weight.DOUBT)


def _known_keys(context: DoctorContext, operation: Operation, item: ItemBinding) -> frozenset[Json]:
    """Return the keys of what the customers own, some of which an operation should list."""
    if operation.request:
        return frozenset()
    owned = [one for subject in context.subjects.values() for one in subject.owns]
    if not operation.about:
        return frozenset(one.key for one in owned)
    return frozenset(entry.key for one in owned for entry in one.entries if item.on)


def _created_key(
    context: DoctorContext, item: ItemBinding, place: Pointer, good: list[SeenAnswer]
) -> Iterator[Finding]:
    """Examine the key of a created request: links end with it, and no two are the same."""
    items, what = raw_items(good), "the key of the request"
    keys = [key for key in values(items, item.key) if is_text(key)]
    if not keys:
        probe = PointerProbe(key=place, at=item.key, what=what, fits=is_text)
        yield from compare(context.target, probe, items)
        return
    repeated = len(keys) > 1 and len(set(map(str, keys))) == 1
    if _linked(good[0], str(keys[0])) and not repeated:
        return

    def fits(value: Json) -> bool:
        return len(str(value)) >= _DISTINCTIVE and is_text(value) and _linked(good[0], str(value))

    probe = PointerProbe(key=place, at=item.key, what=what, fits=fits, named=False)
    hint = correction(items, probe)
    if hint or repeated:
        found = "the same value in every request" if repeated else "a value that is in no link"
        yield at(context.target, place, what, found, hint)


def has_wrong_key(context: DoctorContext, operation: Operation) -> bool:
    """Whether the target file has the wrong key for what an operation creates."""
    good = [answer for answer in context.of(operation.id) if answer.good]
    if not good or not good[0].binding.item.key:
        return False
    place = ("operations", operation.id, "item", "key")
    return any(True for _ in _created_key(context, good[0].binding.item, place, good))


def _linked(answer: SeenAnswer, value: str) -> bool:
    """Whether a link of the answer, or its Location, ends with a value."""
    headers = answer.exchange.wire.headers
    links = [*answer.exchange.wire.links, *(v for k, v in headers if k.lower() == "location")]
    return any(link.partition("?")[0].rstrip("/").endswith(f"/{value}") for link in links)
