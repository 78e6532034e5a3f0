"""JSON pointers (RFC 6901), read and written; hostile documents are expected."""

from __future__ import annotations

from functools import lru_cache
from typing import Any, Final, cast

from assay.contract.model import Json


class _Missing:
    """The type of `MISSING`, which no JSON value equals."""


#: What a pointer finds where there is nothing.
MISSING: Final = _Missing()


@lru_cache(maxsize=1024)
def steps(pointer: str) -> tuple[str, ...]:
    """Split a pointer into its unescaped steps; "" is the whole document."""
    if not pointer:
        return ()
    parts = pointer.split("/")[1:]
    return tuple(part.replace("~1", "/").replace("~0", "~") for part in parts)


def find(document: Json, pointer: str) -> Json:
    """Return what stands at a pointer, or `MISSING`."""
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
    found = cast("list[Json]", here)
    if not star:
        return found
    return [item for one in found for item in lists(one, after) or ()]


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
