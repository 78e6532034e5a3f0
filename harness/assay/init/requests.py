"""Guesses of the features of requests: where arguments and modes go, and what else is sent.

Guessed by the names of parameters and of members of the body.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence

from assay.binding.secret_names import secret_kind
from assay.contract.model import Json
from assay.init.openapi_operations import THEIRS, MatchedOperation, OpenApiParameter, guessed
from assay.init.openapi_schemas import EACH, SchemaLeaf, words
from assay.init.yaml_writer import YamlEntry, flow
from assay.rules.clauses import clauses_of

#: Usual names of the beginning and the end of a range.
_SINCE = (("date", "from"), ("from", "date"), ("from",), ("since",), ("start",), ("date", "start"))
_UNTIL = (("date", "to"), ("to", "date"), ("to",), ("until",), ("end",), ("date", "end"))
_IBAN = re.compile(r"\biban\b", re.IGNORECASE)
_OUT = re.compile(r"exclu|not included|non inclus|before", re.IGNORECASE)


def arguments(shape: MatchedOperation) -> Iterator[YamlEntry]:
    """Yield where each argument goes, or that this is missing."""
    operation = shape.operation
    if operation.about:
        yield from _about(shape, operation.about)
    for name, forms in ((operation.since, _SINCE), (operation.until, _UNTIL)):
        if name:
            yield _range(shape, name, forms, end=name == operation.until)
    if operation.grants:
        yield _grant(shape, operation.grants)
    for name in operation.arguments:
        yield _member(shape, name)


def _about(shape: MatchedOperation, name: str) -> Iterator[YamlEntry]:
    """Yield where the item that a call is about is named: in the path or a parameter."""
    paths, query = shape.offered.named("path"), shape.offered.named("query")
    slot = about_slot(shape)
    if name in shape.slots:
        return
    if name in query:
        yield YamlEntry(key=name, value={"query": name})
    elif slot is not None:
        yield _named(shape, name, "path", paths.get(slot) or query.get(slot), slot)
    elif near := [parameter for parameter in query.values() if _names(name, parameter, shape)]:
        yield _named(shape, name, "query", near[0], near[0].name)
    else:
        what = "the parameter that names the item of a call"
        yield shape.gap("argument", name, what=what, example=f"{{query: {name}}}")


def about_slot(shape: MatchedOperation) -> str | None:
    """Return the path parameter that names the item of a call, if there is one."""
    name = shape.operation.about
    if name is None:
        return None
    if name in shape.slots:
        return name
    mine = _words_for(name, shape)
    near = sorted(shape.slots, key=lambda slot: -len(mine & set(words(slot))))
    if near and (len(near) == 1 or mine & set(words(near[0]))):
        return near[0]
    # Where no name is similar, the path ends with the item.
    ends = shape.operation.path.endswith("}") and shape.offered.path.endswith("}")
    return shape.slots[-1] if near and ends else None


def _words_for(name: str, shape: MatchedOperation) -> set[str]:
    """Return the words of an argument, and of the resources that an operation is about."""
    below = (shape.contract.resources[resource] for resource in shape.operation.lists)
    names = [name, *(resource.of for resource in below if resource.of)]
    if shape.operation.request:
        names.append(shape.operation.request)
    return {word for name in names for word in words(name)}


def _names(name: str, parameter: OpenApiParameter, shape: MatchedOperation) -> bool:
    """Whether a parameter names the item of a call."""
    theirs = set(words(parameter.name))
    return bool(_words_for(name, shape) & theirs and {"id", *words(name)} & theirs)


def _named(
    shape: MatchedOperation, name: str, place: str, parameter: OpenApiParameter | None, called: str
) -> YamlEntry:
    """Return that a parameter takes the key of an item, or the bank's own name from a list."""
    about = f"{parameter.leaf.form} {parameter.description}" if parameter else ""
    is_key = bool(set(words(name)) & set(words(called)))
    # A resource id is the bank's own name, whatever its description says.
    if "iban" in words(name) and "resource" not in words(called):
        is_key |= bool(_IBAN.search(about))
    if shape.lister and not is_key:
        why = f"{called} is not {name}, so it is looked up in {shape.lister}"
        return YamlEntry(key=name, value={place: called, "found": shape.lister}, why=why)
    return YamlEntry(key=name, value={place: called}, why=f"{called} names the item of the call")


