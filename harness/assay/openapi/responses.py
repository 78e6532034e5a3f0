"""What comes back: the responses of a call, by the outcomes of the target file.

An answer is documented as far as the contract and the target file know it: where the
list is, what one item has, which fields a clause is about. Whatever else stands there is
nobody's matter, and so is what a refusal holds.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from assay.binding.target import Matcher, Turn
from assay.openapi.bound_operation import BoundOperation
from assay.openapi.schemas import Schema, either, found, over, ready
from assay.rules.schema_pieces import FieldSchema

#: What is said of each outcome.
SAYS: Mapping[str, str] = {
    "unavailable": "Not available, or not there.",
    "rejected": "Rejected.",
    "accepted": "Accepted.",
}
#: JSON's own media type, and what stands for all that end in `+json`: no range does.
JSON_TYPES = ("application/json", "application/*")
_LINK: Schema = {"type": ["string", "null"]}


def responses(use: BoundOperation, answer: Schema) -> Schema:
    """Return the responses of a call; `answer` is the schema of an accepted one."""
    matchers = list(_matchers(use))
    statuses = [status for _, one in matchers for status in (one.statuses or ("default",))]
    out: Schema = {}
    for status in sorted(set(statuses)):
        meant = list(_meant(status, matchers))
        if meant:
            out[status.upper() if status != "default" else status] = _response(meant, answer, use)
    return out or {"default": {"description": "The target file knows no answer."}}


def _matchers(use: BoundOperation) -> Iterator[tuple[str, Matcher]]:
    """Yield the matchers of the outcomes that a call can have, in the order of trying."""
    told = use.binding.outcomes or use.target.outcomes
    outcomes = {"unavailable": told.unavailable, "rejected": told.rejected}
    if not use.operation.about and use.operation.available:
        del outcomes["unavailable"]
    if use.operation.available:
        outcomes["accepted"] = told.accepted
    for outcome, matchers in outcomes.items():
        for one in matchers:
            if not one.empty or use.binding.list:  # Without a list none is empty.
                yield outcome, one


def _meant(status: str, matchers: list[tuple[str, Matcher]]) -> Iterator[tuple[str, Matcher]]:
    """Yield what a status can mean; nothing comes after a matcher that asks for no more."""
    for outcome, one in matchers:
        if one.statuses and status not in one.statuses and f"{status[0]}xx" not in one.statuses:
            continue
        yield outcome, one
        if not (one.body or one.media_type or one.states) and one.empty is None:
            return


def _response(meant: list[tuple[str, Matcher]], answer: Schema, use: BoundOperation) -> Schema:
    outcomes = list(dict.fromkeys(outcome for outcome, _ in meant))
    out: Schema = {
        "description": " ".join(SAYS[outcome] for outcome in outcomes),
        "x-assay-outcomes": outcomes,
    }
    schemas: dict[str, list[Schema]] = {}
    for outcome, one in meant:
        schema = over(answer if outcome == "accepted" else {}, _conditions(one, use))
        if not schema and one.media_type is None:
            return out  # Any content at all can mean this.
        for media in (one.media_type,) if one.media_type else JSON_TYPES:
            schemas.setdefault(media, []).append(schema)
    out["content"] = {media: {"schema": either(each)} for media, each in schemas.items()}
    return out


def _conditions(matcher: Matcher, use: BoundOperation) -> Schema:
    """Return the schema of what a matcher asks of a body."""
    parts = [
        found(pointer, {"const": ready(value)}, required=True)
        for pointer, value in matcher.body.items()
    ]
    where = single(use.binding.list)
    if matcher.empty is not None and where is not None:
        schema: Schema = {"type": "array", "maxItems": 0} if matcher.empty else {"minItems": 1}
        parts.append(found(where, schema, required=matcher.empty))
    return over(*parts)


def single(pointers: tuple[str, ...]) -> str | None:
    """Return the only pointer; of several, or into every element, no schema can tell."""
    return pointers[0] if len(pointers) == 1 and "/*" not in pointers[0] else None


def answer(use: BoundOperation) -> Schema:
    """Return the schema of an accepted answer; an empty one where nothing is known of it."""
    binding = use.binding
    parts: list[Schema] = []
    if binding.one is not None:
        parts.append(found(binding.one, over({"type": "object"}, _item(use)), required=True))
    elif (where := single(binding.list)) is not None:
        parts.append(found(where, {"type": "array", "items": _item(use)}, required=True))
    link = binding.next.at if binding.next and binding.next.turn is Turn.LINK else None
    roles = [("next", link), ("approval", binding.approval)]
    roles += [("link", pointer) for pointer in binding.links]
    parts += [
        found(pointer, over(_LINK, {"x-assay-roles": [role]}))
        for role, pointer in roles
        if pointer is not None
    ]
    for value, pointer in binding.values.items():
        parts.append(found(pointer, {"x-assay-values": [value]}))
    return over(*parts)


def _item(use: BoundOperation) -> Schema:
    """Return the schema of one item: what all have, and what those of each resource have."""
    return over(_any_item(use), _each(use))


def _any_item(use: BoundOperation) -> Schema:
    item = use.binding.item
    parts: list[Schema] = []
    for role, pointers in (("key", item.key), ("on", item.on)):
        if (where := single(pointers)) is not None:
            parts.append(found(where, {"x-assay-roles": [role]}))
    if item.state is not None and (where := single(item.state.at)) is not None:
        states = {state.value: list(words) for state, words in item.state.values.items()}
        words = [ready(word) for each in states.values() for word in each]
        told: Schema = {"x-assay-roles": ["state"], "x-assay-states": ready(states)}
        parts.append(found(where, over({"examples": words}, told)))
    for name, field in item.fields.items():
        if (where := single(field.at)) is not None:
            parts.append(found(where, {"x-assay-fields": [name]}))
    changing = (found(one, {"x-assay-roles": ["volatile"]}) for one in item.volatile or ())
    return over(*parts, *changing)


def _each(use: BoundOperation) -> Schema:
    """Return what the clauses say of the resources that an operation lists."""
    lists, told = use.operation.lists, use.binding.item.resource
    schemas = {resource: _fields(use, use.shown(resource)) for resource in lists}
    if told is None or len(lists) == 1:
        return either(schemas.values()) if schemas else {}
    conditions: list[Schema] = []
    for resource, schema in schemas.items():
        if schema and resource in told.values:
            is_one = found(told.at, {"const": ready(told.values[resource])}, required=True)
            conditions.append({"if": is_one, "then": schema})
    kinds: Schema = {"x-assay-resources": ready(told.values)}
    return over(found(told.at, kinds), {"allOf": conditions} if conditions else {})


def _fields(use: BoundOperation, said: Iterator[FieldSchema]) -> Schema:
    parts: list[Schema] = []
    for piece in said:
        field = use.binding.item.fields.get(piece.field)
        pointer = single(field.at) if field else None
        if field is not None and pointer is not None:
            # In the target's own words, the contract's schema would say nothing.
            own = {} if field.words or field.first else piece.schema
            schema = over(own, {"x-assay-from": [piece.clause]})
            parts.append(found(pointer, schema, required=piece.mandatory))
    return over(*parts)
