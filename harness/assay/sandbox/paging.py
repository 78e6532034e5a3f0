"""Cutting a list into pages: positions, and the number of the page after.

Works on positions, not on things, so that accounts and transactions share it. Not for
links: those are made in :mod:`assay.sandbox.render`.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TypeAlias

__all__ = ["Cut", "Cutter", "pages_of"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Cut:
    """One page: which positions of the list it shows, and the next page if any."""

    positions: Sequence[int]
    next: int | None


#: Cuts page ``page`` (from 1) out of a list of ``count``.
Cutter: TypeAlias = Callable[[int, int], Cut]


def pages_of(size: int) -> Cutter:
    """Cut pages of one size; a page after the last is empty."""

    def cut(count: int, page: int) -> Cut:
        end = page * size
        return Cut(
            positions=range(min(end - size, count), min(end, count)),
            next=page + 1 if end < count else None,
        )

    return cut
