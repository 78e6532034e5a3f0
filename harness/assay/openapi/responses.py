"""Responses of an operation, by the outcomes of the target file.

A response is documented as far as the contract and the target file know it: where the list
is, what one item has, and which fields a clause is about. A binding feature adds its role, or what
`AROUND` and `ITEM` have. Other members, and the bodies of refusals, stay open.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import Final, TypeAlias

from assay.binding.model.features import BINDING_FEATURES
from assay.binding.model.pointer import DerivedPointer
from assay.binding.model.target import Matcher, OperationBinding
from assay.openapi.bound_operation import BoundOperation
from assay.openapi.schemas import Schema, all_of, any_of, in_response, ready
from assay.rules.facets import FieldSchema

#: The description of each outcome.
SAYS: Mapping[str, str] = {
    "unavailable": "Not available, or not found.",
    "rejected": "Rejected.",
    "accepted": "Accepted.",
}
#: Of a range such as `application/*`, which all types in `+json` have, no mock could make a header.
JSON = "application/json"
_LINK: Schema = {"type": ["string", "null"]}
#: Returns parts of the schema of an answer.
_PartsOf: TypeAlias = Callable[[OperationBinding], Iterator[Schema]]


def responses(use: BoundOperation, answer: Schema) -> Schema:
    """Return the responses of a call; `answer` is the schema of an accepted one."""
    matchers = list(_matchers(use))
    statuses = [status for _, matcher in matchers for status in (matcher.statuses or ("default",))]
    out: Schema = {}
    for status in sorted(set(statuses)):
        meant = list(_meant(status, matchers))
        if meant:
            out[status.upper() if status != "default" else status] = _response(meant, answer, use)
    if "204" not in out and _may_be_empty(use, matchers):
        out["204"] = {"description": "Nothing is said."}
    return out or {"default": {"description": "The target file has no outcome for this call."}}


def _may_be_empty(use: BoundOperation, matchers: list[tuple[str, Matcher]]) -> bool:
    """Whether no content is an answer: nothing is served, or a change needs no words."""
    operation = use.operation
    if not operation.available:
        return True
    silent = any((operation.changes, operation.ends, operation.grants))
    return silent and any(outcome == "accepted" for outcome, _ in _meant("204", matchers))


def _matchers(use: BoundOperation) -> Iterator[tuple[str, Matcher]]:
    """Yield the matchers of the outcomes that a call can have, in the order of precedence."""
    outcomes = use.binding.outcomes or use.target.outcomes
    by_name = {"unavailable": outcomes.unavailable, "rejected": outcomes.rejected}
    if not use.operation.about and use.operation.available:
        del by_name["unavailable"]
    if use.operation.available:
        by_name["accepted"] = outcomes.accepted
    for outcome, matchers in by_name.items():
        for matcher in matchers:
            if not matcher.empty or use.binding.list:  # Without a list, no response is empty.
                yield outcome, matcher


def _meant(status: str, matchers: list[tuple[str, Matcher]]) -> Iterator[tuple[str, Matcher]]:
    """Yield the outcomes that a status can mean, up to a matcher that needs nothing else."""
    for outcome, matcher in matchers:
        if (
            matcher.statuses
            and status not in matcher.statuses
            and f"{status[0]}xx" not in matcher.statuses
        ):
            continue
        yield outcome, matcher
        if not (matcher.body or matcher.media_type or matcher.states) and matcher.empty is None:
            return


def _response(meant: list[tuple[str, Matcher]], answer: Schema, use: BoundOperation) -> Schema:
    outcomes = list(dict.fromkeys(outcome for outcome, _ in meant))
    out: Schema = {
        "description": " ".join(SAYS[outcome] for outcome in outcomes),
        "x-assay-outcomes": outcomes,
    }
    schemas: dict[str, list[Schema]] = {}
    for outcome, matcher in meant:
        schema = all_of(answer if outcome == "accepted" else {}, _conditions(matcher, use))
        if not schema and matcher.media_type is None:
            return out  # Any content can mean this outcome.
        for media in (matcher.media_type,) if matcher.media_type else _json_types(use):
            schemas.setdefault(media, []).append(schema)
    out["content"] = {media: {"schema": any_of(each)} for media, each in schemas.items()}
    return out


def _json_types(use: BoundOperation) -> Iterable[str]:
    """Return the media type of JSON, and those in `+json` for which the calls ask."""
    headers = {**use.target.headers, **use.binding.headers}
    asked = ",".join(value for name, value in headers.items() if name.lower() == "accept")
    named = (each.partition(";")[0].strip().lower() for each in asked.split(","))
    return dict.fromkeys((JSON, *(each for each in named if each.endswith("+json"))))


def _conditions(matcher: Matcher, use: BoundOperation) -> Schema:
    """Return the schema of the bodies that match."""
    parts = [
        in_response(pointer, {"const": ready(value)}, required=True)
        for pointer, value in matcher.body.items()
    ]
    where = single(use.binding.list)
    if matcher.empty is not None and where is not None:
        schema: Schema = {"minItems": 1}
        schema = {"type": "array", "items": {}, "maxItems": 0} if matcher.empty else schema
        parts.append(in_response(where, schema, required=matcher.empty))
    return all_of(*parts)


def single(pointers: tuple[str, ...]) -> str | None:
    """Return the only pointer; a schema cannot express several, one into every element, or a derived one."""
    plain = len(pointers) == 1 and not isinstance(pointers[0], DerivedPointer)
    return pointers[0] if plain and "/*" not in pointers[0] else None


def answer(use: BoundOperation) -> Schema:
    """Return the schema of an accepted answer; an empty one where nothing is known of it."""
    binding = use.binding
    parts: list[Schema] = []
    if binding.one is not None:
        parts.append(
            in_response(binding.one, all_of({"type": "object"}, _item(use)), required=True)
        )
    elif (where := single(binding.list)) is not None:
        listed: Schema = {"type": "array", "items": _item(use)}
        if binding.optional_list:
            listed = {"anyOf": [listed, {"type": "null"}]}
        parts.append(in_response(where, listed, required=not binding.optional_list))
    return all_of(*parts, *_features(binding, AROUND, in_item=False))


def _item(use: BoundOperation) -> Schema:
    """Return the schema of one item: what all have, and what those of each resource have."""
    return all_of(*_features(use.binding, ITEM, in_item=True), _each(use))


def _features(
    binding: OperationBinding, more: Mapping[str, _PartsOf], *, in_item: bool
) -> Iterator[Schema]:
    """Yield what the binding features say of an answer around its items, or of one item."""
    for name, feature in BINDING_FEATURES.items():
        if name in more:
            yield from more[name](binding)
        elif feature.role and in_item is (feature.section[:1] == ("item",)):
            found = feature.pointers(binding)
            kind = _LINK if feature.leads else {}
            for pointer in found if feature.several else filter(None, [single(found)]):
                yield in_response(pointer, {**kind, "x-assay-roles": [feature.role]})


def _next(binding: OperationBinding) -> Iterator[Schema]:
    for pointer in binding.next.links if binding.next is not None else ():
        yield in_response(pointer, {**_LINK, "x-assay-roles": ["next"]})


def _state(binding: OperationBinding) -> Iterator[Schema]:
    state = binding.item.state
    if state is not None and (where := single(state.at)) is not None:
        states = {name.value: list(values) for name, values in state.values.items()}
        values = [ready(word) for each in states.values() for word in each]
        extensions: Schema = {"x-assay-roles": ["state"], "x-assay-states": ready(states)}
        yield in_response(where, all_of({"examples": values}, extensions))


def _field_names(binding: OperationBinding) -> Iterator[Schema]:
    for name, field in binding.item.fields.items():
        if (where := single(field.at)) is not None:
            yield in_response(where, {"x-assay-fields": [name]})


#: What binding features say of an accepted answer besides their roles: around its items, and of
#: one item; `_each` adds the resources.
AROUND: Final[Mapping[str, _PartsOf]] = {
    "next": _next,
    "value": lambda binding: (
        in_response(pointer, {"x-assay-values": [name]}) for name, pointer in binding.values.items()
    ),
}
ITEM: Final[Mapping[str, _PartsOf]] = {"state": _state, "field": _field_names}


def _each(use: BoundOperation) -> Schema:
    """Return the schemas that clauses define for the resources that an operation lists."""
    lists, state = use.operation.lists, use.binding.item.resource
    schemas = {resource: _fields(use, use.field_schemas(resource)) for resource in lists}
    if state is None or len(lists) == 1:
        return any_of(schemas.values()) if schemas else {}
    conditions: list[Schema] = []
    for resource, schema in schemas.items():
        if schema and resource in state.values:
            is_one = in_response(state.at, {"const": ready(state.values[resource])}, required=True)
            conditions.append({"if": is_one, "then": schema})
    kinds: Schema = {"x-assay-resources": ready(state.values)}
    return all_of(in_response(state.at, kinds), {"allOf": conditions} if conditions else {})


def _fields(use: BoundOperation, said: Iterator[FieldSchema]) -> Schema:
    parts: list[Schema] = []
    for piece in said:
        field = use.binding.item.fields.get(piece.field)
        pointer = single(field.at) if field else None
        if field is not None and pointer is not None:
            # The contract's schema does not apply to the target's own words.
            other = field.words or field.first or field.unit or field.format
            own = {} if other else piece.schema
            schema = all_of(own, {"x-assay-from": [piece.clause]})
            parts.append(in_response(pointer, schema, required=piece.mandatory))
    return all_of(*parts)
