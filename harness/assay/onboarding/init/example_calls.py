"""Calls as a bank's manual shows them, read as an OpenAPI document.

    POST /payments
    {"amount": "12.30", "currency": "EUR"}
    201 {"id": "42"}

A call begins with its method and its path, with the query; a path names its parameters in braces. A
body in JSON may follow, and a status with the body of the answer. Other lines are left out. What an
answer shows of a bank that is called says more, so the answer is best copied as it came.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from itertools import islice
from typing import Any, Final, cast
from urllib.parse import parse_qsl

from assay.contract.model import Json
from assay.errors import InputError

_CALL: Final = re.compile(r"[ \t]*(GET|POST|PUT|PATCH|DELETE)[ \t]+(/[^\s?#]*)(?:\?(\S*))?.*")
_STATUS: Final = re.compile(r"[ \t]*(?:HTTP/\S+[ \t]+)?([1-5]\d\d)\b")
_SLOT: Final = re.compile(r"[{]([^{}]+)[}]")
#: A word for one of few things: a state, a type, a reason.
WORD: Final = re.compile(r"[A-Za-z][A-Za-z0-9_.-]{0,40}")
_FORMS: Final = {
    "date": re.compile(r"\d{4}-\d\d-\d\d"),
    "date-time": re.compile(r"\d{4}-\d\d-\d\dT\d\d:\d\d.*"),
}
#: How many values of a list, and members of an object, are read.
MOST: Final = 200


def is_calls(content: str) -> bool:
    """Whether a text has calls in its lines, and so is no document."""
    return any(_CALL.fullmatch(line) for line in content.splitlines()[:MOST])


def document(content: str, path: str) -> dict[str, Any]:
    """Return the document of the calls in a text.

    Raises:
        InputError: a body is not JSON.

    """
    paths: dict[str, dict[str, Any]] = {}
    lines = content.splitlines()
    calls = [(n, match) for n, line in enumerate(lines) if (match := _CALL.fullmatch(line))]
    ends = [*(n for n, _ in calls[1:]), len(lines)]
    for (first, match), end in zip(calls, ends, strict=True):
        method, where, query = match.groups()
        answered = next((n for n in range(first + 1, end) if _STATUS.match(lines[n])), end)
        node: dict[str, Any] = {"parameters": [*_parameters(where, query or "")]}
        begin, body = _json(lines[first + 1 : answered])
        if body:
            sent = _read(body, path, first + 2 + begin)
            node["requestBody"] = _content(schema([sent], examples=True))
        if answered < end and (status := _STATUS.match(lines[answered])):
            _, shown = _json([lines[answered][status.end() :], *lines[answered + 1 : end]])
            answer = _shown(shown)
            # One status of several: it does not say which others mean success.
            node["responses"] = {f"{status[1][0]}XX": answer}
        paths.setdefault(where, {})[method.lower()] = node
    return {"openapi": "3.0.0", "paths": paths}


def _parameters(path: str, query: str) -> Iterator[dict[str, Any]]:
    for name in _SLOT.findall(path):
        yield {"name": name, "in": "path", "required": True, "schema": {"type": "string"}}
    for name, value in parse_qsl(query, keep_blank_values=True):
        yield {"name": name, "in": "query", "schema": schema([value], examples=True)}


def _json(lines: Sequence[str]) -> tuple[int, str]:
    """Return the first line that begins with a bracket, by number, and the text from there on."""
    begins = (n for n, line in enumerate(lines) if line.lstrip()[:1] in {"{", "["})
    first = next(begins, len(lines))
    return first, "\n".join(lines[first:]).lstrip()


def _read(text: str, path: str, line: int) -> Json:
    try:
        value, _ = json.JSONDecoder().raw_decode(text)
    except json.JSONDecodeError as error:
        what = f"the body of this call is not JSON: {error.msg.lower()}"
        hint = "write out what the manual left out with `...`"
        raise InputError.one(path, what, line=line + error.lineno - 1, hint=hint) from None
    except (ValueError, RecursionError):
        raise InputError.one(path, "this body is nested too deeply", line=line) from None
    return cast("Json", value)


def _shown(text: str) -> Mapping[str, Any]:
    """Return an answer; without a schema if it is not whole."""
    try:
        value, _ = json.JSONDecoder().raw_decode(text)
    except (ValueError, RecursionError):
        return {}
    return _content(schema([value]))


def _content(of: Mapping[str, Any]) -> dict[str, Any]:
    return {"content": {"application/json": {"schema": of}}}


def schema(values: Sequence[Json], *, examples: bool = False) -> dict[str, Any]:
    """Return a JSON schema of values that were seen, with the words for one of few things.

    With `examples`, it also has the values themselves, which may be private.
    """
    objects = [cast("dict[str, Json]", value) for value in values if isinstance(value, dict)]
    if objects:
        names = dict.fromkeys(name for each in objects for name in islice(each, MOST))
        below = {
            name: schema([each[name] for each in objects if name in each], examples=examples)
            for name in names
        }
        required = [name for name in names if all(name in each for each in objects)]
        return {"type": "object", "properties": below, "required": required}
    if any(isinstance(value, list) for value in values):
        elements = (each for value in values if isinstance(value, list) for each in value)
        inside = schema([*islice(elements, MOST)], examples=examples)
        return {"type": "array", "items": inside}
    texts = [value for value in values if isinstance(value, str)]
    if not texts:
        kinds: dict[type, str] = {bool: "boolean", int: "integer", float: "number"}
        known = [value for value in values if type(value) in kinds]
        found: dict[str, Any] = {"type": kinds[type(known[0])] if known else ""}
        return found | ({"example": json.dumps(known[0])} if known and examples else {})
    found = {"type": "string"}
    forms = (form for form, pattern in _FORMS.items() if all(map(pattern.fullmatch, texts)))
    if form := next(forms, ""):
        found["format"] = form
    if all(map(WORD.fullmatch, texts)):
        found["enum"] = [*dict.fromkeys(texts)]
    elif examples:
        found["example"] = texts[0]
    return found