def _range(
    shape: MatchedOperation, name: str, forms: Sequence[tuple[str, ...]], *, end: bool
) -> YamlEntry:
    """Return the parameter for the beginning or the end of a range of dates."""
    query = shape.offered.named("query")
    if name in query:
        return YamlEntry(key=name, value={"query": name})
    similar = (
        parameter for form in forms for parameter in query.values() if _has_form(parameter, form)
    )
    parameter = next(similar, None)
    if parameter is None:
        what = f"the parameter for the {'to' if end else 'from'} date"
        return shape.gap("argument", name, what=what, example=f"{{query: {name}}}")
    spelling: dict[str, Json] = {"query": parameter.name}
    why = f"the parameter {parameter.name} is similar to {name}"
    if parameter.leaf.form == "date-time":
        spelling["text"] = "{}T00:00:00Z"
        why += ", with a time"
    if end and _OUT.search(parameter.description):
        spelling["exclusive"] = True
        why += ", and excludes the day"
    return YamlEntry(key=name, value=spelling, why=why)


def _has_form(parameter: OpenApiParameter, form: tuple[str, ...]) -> bool:
    """Whether a parameter has the words of a form; with several, in any order."""
    mine = words(parameter.name)
    return mine == form or (len(form) > 1 and set(form) <= set(mine))


def modes(shape: MatchedOperation) -> Iterator[YamlEntry]:
    """Yield how each mode is requested: by a value of a parameter or member."""
    for mode in shape.operation.modes:
        mine = set(words(mode))
        for place, leaf in _choices(shape):
            value = next((each for each in leaf.values if set(words(each)) == mine), None)
            if value is not None:
                why = f"{value} is a value of {leaf.name}"
                at = leaf.pointer if place == "body" else leaf.name
                yield YamlEntry(key=mode, value={place: at, "value": value}, why=why)
                break
        else:
            yield shape.gap("mode", mode)


def _choices(shape: MatchedOperation) -> Iterator[tuple[str, SchemaLeaf]]:
    for place in ("query", "header"):
        for name, parameter in shape.offered.named(place).items():
            yield place, SchemaLeaf(steps=(name,), values=parameter.leaf.values)
    yield from (("body", leaf) for leaf in shape.offered.request if leaf.values and leaf.steps)


def unfilled_slots(shape: MatchedOperation) -> Iterator[str]:
    """Yield the path parameters that no argument of the contract fills."""
    filled = _bound(shape, "path") | {shape.operation.about}
    yield from (slot for slot in shape.slots if slot not in filled)


def queries(shape: MatchedOperation) -> Iterator[YamlEntry]:
    """Yield required query parameters that no argument of the contract fills."""
    bound = _bound(shape, "query")
    for name, parameter in shape.offered.named("query").items():
        if parameter.required and name not in bound:
            known = parameter.leaf.values and not secret_kind(name)
            value = parameter.leaf.values[0] if known else "…"
            what = f"a value for {name}, which the document requires in the query"
            yield shape.gap("queries", what=what, example=flow({name: value}))


def _bound(shape: MatchedOperation, place: str) -> set[str]:
    """Return what arguments and modes are bound to in a place: parameters, or pointers."""
    entries = (*arguments(shape), *modes(shape))
    bound = (entry.value.get(place) for entry in entries if isinstance(entry.value, dict))
    pointers = (at if isinstance(at, list) else [at] for at in bound if at)
    return {str(at) for several in pointers for at in several}


#: Other names of the contract's arguments: all words of one of the sets.
_ALSO: dict[str, tuple[frozenset[str], ...]] = {
    "creditorAccount": (frozenset({"creditor", "account", "iban"}),),
    "debtorAccount": (frozenset({"debtor", "account", "iban"}),),
    "amount": (frozenset({"instructed", "amount"}),),
    "currency": (frozenset({"instructed", "amount", "currency"}),),
    "date": (frozenset({"requested", "execution", "date"}), frozenset({"execution", "date"})),
    "successfulReportUrl": (frozenset({"success", "url"}), frozenset({"redirect", "uri"})),
}


def _grant(shape: MatchedOperation, name: str) -> YamlEntry:
    """Return where a consent lists what it covers, possibly in several lists."""
    arrays = [
        leaf for leaf in shape.offered.request if leaf.kind == "array" and EACH not in leaf.steps
    ]
    known = {word for known in (name, *shape.contract.operations) for word in words(known)}
    lists = [leaf for leaf in arrays if set(leaf.words) & known] or arrays[:1]
    if not lists:
        what = "the pointer to the list of what a consent covers"
        return shape.gap("argument", name, what=what, example=f"{{body: /{name}}}")
    pointers = [leaf.pointer for leaf in lists]
    spelling: dict[str, Json] = {"body": pointers[0] if len(pointers) == 1 else [*pointers]}
    several = "the list" if len(lists) == 1 else f"the {len(lists)} lists"
    why = f"{several} in the body of {shape.offered}"
    item = _item_shape(shape, lists[0])
    if item:
        spelling["each"] = item
        resources = item.get("by")
        keys = resources if isinstance(resources, dict) else item
        why += f" with {' and '.join(keys)} in each"
    elif pointers == [f"/{name}"]:
        why = ""
    return YamlEntry(key=name, value=spelling, why=why)


