"""Guesses of the members that a body must have besides its arguments.

Values are those of the document, or made for each call: a day in the future, the current
moment, an identifier. The examples of a document are not used for dates, which pass.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from itertools import pairwise
from typing import Any, Final

from assay.binding.pointer import steps
from assay.binding.secret_names import secret_kind
from assay.contract.model import Json
from assay.init.matched_operation import MatchedOperation
from assay.init.openapi_schemas import EACH, SchemaLeaf, typed
from assay.init.requests import bound_places
from assay.init.yaml_writer import YamlEntry

__all__ = ["template"]

_DATE: Final = re.compile(r"[0-9]{4}-[0-9]{2}-[0-9]{2}(T.*)?")
#: Words in the names of members that hold the moment of the request.
_MOMENT: Final = frozenset(["creation", "created", "send", "sent", "timestamp"])
_IDENTIFIERS: Final = frozenset(["id", "identification", "identifier", "uuid"])
#: Words in the names of identifiers that are the same for requests that ask for the same.
_ALIKE: Final = frozenset(["instruction", "end", "transaction", "payment", "reference"])
_SHOWN: Final = 8


def template(shape: MatchedOperation) -> Iterator[YamlEntry]:
    """Yield what else a body must contain."""
    bound = bound_places(shape, "body") | {shape.token_member}
    value: dict[str, Any] = {}
    missing: list[str] = []
    for pointer in sorted(bound):
        # Without a list in the template, the element 0 would be a member of that name.
        before, element, _ = pointer.partition("/0/")
        if element:
            _put(value, steps(before), [{}])
    for leaf in _required(shape.offered.request, bound):
        if _is_bound(leaf, bound):
            continue
        if leaf.kind == "object" or _has_members(shape, leaf):
            continue
        known = None if secret_kind(leaf.name) else _value(shape, leaf)
        if known is None:
            missing.append(".".join("0" if step == EACH else step for step in leaf.steps))
        else:
            _put(value, leaf.steps, known)
    if value:
        why = "required members, with the document's values or values made for each call"
        yield YamlEntry(key="template", value=value, why=why)
    if missing:
        rest = f" and {len(missing) - _SHOWN} more" if len(missing) > _SHOWN else ""
        what = f"required members of the body: {', '.join(missing[:_SHOWN])}{rest}"
        first = missing[0].partition(".")[0]
        yield shape.gap("template", what=what, example=f"{{{first}: …}}")


def _required(leaves: Sequence[SchemaLeaf], bound: set[str]) -> Iterator[SchemaLeaf]:
    """Yield what is required where all above it is, or is there because of an argument."""
    there: set[tuple[str, ...]] = {()}
    for leaf in leaves:
        if not leaf.steps or leaf.steps[:-1] not in there:
            continue
        inside = f"{leaf.pointer}/"
        if leaf.needed or any(pointer.startswith(inside) for pointer in bound):
            there.add(leaf.steps)
        if leaf.needed:
            yield leaf


def _is_bound(leaf: SchemaLeaf, bound: set[str]) -> bool:
    """Whether an argument or a mode fills a leaf."""
    inside = f"{leaf.pointer}/"
    return any(pointer == leaf.pointer or pointer.startswith(inside) for pointer in bound)


def _has_members(shape: MatchedOperation, leaf: SchemaLeaf) -> bool:
    """Whether a leaf without a type is an object, by what the document has below it."""
    depth = len(leaf.steps)
    return any(
        each.steps[:depth] == leaf.steps and len(each.steps) > depth and each.steps[depth] != EACH
        for each in shape.offered.request
    )


def _value(shape: MatchedOperation, leaf: SchemaLeaf) -> Json | None:
    """Return a value for a required member; None if none is known."""
    mine = frozenset(leaf.words)
    example = leaf.values[0] if leaf.values else ""
    if leaf.form in {"date", "date-time"} or _DATE.fullmatch(example):
        return _date(leaf, mine)
    for usual in ("SEPA", "IBAN"):
        example = next((value for value in leaf.values if usual in value.upper()), example)
    if example and (leaf.fixed or "scheme" in mine):
        return typed(leaf, example)
    if leaf.form == "uuid" or (mine & _IDENTIFIERS and leaf.kind in {"string", ""}):
        alike = shape.operation.writes and mine & _ALIKE and "request" not in mine
        return "{alike}" if alike else "{unique}" if {"request"} & mine or alike else None
    return typed(leaf, example) if example and leaf.kind in _SCALARS else None


_SCALARS: Final = frozenset(["string", "boolean", "integer", ""])


def _date(leaf: SchemaLeaf, mine: frozenset[str]) -> Json:
    """Return the moment of the request, or a day in the future."""
    if mine & _MOMENT:
        return "{now}"
    moment = leaf.form == "date-time" or "T" in (leaf.values[0] if leaf.values else "")
    return "{today+30}T00:00:00Z" if moment else "{today+30}"


def _put(value: dict[str, Any], way: tuple[str, ...], known: Json) -> None:
    """Put a value at the end of some steps; a list on the way has one element."""
    inside: Any = value
    for step, following in pairwise(way):
        empty: Any = [{}] if following == EACH else {}
        inside = inside[0] if step == EACH else inside.setdefault(step, empty)
    inside[way[-1]] = known
