"""Values of recorded requests in the words of the contract: the reverse of `binding.values`."""

from __future__ import annotations

import re
from collections.abc import Mapping
from datetime import date, timedelta
from typing import Any, cast

from assay.binding.pointer import MISSING, find
from assay.binding.spelling import Place, Spelling
from assay.binding.values import OFFSET, empty_shape, from_units
from assay.contract.model import Json
from assay.contract.scalars import same, word_of

#: Any offset from UTC.
_OFFSETS = "(?:Z|[+-][0-9]{2}:[0-9]{2})"


def decode_value(value: Json, spelling: Spelling, keys: Mapping[str, str]) -> Json:
    """Return a value, or a list of them, in the contract's words.

    `keys` are those of the target's own ids.
    """
    if spelling.each and value is not None and value == empty_shape(spelling):
        return ""
    if isinstance(value, list):
        return [_decode_single(item, spelling, keys) for item in cast("list[Json]", value)]
    return _decode_single(value, spelling, keys)


def _decode_single(value: Json, spelling: Spelling, keys: Mapping[str, str]) -> Json:
    if spelling.text != "{}":
        value = _strip_text(value, spelling.text)
    if spelling.each:
        contents = (_content_of(shape, value) for shape in spelling.each.values())
        value = next((content for content in contents if content is not MISSING), value)
    if spelling.unit is not None:
        value = from_units(value, spelling.unit)
    if spelling.exclusive:
        value = _day_before(value)
    value = next(
        (word_of(key) for key, bound in spelling.words.items() if same(bound, value)), value
    )
    if spelling.found is not None and isinstance(value, str):
        value = keys.get(value, value)
    return value


def _strip_text(value: Json, text: str) -> Json:
    """Return what a value has at the "{}" of a text; the whole value if the text does not match."""
    before, _, after = map(re.escape, text.partition("{}"))
    pattern = f"{before}(.*){after.replace(re.escape(OFFSET), _OFFSETS)}"
    found = re.fullmatch(pattern, value, re.DOTALL) if isinstance(value, str) else None
    return found[1] if found else value


def _day_before(value: Json) -> Json:
    try:
        return (date.fromisoformat(str(value)) - timedelta(days=1)).isoformat()
    except (ValueError, OverflowError):
        return value


def _content_of(shape: Any, value: Any) -> Json:
    """Return what a value has where its shape has "{}"; `MISSING` for another shape."""
    if shape == "{}":
        return cast("Json", value)
    if isinstance(shape, Mapping) and isinstance(value, Mapping):
        shapes = cast("Mapping[str, Any]", shape)
        members = cast("Mapping[str, Any]", value)
        if shapes.keys() != members.keys():
            return MISSING
        return _single_content([(inner, members[name]) for name, inner in shapes.items()])
    if isinstance(shape, list) and isinstance(value, list):
        items: list[Any] = value
        expected: list[Any] = shape
        same_length = len(expected) == len(items)
        return _single_content([*zip(expected, items, strict=True)]) if same_length else MISSING
    return MISSING


def _single_content(pairs: list[tuple[Any, Any]]) -> Json:
    """Return the one content of several shapes, if all else is as the shapes have it."""
    content: Json = MISSING
    for shape, value in pairs:
        inner = _content_of(shape, value)
        if inner is not MISSING:
            content = inner
        elif not same(shape, value):
            return MISSING
    return content


def is_part_of_shape(name: str, value: Json, spellings: Mapping[str, Spelling]) -> bool:
    """Whether the value of an argument stands in the shape of another one, which always has it."""
    own = spellings.get(name)
    if own is None or own.place is not Place.BODY:
        return False
    return any(
        other.place is Place.BODY
        and own.name.startswith(f"{other.name}/")
        and any(
            same(find(shape, own.name[len(other.name) :]), value) for shape in other.each.values()
        )
        for other in spellings.values()
    )


def with_own_members(value: Json, name: str, spellings: Mapping[str, Spelling]) -> Json:
    """Return the value of an argument with what its shape has in place of other arguments in it."""
    own = spellings[name]
    if not isinstance(value, Mapping) or own.place is not Place.BODY:
        return value
    members = dict(cast("Mapping[str, Json]", value))
    for shape in own.each.values():
        for other in spellings.values():
            member = other.name.removeprefix(f"{own.name}/")
            inside = other.place is Place.BODY and member != other.name and member in members
            constant = find(shape, f"/{member}") if inside else MISSING
            if constant is not MISSING:
                members[member] = constant
    return members
