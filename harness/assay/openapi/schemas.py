"""JSON Schemas as plain values: nested by JSON pointers, and combined.

Nothing here knows a contract or a target. A schema is a `dict` that is never changed after it
was made, so that schemas can share parts.
"""

from __future__ import annotations

import json
from collections.abc import Collection, Iterable, Mapping
from dataclasses import replace
from decimal import Decimal
from itertools import zip_longest
from typing import Any, Final, TypeAlias, cast

from assay.binding.model.pointer import ElementPointer, find, rebuilt, steps, texts
from assay.binding.model.spelling import Spelling
from assay.binding.wire.values import RequestValues, sent
from assay.contract.model import Json

#: A JSON Schema, or another part of a document: what JSON calls an object.
Schema: TypeAlias = dict[str, Any]

#: Lists that are sets: combined, they are united.
_SETS = frozenset({"required", "examples"})
#: Keywords with schemas by name.
_BY_NAME = frozenset({"properties"})
#: Higher indexes of a pointer are described as members of an object only.
_FURTHEST = 100


def in_request(
    pointer: str, schema: Schema, *, within: Json = None, required: bool = False
) -> Schema:
    """Return the schema of a request body that has a schema at a pointer.

    Every step on the way is an object, because `binding.pointer.put` creates objects; except for
    a number that leads into a list of the template that the body is made of (`within`).
    """
    in_lists: list[bool] = []
    here: Any = within
    for step in steps(pointer):
        in_lists.append(isinstance(here, list) and step.isdecimal())
        here = find(here, "/" + escaped(step))
    for step, in_list in reversed([*zip(steps(pointer), in_lists, strict=True)]):
        if in_list:
            schema = {"type": "array", **_at_place(int(step), schema)}
            schema |= {"minItems": int(step) + 1} if required else {}
        else:
            schema = {"type": "object", "properties": {step: schema}}
            schema |= {"required": [step]} if required else {}
    return schema


def in_response(pointer: str, schema: Schema, *, required: bool = False) -> Schema:
    """Return the schema of a response body in which a pointer finds a schema.

    A step that is a number leads into lists, too. If the value is not required, other values
    on the way are allowed. Of an element with a condition, each that meets it has the schema.
    """
    if isinstance(pointer, ElementPointer):
        meant = [
            in_response(at, {"const": ready(v)}, required=True) for at, v in pointer.where.items()
        ]
        element = {
            "if": all_of(*meant),
            "then": in_response(pointer.inner, schema, required=required),
        }
        return in_response(pointer.element, {"items": element}, required=required)
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
    out |= _at_place(place, schema)
    if required:
        there = ({"type": "object", "required": [step]}, {"type": "array", "minItems": place + 1})
        out["anyOf"] = list(there)
    return out


def _at_place(place: int, schema: Schema) -> Schema:
    return {"prefixItems": [*({} for _ in range(place)), schema], "items": {}}


def escaped(step: str) -> str:
    """Return a step as it is written in a JSON pointer."""
    return step.replace("~", "~0").replace("/", "~1")


def all_of(*schemas: Schema) -> Schema:
    """Return the schema of values that fit all schemas, in one object as far as possible."""
    out: Schema = {}
    for schema in schemas:
        for key, value in schema.items():
            out = _with(out, key, value)
    return out


def _with(schema: Schema, key: str, value: Any) -> Schema:
    here = schema.get(key, value)
    if _text(here) == _text(value):
        return {**schema, key: value}
    if key in _BY_NAME:
        names = {
            **here,
            **{name: all_of(here.get(name, {}), schema) for name, schema in value.items()},
        }
        return {**schema, key: names}
    if key == "prefixItems":
        pairs = zip_longest(here, value, fillvalue=cast("Schema", {}))
        return {**schema, key: [all_of(one, other) for one, other in pairs]}
    if key == "allOf" or key in _SETS or (key.startswith("x-") and isinstance(here, list)):
        return {**schema, key: _once([*here, *value])}
    if key == "description":
        return {**schema, key: f"{here} {value}"}
    return _with(schema, "allOf", [{key: value}])


def any_of(schemas: Iterable[Schema]) -> Schema:
    """Return the schema of values that fit at least one of the schemas.

    A member of which all say the same stands beside them, so that a remark on it names the member.
    """
    different: list[Schema] = _once(schemas)
    if not different or {} in different:
        return {}
    if len(different) == 1:
        return different[0]
    first, *others = (each.get("properties", {}) for each in different)
    same = {
        name: schema
        for name, schema in first.items()
        if all(name in each and _text(each[name]) == _text(schema) for each in others)
    }
    if not same:
        return {"anyOf": different}
    rest = [
        {**each, "properties": {n: s for n, s in each["properties"].items() if n not in same}}
        for each in different
    ]
    return {"properties": same, "anyOf": rest}


