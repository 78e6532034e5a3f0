"""OpenAPI documents of others: read with bounds, and as values whose references can be followed."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable
from functools import cached_property
from itertools import islice
from pathlib import Path
from typing import Any, Final, cast

import yaml
from yaml import events as ev

from assay.errors import InputError
from assay.onboarding.init.example_calls import document as document_of
from assay.onboarding.init.example_calls import is_calls

#: How many references may lead from one to the next.
MAX_HOPS: Final = 16
#: How many operations are read, and how many parameters and responses of each.
MOST_OPERATIONS: Final = 10_000
MOST_PARAMETERS: Final = 200
#: How many pages are read of a text, and what shows that a part of it is one.
MOST_PAGES: Final = 200
_FIELD: Final = re.compile(r"<(?:input|select|button|textarea)\b")
#: The name of a link in a text.
_LINK: Final = re.compile(r"\b_?links[./]([A-Za-z]{2,40})[./]href\b")


class ForeignDocument:
    """A document whose internal references can be followed; no other file is read."""

    def __init__(self, root: dict[str, Any], path: str, content: str = "") -> None:
        self.root = root
        self.path = path
        self.content = content

    @cached_property
    def pages(self) -> tuple[str, ...]:
        """The parts of HTML in the blocks of its text, each with its form."""
        blocks = (each.split("\n```")[0] for each in self.content.split("\n```")[1::2])
        return tuple(
            block if "<form" in block else f"<form>{block}</form>"
            for block in islice(filter(_FIELD.search, blocks), MOST_PAGES)
        )

    @cached_property
    def links(self) -> tuple[str, ...]:
        """The names of links in its text: `next` in `_links.next.href`."""
        return tuple(dict.fromkeys(_LINK.findall(self.content)))

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
    """Return a text as it is, the word for a truth value, and an empty text for anything else."""
    return node if isinstance(node, str) else str(node).lower() if isinstance(node, bool) else ""


# -- Loader for foreign JSON and YAML: bounded and tolerant; a number is a text ------------------
# OpenAPI documents are not written for the strict reader of contracts: keys may be numbers, and
# versions may look like numbers, so scalars are not interpreted. Size, depth and the number of
# values are bounded. An alias is not expanded, however often it is used.
MAX_BYTES: Final = 32 * 1024 * 1024
MAX_DEPTH: Final = 100
#: How many values a document may have; lists, mappings and their keys count, too.
MAX_VALUES: Final = 8_000_000
_Loader: Final[Any] = getattr(yaml, "CSafeLoader", yaml.SafeLoader)


def read(path: Path, manual: Path | None = None) -> ForeignDocument:
    """Read an OpenAPI document, or calls in a text; a document of version 2 is converted.

    Of the calls in a `manual`, the bodies say more about those in the document.

    Raises:
        InputError: it cannot be read, or is no OpenAPI document.

    """
    if manual is not None:
        return with_calls(read(path), read(manual))
    content = _content(path)
    if is_calls(content):
        return ForeignDocument(document_of(content, str(path)), str(path), content)
    root = mapping(_parsed(content, str(path)))
    document = ForeignDocument(root, str(path), content)
    if text(root.get("openapi")).startswith("3."):
        return document
    if text(root.get("swagger")).startswith("2."):
        return from_swagger(document)
    hint = "it begins with `openapi: 3.0.0` or later, or with `swagger: '2.0'`, or has calls such as `GET /accounts`"
    what = "this is not an OpenAPI document, and shows no calls"
    raise InputError.one(str(path), what, hint=hint)


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
            # Numbers keep their spelling.
            return json.loads(content, parse_int=str, parse_float=str, parse_constant=str)
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


# -- Conversion of an OpenAPI 2 document (Swagger) into the form of version 3 --------------------
# Converted is what `assay init` reads: servers, security schemes, parameters, bodies and
# responses. Definitions stay where they are, so references to them need no change. Where a
# parameter or a response is itself a reference, it is replaced by what it refers to.
#: The flow of version 3 for each flow of version 2.
_FLOWS: Final = {
    "accessCode": "authorizationCode",
    "application": "clientCredentials",
    "implicit": "implicit",
    "password": "password",
}
_METHODS: Final = frozenset({"get", "put", "post", "delete", "options", "head", "patch"})
_JSON: Final = "application/json"
#: The keys of a parameter that are no part of its schema.
_OF_PARAMETER: Final = frozenset({"name", "in", "description", "required", "schema"})


def from_swagger(document: ForeignDocument) -> ForeignDocument:
    """Return a document of version 2 in the form of version 3."""
    root = document.root
    paths = {
        path: _path_item(document, document.at(item))
        for path, item in islice(mapping(root.get("paths")).items(), MOST_OPERATIONS)
    }
    schemes = {
        name: _scheme(document.at(scheme))
        for name, scheme in islice(
            mapping(root.get("securityDefinitions")).items(), MOST_PARAMETERS
        )
    }
    converted = {
        **root,
        "openapi": "3.0.0",
        "paths": paths,
        "servers": _servers(root),
        "components": {"securitySchemes": schemes},
    }
    return ForeignDocument(converted, document.path, document.content)


def _servers(root: dict[str, Any]) -> list[dict[str, str]]:
    """Return the base URL; without a whole host name there is none."""
    host, base = text(root.get("host")), text(root.get("basePath")).rstrip("/")
    schemes = [text(scheme) for scheme in sequence(root.get("schemes"))]
    scheme = "https" if "https" in schemes or not schemes else schemes[0]
    return [{"url": f"{scheme}://{host}{base}"}] if "." in host or ":" in host else []


def _scheme(scheme: dict[str, Any]) -> dict[str, Any]:
    kind = text(scheme.get("type"))
    if kind == "basic":
        return {"type": "http", "scheme": "basic"}
    if kind != "oauth2":
        return scheme
    flow = _FLOWS.get(text(scheme.get("flow")), "")
    return {"type": "oauth2", "flows": {flow: scheme} if flow else {}}


def _path_item(document: ForeignDocument, item: dict[str, Any]) -> dict[str, Any]:
    common = sequence(item.get("parameters"))
    return {
        method: _operation(document, mapping(node), common)
        for method, node in item.items()
        if method in _METHODS and isinstance(node, dict)
    }


def _operation(
    document: ForeignDocument, node: dict[str, Any], common: list[Any]
) -> dict[str, Any]:
    own = [*common, *sequence(node.get("parameters"))]
    parameters = [document.at(parameter) for parameter in own[:MOST_PARAMETERS]]
    consumes, produces = (
        next((media for value in sequence(node.get(key)) if (media := text(value))), _JSON)
        for key in ("consumes", "produces")
    )
    converted = dict(node)
    converted["parameters"] = [
        _parameter(parameter)
        for parameter in parameters
        if text(parameter.get("in")) not in {"body", "formData"}
    ]
    schema = _body(parameters)
    if schema is not None:
        converted["requestBody"] = {"content": {consumes: {"schema": schema}}}
    converted["responses"] = {
        status: _response(document.at(response), produces)
        for status, response in islice(mapping(node.get("responses")).items(), MOST_PARAMETERS)
    }
    return converted


def _parameter(parameter: dict[str, Any]) -> dict[str, Any]:
    inner = {key: value for key, value in parameter.items() if key not in _OF_PARAMETER}
    return {**parameter, "schema": parameter.get("schema", inner)}


def _body(parameters: Iterable[dict[str, Any]]) -> object:
    """Return the schema of the body; fields of a form are the members of an object."""
    members: dict[str, object] = {}
    required: list[str] = []
    for parameter in parameters:
        place, name = text(parameter.get("in")), text(parameter.get("name"))
        if place == "body":
            return parameter.get("schema", {})
        if place == "formData":
            members[name] = _parameter(parameter)["schema"]
            required += [name] if text(parameter.get("required")) == "true" else []
    return {"type": "object", "properties": members, "required": required} if members else None


def _response(response: dict[str, Any], produces: str) -> dict[str, Any]:
    if "schema" not in response:
        return response
    return {**response, "content": {produces: {"schema": response["schema"]}}}


# -- A document with the calls of a manual -------------------------------------------------------
#: The key of a schema with that of what a manual shows in its place.
SHOWN: Final = "x-shown"


def with_calls(document: ForeignDocument, manual: ForeignDocument) -> ForeignDocument:
    """Return a document whose bodies say, too, what the calls of a manual show there."""
    paths = {**mapping(document.root.get("paths"))}
    for path, shown in mapping(manual.root.get("paths")).items():
        known = _template_of(path, paths)
        if known is None:
            continue
        item = document.at(paths[known])
        methods = {
            method: _with_messages(document, mapping(item[method]), mapping(node))
            for method, node in mapping(shown).items()
            if method in item
        }
        paths[known] = {**item, **methods}
    content = f"{document.content}\n{manual.content}"
    return ForeignDocument({**document.root, "paths": paths}, document.path, content)


def _template_of(path: str, templates: Iterable[str]) -> str | None:
    """Return the path of a document that a call has, of several the one with most of its names."""
    steps = path.strip("/").split("/")
    fitting = [
        (sum("{" not in each for each in theirs), template)
        for template in templates
        for theirs in [template.strip("/").split("/")]
        if len(theirs) == len(steps)
        and all(name == step or "{" in name for name, step in zip(theirs, steps, strict=True))
    ]
    return max(fitting)[1] if fitting else None


def _with_messages(
    document: ForeignDocument, node: dict[str, Any], shown: dict[str, Any]
) -> dict[str, Any]:
    """Return an operation, with what a call shows in its request and its successful answer."""
    made = dict(node)
    if "requestBody" in node and "requestBody" in shown:
        made["requestBody"] = _with_shown(document, node["requestBody"], shown["requestBody"])
    answers = {**mapping(node.get("responses"))}
    seen = mapping(shown.get("responses")).get("2XX")
    status = next((each for each in answers if each.startswith("2")), None)
    if seen is not None and status is not None:
        answers[status] = _with_shown(document, answers[status], seen)
        made["responses"] = answers
    return made


def _with_shown(document: ForeignDocument, message: object, shown: object) -> dict[str, Any]:
    """Return a message whose schemas have that of what a manual shows."""
    said = [mapping(each) for each in mapping(mapping(shown).get("content")).values()]
    whole = document.at(message)
    content = {
        media: {
            **(body := document.at(each)),
            "schema": {"allOf": [body.get("schema")], SHOWN: said[0].get("schema")},
        }
        if said
        else each
        for media, each in mapping(whole.get("content")).items()
    }
    return {**whole, "content": content}
