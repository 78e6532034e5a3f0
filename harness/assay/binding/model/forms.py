"""Bodies of requests as forms: `card[number]=1&ids[]=2` in place of JSON (`{"card": {"number": 1}}`).

Everywhere else a body is JSON: it becomes a form when it is sent, if the target file has the media
type of forms among the headers, and JSON again when a request is read. A form has texts only, and
neither null nor what is empty.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator, Mapping
from typing import Any, Final, cast
from urllib.parse import parse_qsl, urlencode

from assay.binding.model.pointer import MISSING, read_json
from assay.contract.model import Json
from assay.contract.scalars import text_of

#: The media type of a form (WHATWG URL).
FORM: Final = "application/x-www-form-urlencoded"
#: The most pairs of a form that are read, and the deepest nesting.
_MOST, _DEEPEST = 1000, 16
_NAME: Final = re.compile(r"([^\[\]]+)((?:\[[^\[\]]*\])*)")


def is_form(headers: Iterable[tuple[str, str]]) -> bool:
    """Whether the headers of a request say that its body is a form."""
    types = (value for name, value in headers if name.lower() == "content-type")
    return any(value.partition(";")[0].strip().lower() == FORM for value in types)


def as_sent(headers: Iterable[tuple[str, str]], body: bytes) -> bytes:
    """Return a body as it is sent; what is no JSON object is malformed on purpose, and stays so."""
    document = read_json(body) if body and is_form(headers) else MISSING
    return urlencode([*_pairs(document)]).encode() if isinstance(document, dict) else body


def as_json(headers: Iterable[tuple[str, str]], body: bytes) -> bytes:
    """Return the body of a request that was sent, as JSON if it is a form that can be read."""
    if not body or not is_form(headers) or read_json(body) is not MISSING:
        return body
    try:
        pairs = parse_qsl(body.decode(), keep_blank_values=True, max_num_fields=_MOST)
    except ValueError:
        return body
    document: dict[str, Any] = {}
    for name, value in pairs:
        match = _NAME.fullmatch(name)
        below = re.findall(r"\[([^\[\]]*)\]", match[2]) if match else []
        if match is None or len(below) > _DEEPEST:
            return body
        _put(document, [match[1], *below], value)
    return json.dumps(_listed(document)).encode()


def _pairs(value: Json, name: str = "") -> Iterator[tuple[str, str]]:
    """Yield the names and texts of the values in a document."""
    if isinstance(value, Mapping):
        for step, member in cast("Mapping[str, Json]", value).items():
            yield from _pairs(member, f"{name}[{step}]" if name else step)
    elif isinstance(value, list):
        for number, member in enumerate(cast("list[Json]", value)):
            inner = str(number) if isinstance(member, dict | list) else ""
            yield from _pairs(member, f"{name}[{inner}]")
    elif value is not None:
        yield name, text_of(value)


def _put(document: dict[str, Any], way: list[str], value: str) -> None:
    here: Any = document
    for step in way[:-1]:
        here = here.setdefault(step, {}) if isinstance(here, dict) else {}
    if isinstance(here, dict):
        # An element without a number comes after the others.
        cast("dict[str, Any]", here).setdefault(way[-1] or str(len(cast("Any", here))), value)


def _listed(value: Any) -> Any:
    """Return a value in which what is numbered from 0 on is a list."""
    if not isinstance(value, dict):
        return value
    members = {name: _listed(each) for name, each in cast("dict[str, Any]", value).items()}
    numbered = [str(number) for number in range(len(members))]
    return [*members.values()] if members and [*members] == numbered else members