def _once(values: Iterable[Any]) -> list[Any]:
    return list({_text(value): value for value in reversed(list(values))}.values())[::-1]


def _text(value: Any) -> str:
    """Return a text to compare JSON by: unlike in Python, `true` is not 1."""
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
            return {"type": "array", "items": {}}
        case Mapping():
            return {"type": "object"}
        case _:
            return {}


#: The schema that excludes the empty value of each type.
_FILLED: Mapping[str, Schema] = {
    "string": {"minLength": 1},
    "array": {"minItems": 1},
    "object": {"minProperties": 1},
}


def filled(schema: Schema) -> Schema:
    """Return the schema without null and empty values."""
    kind = schema.get("type")
    if not isinstance(kind, str):
        return all_of(schema, {"not": {"enum": [None, ""]}})
    return all_of(schema, _FILLED.get(kind, {}))


def unique(name: str, taken: Collection[str]) -> str:
    """Return a name that is not taken, with a number if needed."""
    names = (name, *(f"{name}.{n}" for n in range(2, len(taken) + 3)))
    return next(name for name in names if name not in taken)


def ready(value: Json) -> Any:
    """Return a value of a contract or target file in the types that any JSON library writes."""
    return rebuilt(value, _number)


def _number(value: Json) -> Json:
    if not isinstance(value, Decimal):
        return value
    return int(value) if value == value.to_integral_value() else float(value)


# -- Schemas of values as a target sends them: with its own ids, words, shapes and formats ---------
# A clause says what the contract's value is. `binding.values.sent` makes of it what is sent, and
# here the schema of the one becomes the schema of the other. What a target's words mean for a
# schema is not known, except for the values that it names.

TEXT: Final[Schema] = {"type": "string"}


def sent_schema(schema: Schema, spelling: Spelling | None, *, required: bool = False) -> Schema:
    """Return the schema of what is sent for a value, or for each of a list of them.

    A value that is required has all that its shape has around it.
    """
    if spelling is None or spelling.is_literal:
        return schema
    if spelling.format:
        schema = {name: schema[name] for name in ("type", "items") if schema.get("type") == "array"}
    if schema.get("type") == "array" and "items" in schema:
        return {**schema, "items": sent_schema(schema["items"], spelling, required=True)}
    if "const" in schema:
        return _around(schema["const"], spelling, required=required)
    if "enum" in schema:
        return any_of(_around(value, spelling, required=required) for value in schema["enum"])
    if spelling.text != "{}":
        return TEXT
    if spelling.words or spelling.unit is not None:
        schema = {}
    if spelling.found is not None:
        schema = TEXT
    shapes = spelling.each.values()
    return any_of(_shaped(shape, schema, required) for shape in shapes) if shapes else schema


def sent_value(value: Json, spelling: Spelling) -> Any:
    """Return what is sent for a value that belongs to no customer, as JSON has it."""
    return ready(sent(value, spelling, RequestValues()))


def _around(value: Json, spelling: Spelling, *, required: bool) -> Schema:
    """Return the schema of a known value in the shape that it has here."""
    plain = replace(spelling, name="", found=None, each={}, text="{}")
    made: Schema = {"const": sent_value(value, plain)}
    if spelling.text != "{}":
        return {"const": sent_value(value, spelling)} if not spelling.each else TEXT
    shapes = spelling.each.values()
    return any_of(_shaped(shape, made, required) for shape in shapes) if shapes else made


def _shaped(shape: Json, schema: Schema, required: bool) -> Schema:
    """Return the schema of a shape with a schema where `{}` stands."""
    if shape == "{}":
        return schema
    if isinstance(shape, Mapping):
        members = cast("Mapping[str, Json]", shape)
        out: Schema = {
            "type": "object",
            "properties": {name: _shaped(it, schema, required) for name, it in members.items()},
        }
        names = [
            name
            for name, member in members.items()
            if any(text == "{}" for _, text in texts(member))
        ]
        return {**out, "required": names} if required and names else out
    if isinstance(shape, list | tuple):
        listed = [_shaped(it, schema, required) for it in cast("list[Json]", shape)]
        return {"type": "array", "items": any_of(listed)}
    return all_of(typed(shape))
