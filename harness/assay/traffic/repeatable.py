"""Events that are made again for each reader, of histories that are too long to be kept."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Generic, TypeVar

T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class Repeatable(Generic[T]):
    """What a function yields, as often as it is read."""

    make: Callable[[], Iterator[T]]

    def __iter__(self) -> Iterator[T]:
        """Begin again."""
        return self.make()
