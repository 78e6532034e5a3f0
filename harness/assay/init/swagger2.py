"""Conversion of an OpenAPI 2 document (Swagger) into the form of version 3.

Converted is what `assay init` reads: servers, security schemes, parameters, bodies and
responses. Definitions stay where they are, so references to them need no change. Where a
parameter or a response is itself a reference, it is replaced by what it refers to.
"""

from __future__ import annotations

from collections.abc import Iterable
from itertools import islice
from typing import Any, Final

from assay.init.foreign_values import (
    MOST_OPERATIONS,
    MOST_PARAMETERS,
    ForeignDocument,
    mapping,
    sequence,
    text,
)

__all__ = ["from_swagger"]

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
    return ForeignDocument(converted, document.path)


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
            required += [name] if parameter.get("required") == "true" else []
    return {"type": "object", "properties": members, "required": required} if members else None


def _response(response: dict[str, Any], produces: str) -> dict[str, Any]:
    if "schema" not in response:
        return response
    return {**response, "content": {produces: {"schema": response["schema"]}}}
