"""Parser of a recorded request, and of its values back into the contract's words.

The inverse of encoding. A value that the target file would not have spelt so stays as it is. No
judgement here.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from datetime import date, timedelta
from decimal import Decimal
from functools import cache
from typing import Any, cast
from urllib.parse import parse_qsl, unquote, urlsplit

from assay.binding.decode import same
from assay.binding.pointer import MISSING, find
from assay.binding.spelling import SLOT
from assay.binding.target import Place, Spelling
from assay.contract.model import Json
from assay.history import Malformed, Wire

#: A body is looked into so deep, and read up to so many bytes.
DEEPEST, LARGEST = 64, 1_000_000


@dataclass(slots=True, kw_only=True)
class KnownIds:
    """What earlier answers showed: the key of each of the target's own ids, and its kind."""

    keys: dict[str, str] = field(default_factory=dict[str, str])
    resources: dict[str, str] = field(default_factory=dict[str, str])


class ParsedRequest:
    """A parsed request: its origin and path, query, headers and body.

    `broken` says how the body is malformed, if it is.
    """

    def __init__(self, wire: Wire) -> None:
        url = urlsplit(wire.url)
        self.method = wire.method.upper()
        self.origin = f"{url.scheme}://{url.netloc}"
        self.path = url.path
        self.asked = f"{url.path}?{url.query}" if url.query else url.path
        self.query = parse_qsl(url.query, keep_blank_values=True)
        self.headers: dict[str, str] = {}
        for name, value in wire.request_headers:
            self.headers.setdefault(name.lower(), value)
        self.body, self.broken = _body(wire.request_body)

    def at(self, where: Spelling, slots: Mapping[str, str]) -> Json:
        """Return what stands at a place, or `MISSING`; of several the first."""
        match where.place:
            case Place.PATH:
                return slots.get(where.name, MISSING)
            case Place.QUERY:
                return next((text for name, text in self.query if name == where.name), MISSING)
            case Place.HEADER:
                return self.headers.get(where.name.lower(), MISSING)
            case Place.BODY:
                return find(self.body, where.name)

    def leaves(self) -> Iterator[str]:
        """Yield the pointers of all that the body says."""
        if self.body is not MISSING:
            yield from leaves(self.body)


def leaves(value: Json, at: str = "", deep: int = 0) -> Iterator[str]:
    """Yield the pointers of the single values in a document; an empty part is one, too."""
    inner: list[tuple[str, Json]] = []
    if isinstance(value, Mapping):
        inner = [*cast("Mapping[str, Json]", value).items()]
    elif isinstance(value, list):
        inner = [(str(n), one) for n, one in enumerate(cast("list[Json]", value))]
    if not inner or deep >= DEEPEST:
        yield at
        return
    for name, one in inner:
        step = name.replace("~", "~0").replace("/", "~1")
        yield from leaves(one, f"{at}/{step}", deep + 1)


def _body(raw: bytes) -> tuple[Json, Malformed | None]:
    """Read a body as JSON; say in which way it is broken where it is no object."""
    body: Json = MISSING
    broken: Malformed | None = None
    try:
        if len(raw) > LARGEST:
            broken = Malformed.HUGE
        elif raw:
            body = json.loads(raw, parse_float=Decimal)
            broken = None if isinstance(body, dict) else Malformed.SCALAR
            if any(pointer.count("/") >= DEEPEST for pointer in leaves(body)):
                broken = Malformed.DEEP
    except RecursionError:
        broken = Malformed.DEEP
    except ValueError:
        cut = raw.lstrip()[:1] in (b"{", b"[")
        broken = Malformed.TRUNCATED if cut else Malformed.NOT_JSON
    return (MISSING if broken else body), broken


@cache
def _pattern(template: str) -> re.Pattern[str]:
    pieces = SLOT.split(template)
    return re.compile("([^/]*)".join(re.escape(piece) for piece in pieces[::2]))


def slots(template: str, path: str) -> Mapping[str, str] | None:
    """Return what stands in each slot of a path; None if it is another path."""
    found = _pattern(template).fullmatch(path)
    if found is None:
        return None
    names = SLOT.findall(template)
    return dict(zip(names, map(unquote, found.groups()), strict=True))


# -- values ----------------------------------------------------------------------
def meant(value: Json, spelling: Spelling, known: KnownIds) -> Json:
    """Return what a value stands for, or each of a list of them."""
    if isinstance(value, list):
        return [_one(one, spelling, known) for one in cast("list[Json]", value)]
    return _one(value, spelling, known)


def _one(value: Json, spelling: Spelling, known: KnownIds) -> Json:
    if spelling.text != "{}":
        value = _within(value, spelling.text)
    if spelling.each:
        found = (_held(shape, value) for shape in spelling.each.values())
        value = next((one for one in found if one is not MISSING), value)
    if spelling.exclusive:
        value = _day_before(value)
    value = next((word for word, spelt in spelling.words.items() if same(spelt, value)), value)
    if spelling.found is not None and isinstance(value, str):
        value = known.keys.get(value, value)
    return value


def _within(value: Json, text: str) -> Json:
    """Return what stands in a text at its "{}"; the whole of another text."""
    before, _, after = text.partition("{}")
    fits = isinstance(value, str) and len(value) >= len(before) + len(after)
    if fits and isinstance(value, str) and value.startswith(before) and value.endswith(after):
        return value[len(before) : len(value) - len(after)]
    return value


def _day_before(value: Json) -> Json:
    try:
        return (date.fromisoformat(str(value)) - timedelta(days=1)).isoformat()
    except (ValueError, OverflowError):
        return value


def _held(shape: Any, value: Any) -> Json:
    """Return what stands in a value where its shape has "{}"; `MISSING` for another shape."""
    if shape == "{}":
        return cast("Json", value)
    if isinstance(shape, Mapping) and isinstance(value, Mapping):
        named = cast("Mapping[str, Any]", shape)
        given = cast("Mapping[str, Any]", value)
        if named.keys() != given.keys():
            return MISSING
        return _only([(one, given[name]) for name, one in named.items()])
    if isinstance(shape, list) and isinstance(value, list):
        shapes: list[Any] = shape
        values: list[Any] = value
        return _only([*zip(shapes, values, strict=True)]) if len(shapes) == len(values) else MISSING
    return MISSING


def _only(pairs: list[tuple[Any, Any]]) -> Json:
    """Return the one thing that is held, if all else is as the shape has it."""
    found: Json = MISSING
    for shape, value in pairs:
        held = _held(shape, value)
        if held is not MISSING:
            found = held
        elif not same(shape, value):
            return MISSING
    return found
