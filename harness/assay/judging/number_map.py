"""Compact mapping from numbers to values, for numbers that follow each other from 1."""

from __future__ import annotations

from collections.abc import Iterator, MutableMapping
from dataclasses import dataclass, field
from typing import Generic, TypeVar

V = TypeVar("V")


@dataclass(slots=True, eq=False)
class Numbered(MutableMapping[int, V], Generic[V]):
    """A mapping from numbers: a list of the values from 1 on, and whatever is not in that order."""

    _first: list[V] = field(default_factory=list[V])
    _others: dict[int, V] = field(default_factory=dict[int, V])

    def __setitem__(self, n: int, value: V) -> None:
        """Set the value of a number."""
        if n == len(self._first) + 1 and n not in self._others:
            self._first.append(value)
        elif 1 <= n <= len(self._first):
            self._first[n - 1] = value
        else:
            self._others[n] = value

    def __getitem__(self, n: int) -> V:
        """Return the value of a number."""
        return self._first[n - 1] if 1 <= n <= len(self._first) else self._others[n]

    def __delitem__(self, n: int) -> None:
        """Remove a number; those behind it are not in order any more."""
        if 1 <= n <= len(self._first):
            behind = self._first[n:]
            del self._first[n - 1 :]
            self._others.update(enumerate(behind, n + 1))
        else:
            del self._others[n]

    def __iter__(self) -> Iterator[int]:
        """Yield the numbers."""
        yield from range(1, len(self._first) + 1)
        yield from self._others

    def __len__(self) -> int:
        """Return how many there are."""
        return len(self._first) + len(self._others)

    def __contains__(self, n: object) -> bool:
        """Whether a number has a value."""
        return n in self._others or (isinstance(n, int) and 1 <= n <= len(self._first))
