"""What is sent: the parameters and the body of a call, as the target spells them.

Arguments and modes come from the contract, their places from the target file. What type
an argument has is known by the target's own value for it, and by what it stands for: a
day, a key. It must be there only where a clause says so, or where the call would be
about nothing without it.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import cast

from assay.binding.spelling import SLOT
from assay.binding.target import Place, Spelling
from assay.contract.model import Json
from assay.openapi.bound_operation import BoundOperation
from assay.openapi.schemas import Schema, filled, over, ready, typed, within

_TEXT: Schema = {"type": "string"}
_DAY: Schema = {"type": "string", "format": "date"}


def parameters(use: BoundOperation, path: str) -> list[Schema]:
    """Return the parameters of a call under one of its paths, each once."""
    out: dict[tuple[str, str], Schema] = {}
    for one in _parameters(use, path):
        name = one["name"].lower() if one["in"] == "header" else one["name"]
        here = out.setdefault((one["in"], name), one)
        if here is not one:
            both = {"required": here["required"] or one["required"]}
            says = f"{here['description']} {one['description']}"
            schema = over(here["schema"], one["schema"])
            out[one["in"], name] = {**here, **both, "description": says, "schema": schema}
    return list(out.values())


def _parameters(use: BoundOperation, path: str) -> Iterator[Schema]:
    slots = dict.fromkeys(SLOT.findall(path))
    for argument in use.arguments:
        spelling = _spelling(use, argument, path)
        if spelling is None or spelling.place is Place.BODY:
            continue
        if spelling.place is Place.PATH:
            if spelling.name not in slots:
                continue
            del slots[spelling.name]
        yield _parameter(
            spelling,
            _argument(use, argument),
            required=spelling.place is Place.PATH or _required(use, argument),
            says=f"The contract's argument {argument}.",
        )
    for slot in slots:
        unknown = Spelling(place=Place.PATH, name=slot)
        yield _parameter(unknown, _TEXT, required=True, says="The target file does not say.")
    yield from _modes(use)
    if use.target.presence:
        presence = use.target.presence
        spelling = Spelling(place=Place.HEADER, name=presence.header)
        schema = over(_TEXT, {"examples": [presence.value]})
        says = (
            "Says that the customer is there; a call without it is made in the customer's absence."
        )
        yield _parameter(spelling, schema, required=False, says=says)


def _parameter(spelling: Spelling, schema: Schema, *, required: bool, says: str) -> Schema:
    if spelling.place is Place.PATH:
        schema = over(schema, {"minLength": 1})
    return {
        "name": spelling.name,
        "in": spelling.place.value,
        "required": required,
        "description": says,
        "schema": schema,
    }


def _modes(use: BoundOperation) -> Iterator[Schema]:
    """Yield the parameters that tell modes apart."""
    places: dict[tuple[str, str], list[str]] = {}
    for mode in use.operation.modes:
        spelling = use.binding.modes.get(mode)
        if spelling and spelling.place in {Place.QUERY, Place.HEADER} and mode not in use.barred:
            places.setdefault((spelling.place.value, spelling.name), []).append(mode)
    for (place, name), modes in places.items():
        values = [ready(use.binding.modes[mode].value) for mode in modes]
        yield _parameter(
            Spelling(place=Place(place), name=name),
            {"enum": values},
            required=False,
            says="Says in which mode it is asked.",
        )


def body(use: BoundOperation, path: str) -> Schema | None:
    """Return the schema of the body of a call under one of its paths; None without one."""
    parts: list[Schema] = []
    for argument in use.arguments:
        spelling = _spelling(use, argument, path)
        if spelling is not None and spelling.place is Place.BODY:
            schema = _argument(use, argument)
            parts.append(within(spelling.name, schema, required=_required(use, argument)))
    parts += _modes_in_body(use)
    if not parts and use.method not in {"post", "put", "patch"}:
        return None
    return over({"type": "object"}, *parts)


def _modes_in_body(use: BoundOperation) -> Iterator[Schema]:
    """Yield what may stand where modes are told apart, and what must not stand there."""
    served: dict[str, list[Json]] = {}
    for mode, spelling in _spelt_in_body(use):
        if mode not in use.barred and spelling.name:
            served.setdefault(spelling.name, []).append(ready(spelling.value))
    for pointer, values in served.items():
        yield within(pointer, {"enum": values})
    for mode, spelling in _spelt_in_body(use):
        members = _members(spelling) if mode in use.barred else {}
        own = [one for one in members.items() if one[1] not in served.get(one[0], ())]
        # Of two members it could be either that is not right; and generators of other
        # tools cannot do with a list or an object that is excluded whole.
        if len(own) == 1 and not isinstance(own[0][1], list | dict):
            ((pointer, value),) = own
            excluded = {"not": {"const": value}, "x-assay-from": [use.barred[mode].clause]}
            yield within(pointer, excluded)


def _spelt_in_body(use: BoundOperation) -> Iterator[tuple[str, Spelling]]:
    for mode in use.operation.modes:
        spelling = use.binding.modes.get(mode)
        if spelling is not None and spelling.place is Place.BODY:
            yield mode, spelling


def _members(spelling: Spelling) -> Mapping[str, Json]:
    """Return what stands where in a body in which a mode is spelt."""
    value = ready(spelling.value)
    if spelling.name or not isinstance(value, dict):
        return {spelling.name: value} if spelling.name else {}
    named = cast("dict[str, Json]", value)
    return {"/" + one.replace("~", "~0").replace("/", "~1"): it for one, it in named.items()}


def _spelling(use: BoundOperation, argument: str, path: str) -> Spelling | None:
    """Return where an argument goes under a path: into its slot there, before all else."""
    if argument in SLOT.findall(path):
        return Spelling(place=Place.PATH, name=argument)
    return use.binding.arguments.get(argument)


def place(use: BoundOperation, argument: str) -> Spelling | None:
    """Return where an argument goes under the first of an operation's paths."""
    return _spelling(use, argument, use.paths[0])


