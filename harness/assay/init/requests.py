"""How the calls of an operation are spelt: where each argument of the contract goes.

By the names of parameters, and of what stands in a body. Nothing is made up: where no
name is alike, the argument is missing.

What stands in the body of a request: what a consent covers, arguments, and the rest.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence

from assay.contract.model import Json
from assay.init.name_matching import words
from assay.init.openapi_operations import EACH, Parameter, SchemaLeaf
from assay.init.operation_match import THEIRS, MatchedOperation, guessed
from assay.init.yaml_writer import YamlEntry, gap

#: Words by which the beginning and the end of a range are called.
_SINCE = (("date", "from"), ("from", "date"), ("from",), ("since",), ("start",), ("date", "start"))
_UNTIL = (("date", "to"), ("to", "date"), ("to",), ("until",), ("end",), ("date", "end"))
_IBAN = re.compile(r"\biban\b", re.IGNORECASE)
_OUT = re.compile(r"exclu|not included|non inclus|before", re.IGNORECASE)


def arguments(shape: MatchedOperation) -> Iterator[YamlEntry]:
    """Yield where each argument stands, or that this is missing."""
    operation = shape.operation
    if operation.about:
        yield from _about(shape, operation.about)
    for name, forms in ((operation.since, _SINCE), (operation.until, _UNTIL)):
        if name:
            yield _range(shape, name, forms, end=name == operation.until)
    if operation.grants:
        yield grant(shape, operation.grants)
    for name in operation.arguments:
        yield member(shape, name)


def _about(shape: MatchedOperation, name: str) -> Iterator[YamlEntry]:
    """Yield where it is said what a call is about: in the path, or in a parameter."""
    if name in shape.slots:
        return
    parameters = shape.offered.named("path") | shape.offered.named("query")
    if name in shape.offered.named("query"):
        yield YamlEntry(key=name, value={"query": name})
        return
    slot = about_slot(shape)
    if slot is not None:
        yield from _found(shape, name, "path", parameters.get(slot), slot)
        return
    near = [one for one in shape.offered.named("query").values() if _names(name, one, shape)]
    if near:
        yield from _found(shape, name, "query", near[0], near[0].name)
        return
    yield gap(name, "where it is said what a call is about", f"{{query: {name}}}")


def about_slot(shape: MatchedOperation) -> str | None:
    """Return what stands in the path for what a call is about, if anything does."""
    name = shape.operation.about
    if name is None:
        return None
    if name in shape.slots:
        return name
    mine = {*words(name), *(word for one in _things(shape) for word in words(one))}
    near = sorted(shape.slots, key=lambda slot: -len(mine & set(words(slot))))
    if near and (len(near) == 1 or mine & set(words(near[0]))):
        return near[0]
    # Where nothing is alike, the thing itself is what a path ends with.
    ends = shape.operation.path.endswith("}") and shape.offered.path.endswith("}")
    return shape.slots[-1] if near and ends else None


def _things(shape: MatchedOperation) -> Iterable[str]:
    """Yield the resources that a call of an operation is about."""
    below = (shape.contract.resources[one] for one in shape.operation.lists)
    yield from (one.of for one in below if one.of)
    if shape.operation.request:
        yield shape.operation.request


def _names(name: str, one: Parameter, shape: MatchedOperation) -> bool:
    mine = {*words(name), *(word for each in _things(shape) for word in words(each))}
    return (
        bool(mine & set(words(one.name))) and {"id", *words(name)} & set(words(one.name)) != set()
    )


def _found(
    shape: MatchedOperation, name: str, place: str, parameter: Parameter | None, called: str
) -> Iterator[YamlEntry]:
    """Yield that something is named by its key, or by a name that was found in a list."""
    spelling: dict[str, Json] = {place: called}
    about = f"{parameter.leaf.form} {parameter.says}" if parameter else ""
    own = bool(set(words(name)) & set(words(called)))
    # What is called a resource is a name of the bank's own, whatever is said of it.
    said = bool("iban" in words(name) and _IBAN.search(about)) and "resource" not in words(called)
    is_key = own or said
    if shape.lister and not is_key:
        spelling["found"] = shape.lister
        why = f"{called} is no {name}, so it is looked up in {shape.lister}"
    else:
        why = f"{called} is the one that says what the call is about"
    yield YamlEntry(key=name, value=spelling, why=why)


def _range(
    shape: MatchedOperation, name: str, forms: Sequence[tuple[str, ...]], *, end: bool
) -> YamlEntry:
    query = shape.offered.named("query")
    if name in query:
        return YamlEntry(key=name, value={"query": name})
    for form in forms:
        for one in query.values():
            if words(one.name) == form or (len(form) > 1 and set(form) <= set(words(one.name))):
                spelling: dict[str, Json] = {"query": one.name}
                why = f"the parameter {one.name} is like {name}"
                if one.leaf.form == "date-time":
                    spelling["text"] = "{}T00:00:00Z"
                    why += ", with a time"
                if end and _OUT.search(one.says):
                    spelling["exclusive"] = True
                    why += ", and excludes its day"
                return YamlEntry(key=name, value=spelling, why=why)
    day = "to" if end else "from"
    return gap(name, f"the parameter for days {day} one on", f"{{query: {name}}}")


def modes(shape: MatchedOperation) -> Iterator[YamlEntry]:
    """Yield how each mode is asked for: the word for it, where words are chosen from."""
    for mode in shape.operation.modes:
        mine = set(words(mode))
        for place, one in _choices(shape):
            value = next((each for each in one.values if set(words(each)) == mine), None)
            if value is not None:
                why = f"{value} is a word of {one.name}"
                at = one.pointer if place == "body" else one.name
                yield YamlEntry(key=mode, value={place: at, "value": value}, why=why)
                break
        else:
            yield gap(mode, "how this mode is asked for", "{query: …, value: …}")


def _choices(shape: MatchedOperation) -> Iterator[tuple[str, SchemaLeaf]]:
    for place in ("query", "header"):
        for name, one in shape.offered.named(place).items():
            yield place, SchemaLeaf(steps=(name,), values=one.leaf.values)
    yield from (("body", one) for one in shape.offered.request if one.values and one.steps)


def unfilled(shape: MatchedOperation, entries: Iterable[YamlEntry]) -> Iterator[YamlEntry]:
    """Yield what a call has to have besides, where nothing of the contract goes."""
    used = {name for one in entries if isinstance(one.value, dict) for name in _places(one.value)}
    for slot in shape.slots:
        if slot not in used | {shape.operation.about}:
            path = shape.offered.path.replace(f"{{{slot}}}", "…")
            yield gap("path", f"what stands for {slot} in the path", path)
    for name, one in shape.offered.named("query").items():
        if one.required and name not in used:
            value = one.leaf.values[0] if one.leaf.values else "…"
            what = f"what stands in {name}, which the document requires in the query"
            yield YamlEntry(key=name, missing=f"{what}, for example {value}")


def _places(value: Mapping[str, Json]) -> Iterator[str]:
    yield from (str(value[place]) for place in ("path", "query") if place in value)


#: How the contract's arguments are called elsewhere: all words of one of the sets.
_ALSO: dict[str, tuple[frozenset[str], ...]] = {
    "creditorAccount": (frozenset({"creditor", "account", "iban"}),),
    "debtorAccount": (frozenset({"debtor", "account", "iban"}),),
    "amount": (frozenset({"instructed", "amount"}),),
    "currency": (frozenset({"instructed", "amount", "currency"}),),
    "date": (frozenset({"requested", "execution", "date"}), frozenset({"execution", "date"})),
    "successfulReportUrl": (frozenset({"success", "url"}), frozenset({"redirect", "uri"})),
}


def grant(shape: MatchedOperation, name: str) -> YamlEntry:
    """Return where a consent lists what it covers: perhaps in several lists."""
    lists = [one for one in shape.offered.request if one.kind == "array"]
    lists = [one for one in lists if EACH not in one.steps]
    known = {word for one in shape.contract.operations for word in words(one)}
    named = [one for one in lists if set(one.words) & (known | set(words(name)))] or lists[:1]
    if not named:
        return gap(name, "where a consent lists what it covers", f"{{body: /{name}}}")
    pointers = [one.pointer for one in named]
    spelling: dict[str, Json] = {"body": pointers[0] if len(pointers) == 1 else pointers}
    each = _each(shape, named[0])
    if each is not None:
        spelling["each"] = each
    several = "the list" if len(named) == 1 else f"the {len(named)} lists"
    why = f"{several} in the body of {shape.offered}"
    if each is not None:
        why += f" with {' and '.join(_keys(each))} in each"
    elif named[0].steps == (name,) and len(named) == 1:
        why = ""
    return YamlEntry(key=name, value=spelling, why=why)


def _each(shape: MatchedOperation, where: SchemaLeaf) -> dict[str, Json] | None:
    """Return the shape of one thing in a list, if it is more than its key."""
    inside = [one.below((*where.steps, EACH)) for one in shape.offered.request]
    members = [
        one for one in inside if one and one.kind in {"string", ""} and EACH not in one.steps
    ]
    keys = {one.key for one in shape.contract.resources.values() if one.key}
    first = next((one for one in members if one.steps[-1] in keys), members[0] if members else None)
    if first is None:
        return None
    other = beside(first, members)
    kinds = [one.id for one in shape.contract.resources.values() if one.key and not one.of]
    if other is None or len(kinds) == 1:
        return _nested(first.steps)
    rest = dict.fromkeys(kinds[1:], _nested(other.steps))
    return {"by": {kinds[0]: _nested(first.steps), **rest}}


def beside(leaf: SchemaLeaf, leaves: Iterable[SchemaLeaf]) -> SchemaLeaf | None:
    """Return what identifies a thing that a key does not, next to the key."""
    above = leaf.steps[:-1]
    for one in leaves:
        if one.words == ("identification",) and one.steps[: len(above)] == above:
            return one
    return None


def _nested(steps: tuple[str, ...]) -> dict[str, Json]:
    value: Json = "{}"
    for step in reversed(steps):
        value = {step: value}
    return {steps[0]: value[steps[0]]} if isinstance(value, dict) else {}  # pyright: ignore[reportUnknownVariableType]


def _keys(each: dict[str, Json] | None) -> list[str]:
    kinds = (each or {}).get("by")
    return [*kinds] if isinstance(kinds, dict) else [*(each or {})]


def member(shape: MatchedOperation, name: str) -> YamlEntry:
    """Return where an argument of a request stands in the body."""
    leaf = called(name, shape.offered.request)
    if leaf is None:
        return gap(name, "where this argument stands in the body", f"{{body: /{name}, value: …}}")
    spelling: dict[str, Json] = {"body": leaf.pointer}
    if leaf.form not in {"date", "date-time"}:
        spelling |= dict(zip(("value", "other"), _valid(shape, name, leaf), strict=False))
    if leaf.form == "date-time":
        spelling["text"] = "{}T00:00:00Z"
    return YamlEntry(key=name, value=spelling, why=guessed(name, leaf))


def _valid(shape: MatchedOperation, name: str, leaf: SchemaLeaf) -> tuple[str, ...]:
    """Return what a valid request has there: what the contract says, before the document."""
    for clause in shape.contract.clauses:
        value = clause.params.get("const")
        if clause.kind == "fixed" and clause.params.get("field") == name and isinstance(value, str):
            return (value,)
    return leaf.values


def called(name: str, leaves: Iterable[SchemaLeaf]) -> SchemaLeaf | None:
    """Return what a field of a request is called in a body: exactly so, or alike."""
    mine = frozenset(words(name))
    inside = [
        one
        for one in leaves
        if one.kind not in {"object", "array"}
        and one.steps
        # What is somebody's belongs to nobody else.
        and (one.path & mine & THEIRS or not one.path & THEIRS)
    ]
    exact = [one for one in inside if one.name == name]
    if exact:
        return min(exact, key=lambda one: len(one.steps))
    for wanted in (mine, *_ALSO.get(name, ())):
        near = [one for one in inside if wanted <= one.path and set(one.words) & wanted]
        if near:
            return min(near, key=lambda one: (len(one.path - wanted), len(one.steps)))
    return None


def template(shape: MatchedOperation, taken: Iterable[str]) -> Iterator[YamlEntry]:
    """Yield what else a body has to hold, with the document's own examples."""
    known = frozenset(taken)
    value: dict[str, Json] = {}
    lacking: list[str] = []
    for leaf in shape.offered.request:
        inside = any(one == leaf.pointer or one.startswith(leaf.pointer + "/") for one in known)
        if not leaf.required or len(leaf.steps) != 1 or inside:
            continue
        if leaf.values and leaf.kind in {"string", "boolean", "integer"}:
            value[leaf.name] = _typed(leaf)
        else:
            lacking.append(leaf.name)
    if value:
        yield YamlEntry(key="template", value=value, why="these are required, with these examples")
    if lacking:
        what = f"the body also has to hold {', '.join(lacking[:8])}"
        yield gap("template", what, f"{{{lacking[0]}: …}}")


def _typed(leaf: SchemaLeaf) -> Json:
    text = leaf.values[0]
    if leaf.kind == "boolean":
        return text == "true"
    if leaf.kind == "integer" and re.fullmatch(r"-?[0-9]{1,15}", text):
        return int(text)
    return text
