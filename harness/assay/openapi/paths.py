"""The `paths` of a document: every operation under its path and each of its aliases.

Operations that a target binds to the same method and path become one, which accepts the body of
either and has the responses of both. Paths that differ only in the names of their parameters are
the same path, too.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import reduce
from typing import cast

from assay.binding.model.forms import FORM, is_form
from assay.binding.model.pointer import MISSING, find
from assay.binding.model.spelling import SLOT
from assay.binding.model.submission import SUBMISSION, SUBMITTED
from assay.binding.model.target import Place, Spelling
from assay.binding.wire.values import (
    argument_in,
    has_placeholder,
    repeated_arguments,
    repeats_argument,
)
from assay.contract.model import Json, Resource
from assay.errors import InputError
from assay.openapi.bound_operation import (
    BoundOperation,
    concerned,
    of_operation,
    required_security,
    token_members,
)
from assay.openapi.responses import answer, responses, single
from assay.openapi.schemas import (
    TEXT,
    Schema,
    all_of,
    any_of,
    escaped,
    filled,
    in_request,
    ready,
    sent_schema,
    sent_value,
    typed,
    unique,
)
from assay.rules.obligation import Obligation

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
        media = FORM if is_form({**use.target.headers, **use.binding.headers}.items()) else JSON
        out["requestBody"] = {"required": required, "content": {media: {"schema": content}}}
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
    for name, mode in use.modes(Place.BASE):
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
    resources: Mapping[str, Resource] = use.contract.resources
    owners = {resources[child].of for child in reader.operation.lists}
    return bool(owners & {*use.operation.lists})


# -- Operations with the same method and path


def _merged(first: Schema, second: Schema) -> Schema:
    """Merge two operations that a target binds to the same method and path."""
    out = {**first, "summary": " ".join(dict.fromkeys((first["summary"], second["summary"])))}
    out["parameters"] = _joined_parameters(first["parameters"], second["parameters"])
    bodies = [each["requestBody"] for each in (first, second) if "requestBody" in each]
    if bodies:
        required = len(bodies) > 1 and all(each["required"] for each in bodies)
        out["requestBody"] = {
            "required": required,
            "content": _content(bodies, bodies[0]["content"]),
        }
    merged = dict(first["responses"])
    for status, each in second["responses"].items():
        merged[status] = _joined_response(merged[status], each) if status in merged else each
    out["responses"] = dict(sorted(merged.items()))
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


# -- Parameters and bodies of requests, as the target binds them ---------------------------------
# Arguments and modes come from the contract, their places from the target file. The type of an
# argument follows from the target's own value for it, and from its role: a date, a key. An argument
# is required only where a clause says so, or where it names the item of the call.
_DAY: Schema = {"type": "string", "format": "date"}


def parameters(use: BoundOperation, path: str) -> list[Schema]:
    """Return the parameters of a call under one of its paths, each once."""
    out: dict[tuple[str, str], Schema] = {}
    for parameter in _parameters(use, path):
        name = parameter["name"].lower() if parameter["in"] == "header" else parameter["name"]
        here = out.setdefault((parameter["in"], name), parameter)
        if here is not parameter:
            both = {"required": here["required"] or parameter["required"]}
            says = f"{here['description']} {parameter['description']}"
            schema = all_of(here["schema"], parameter["schema"])
            out[parameter["in"], name] = {**here, **both, "description": says, "schema": schema}
    return list(out.values())


def _parameters(use: BoundOperation, path: str) -> Iterator[Schema]:
    slots = dict.fromkeys(SLOT.findall(path))
    for argument in use.arguments:
        spelling = _spelling(use, argument, path)
        if spelling is None or spelling.place is Place.BODY:
            continue
        if spelling.place is Place.PATH:
            if spelling.name not in slots:
                continue
            del slots[spelling.name]
        yield _parameter(
            spelling,
            _argument(use, argument),
            required=spelling.place is Place.PATH or _required(use, argument),
            says=f"The contract's argument {argument}.",
        )
    for slot in slots:
        unknown = Spelling(place=Place.PATH, name=slot)
        yield _parameter(
            unknown,
            TEXT,
            required=True,
            says="A path parameter that the target file does not bind.",
        )
    yield from _modes(use)
    if use.target.presence and use.target.presence.place is not Place.BODY:
        mark = use.target.presence
        spelling = Spelling(place=mark.place, name=mark.name)
        schema = all_of(TEXT, {"examples": [mark.value]})
        says = (
            "Marks a call as made with the customer present; calls without it are made in absence."
        )
        yield _parameter(spelling, schema, required=False, says=says)


def _parameter(spelling: Spelling, schema: Schema, *, required: bool, says: str) -> Schema:
    if spelling.place is Place.PATH:
        schema = all_of(schema, {"minLength": 1})
    return {
        "name": spelling.name,
        "in": spelling.place.value,
        "required": required,
        "description": says,
        "schema": schema,
    }


def _modes(use: BoundOperation) -> Iterator[Schema]:
    """Yield the parameters that select a mode."""
    places: dict[tuple[Place, str], list[Json]] = {}
    for _, mode in use.modes(Place.QUERY, Place.HEADER):
        places.setdefault((mode.place, mode.name), []).append(mode.value)
    for (place, name), values in places.items():
        yield _parameter(
            Spelling(place=place, name=name),
            _of_modes(use, values),
            required=False,
            says="Selects the mode of the request.",
        )


def body(use: BoundOperation, path: str) -> Schema | None:
    """Return the schema of the body of a call under one of its paths; None without one."""
    template, served = use.binding.template, _modes_served_in_body(use)
    parts: list[Schema] = []
    for argument in use.arguments:
        spelling = _spelling(use, argument, path)
        if spelling is not None and spelling.place is Place.BODY:
            plain, required = _argument(use, argument), _required(use, argument)
            for pointer in (spelling.name, *spelling.also):
                # A mode replaces the argument that stands in its place.
                mode = [_of_modes(use, served[pointer])] if pointer in served else []
                schema = any_of([plain, *mode])
                parts += [in_request(pointer, schema, within=template, required=required)]
    parts += _modes_in_body(use, served)
    parts += token_members(use)
    if not parts and use.method not in {"post", "put", "patch"}:
        return None
    return all_of({"type": "object"}, *parts)


def _modes_served_in_body(use: BoundOperation) -> Mapping[str, list[Json]]:
    """Return the values that select a mode in the body, by pointer."""
    served: dict[str, list[Json]] = {}
    for _, mode in use.modes(Place.BODY):
        if mode.name:
            served.setdefault(mode.name, []).append(mode.value)
    return served


def _modes_in_body(use: BoundOperation, served: Mapping[str, list[Json]]) -> Iterator[Schema]:
    """Yield the values that select a mode in the body, and those that must not be sent."""
    template = use.binding.template
    for pointer, values in served.items():
        if not _has_argument(use, pointer):
            usual = find(template, pointer)
            known = values if usual is MISSING or usual in values else [*values, usual]
            yield in_request(pointer, _of_modes(use, known), within=template)
    for mode, barred in use.barred_modes.items():
        spelling = use.binding.modes.get(mode)
        in_body = spelling is not None and spelling.place is Place.BODY
        if spelling is None or not in_body or repeats_argument(spelling, use.binding):
            continue
        members = _members(spelling)
        own_members = [item for item in members.items() if item[1] not in served.get(item[0], ())]
        # With two members, either may be the wrong one; and generators of other tools cannot
        # exclude a whole list or object.
        if len(own_members) == 1 and not isinstance(own_members[0][1], list | dict):
            ((pointer, value),) = own_members
            excluded = {"not": {"const": value}, "x-assay-from": [barred.clause]}
            yield in_request(pointer, excluded, within=template)


def _has_argument(use: BoundOperation, pointer: str) -> bool:
    """Whether an argument stands at a pointer too, around it or inside: a mode replaces its value."""
    places = (
        name
        for spelling in use.binding.arguments.values()
        if spelling.place is Place.BODY
        for name in (spelling.name, *spelling.also)
    )
    return any(
        f"{name}/".startswith(f"{pointer}/") or f"{pointer}/".startswith(f"{name}/")
        for name in places
    )


def _of_modes(use: BoundOperation, values: Sequence[Json]) -> Schema:
    """Return the schema of a place that selects modes by these values, or by an argument's."""
    known = use.binding.arguments
    repeated = dict.fromkeys(argument_in(value, known) for value in values)
    named = [
        {key: each for key, each in _argument(use, name).items() if key != "x-assay-arguments"}
        for name in repeated
        if name is not None
    ]
    others = [value for value in values if argument_in(value, known) is None]
    if any(any(repeated_arguments(value, known)) for value in others):
        return {}
    words = [ready(value) for value in others]
    schemas = [*named, *([{"enum": words}] if words else [])]
    return schemas[0] if len(schemas) == 1 else {"anyOf": schemas}


