"""A loaded file as a value: JSON data, and the line of everything in it.

Nothing is read here (see `load`), and what the data means is not known either
(see `schema`). Two files laid over each other are one document too, so a place
is a file and a line.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import TypeAlias

from assay.model import Json

__all__ = ["Document", "Pointer", "Spot"]

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
