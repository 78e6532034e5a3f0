"""Operations of an OpenAPI document, with their parameters, messages and security."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from itertools import islice
from typing import Any

from assay.binding.checks import bad_url
from assay.onboarding.init.foreign_values import (
    MOST_OPERATIONS,
    MOST_PARAMETERS,
    ForeignDocument,
    mapping,
    sequence,
    text,
)
from assay.onboarding.init.openapi_schemas import SchemaLeaf, is_plain_name, leaves

_METHODS = ("get", "post", "put", "patch", "delete")
_SUCCESS = re.compile(r"2([0-9]{2}|[xX]{2})")
_REFUSED = re.compile(r"4([0-9]{2}|[xX]{2})|default")


@dataclass(frozen=True, slots=True, kw_only=True)
class OpenApiParameter:
    """A parameter of an operation: its place is query, header, path or cookie."""

    name: str
    place: str
    required: bool
    leaf: SchemaLeaf
    description: str


@dataclass(frozen=True, kw_only=True, eq=False)
class OpenApiOperation:
    """An operation of the document; what its messages may contain is read when it is asked for.

    `statuses` and `headers` are those of successful responses. `security` are the alternatives
    by which a call is authorised, each with the scopes of its schemes; None if the document
    says nothing about it.
    """

    method: str
    path: str
    id: str = ""
    description: str = ""
    statuses: tuple[str, ...] = ()
    headers: tuple[str, ...] = ()
    security: tuple[Mapping[str, tuple[str, ...]], ...] | None = None
    document: ForeignDocument = field(default_factory=lambda: ForeignDocument({}, ""), repr=False)
    node: Mapping[str, Any] = field(default_factory=dict[str, Any], repr=False)
    common: Sequence[Any] = field(default=(), repr=False)

    @cached_property
    def parameters(self) -> tuple[OpenApiParameter, ...]:
        """The parameters, those of the path included."""
        own = sequence(self.node.get("parameters"))
        return tuple(_parameters(self.document, [*self.common, *own][:MOST_PARAMETERS]))

    @cached_property
    def request(self) -> tuple[SchemaLeaf, ...]:
        """The parts of the body that is sent."""
        body = self.document.at(self.node.get("requestBody"))
        return leaves(self.document, _schema(self.document, body))

    @cached_property
    def answer(self) -> tuple[SchemaLeaf, ...]:
        """The parts of the first successful response that has any."""
        shapes = (
            leaves(self.document, _schema(self.document, answer))
            for _, answer in _answers(self.document, self.node)
        )
        return next((shape for shape in shapes if len(shape) > 1), ())

    @cached_property
    def refusal(self) -> tuple[SchemaLeaf, ...]:
        """The parts of the first response to a refused call that has any."""
        shapes = (
            leaves(self.document, _schema(self.document, answer))
            for _, answer in _answers(self.document, self.node, _REFUSED)
        )
        return next((shape for shape in shapes if len(shape) > 1), ())

    def named(self, place: str) -> dict[str, OpenApiParameter]:
        """Return the parameters in a place by their names."""
        return {
            parameter.name: parameter for parameter in self.parameters if parameter.place == place
        }

    def __str__(self) -> str:
        return f"{self.method} {self.path}"


def openapi_operations(document: ForeignDocument) -> tuple[OpenApiOperation, ...]:
    """Return the operations of a document, at most `MOST_OPERATIONS`."""
    operations = (
        _operation(document, method, path, item)
        for path, raw in mapping(document.root.get("paths")).items()
        if path.startswith("/") and is_plain_name(path)
        for item in [document.at(raw)]
        for method in _METHODS
        if isinstance(item.get(method), dict)
    )
    return tuple(islice(operations, MOST_OPERATIONS))


def _operation(
    document: ForeignDocument, method: str, path: str, item: dict[str, Any]
) -> OpenApiOperation:
    node = mapping(item[method])
    answers = _answers(document, node)
    headers = (name for _, answer in answers for name in mapping(answer.get("headers")))
    return OpenApiOperation(
        method=method.upper(),
        path=path,
        id=text(node.get("operationId")),
        description=" ".join(
            filter(None, (text(node.get("summary")), text(node.get("description"))[:400]))
        ),
        statuses=tuple(dict.fromkeys(status.lower() for status, _ in answers)),
        headers=tuple(dict.fromkeys(name for name in headers if is_plain_name(name))),
        security=_security(node.get("security", document.root.get("security"))),
        document=document,
        node=node,
        common=sequence(item.get("parameters"))[:MOST_PARAMETERS],
    )


def _answers(
    document: ForeignDocument, node: Mapping[str, Any], wanted: re.Pattern[str] = _SUCCESS
) -> tuple[tuple[str, dict[str, Any]], ...]:
    """Return the responses with some statuses, by default those of success."""
    responses = islice(mapping(node.get("responses")).items(), MOST_PARAMETERS)
    return tuple(
        (status, document.at(response))
        for status, response in responses
        if wanted.fullmatch(status)
    )


def _security(raw: object) -> tuple[Mapping[str, tuple[str, ...]], ...] | None:
    """Return the alternatives of a security requirement, with the scopes of each scheme."""
    if not isinstance(raw, list):
        return None
    return tuple(
        {
            scheme: tuple(filter(is_plain_name, map(text, sequence(scopes)[:MOST_PARAMETERS])))
            for scheme, scopes in mapping(alternative).items()
        }
        for alternative in sequence(raw)[:MOST_PARAMETERS]
    )


def _parameters(document: ForeignDocument, raw: list[Any]) -> Iterator[OpenApiParameter]:
    """Yield parameters; those of an operation override those of its path."""
    parameters: dict[tuple[str, str], OpenApiParameter] = {}
    for entry in raw:
        node = document.at(entry)
        name, place = text(node.get("name")), text(node.get("in"))
        if is_plain_name(name):
            shape = leaves(document, _with_example(document, node))[0]
            parameters[name, place] = OpenApiParameter(
                name=name,
                place=place,
                required=node.get("required") == "true",
                leaf=shape,
                description=text(node.get("description")) or shape.description,
            )
    yield from parameters.values()


def _with_example(document: ForeignDocument, parameter: dict[str, Any]) -> object:
    """Return the schema of a parameter, with the example that stands beside it."""
    schema = parameter.get("schema")
    if "example" not in parameter:
        return schema
    return {**document.at(schema), "example": parameter["example"]}


def _schema(document: ForeignDocument, node: dict[str, Any]) -> object:
    """Return the schema of the JSON body, or of another body if there is none."""
    content = mapping(node.get("content"))
    types = sorted(
        content, key=lambda media_type: ("json" not in media_type.lower(), "*" in media_type)
    )
    return document.at(content[types[0]]).get("schema") if types else None


def base_url(document: ForeignDocument) -> str:
    """Return the first server that is a whole URL; empty if there is none."""
    for server in sequence(document.root.get("servers")):
        url = text(mapping(server).get("url")).rstrip("/")
        if is_plain_name(url) and "{" not in url and not bad_url(url):
            return url
    return ""


def schemes(document: ForeignDocument) -> dict[str, dict[str, Any]]:
    """Return the security schemes of a document by their names."""
    components = mapping(document.root.get("components"))
    defined = islice(mapping(components.get("securitySchemes")).items(), MOST_PARAMETERS)
    return {name: document.at(scheme) for name, scheme in defined}
