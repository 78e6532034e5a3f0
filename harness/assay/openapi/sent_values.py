"""Schemas of values as a target sends them: with its own ids, words, shapes and formats.

A clause says what the contract's value is. `binding.values.sent` makes of it what is sent, and
here the schema of the one becomes the schema of the other. What a target's words mean for a
schema is not known, except for the values that it names.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any, Final, cast

from assay.binding.spelling import Spelling
from assay.binding.values import RequestValues, sent
from assay.contract.model import Json
from assay.openapi.schemas import Schema, all_of, any_of, ready, typed

TEXT: Final[Schema] = {"type": "string"}


def sent_schema(schema: Schema, spelling: Spelling | None, *, required: bool = False) -> Schema:
    """Return the schema of what is sent for a value, or for each of a list of them.

    A value that is required has all that its shape has around it.
    """
    if spelling is None or not _changes(spelling):
        return schema
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


def _changes(spelling: Spelling) -> bool:
    """Whether a target sends anything but the contract's value."""
    changed = spelling.found is not None or spelling.words or spelling.exclusive or spelling.unit
    return bool(changed or spelling.each or spelling.text != "{}")


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
        names = [name for name, member in members.items() if _has_slot(member)]
        return {**out, "required": names} if required and names else out
    if isinstance(shape, list | tuple):
        listed = [_shaped(it, schema, required) for it in cast("list[Json]", shape)]
        return {"type": "array", "items": any_of(listed)}
    return all_of(typed(shape))


def _has_slot(shape: Json) -> bool:
    if isinstance(shape, Mapping):
        return any(map(_has_slot, cast("Mapping[str, Json]", shape).values()))
    if isinstance(shape, list | tuple):
        return any(map(_has_slot, cast("list[Json]", shape)))
    return shape == "{}"
