"""The pointers into one item: its date, kind, state and fields, against real items.

More is known than names: what the customer owns, what was asked for, what a contract
allows a field to be. A pointer that finds something else is told by that.

What an item is known by: there, and really its key.

What customers own is known, and so are their keys; what was made is named by links to it.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterator, Sequence
from decimal import Decimal, InvalidOperation
from typing import cast

from assay.binding.decode import same
from assay.binding.spelling import FieldAt, ItemBinding
from assay.contract.files.document import Pointer
from assay.contract.model import Contract, Json, Operation
from assay.doctor.context import DoctorContext, SeenAnswer
from assay.doctor.finding import Finding, Weight, at
from assay.doctor.pointer_probe import (
    PointerProbe,
    is_day,
    is_text,
    kind,
    look,
    mean,
    nearest,
    values,
)


def examine(
    patient: DoctorContext, operation: Operation, good: list[SeenAnswer]
) -> Iterator[Finding]:
    """Match what the profile says of an operation's items."""
    things = [thing for one in good for thing in one.things]
    if not things:
        return
    item, key = good[0].binding.item, ("operations", operation.id, "item")
    yield from examine_keys(patient, operation, item, good)
    if item.on:
        on = PointerProbe(key=(*key, "on"), at=item.on, what="a date", fits=is_day, named=False)
        yield from _maybe(look(patient.target, on, things))
    if item.id is not None:
        own = PointerProbe(
            key=(*key, "id"), at=(item.id,), what="the bank's own name", fits=is_text
        )
        yield from _maybe(look(patient.target, own, things))
    if item.resource:
        yield from _words(
            patient,
            (*key, "resource"),
            (item.resource.at,),
            {name: (word,) for name, word in item.resource.values.items()},
            things,
        )
    if item.state:
        known = {state.value: words for state, words in item.state.values.items()}
        yield from _words(patient, (*key, "state"), item.state.at, known, things)
    for name, where in item.fields.items():
        yield from _field(patient, operation, name, where, good)


def _maybe(finding: Finding | None) -> Iterator[Finding]:
    if finding:
        yield finding


def _words(
    patient: DoctorContext,
    key: Pointer,
    pointers: tuple[str, ...],
    known: dict[str, tuple[Json, ...]],
    things: Sequence[Json],
) -> Iterator[Finding]:
    """Match the words by which a bank says what something is, or where it stands."""
    target = patient.target
    every = [word for words in known.values() for word in words if not isinstance(word, tuple)]
    paired = any(isinstance(word, tuple) for words in known.values() for word in words)

    def fits(value: Json) -> bool:
        return any(same(value, word) for word in every)

    shown = values(things, pointers)
    one = PointerProbe(
        key=(*key, "at"),
        at=pointers,
        what="one of the words under values",
        fits=fits if every else is_text,
        named=False,
    )
    hint = mean(things, one)
    if not shown:
        yield from _maybe(look(target, one, things))
        return
    strange = [value for value in shown if not fits(value)]
    if len(strange) == len(shown) and hint and not paired:
        yield at(target, one.key, one.what, f"another word at {pointers[0]}", hint)
        return
    for value in () if paired else _apart(strange):
        word = str(value) if isinstance(value, str | int) else kind(value)
        meant = nearest(word, (str(one) for one in every))
        where = next((name for name, words in known.items() if meant in map(str, words)), None)
        place = (*key, "values", where) if where else (*key, "values")
        said = patient.redactor.bounded(word, 40)
        yield at(target, place, "a word that the profile knows", repr(said), f"add {said!r}")


def _apart(shown: Sequence[Json]) -> list[Json]:
    """Return the values that differ, a few at the most."""
    return list({str(one): one for one in shown}.values())[:5]


def _field(
    patient: DoctorContext, operation: Operation, name: str, where: FieldAt, good: list[SeenAnswer]
) -> Iterator[Finding]:
    """Match a field: it must be there, and hold what it can hold."""
    place: tuple[str, ...] = ("operations", operation.id, "item", "fields", name)
    if operation.request and not _asked(patient, operation, name):
        return
    fits = _fits(patient, operation, name)
    things = things_of(good)
    shown = [one for one in values(things, where.at) if one is not None]
    if shown and fits is None:
        return
    decoded = [
        item.fields[name] for one in good for item in one.exchange.items if name in item.fields
    ]
    if shown and fits and any(map(fits, decoded)):
        return
    one = PointerProbe(
        key=place,
        at=where.at,
        what=f"the field {name}",
        fits=fits or is_plain,
        named=fits is None,
        names=(name,),
    )
    hint = mean(things, one)
    if not shown and not hint and operation.request:
        place = _sent(patient, operation, name) or place
    if hint or not shown:
        found = f"something else at {where.at[0]}" if shown else f"nothing at {where.at[0]}"
        weight = Weight.FAULT if hint else Weight.DOUBT
        yield at(patient.target, place, one.what, found, hint, weight=weight)


def is_plain(value: Json) -> bool:
    """Whether it is a text, a number, or true or false."""
    return not isinstance(value, dict | list) and value is not None


def _sent(patient: DoctorContext, operation: Operation, name: str) -> tuple[str, ...] | None:
    """Return the argument from which a field of a request has its value."""
    for one in patient.operations:
        if one.makes and one.makes == operation.request and name in one.arguments:
            return ("operations", one.id, "arguments", name)
    return None


def _asked(patient: DoctorContext, operation: Operation, name: str) -> list[Json]:
    """Return what accepted calls asked a field of a request to be."""
    return [
        one.exchange.call.arguments[name]
        for each in patient.operations
        if operation.request in (each.makes, each.changes)
        for one in patient.plain(each.id)
        if name in one.exchange.call.arguments and one.exchange.accepted
    ]


