"""A loaded file as a value: JSON data, the line of everything in it, and its problems.

Files are read by `load`, and the meaning of the data is unknown here. A file that is
laid over another is part of the same document, so a place is a file and a line. A
`Finding` at a place becomes a `Problem` once the document adds file and line.
`file_name` turns a text into a name that every file system accepts.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from decimal import Decimal
from typing import Final, TypeAlias

from assay.contract.model import Json
from assay.errors import Problem

#: The keys and indexes that lead to a value, from the top.
Pointer: TypeAlias = tuple[str | int, ...]


@dataclass(frozen=True, slots=True)
class Spot:
    """Where a value stands (file and line), and where the values below it stand."""

    path: str
    line: int
    below: Mapping[str, Spot] | Sequence[Spot] = ()

    def at(self, step: str | int) -> Spot | None:
        """Return the place of a key or item, or None if there is no such thing."""
        if isinstance(self.below, Mapping):
            return self.below.get(step) if isinstance(step, str) else None
        if isinstance(step, int) and 0 <= step < len(self.below):
            return self.below[step]
        return None


@dataclass(frozen=True, slots=True, kw_only=True)
class Document:
    """A loaded file: JSON data, and the line of everything in it."""

    data: Mapping[str, Json]
    path: str
    digest: str
    spots: Spot = field(repr=False, compare=False)

    def line(self, pointer: Sequence[str | int] = ()) -> int:
        """Return the line of the key or item at `pointer`, or of its nearest parent."""
        return self.place(pointer)[1]

    def place(self, pointer: Sequence[str | int] = ()) -> tuple[str, int]:
        """Return the file and line of `pointer`: files can be laid over each other."""
        spot = self.spots
        for step in pointer:
            found = spot.at(step)
            if found is None:
                break
            spot = found
        return spot.path, spot.line


#: Pointer, message, and hint.
Finding: TypeAlias = tuple[Pointer, str, str]

_SHOWN: Final = 40


def problem(document: Document, pointer: Pointer, what: str, hint: str = "") -> Problem:
    """Return the problem at one place of a document, with its file and line."""
    path, line = document.place(pointer)
    where = spell(pointer)
    said = f"{where}: {what}" if where else what
    return Problem(path=path, line=line, what=said, hint=hint, key=where)


def spell(pointer: Iterable[str | int]) -> str:
    """Write a pointer as it is read: `rules[3].limit`."""
    out = ""
    for step in pointer:
        out += f"[{step}]" if isinstance(step, int) else f".{step}"
    return out.removeprefix(".")


def found(value: Json) -> str:
    """Describe a value in a few words."""
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


def file_name(text: str, most: int) -> str:
    """Return a text as a file name of at most this many characters."""
    return "".join(one if one.isalnum() or one in "-_." else "-" for one in text)[:most]
