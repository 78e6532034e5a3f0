"""The `paths` of a document: every operation under its path and each of its aliases.

Operations that a target binds to the same method and path become one, which accepts the body of
either and has the responses of both. Paths that differ only in the names of their parameters are
the same path, too.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import reduce

from assay.binding.spelling import SLOT
from assay.binding.submission import SUBMISSION, SUBMITTED
from assay.binding.target import Place
from assay.contract.model import Resource
from assay.errors import InputError
from assay.openapi.bound_operation import BoundOperation
from assay.openapi.extensions import concerned, of_operation
from assay.openapi.requests import body, parameters, place
from assay.openapi.responses import answer, responses, single
from assay.openapi.schemas import Schema, any_of, unique
from assay.openapi.security import required_security
from assay.planning.obligation import Obligation

JSON = "application/json"


@dataclass(frozen=True, slots=True, kw_only=True)
class SharedSchemas:
    """All operations of the document, and the obligations by contract."""

    operations: tuple[BoundOperation, ...]
    obligations: Mapping[str, Sequence[Obligation]]


def schemas(known: SharedSchemas) -> Schema:
    """Return the schemas of accepted answers, by the names that responses refer to."""
    named = {_answer(use): answer(use) for use in known.operations if use.operation.available}
    return {name: schema for name, schema in named.items() if schema}


def _answer(use: BoundOperation) -> str:
    return f"{use.name}.answer"


def paths(known: SharedSchemas) -> Schema:
    """Return all path items.

    Raises:
        InputError: a path has braces without a name.

    """
    templates: dict[str, str] = {}
    merged: dict[tuple[str, str], list[tuple[BoundOperation, str, int]]] = {}
    for use in known.operations:
        for number, path in enumerate(use.paths):
            _check(use, path)
            shared = templates.setdefault(SLOT.sub("{}", path), path)
            named = replace(use, binding=use.binding.under(number - 1)) if number else use
            merged.setdefault((shared, use.method), []).append((named, path, number))
    ids = _ids(merged)
    main = {use.name: ids[key] for key, uses in merged.items() for use, _, n in uses if n == 0}
    out: Schema = {}
    for (path, method), uses in merged.items():
        operations = (
            _renamed(_operation(use, own, known, main), own, path) for use, own, _ in uses
        )
        operation = reduce(_merged, operations)
        out.setdefault(path, {})[method] = {"operationId": ids[path, method], **operation}
    return out


def _check(use: BoundOperation, path: str) -> None:
    if any(brace in SLOT.sub("", path) for brace in "{}") or "{}" in path:
        raise InputError.one(
            use.target.path,
            f"operations.{use.operation.id}: expected names in braces in the path, found {path!r}",
            line=use.binding.line,
            hint="for example /accounts/{iban}/transactions",
        )


def _ids(
    merged: Mapping[tuple[str, str], Sequence[tuple[BoundOperation, str, int]]],
) -> Mapping[tuple[str, str], str]:
    """Return an operationId for each path and method; those of aliases are numbered."""
    out: dict[tuple[str, str], str] = {}
    for key, uses in merged.items():
        named = [f"{use.name}.{n}" if n else use.name for use, _, n in uses]
        out[key] = unique("-or-".join(dict.fromkeys(named)), out.values())
    return out


def _operation(
    use: BoundOperation, path: str, known: SharedSchemas, ids: Mapping[str, str]
) -> Schema:
    called = use.operation
    out: Schema = {
        "tags": [use.contract.id],
        "summary": _summary(use),
        "parameters": parameters(use, path),
    }
    content = body(use, path)
    if content is not None:
        required = bool(content.get("required"))
        out["requestBody"] = {"required": required, "content": {JSON: {"schema": content}}}
    shape: Schema = {}
    if called.available and answer(use):
        shape = {"$ref": f"#/components/schemas/{_answer(use)}"}
    out["responses"] = responses(use, shape)
    leads = _links(use, known, ids)
    for response in out["responses"].values():
        if leads and "accepted" in response.get("x-assay-outcomes", ()):
            response["links"] = leads
    if security := required_security(use):
        out["security"] = security
    if banks := _mode_servers(use):
        own = (use.target.base_url, *use.target.hosts)
        out["servers"] = [*({"url": url} for url in own), *banks]
    return {**out, **of_operation(use, known.obligations[use.contract.id])}


def _mode_servers(use: BoundOperation) -> list[Schema]:
    """Return the servers that are a mode: banks that get only the calls in it."""
    modes: dict[str, list[str]] = {}
    for name in use.operation.modes:
        mode = use.binding.modes.get(name)
        if mode is not None and mode.place is Place.BASE and name not in use.barred_modes:
            modes.setdefault(str(mode.value), []).append(name)
    return [
        {"url": url, "description": f"Selects the mode {' or '.join(names)}."}
        for url, names in modes.items()
    ]


def _summary(use: BoundOperation) -> str:
    """Return the statement of a clause about this operation alone, or its name."""
    for clause in use.contract.clauses:
        if concerned(clause, use.contract) == (use.operation.id,):
            return clause.statement
    return f"The contract's operation {use.operation.id}."


def _renamed(operation: Schema, own: str, path: str) -> Schema:
    """Return an operation with the parameter names that its path has in the document."""
    names = dict(zip(SLOT.findall(own), SLOT.findall(path), strict=True))
    parameters = [
        {**parameter, "name": names.get(parameter["name"], parameter["name"])}
        if parameter["in"] == "path"
        else parameter
        for parameter in operation["parameters"]
    ]
    return {**operation, "parameters": parameters}


def _links(use: BoundOperation, known: SharedSchemas, ids: Mapping[str, str]) -> Schema:
    """Return the links of an accepted response: calls about the items that it contains."""
    key, listed = single(use.binding.item.key), single(use.binding.list)
    if use.binding.one is None and listed is None:
        return {}
    start = use.binding.one if use.binding.one is not None else f"{listed}/0"
    out: Schema = {}
    for reader in known.operations:
        about = reader.operation.about
        if reader.contract.id != use.contract.id or not reader.operation.available or not about:
            continue
        where = place(reader, about)
        if not _leads(use, reader) or where is None or where.place is Place.BODY:
            continue
        # A path may have the target's own id of an item in place of its key.
        named_by = key if where.found is None else use.binding.item.id
        if named_by is not None:
            out[reader.name] = {
                "operationId": ids[reader.name],
                "parameters": {
                    f"{where.place.value}.{where.name}": f"$response.body#{start}{named_by}"
                },
            }
    return out


def _leads(use: BoundOperation, reader: BoundOperation) -> bool:
    """Whether an operation is about items that another one creates or lists."""
    if use.operation.makes:
        since = SUBMITTED if use.part == SUBMISSION else ""
        known = reader.operation.request == use.operation.makes
        return known and (reader.part == since or reader.binding.submitted is None)
    return bool(set(_owners(reader)) & set(use.operation.lists))


def _owners(use: BoundOperation) -> Iterator[str]:
    resources: Mapping[str, Resource] = use.contract.resources
    return (resources[child].of or "" for child in use.operation.lists)


# -- Operations with the same method and path


def _merged(first: Schema, second: Schema) -> Schema:
    """Merge two operations that a target binds to the same method and path."""
    out = {**first, "summary": " ".join(dict.fromkeys((first["summary"], second["summary"])))}
    out["parameters"] = _joined_parameters(first["parameters"], second["parameters"])
    bodies = [each["requestBody"] for each in (first, second) if "requestBody" in each]
    if bodies:
        required = len(bodies) > 1 and all(each["required"] for each in bodies)
        out["requestBody"] = {"required": required, "content": _content(bodies, (JSON,))}
    out["responses"] = _responses(first["responses"], second["responses"])
    for key, value in second.items():
        if (
            key == "tags"
            or (key.startswith("x-") and isinstance(value, list))
            or key in {"security", "servers"}
        ):
            here = out.get(key, [])
            out[key] = [*here, *(each for each in value if each not in here)]
    if "x-assay-available" not in second:
        out.pop("x-assay-available", None)
    return out


def _content(several: Sequence[Schema], media_types: Iterable[str]) -> Schema:
    """Return the content of bodies by media type; each may be that of any of them."""
    contents = [each["content"] for each in several]
    return {
        media: {
            "schema": any_of(content[media]["schema"] for content in contents if media in content)
        }
        for media in media_types
    }


def _joined_parameters(first: Iterable[Schema], second: Iterable[Schema]) -> list[Schema]:
    """Merge parameters; one that only one of the operations has is optional."""
    by_place: dict[tuple[str, str], list[Schema]] = {}
    for parameter in (*first, *second):
        by_place.setdefault((parameter["in"], parameter["name"]), []).append(parameter)
    return [
        {
            **several[0],
            "required": len(several) > 1 and all(each["required"] for each in several),
            "schema": any_of(each["schema"] for each in several),
        }
        for several in by_place.values()
    ]


def _responses(first: Schema, second: Schema) -> Schema:
    out = dict(first)
    for status, response in second.items():
        out[status] = _joined_response(first[status], response) if status in first else response
    return dict(sorted(out.items()))


def _joined_response(first: Schema, second: Schema) -> Schema:
    """Merge two responses; where one may have any content, so may both."""
    outcomes = (*first.get("x-assay-outcomes", ()), *second.get("x-assay-outcomes", ()))
    out: Schema = {
        "description": " ".join(dict.fromkeys((first["description"], second["description"]))),
        "x-assay-outcomes": list(dict.fromkeys(outcomes)),
    }
    if "content" in first and "content" in second:
        out["content"] = _content(
            [first, second], dict.fromkeys((*first["content"], *second["content"]))
        )
    if "links" in first or "links" in second:
        out["links"] = {**first.get("links", {}), **second.get("links", {})}
    return out
