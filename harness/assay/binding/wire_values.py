"""Values as they are sent: the bank's own ids, words, shapes and formats.

Also fills in the placeholders of headers and templates for each request. Nothing is sent.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import date, timedelta
from typing import Any, cast

from assay.binding.target import Spelling
from assay.contract.model import Json


@dataclass(frozen=True, slots=True, kw_only=True)
class RequestValues:
    """What belongs to one request and to no other.

    `now` is the moment (ISO 8601), `unique` is never the same twice, and `alike` is the
    same for requests that ask for the same. `ids` are the target's own names, and
    `resources` what kind of thing it is, by key.
    """

    now: str = ""
    unique: str = ""
    alike: str = ""
    ids: Mapping[str, str] = field(default_factory=dict[str, str])
    resources: Mapping[str, str] = field(default_factory=dict[str, str])


def filled(value: Json, made: RequestValues) -> Json:
    """Return a copy of a value in whose texts `{now}`, `{unique}` and `{alike}` are filled in."""
    if isinstance(value, str):
        for name in ("now", "unique", "alike"):
            value = value.replace(f"{{{name}}}", getattr(made, name))
        return value
    if isinstance(value, Mapping):
        named = cast("Mapping[str, Json]", value)
        return {name: filled(one, made) for name, one in named.items()}
    if isinstance(value, list | tuple):
        return [filled(one, made) for one in cast("list[Json]", value)]
    return value


def sent(value: Json, spelling: Spelling | None, made: RequestValues) -> Json:
    """Return what is sent for a value, or for each of a list of them."""
    if spelling is None:
        return value
    if isinstance(value, list | tuple):
        return [_one(one, spelling, made) for one in cast("list[Json]", value)]
    return _one(value, spelling, made)


def _one(value: Json, spelling: Spelling, made: RequestValues) -> Json:
    key = value if isinstance(value, str) else ""
    if spelling.found is not None:
        value = made.ids.get(key, value)
    value = spelling.words.get(str(value), value)
    if spelling.exclusive:
        value = _day_after(value)
    if spelling.each:
        shape = spelling.each.get(made.resources.get(key, ""), spelling.each.get(""))
        # What nobody owns still has to look like something.
        value = _shaped(shape or next(iter(spelling.each.values())), value)
    return value if spelling.text == "{}" else spelling.text.replace("{}", str(value))


def _day_after(value: Json) -> Json:
    try:
        return (date.fromisoformat(str(value)) + timedelta(days=1)).isoformat()
    except (ValueError, OverflowError):
        return value  # a date that is none stays what it is


def _shaped(shape: Any, value: Json) -> Json:
    """Return a copy of a shape with the value where `{}` stands."""
    if isinstance(shape, Mapping):
        named = cast("Mapping[str, Any]", shape)
        return {name: _shaped(one, value) for name, one in named.items()}
    if isinstance(shape, list):
        listed: list[Any] = shape
        return [_shaped(one, value) for one in listed]
    return value if shape == "{}" else shape
