"""What stands in the body of a request: what a consent covers, arguments, and the rest."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator

from assay.init.lines import Entry, gap
from assay.init.shape import EACH, Leaf
from assay.init.shaped import THEIRS, Shape, guessed
from assay.init.words import words
from assay.model import Json

__all__ = ["beside", "called", "grant", "member", "template"]

#: How the contract's arguments are called elsewhere: all words of one of the sets.
_ALSO: dict[str, tuple[frozenset[str], ...]] = {
    "creditorAccount": (frozenset({"creditor", "account", "iban"}),),
    "debtorAccount": (frozenset({"debtor", "account", "iban"}),),
    "amount": (frozenset({"instructed", "amount"}),),
    "currency": (frozenset({"instructed", "amount", "currency"}),),
    "date": (frozenset({"requested", "execution", "date"}), frozenset({"execution", "date"})),
    "successfulReportUrl": (frozenset({"success", "url"}), frozenset({"redirect", "uri"})),
}


def grant(shape: Shape, name: str) -> Entry:
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
    return Entry(key=name, value=spelling, why=why)


def _each(shape: Shape, where: Leaf) -> dict[str, Json] | None:
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


def beside(leaf: Leaf, leaves: Iterable[Leaf]) -> Leaf | None:
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


def member(shape: Shape, name: str) -> Entry:
    """Return where an argument of a request stands in the body."""
    leaf = called(name, shape.offered.request)
    if leaf is None:
        return gap(name, "where this argument stands in the body", f"{{body: /{name}, value: …}}")
    spelling: dict[str, Json] = {"body": leaf.pointer}
    if leaf.form not in {"date", "date-time"}:
        spelling |= dict(zip(("value", "other"), _valid(shape, name, leaf), strict=False))
    if leaf.form == "date-time":
        spelling["text"] = "{}T00:00:00Z"
    return Entry(key=name, value=spelling, why=guessed(name, leaf))


def _valid(shape: Shape, name: str, leaf: Leaf) -> tuple[str, ...]:
    """Return what a valid request has there: what the contract says, before the document."""
    for clause in shape.contract.clauses:
        value = clause.params.get("const")
        if clause.kind == "fixed" and clause.params.get("field") == name and isinstance(value, str):
            return (value,)
    return leaf.values


def called(name: str, leaves: Iterable[Leaf]) -> Leaf | None:
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


def template(shape: Shape, taken: Iterable[str]) -> Iterator[Entry]:
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
        yield Entry(key="template", value=value, why="these are required, with these examples")
    if lacking:
        what = f"the body also has to hold {', '.join(lacking[:8])}"
        yield gap("template", what, f"{{{lacking[0]}: …}}")


def _typed(leaf: Leaf) -> Json:
    text = leaf.values[0]
    if leaf.kind == "boolean":
        return text == "true"
    if leaf.kind == "integer" and re.fullmatch(r"-?[0-9]{1,15}", text):
        return int(text)
    return text
