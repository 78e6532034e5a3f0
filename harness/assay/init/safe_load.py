"""Loader for foreign JSON and YAML: bounded and tolerant; every scalar is a text.

OpenAPI documents are not written for the strict reader of contracts: keys may be numbers, and
versions may look like numbers, so scalars are not interpreted. Size, depth and the number of
values are bounded. An alias is not expanded, however often it is used.
"""

from __future__ import annotations

import json
from collections.abc import Iterable
from pathlib import Path
from typing import Any, Final, cast

import yaml
from yaml import events as ev

from assay.errors import InputError
from assay.init.foreign_values import ForeignDocument, mapping, text
from assay.init.swagger2 import from_swagger

__all__ = ["read"]

MAX_BYTES: Final = 32 * 1024 * 1024
MAX_DEPTH: Final = 100
#: How many values a document may have; lists, mappings and their keys count, too.
MAX_VALUES: Final = 8_000_000
_Loader: Final[Any] = getattr(yaml, "CSafeLoader", yaml.SafeLoader)


def read(path: Path) -> ForeignDocument:
    """Read an OpenAPI document; one of version 2 is converted.

    Raises:
        InputError: it cannot be read, or is no OpenAPI document.

    """
    root = mapping(_parsed(_content(path), str(path)))
    document = ForeignDocument(root, str(path))
    if text(root.get("openapi")).startswith("3."):
        return document
    if text(root.get("swagger")).startswith("2."):
        return from_swagger(document)
    hint = "it begins with `openapi: 3.0.0` or later, or with `swagger: '2.0'`"
    raise InputError.one(str(path), "this is not an OpenAPI document", hint=hint)


def _content(path: Path) -> str:
    if "://" in str(path).replace(":/", "://", 1) and not path.exists():
        hint = "download it first, for example with curl -o"
        raise InputError.one(str(path), "this is a URL, not a file", hint=hint)
    try:
        with path.open("rb") as file:
            raw = file.read(MAX_BYTES + 1)
    except OSError as error:
        why = (error.strerror or str(error)).lower()
        raise InputError.one(str(path), f"the file cannot be read: {why}") from None
    if len(raw) > MAX_BYTES:
        raise InputError.one(str(path), f"the file is larger than {MAX_BYTES >> 20} MiB")
    try:
        return raw.decode("utf-8-sig")
    except UnicodeDecodeError:
        raise InputError.one(str(path), "this is not UTF-8 text") from None


def _parsed(content: str, path: str) -> object:
    if content.lstrip().startswith("{"):
        if sum(map(content.count, "[{,")) > MAX_VALUES:
            raise _too_large(path)
        try:
            # Numbers keep their spelling, and `true` becomes a text.
            parsed = json.loads(content, parse_int=str, parse_float=str, parse_constant=str)
            return _with_texts(parsed)
        except json.JSONDecodeError as error:
            raise InputError.one(
                path, f"JSON cannot be read: {error.msg}", line=error.lineno
            ) from None
        except (ValueError, RecursionError):
            raise InputError.one(path, "JSON cannot be read: it is nested too deeply") from None
    try:
        return _built(content, path)
    except yaml.YAMLError as error:
        mark = getattr(error, "problem_mark", None)
        what = getattr(error, "problem", None) or "this is not YAML"
        if "nesting depth" in what:
            raise _too_large(path) from None
        line = mark.line + 1 if mark else 0
        raise InputError.one(path, f"YAML cannot be read: {what}", line=line) from None
    except (ValueError, OverflowError):
        raise InputError.one(path, "YAML cannot be read: check its escape sequences") from None


def _too_large(path: str) -> InputError:
    what = "the document is too large or too deeply nested"
    hint = f"at most {MAX_VALUES:,} values, {MAX_DEPTH} levels"
    return InputError.one(path, what, hint=hint)


_TEXTS: Final[dict[Any, str]] = {True: "true", False: "false", None: "null"}


def _with_texts(root: Any) -> Any:
    """Return parsed JSON with texts in place of true, false and null, changed in place."""
    stack: list[Any] = [root]
    while stack:
        node = stack.pop()
        entries = node.items() if isinstance(node, dict) else enumerate(node)
        for key, value in list(cast("Iterable[tuple[Any, Any]]", entries)):
            if isinstance(value, dict | list):
                stack.append(value)
            elif not isinstance(value, str):
                node[key] = _TEXTS[value]
    return root


def _built(content: str, path: str) -> object:
    """Build values from events with a stack, without recursion and without expanding aliases."""
    builder = _LooseBuilder()
    for number, event in enumerate(yaml.parse(content, Loader=_Loader)):
        if number > MAX_VALUES or len(builder.stack) > MAX_DEPTH:
            raise _too_large(path)
        builder.take(event)
    return builder.root


class _LooseBuilder:
    """The open lists and mappings, innermost last, each with the key that awaits its value."""

    def __init__(self) -> None:
        self.root: object = None
        self.stack: list[tuple[dict[str, Any] | list[Any], list[str]]] = []
        self._anchors: dict[str, object] = {}

    def take(self, event: ev.Event) -> None:
        if isinstance(event, ev.ScalarEvent):
            self._place(self._known(event, event.value))
        elif isinstance(event, ev.AliasEvent):
            self._place(self._anchors.get(event.anchor or ""))
        elif isinstance(event, ev.MappingStartEvent):
            self.stack.append((self._known(event, {}), []))
        elif isinstance(event, ev.SequenceStartEvent):
            self.stack.append((self._known(event, []), []))
        elif isinstance(event, ev.MappingEndEvent | ev.SequenceEndEvent):
            self._place(self.stack.pop()[0])

    def _known(self, event: ev.NodeEvent, value: Any) -> Any:
        if event.anchor:
            self._anchors[event.anchor] = value
        return value

    def _place(self, value: object) -> None:
        if not self.stack:
            self.root = value
            return
        top, key = self.stack[-1]
        if isinstance(top, list):
            top.append(value)
        elif key:
            top[key.pop()] = value
        else:
            key.append(text(value))