def _required(use: BoundOperation, argument: str) -> bool:
    """Whether a call without an argument is no call, or one that a clause refuses."""
    one = use.operation
    if argument in {one.about, one.grants} or one.ends:
        return True
    return any(piece.mandatory for piece in use.asked(argument))


def _argument(use: BoundOperation, argument: str) -> Schema:
    """Return the schema of an argument, wherever it stands."""
    spelling = use.binding.arguments.get(argument)
    said = list(use.asked(argument))
    schema = over(_meant(use, argument, spelling), *(piece.schema for piece in said))
    if any(piece.mandatory for piece in said):
        schema = filled(schema)
    if spelling is not None and spelling.place is not Place.BODY:
        schema = over(schema, {} if "type" in schema or "anyOf" in schema else _TEXT)
    given = [spelling.value, spelling.other] if spelling else []
    examples = [ready(value) for value in given if value is not None]
    schema = over(schema, {"x-assay-arguments": [argument]})
    if examples and "const" not in schema:
        schema = over(schema, {"examples": examples})
    if said:
        schema = over(schema, {"x-assay-from": list(dict.fromkeys(one.clause for one in said))})
    return schema


def _meant(use: BoundOperation, argument: str, spelling: Spelling | None) -> Schema:
    """Return what an argument is by its part in the call, or by the target's own value."""
    one = use.operation
    value = None
    if spelling is not None:
        value = spelling.value if spelling.value is not None else spelling.other
    if argument == one.grants:
        return {"type": "array", "items": use.key()}
    if argument in use.days:
        return _DAY
    if argument == one.about and one.request:
        return _TEXT
    if argument in {one.about, one.owned}:
        return use.key()
    if one.ends and value is not None:
        return {"const": ready(value)}
    return typed(value)
