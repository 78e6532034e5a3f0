"""The pointers into one item: its date, kind, state and fields, against real items.

More is known than names: what the customer owns, what was asked for, what a contract
allows a field to be. A pointer that finds something else is told by that.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from decimal import Decimal, InvalidOperation
from typing import cast

from assay.doctor import keys
from assay.doctor.finding import Finding, Weight, at
from assay.doctor.keys import things_of
from assay.doctor.looking import Look, look, mean, values
from assay.doctor.patient import Answer, Patient
from assay.doctor.suggest import is_day, is_text, kind, nearest
from assay.files.document import Pointer
from assay.model import Contract, Json, Operation
from assay.target.binding import FieldAt
from assay.target.decode import same

__all__ = ["examine"]


def examine(patient: Patient, operation: Operation, good: list[Answer]) -> Iterator[Finding]:
    """Match what the profile says of an operation's items."""
    things = [thing for one in good for thing in one.things]
    if not things:
        return
    item, key = good[0].binding.item, ("operations", operation.id, "item")
    yield from keys.examine(patient, operation, item, good)
    if item.on:
        on = Look(key=(*key, "on"), at=item.on, what="a date", fits=is_day, named=False)
        yield from _maybe(look(patient.profile, on, things))
    if item.id is not None:
        own = Look(key=(*key, "id"), at=(item.id,), what="the bank's own name", fits=is_text)
        yield from _maybe(look(patient.profile, own, things))
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
    patient: Patient,
    key: Pointer,
    pointers: tuple[str, ...],
    known: dict[str, tuple[Json, ...]],
    things: Sequence[Json],
) -> Iterator[Finding]:
    """Match the words by which a bank says what something is, or where it stands."""
    profile = patient.profile
    every = [word for words in known.values() for word in words if not isinstance(word, tuple)]
    paired = any(isinstance(word, tuple) for words in known.values() for word in words)

    def fits(value: Json) -> bool:
        return any(same(value, word) for word in every)

    shown = values(things, pointers)
    one = Look(
        key=(*key, "at"),
        at=pointers,
        what="one of the words under values",
        fits=fits if every else is_text,
        named=False,
    )
    hint = mean(things, one)
    if not shown:
        yield from _maybe(look(profile, one, things))
        return
    strange = [value for value in shown if not fits(value)]
    if len(strange) == len(shown) and hint and not paired:
        yield at(profile, one.key, one.what, f"another word at {pointers[0]}", hint)
        return
    for value in () if paired else _apart(strange):
        word = str(value) if isinstance(value, str | int) else kind(value)
        meant = nearest(word, (str(one) for one in every))
        where = next((name for name, words in known.items() if meant in map(str, words)), None)
        place = (*key, "values", where) if where else (*key, "values")
        said = patient.redactor.bounded(word, 40)
        yield at(profile, place, "a word that the profile knows", repr(said), f"add {said!r}")


def _apart(shown: Sequence[Json]) -> list[Json]:
    """Return the values that differ, a few at the most."""
    return list({str(one): one for one in shown}.values())[:5]


def _field(
    patient: Patient, operation: Operation, name: str, where: FieldAt, good: list[Answer]
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
    one = Look(
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
        yield at(patient.profile, place, one.what, found, hint, weight=weight)


def is_plain(value: Json) -> bool:
    """Whether it is a text, a number, or true or false."""
    return not isinstance(value, dict | list) and value is not None


def _sent(patient: Patient, operation: Operation, name: str) -> tuple[str, ...] | None:
    """Return the argument from which a field of a request has its value."""
    for one in patient.operations:
        if one.makes and one.makes == operation.request and name in one.arguments:
            return ("operations", one.id, "arguments", name)
    return None


def _asked(patient: Patient, operation: Operation, name: str) -> list[Json]:
    """Return what accepted calls asked a field of a request to be."""
    return [
        one.exchange.call.arguments[name]
        for each in patient.operations
        if operation.request in (each.makes, each.changes)
        for one in patient.plain(each.id)
        if name in one.exchange.call.arguments and one.exchange.accepted
    ]


def _fits(patient: Patient, operation: Operation, name: str) -> Callable[[Json], bool] | None:
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


def _contract(patient: Patient, operation: Operation) -> Contract:
    return next(one for one in patient.contracts_bound if operation.id in one.operations)


def alike(value: Json, sent: Json) -> bool:
    """Whether a value that is shown may be one that was sent."""
    if same(value, sent) or str(value) == str(sent):
        return True
    try:
        return Decimal(str(value)) == Decimal(str(sent))
    except InvalidOperation:
        return str(value)[:10] == str(sent)[:10] and is_day(sent)
