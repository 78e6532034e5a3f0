"""Loader for foreign JSON and YAML: bounded and tolerant; every scalar is a text.

OpenAPI documents are not written for the strict reader of contracts: keys may be numbers, and
versions may look like numbers, so scalars are not interpreted. Size, depth and the number of
values are bounded. An alias is not expanded, however often it is used.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any, Final, cast

import yaml
from yaml import events as ev

from assay.errors import InputError

__all__ = ["ForeignDocument", "mapping", "read", "sequence", "text"]

MAX_BYTES: Final = 8 * 1024 * 1024
MAX_DEPTH: Final = 100
MAX_VALUES: Final = 400_000
#: How many references may lead from one to the next.
MAX_HOPS: Final = 16
_Loader: Final[Any] = getattr(yaml, "CSafeLoader", yaml.SafeLoader)


class ForeignDocument:
    """A document whose internal references can be followed; no other file is read."""

    def __init__(self, root: dict[str, Any], path: str) -> None:
        self.root = root
        self.path = path

    def at(self, node: object) -> dict[str, Any]:
        """Return a mapping, or the one that it refers to; an empty one for anything else."""
        for _ in range(MAX_HOPS):
            resolved = mapping(node)
            where = resolved.get("$ref")
            if not isinstance(where, str):
                return resolved
            node = self._target(where)
        return {}

    def _target(self, where: str) -> object:
        if not where.startswith("#/"):
            return None
        node: object = self.root
        for step in where[2:].split("/"):
            name = step.replace("~1", "/").replace("~0", "~")
            node = mapping(node).get(name)
        return node


def mapping(node: object) -> dict[str, Any]:
    """Return a mapping as it is, and an empty one for anything else."""
    return cast("dict[str, Any]", node) if isinstance(node, dict) else {}


def sequence(node: object) -> list[Any]:
    """Return a list as it is, and an empty one for anything else."""
    return node if isinstance(node, list) else []


def text(node: object) -> str:
    """Return a text as it is, and an empty one for anything else."""
    return node if isinstance(node, str) else ""


def read(path: Path) -> ForeignDocument:
    """Read an OpenAPI document.

    Raises:
        InputError: it cannot be read, or is none of version 3.

    """
    root = _parsed(_content(path), str(path))
    version = text(mapping(root).get("openapi"))
    if not version.startswith("3."):
        what = "this is no OpenAPI document of version 3"
        if "swagger" in mapping(root):
            what += ", but of version 2"
        hint = "it says `openapi: 3.0.0` or later; older ones can be converted"
        raise InputError.one(str(path), what, hint=hint)
    return ForeignDocument(mapping(root), str(path))


def _content(path: Path) -> str:
    if "://" in str(path).replace(":/", "://", 1) and not path.exists():
        hint = "download it first, for example with curl -o"
        raise InputError.one(str(path), "this is a URL and no file", hint=hint)
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
        try:
            # Numbers keep their spelling, and `true` becomes a text.
            return _words(json.loads(content, parse_int=str, parse_float=str, parse_constant=str))
        except json.JSONDecodeError as error:
            raise InputError.one(
                path, f"JSON cannot be read: {error.msg}", line=error.lineno
            ) from None
        except (ValueError, RecursionError):
            raise InputError.one(path, "JSON cannot be read: it is nested too deep") from None
    try:
        return _built(content, path)
    except yaml.YAMLError as error:
        mark = getattr(error, "problem_mark", None)
        what = getattr(error, "problem", None) or "this is not YAML"
        line = mark.line + 1 if mark else 0
        raise InputError.one(path, f"YAML cannot be read: {what}", line=line) from None
    except (ValueError, OverflowError):
        raise InputError.one(path, "YAML cannot be read: look at its escapes") from None


def _words(node: Any) -> Any:
    """Return JSON with texts in place of true, false and null."""
    if isinstance(node, dict):
        return {name: _words(member) for name, member in cast("dict[str, Any]", node).items()}
    if isinstance(node, list):
        return [_words(member) for member in node]
    return {True: "true", False: "false", None: "null"}.get(node, node)


def _built(content: str, path: str) -> object:
    """Build values from events with a stack, without recursion and without expanding aliases."""
    builder = _LooseBuilder()
    for number, event in enumerate(yaml.parse(content, Loader=_Loader)):
        if number > MAX_VALUES or len(builder.stack) > MAX_DEPTH:
            raise InputError.one(path, "the document is too large or nested too deep to be read")
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
