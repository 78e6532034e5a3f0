"""A loaded file as a value: JSON data, the line of each value, and problems.

`load` reads files. A file that overlays another belongs to the same document, so a place is
a file and a line. A `Finding` at a pointer becomes a `Problem` when the document adds file
and line. `file_name` turns a text into a portable file name.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from decimal import Decimal
from typing import Any, Final, TypeAlias, cast

from assay.contract.model import Json
from assay.errors import Problem

#: The keys and indexes that lead to a value, from the top.
Pointer: TypeAlias = tuple[str | int, ...]


@dataclass(frozen=True, slots=True)
class Spot:
    """The place of a value (file and line), and the places of the values in it."""

    path: str
    line: int
    below: Mapping[str, Spot] | Sequence[Spot] = ()

    def at(self, step: str | int) -> Spot | None:
        """Return the place of a key or item, or None if it does not exist."""
        if isinstance(self.below, Mapping):
            return self.below.get(step) if isinstance(step, str) else None
        if isinstance(step, int) and 0 <= step < len(self.below):
            return self.below[step]
        return None


@dataclass(frozen=True, slots=True, kw_only=True)
class Document:
    """A loaded file: JSON data, and the line of each value.

    `below` are the files over which it is laid, the nearest first.
    """

    data: Mapping[str, Json]
    path: str
    digest: str
    spots: Spot = field(repr=False, compare=False)
    below: tuple[str, ...] = ()

    def line(self, pointer: Sequence[str | int] = ()) -> int:
        """Return the line of the key or item at `pointer`, or of its nearest parent."""
        return self.place(pointer)[1]

    def place(self, pointer: Sequence[str | int] = ()) -> tuple[str, int]:
        """Return the file and line of `pointer`; a file can overlay another."""
        spot = self.spots
        for step in pointer:
            below = spot.at(step)
            if below is None:
                break
            spot = below
        return spot.path, spot.line


#: Pointer, message, and hint.
Finding: TypeAlias = tuple[Pointer, str, str]

_SHOWN: Final = 40


def problem(document: Document, pointer: Pointer, what: str, hint: str = "") -> Problem:
    """Return the problem at one place of a document, with its file and line."""
    path, line = document.place(pointer)
    where = spell(pointer)
    message = f"{where}: {what}" if where else what
    return Problem(path=path, line=line, what=message, hint=hint, key=where, at=pointer)


def spell(pointer: Iterable[str | int]) -> str:
    """Return a pointer as text: `rules[3].limit`."""
    out = ""
    for step in pointer:
        out += f"[{step}]" if isinstance(step, int) else f".{step}"
    return out.removeprefix(".")


def found(value: Json) -> str:
    """Describe a value in a few words."""
    match value:
        case None:
            name = "nothing"
        case bool():
            name = "true" if value else "false"
        case int() | Decimal():
            name = str(value)
        case str() if len(value) > _SHOWN:
            name = f"{value[:_SHOWN]!r}… ({len(value)} characters)"
        case str():
            name = repr(value) if value else "an empty text"
        case list():
            name = "a list" if value else "an empty list"
        case _:
            name = "a mapping" if value else "an empty mapping"
    return name


def laid_over(base: Any, top: Any) -> Any:
    """Return a value laid over another: mappings are merged, and null removes what was there."""
    if not isinstance(base, Mapping) or not isinstance(top, Mapping):
        return top
    merged = dict(cast("Mapping[str, Any]", base))
    for name, value in cast("Mapping[str, Any]", top).items():
        if value is None and name in merged:
            del merged[name]
        else:
            merged[name] = laid_over(merged[name], value) if name in merged else value
    return merged


def file_name(text: str, most: int) -> str:
    """Return a text as a file name of at most this many characters."""
    return "".join(char if char.isalnum() or char in "-_." else "-" for char in text)[:most]
