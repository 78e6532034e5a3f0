"""JSON values of targets: pointers into them (RFC 6901), and digests to compare them in full.

Hostile documents are expected. Two values have the same digest if they hold the same JSON:
the order of members and the notation of numbers do not matter, and members that the target
file calls volatile are left out. A digest protects no secrets.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from decimal import Decimal
from functools import lru_cache
from hashlib import blake2b
from typing import Any, Final, Self, cast

from assay.contract.model import Json
from assay.contract.scalars import same, text_of
from assay.files.document import Finding, Pointer, found


class _Missing:
    """The type of `MISSING`, which no JSON value equals."""


#: What a pointer finds where there is nothing.
MISSING: Final = _Missing()


class ElementPointer(str):
    """A pointer into the first element of a list in which other pointers show given values.

    Its text names it in messages. Where only steps count, it leads into the first element.
    """

    __slots__ = ("element", "inner", "where")

    element: str
    where: Mapping[str, Json]
    inner: str

    def __new__(cls, element: str, where: Mapping[str, Json], inner: str) -> Self:
        """Return the pointer at `inner` in an element of the list at `element`."""
        shown = ", ".join(f"{at}={text_of(value)}" for at, value in where.items())
        made = super().__new__(cls, f"{element}[{shown}]{inner}")
        made.element, made.where, made.inner = element, where, inner
        return made

    def look_up(self, document: Json) -> Json:
        """Return what stands there; `MISSING` without such a list or element."""
        listed = find(document, self.element)
        for element in cast("list[Json]", listed) if isinstance(listed, list) else ():
            if all(same(find(element, at), value) for at, value in self.where.items()):
                return find(element, self.inner)
        return MISSING


def own_conditions(value: object, at: Pointer) -> Iterator[Finding]:
    """Find pointers that lead to a condition of their own element, which is always the same."""
    for name, member in cast("dict[str, Any]", value).items() if isinstance(value, dict) else ():
        yield from own_conditions(member, (*at, name))
        if name == "where" and (inner := cast("dict[str, Any]", value)["at"]) in member:
            hint = "point at what stands beside it in the element"
            yield (*at, "at"), f"always {found(member[inner])}, as `where` says", hint


@lru_cache(maxsize=1024)
def steps(pointer: str) -> tuple[str, ...]:
    """Split a pointer into its unescaped steps; "" is the whole document."""
    if not pointer:
        return ()
    if isinstance(pointer, ElementPointer):
        return (*steps(pointer.element), "0", *steps(pointer.inner))
    parts = pointer.split("/")[1:]
    return tuple(part.replace("~1", "/").replace("~0", "~") for part in parts)


def find(document: Json, pointer: str) -> Json:
    """Return what stands at a pointer, or `MISSING`."""
    if isinstance(pointer, ElementPointer):
        return pointer.look_up(document)
    here: Any = document
    for step in steps(pointer):
        if isinstance(here, dict):
            here = cast("dict[str, Any]", here).get(step, MISSING)
        elif isinstance(here, list) and step.isdecimal():
            here = here[int(step)] if int(step) < len(here) else MISSING
        else:
            return MISSING
        if here is MISSING:
            return MISSING
    result: Json = here
    return result


def lists(document: Json, pointer: str) -> list[Json] | None:
    """Return the items of the list at a pointer, or of all lists where it has steps `*`.

    None where there is no list.
    """
    before, star, after = pointer.partition("/*")
    here = find(document, before)
    if not isinstance(here, list):
        return None
    elements = cast("list[Json]", here)
    if not star:
        return elements
    return [item for element in elements for item in lists(element, after) or ()]


def put(document: dict[str, Any], pointer: str, value: Json) -> None:
    """Set what stands at a pointer, making mappings on the way; lists only if they are there.

    At "", the whole document, the members of a mapping are laid over what is there.
    """
    if not pointer:
        document.update(cast("dict[str, Any]", value))
        return
    *way, last = steps(pointer)
    here: Any = document
    for step in way:
        here = here[int(step)] if _indexed(here, step) else _room(here).setdefault(step, {})
    if _indexed(here, last):
        here[int(last)] = value
    else:
        _room(here)[last] = value


def _indexed(here: list[Any] | dict[str, Any], step: str) -> bool:
    return isinstance(here, list) and step.isdecimal() and int(step) < len(here)


def _room(here: Any) -> dict[str, Any]:
    """Return where a member can be put; what is in the way has no members."""
    return cast("dict[str, Any]", here) if isinstance(here, dict) else {}


# -- digests ---------------------------------------------------------------------
#: Longer numbers are compared as they are written.
MOST_DIGITS = 18


def digests(item: Json, volatile: Sequence[str] = ()) -> tuple[str, str]:
    """Return 16 letters for an item, and for the item without what may be a link.

    The second text is empty where there is no link; both are for an item that is nested too deep.
    """
    try:
        for pointer in volatile:
            item = _without(item, steps(pointer))
        text = _canonical(item)
        linked = '"/' in text or "://" in text
        rest = _canonical(_unlinked(item)) if linked else ""
    except RecursionError:
        return "", ""
    return _digest(text), _digest(rest) if rest else ""


def _digest(text: str) -> str:
    return blake2b(text.encode("utf-8", "surrogatepass"), digest_size=8).hexdigest()


def _unlinked(value: Any) -> Any:
    """Return a copy with nothing in place of each text that may be a link."""
    if isinstance(value, dict):
        members = cast("dict[str, Any]", value)
        return {name: _unlinked(member) for name, member in members.items()}
    if isinstance(value, list):
        listed: list[Any] = value
        return [_unlinked(member) for member in listed]
    linked = isinstance(value, str) and (value.startswith("/") or "://" in value)
    return None if linked else value


def _without(value: Any, way: Sequence[str]) -> Any:
    """Return a copy in which nothing stands at the end of the way."""
    if not way:
        return None
    step, *rest = way
    if isinstance(value, dict):
        members = cast("dict[str, Any]", value)
        if step not in members:
            return members
        others = {name: member for name, member in members.items() if name != step}
        return {**others, step: _without(members[step], rest)} if rest else others
    if isinstance(value, list) and step.isdecimal():
        return [
            _without(member, rest) if n == int(step) else member for n, member in enumerate(value)
        ]
    return value


def _number(number: Decimal) -> Json:
    """Write a number in one way only: 12 for 12.0, and apart from the text "12.5"."""
    text = str(number)
    if "." in text and "E" not in text:
        text = text.rstrip("0").rstrip(".")
    whole = text.lstrip("-").isdigit() and len(text) <= MOST_DIGITS
    return int(text) if whole else {"": text}


#: Built once: nearly all the cost of a digest would be in building it.
_canonical = json.JSONEncoder(
    sort_keys=True, ensure_ascii=False, separators=(",", ":"), default=_number
).encode
