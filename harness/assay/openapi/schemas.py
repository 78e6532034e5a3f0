"""JSON Schemas as plain values: put under a pointer, and laid over one another.

Nothing here knows a contract or a target. A schema is a `dict` that is never written to
after it was made, so parts can be shared.
"""

from __future__ import annotations

import json
from collections.abc import Collection, Iterable, Mapping
from decimal import Decimal
from typing import Any, TypeAlias, cast

from assay.binding.pointer import steps
from assay.contract.model import Json

#: A JSON Schema, or another part of a document: what JSON calls an object.
Schema: TypeAlias = dict[str, Any]

#: Lists that stand for sets: laid over one another they are joined.
_SETS = frozenset({"required", "examples"})
#: What holds schemas by name.
_BY_NAME = frozenset({"properties"})
#: Where a pointer goes further into a list than this, only an object is described.
_FURTHEST = 100


def within(pointer: str, schema: Schema, *, required: bool = False) -> Schema:
    """Return a schema of a document that is sent, by what stands at a pointer in it.

    Whatever lies on the way is an object, for that is what `target.pointer.put` makes.
    """
    for step in reversed(steps(pointer)):
        schema = {"type": "object", "properties": {step: schema}}
        if required:
            schema["required"] = [step]
    return schema


def found(pointer: str, schema: Schema, *, required: bool = False) -> Schema:
    """Return a schema of a document that comes back, by what a pointer finds in it.

    A step that is a number finds its way into lists, too. What need not be there says
    nothing about what else may stand in its place.
    """
    for step in reversed(steps(pointer)):
        schema = _listed(step, schema, required) if step.isdecimal() else _named(step, schema)
        if required and not step.isdecimal():
            schema |= {"type": "object", "required": [step]}
    return schema


def _named(step: str, schema: Schema) -> Schema:
    return {"properties": {step: schema}}


def _listed(step: str, schema: Schema, required: bool) -> Schema:
    out: Schema = _named(step, schema)
    place = int(step)
    if place > _FURTHEST:
        return out
    out["prefixItems"] = [*({} for _ in range(place)), schema]
    if required:
        there = ({"type": "object", "required": [step]}, {"type": "array", "minItems": place + 1})
        out["anyOf"] = list(there)
    return out


def over(*schemas: Schema) -> Schema:
    """Return the schema of what fits all of these, as one where they go together."""
    out: Schema = {}
    for schema in schemas:
        for key, value in schema.items():
            out = _with(out, key, value)
    return out


def _with(schema: Schema, key: str, value: Any) -> Schema:
    if key not in schema:
        return {**schema, key: value}
    here = schema[key]
    if _text(here) == _text(value):
        return schema
    if key in _BY_NAME:
        names = {**here, **{name: over(here.get(name, {}), one) for name, one in value.items()}}
        return {**schema, key: names}
    if key == "allOf" or key in _SETS or (key.startswith("x-") and isinstance(here, list)):
        return {**schema, key: _once([*here, *value])}
    if key == "description":
        return {**schema, key: f"{here} {value}"}
    return _with(schema, "allOf", [{key: value}])


def either(schemas: Iterable[Schema]) -> Schema:
    """Return the schema of what fits one of these at least."""
    different = _once(schemas)
    if not different or {} in different:
        return {}
    return different[0] if len(different) == 1 else {"anyOf": different}


def _once(values: Iterable[Any]) -> list[Any]:
    return list({_text(one): one for one in reversed(list(values))}.values())[::-1]


def _text(value: Any) -> str:
    """Return a text that is the same for the same JSON; `true` is not 1, as it is in Python."""
    return json.dumps(value, sort_keys=True)


def typed(value: Json) -> Schema:
    """Return the schema of the JSON type that a value has."""
    match value:
        case bool():
            return {"type": "boolean"}
        case int() | float() | Decimal():
            return {"type": "number"}
        case str():
            return {"type": "string"}
        case list() | tuple():
            return {"type": "array"}
        case Mapping():
            return {"type": "object"}
        case _:
            return {}


#: What an empty value of each type is, as a schema that excludes it.
_FILLED: Mapping[str, Schema] = {
    "string": {"minLength": 1},
    "array": {"minItems": 1},
    "object": {"minProperties": 1},
}


def filled(schema: Schema) -> Schema:
    """Return the schema without null and without what is empty."""
    kind = schema.get("type")
    if not isinstance(kind, str):
        return over(schema, {"not": {"enum": [None, ""]}})
    return over(schema, _FILLED.get(kind, {}))


def unique(name: str, taken: Collection[str]) -> str:
    """Return a name that is not taken: this one, or this one with a number."""
    names = (name, *(f"{name}.{n}" for n in range(2, len(taken) + 3)))
    return next(one for one in names if one not in taken)


def ready(value: Json) -> Any:
    """Return a value of a contract or target file as any JSON library can write it."""
    match value:
        case Decimal():
            return int(value) if value == value.to_integral_value() else float(value)
        case Mapping():
            named = cast("Mapping[str, Json]", value)
            return {str(name): ready(one) for name, one in named.items()}
        case list() | tuple():
            return [ready(one) for one in cast("list[Json]", value)]
        case _:
            return value
