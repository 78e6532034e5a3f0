"""How the calls of an operation are spelt: where each argument of the contract goes.

By the names of parameters, and of what stands in a body. Nothing is made up: where no
name is alike, the argument is missing.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence

from assay.init.bodies import grant, member
from assay.init.lines import Entry, gap
from assay.init.offered import Parameter
from assay.init.shape import Leaf
from assay.init.shaped import Shape
from assay.init.words import words
from assay.model import Json

__all__ = ["about_slot", "arguments", "modes", "unfilled"]

#: Words by which the beginning and the end of a range are called.
_SINCE = (("date", "from"), ("from", "date"), ("from",), ("since",), ("start",), ("date", "start"))
_UNTIL = (("date", "to"), ("to", "date"), ("to",), ("until",), ("end",), ("date", "end"))
_IBAN = re.compile(r"\biban\b", re.IGNORECASE)
_OUT = re.compile(r"exclu|not included|non inclus|before", re.IGNORECASE)


def arguments(shape: Shape) -> Iterator[Entry]:
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


def _about(shape: Shape, name: str) -> Iterator[Entry]:
    """Yield where it is said what a call is about: in the path, or in a parameter."""
    if name in shape.slots:
        return
    parameters = shape.offered.named("path") | shape.offered.named("query")
    if name in shape.offered.named("query"):
        yield Entry(key=name, value={"query": name})
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


def about_slot(shape: Shape) -> str | None:
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


def _things(shape: Shape) -> Iterable[str]:
    """Yield the resources that a call of an operation is about."""
    below = (shape.contract.resources[one] for one in shape.operation.lists)
    yield from (one.of for one in below if one.of)
    if shape.operation.request:
        yield shape.operation.request


def _names(name: str, one: Parameter, shape: Shape) -> bool:
    mine = {*words(name), *(word for each in _things(shape) for word in words(each))}
    return (
        bool(mine & set(words(one.name))) and {"id", *words(name)} & set(words(one.name)) != set()
    )


def _found(
    shape: Shape, name: str, place: str, parameter: Parameter | None, called: str
) -> Iterator[Entry]:
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
    yield Entry(key=name, value=spelling, why=why)


def _range(shape: Shape, name: str, forms: Sequence[tuple[str, ...]], *, end: bool) -> Entry:
    query = shape.offered.named("query")
    if name in query:
        return Entry(key=name, value={"query": name})
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
                return Entry(key=name, value=spelling, why=why)
    day = "to" if end else "from"
    return gap(name, f"the parameter for days {day} one on", f"{{query: {name}}}")


def modes(shape: Shape) -> Iterator[Entry]:
    """Yield how each mode is asked for: the word for it, where words are chosen from."""
    for mode in shape.operation.modes:
        mine = set(words(mode))
        for place, one in _choices(shape):
            value = next((each for each in one.values if set(words(each)) == mine), None)
            if value is not None:
                why = f"{value} is a word of {one.name}"
                at = one.pointer if place == "body" else one.name
                yield Entry(key=mode, value={place: at, "value": value}, why=why)
                break
        else:
            yield gap(mode, "how this mode is asked for", "{query: …, value: …}")


def _choices(shape: Shape) -> Iterator[tuple[str, Leaf]]:
    for place in ("query", "header"):
        for name, one in shape.offered.named(place).items():
            yield place, Leaf(steps=(name,), values=one.leaf.values)
    yield from (("body", one) for one in shape.offered.request if one.values and one.steps)


def unfilled(shape: Shape, entries: Iterable[Entry]) -> Iterator[Entry]:
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
            yield Entry(key=name, missing=f"{what}, for example {value}")


def _places(value: Mapping[str, Json]) -> Iterator[str]:
    yield from (str(value[place]) for place in ("path", "query") if place in value)