def _members(spelling: Spelling) -> Mapping[str, Json]:
    """Return the members of a body that select a mode, by pointer."""
    value = ready(spelling.value)
    if spelling.name or not isinstance(value, dict):
        return {spelling.name: value} if spelling.name else {}
    named = cast("dict[str, Json]", value)
    return {"/" + escaped(name): it for name, it in named.items()}


def _spelling(use: BoundOperation, argument: str, path: str) -> Spelling | None:
    """Return where an argument goes under a path: its path parameter is preferred."""
    if argument in SLOT.findall(path):
        return Spelling(place=Place.PATH, name=argument)
    return use.binding.arguments.get(argument)


def place(use: BoundOperation, argument: str) -> Spelling | None:
    """Return where an argument goes under the first of an operation's paths."""
    return _spelling(use, argument, use.paths[0])


def _required(use: BoundOperation, argument: str) -> bool:
    """Whether a call needs an argument: to be complete, or because a clause says so."""
    operation = use.operation
    if argument in {operation.about, operation.grants} or operation.ends:
        return True
    return any(piece.mandatory for piece in use.argument_schemas(argument))


def _argument(use: BoundOperation, argument: str) -> Schema:
    """Return the schema of an argument as it is sent, wherever that is."""
    spelling = use.binding.arguments.get(argument)
    said = list(use.argument_schemas(argument))
    schema = all_of(_meant(use, argument, spelling), *(piece.schema for piece in said))
    mandatory = any(piece.mandatory for piece in said)
    if mandatory:
        schema = filled(schema)
    schema = sent_schema(schema, spelling, required=mandatory)
    if spelling is not None and spelling.place is not Place.BODY:
        schema = all_of(schema, {} if "type" in schema or "anyOf" in schema else TEXT)
    schema = all_of(schema, {"x-assay-arguments": [argument]})
    examples = _examples(spelling) if spelling else []
    if examples and "const" not in schema:
        schema = all_of(schema, {"examples": examples})
    if said:
        schema = all_of(
            schema, {"x-assay-from": list(dict.fromkeys(piece.clause for piece in said))}
        )
    return schema


def _examples(spelling: Spelling) -> list[Json]:
    """Return the target's own values of an argument, as they are sent."""
    given = (spelling.value, spelling.other)
    fixed = (value for value in given if value is not None and not has_placeholder(value))
    return [sent_value(value, spelling) for value in fixed]


def _meant(use: BoundOperation, argument: str, spelling: Spelling | None) -> Schema:
    """Return the schema that follows from the role of an argument, or from the target's value."""
    operation = use.operation
    value = None
    if spelling is not None:
        value = spelling.value if spelling.value is not None else spelling.other
    if argument == operation.grants:
        return {"type": "array", "items": use.key_schema()}
    if argument in use.date_arguments:
        return _DAY
    if argument == operation.about and operation.request:
        return TEXT
    if argument in {operation.about, operation.owned}:
        return use.key_schema()
    if operation.ends and value is not None and not has_placeholder(value):
        return {"const": ready(value)}
    return typed(value)