def _fits(patient: DoctorContext, operation: Operation, name: str) -> Callable[[Json], bool] | None:
    """Return what tells whether a field is the right one, where anything does."""
    if operation.request:
        sent = _asked(patient, operation, name)
        return lambda value: any(alike(value, one) for one in sent)
    contract = _contract(patient, operation)
    keys = {contract.resources[one].key for one in contract.resources}
    if name in keys or name == operation.about:
        owned = {o.key for one in patient.subjects.values() for o in one.owns}
        return lambda value: isinstance(value, str) and value in owned
    allowed = [
        cast(
            "Sequence[Json]",
            [clause.params["const"]] if "const" in clause.params else clause.params["enum"],
        )
        for clause in contract.clauses
        if clause.kind == "field"
        and clause.params.get("field") == name
        and {"const", "enum"} & clause.params.keys()
    ]
    if not allowed:
        return None
    return lambda value: all(any(same(value, one) for one in each) for each in allowed)


def _contract(patient: DoctorContext, operation: Operation) -> Contract:
    return next(one for one in patient.contracts_bound if operation.id in one.operations)


def alike(value: Json, sent: Json) -> bool:
    """Whether a value that is shown may be one that was sent."""
    if same(value, sent) or str(value) == str(sent):
        return True
    try:
        return Decimal(str(value)) == Decimal(str(sent))
    except InvalidOperation:
        return str(value)[:10] == str(sent)[:10] and is_day(sent)


#: A shorter value is in many links by chance.
_TELLING = 4


def examine_keys(
    patient: DoctorContext, operation: Operation, item: ItemBinding, good: list[SeenAnswer]
) -> Iterator[Finding]:
    """Match the key: it must be there, and be what the thing is known by."""
    if not item.keyed or item.key_header:
        return
    place, things = ("operations", operation.id, "item", "key"), things_of(good)
    known = _known(patient, operation, item)
    one = PointerProbe(
        key=place,
        at=item.key,
        what="what an item is known by",
        fits=(lambda value: is_text(value) and value in known) if known else is_text,
        named=not known,
    )
    if operation.makes:
        yield from _made(patient, item, place, good)
        return
    found = look(patient.target, one, things)
    foreign = known and (found is None or not found.hint) and not operation.about
    if foreign and any(map(is_text, values(things, item.key))):
        yield from _nobodys(patient, place, good)
    elif found is not None and (known or not values(things, item.key)):
        yield found


def _nobodys(patient: DoctorContext, place: Pointer, good: list[SeenAnswer]) -> Iterator[Finding]:
    """Say whose list shows none of the things that are known to be his."""
    roles = {one.name for one in patient.target.fixtures.roles}
    shown: defaultdict[str, set[str]] = defaultdict(set)
    for one in good:
        who = f"{one.story} {one.exchange.call.subject}"
        shown[who] |= {item.key for item in one.exchange.items if item.key}
    for who, keys in shown.items():
        subject, role = patient.subjects.get(who), patient.played.get(who, "")
        if keys and subject and subject.owns and not keys & {one.key for one in subject.owns}:
            where: Pointer = ("fixtures", "roles", role, "owns") if role in roles else place
            expected = "keys of what the customer owns"
            weight = Weight.DOUBT
            yield at(patient.target, where, expected, "other ones in the list", weight=weight)


def _known(patient: DoctorContext, operation: Operation, item: ItemBinding) -> frozenset[Json]:
    """Return the keys of what the customers own, of which an operation should list some."""
    if operation.request:
        return frozenset()
    owned = [one for subject in patient.subjects.values() for one in subject.owns]
    if not operation.about:
        return frozenset(one.key for one in owned)
    return frozenset(entry.key for one in owned for entry in one.entries if item.on)


def _made(
    patient: DoctorContext, item: ItemBinding, place: Pointer, good: list[SeenAnswer]
) -> Iterator[Finding]:
    """Match the key of what was made: links to it end with it, and no two have the same."""
    things = things_of(good)
    found = [one for one in values(things, item.key) if is_text(one)]
    one = PointerProbe(key=place, at=item.key, what="what the request is known by", fits=is_text)
    if not found:
        missing = look(patient.target, one, things)
        if missing is not None:
            yield missing
        return
    alike = len(found) > 1 and len(set(map(str, found))) == 1
    linked = _linked(good[0], str(found[0]))
    if alike or not linked:
        own = PointerProbe(
            key=place,
            at=item.key,
            what=one.what,
            fits=lambda value: (
                is_text(value) and len(str(value)) >= _TELLING and _linked(good[0], str(value))
            ),
            named=False,
        )
        hint = mean(things, own)
        if hint or alike:
            what = "the same at every request" if alike else "what no link names"
            yield at(patient.target, place, one.what, what, hint)


def miskeyed(patient: DoctorContext, operation: Operation) -> bool:
    """Whether what an operation makes is known by something else than the profile says."""
    good = [one for one in patient.of(operation.id) if one.good]
    if not good or not good[0].binding.item.key:
        return False
    place = ("operations", operation.id, "item", "key")
    return any(True for _ in _made(patient, good[0].binding.item, place, good))


def _linked(answer: SeenAnswer, value: str) -> bool:
    """Whether a link of the answer, or its Location, ends with a value."""
    headers = answer.exchange.wire.headers
    links = [*answer.exchange.wire.links, *(v for k, v in headers if k.lower() == "location")]
    return any(one.partition("?")[0].rstrip("/").endswith(f"/{value}") for one in links)


def things_of(good: Sequence[SeenAnswer]) -> list[Json]:
    """Return every item of some answers, as it was sent."""
    return [thing for one in good for thing in one.things]