def _item_shape(shape: MatchedOperation, array: SchemaLeaf) -> dict[str, Json]:
    """Return the shape of one item in a list; empty if an item is only a key."""
    inside = (leaf.below((*array.steps, EACH)) for leaf in shape.offered.request)
    members = [leaf for leaf in inside if leaf and leaf.kind in {"string", ""}]
    members = [leaf for leaf in members if EACH not in leaf.steps]
    if not members:
        return {}
    resources = shape.contract.resources.values()
    keys = {resource.key for resource in resources if resource.key}
    first = next((leaf for leaf in members if leaf.steps[-1] in keys), members[0])
    neighbour = beside(first, members)
    kinds = [resource.id for resource in resources if resource.key and not resource.of]
    if neighbour is None or len(kinds) == 1:
        return _nested(first.steps)
    rest: dict[str, Json] = dict.fromkeys(kinds[1:], _nested(neighbour.steps))
    return {"by": {kinds[0]: _nested(first.steps), **rest}}


def beside(leaf: SchemaLeaf, leaves: Iterable[SchemaLeaf]) -> SchemaLeaf | None:
    """Return the leaf beside the key that identifies other resources."""
    above = leaf.steps[:-1]
    for candidate in leaves:
        if candidate.words == ("identification",) and candidate.steps[: len(above)] == above:
            return candidate
    return None


def _nested(steps: tuple[str, ...]) -> dict[str, Json]:
    """Return an object with the key at the end of some steps."""
    first, *rest = steps
    return {first: _nested(tuple(rest)) if rest else "{}"}


def _member(shape: MatchedOperation, name: str) -> YamlEntry:
    """Return where an argument of a request goes in the body."""
    leaf = called(name, shape.offered.request)
    if leaf is None:
        what = "the pointer to this argument in the body"
        return shape.gap("argument", name, what=what, example=f"{{body: /{name}, value: …}}")
    spelling: dict[str, Json] = {"body": leaf.pointer}
    if leaf.form not in {"date", "date-time"}:
        spelling |= dict(zip(("value", "other"), _valid(shape, name, leaf), strict=False))
    if leaf.form == "date-time":
        spelling["text"] = "{}T00:00:00Z"
    return YamlEntry(key=name, value=spelling, why=guessed(name, leaf))


def _valid(shape: MatchedOperation, name: str, leaf: SchemaLeaf) -> tuple[Json, ...]:
    """Return valid values: that of the contract, or those of the document."""
    values = (clause.fixed_value(name) for clause in clauses_of(shape.contract))
    fixed = next((value for value in values if value is not None), None)
    return leaf.values if fixed is None else (fixed,)


def called(name: str, leaves: Iterable[SchemaLeaf]) -> SchemaLeaf | None:
    """Return the leaf of a body for a field of a request: the same name, or a similar one."""
    mine = frozenset(words(name))
    values = [leaf for leaf in leaves if leaf.steps and leaf.kind not in {"object", "array"}]
    # The account of another party is another field.
    values = [leaf for leaf in values if leaf.path & mine & THEIRS or not leaf.path & THEIRS]
    exact = [leaf for leaf in values if leaf.name == name]
    if exact:
        return min(exact, key=lambda leaf: len(leaf.steps))
    for wanted in (mine, *_ALSO.get(name, ())):
        near = [leaf for leaf in values if wanted <= leaf.path and set(leaf.words) & wanted]
        if near:
            return min(near, key=lambda leaf: (len(leaf.path - wanted), len(leaf.steps)))
    return None


def template(shape: MatchedOperation) -> Iterator[YamlEntry]:
    """Yield what else a body must contain, with the document's examples."""
    bound = _bound(shape, "body")
    value: dict[str, Json] = {}
    missing: list[str] = []
    for leaf in shape.offered.request:
        inside = any(
            pointer == leaf.pointer or pointer.startswith(leaf.pointer + "/") for pointer in bound
        )
        if not leaf.required or len(leaf.steps) != 1 or inside:
            continue
        if secret_kind(leaf.name):
            missing.append(leaf.name)  # a secret of somebody does not belong in the file
        elif leaf.values and leaf.kind in {"string", "boolean", "integer"}:
            value[leaf.name] = _typed(leaf)
        else:
            missing.append(leaf.name)
    if value:
        yield YamlEntry(
            key="template", value=value, why="required members, with the document's examples"
        )
    if missing:
        what = f"required members of the body: {', '.join(missing[:8])}"
        yield shape.gap("template", what=what, example=f"{{{missing[0]}: …}}")


def _typed(leaf: SchemaLeaf) -> Json:
    text = leaf.values[0]
    if leaf.kind == "boolean":
        return text == "true"
    if leaf.kind == "integer" and re.fullmatch(r"-?[0-9]{1,15}", text):
        return int(text)
    return text
