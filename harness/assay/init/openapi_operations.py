"""What an OpenAPI document offers: its operations as values, and how calls are let in."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import islice
from typing import Any

from assay.binding.checks import bad_url
from assay.init.name_matching import plain
from assay.init.safe_load import ForeignDocument, mapping, sequence, text
from assay.init.schema_leaves import SchemaLeaf, leaves

__all__ = ["OpenApiOperation", "Parameter", "base_url", "openapi_operations", "schemes"]

_METHODS = ("get", "post", "put", "patch", "delete")
_SUCCESS = re.compile(r"2([0-9]{2}|[xX]{2})")
#: How many operations are looked at.
MOST_OPERATIONS = 500


@dataclass(frozen=True, slots=True, kw_only=True)
class Parameter:
    """A parameter of an operation: its place is query, header, path or cookie."""

    name: str
    place: str
    required: bool
    leaf: SchemaLeaf
    says: str


@dataclass(frozen=True, slots=True, kw_only=True)
class OpenApiOperation:
    """An operation of the document, with everything that may be in its messages.

    `statuses` are those of success; `headers` those of such answers.
    """

    method: str
    path: str
    id: str
    says: str
    parameters: tuple[Parameter, ...]
    request: tuple[SchemaLeaf, ...]
    answer: tuple[SchemaLeaf, ...]
    statuses: tuple[str, ...]
    headers: tuple[str, ...]

    def named(self, place: str) -> dict[str, Parameter]:
        """Return the parameters in a place by their names."""
        return {one.name: one for one in self.parameters if one.place == place}

    def __str__(self) -> str:
        return f"{self.method} {self.path}"


def openapi_operations(document: ForeignDocument) -> tuple[OpenApiOperation, ...]:
    """Return the operations of a document, the first five hundred."""
    every = (
        _operation(document, method, path, item)
        for path, raw in mapping(document.root.get("paths")).items()
        if path.startswith("/") and plain(path)
        for item in [document.at(raw)]
        for method in _METHODS
        if isinstance(item.get(method), dict)
    )
    return tuple(islice(every, MOST_OPERATIONS))


def _operation(
    document: ForeignDocument, method: str, path: str, item: dict[str, Any]
) -> OpenApiOperation:
    node = mapping(item[method])
    answers = [
        (status, document.at(one))
        for status, one in mapping(node.get("responses")).items()
        if _SUCCESS.fullmatch(status)
    ]
    headers = (name for _, one in answers for name in mapping(one.get("headers")))
    return OpenApiOperation(
        method=method.upper(),
        path=path,
        id=text(node.get("operationId")),
        says=" ".join(
            filter(None, (text(node.get("summary")), text(node.get("description"))[:400]))
        ),
        parameters=tuple(
            _parameters(
                document, [*sequence(item.get("parameters")), *sequence(node.get("parameters"))]
            )
        ),
        request=leaves(document, _schema(document, document.at(node.get("requestBody")))),
        answer=next(
            (
                shape
                for _, one in answers
                if len(shape := leaves(document, _schema(document, one))) > 1
            ),
            (),
        ),
        statuses=tuple(dict.fromkeys(status.lower() for status, _ in answers)),
        headers=tuple(dict.fromkeys(name for name in headers if plain(name))),
    )


def _parameters(document: ForeignDocument, raw: list[Any]) -> Iterator[Parameter]:
    """Yield parameters; those of an operation take the place of its path's."""
    found: dict[tuple[str, str], Parameter] = {}
    for one in raw:
        node = document.at(one)
        name, place = text(node.get("name")), text(node.get("in"))
        if plain(name):
            shape = leaves(document, node.get("schema"))[0]
            found[name, place] = Parameter(
                name=name,
                place=place,
                required=node.get("required") == "true",
                leaf=shape,
                says=text(node.get("description")) or shape.says,
            )
    yield from found.values()


def _schema(document: ForeignDocument, node: dict[str, Any]) -> object:
    """Return the schema of a JSON body, or of any body if none is said to be JSON."""
    content = mapping(node.get("content"))
    types = sorted(content, key=lambda one: ("json" not in one.lower(), "*" in one))
    return document.at(content[types[0]]).get("schema") if types else None


def base_url(document: ForeignDocument) -> str:
    """Return the first server that is a whole URL; empty if there is none."""
    for one in sequence(document.root.get("servers")):
        url = text(mapping(one).get("url")).rstrip("/")
        if plain(url) and "{" not in url and not bad_url(url):
            return url
    return ""


def schemes(document: ForeignDocument) -> tuple[dict[str, Any], ...]:
    """Return the security schemes of a document."""
    components = mapping(document.root.get("components"))
    found = mapping(components.get("securitySchemes"))
    return tuple(document.at(one) for one in found.values())
