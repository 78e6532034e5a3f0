"""What is found wrong at a place in a document, and how it is said.

A finding becomes a `Problem` once the document tells its file and line. Who finds
things is elsewhere: shapes in `schema`, names in `references` and `target.checks`.
"""

from __future__ import annotations

from collections.abc import Iterable
from decimal import Decimal
from typing import Final, TypeAlias

from assay.errors import Problem
from assay.files.document import Document, Pointer
from assay.model import Json

__all__ = ["Finding", "found", "problem", "spell"]

#: Where, what, and a hint.
Finding: TypeAlias = tuple[Pointer, str, str]

_SHOWN: Final = 40


def problem(document: Document, pointer: Pointer, what: str, hint: str = "") -> Problem:
    """Make the problem of one place in a document, with its file and line."""
    path, line = document.place(pointer)
    where = spell(pointer)
    return Problem(path=path, line=line, what=f"{where}: {what}" if where else what, hint=hint)


def spell(pointer: Iterable[str | int]) -> str:
    """Write a pointer as it is read: `rules[3].limit`."""
    out = ""
    for step in pointer:
        out += f"[{step}]" if isinstance(step, int) else f".{step}"
    return out.removeprefix(".")


def found(value: Json) -> str:
    """Name a value in a few words."""
    match value:
        case None:
            words = "nothing"
        case bool():
            words = "true" if value else "false"
        case int() | Decimal():
            words = str(value)
        case str() if len(value) > _SHOWN:
            words = f"{value[:_SHOWN]!r}… ({len(value)} characters)"
        case str():
            words = repr(value) if value else "an empty text"
        case list():
            words = "a list" if value else "an empty list"
        case _:
            words = "a mapping" if value else "an empty mapping"
    return words
