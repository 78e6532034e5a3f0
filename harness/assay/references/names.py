"""Whether a name is known: the one question that all references ask.

What the known names are is for those who ask.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from typing import Any, TypeAlias

from assay.errors import did_you_mean
from assay.files.document import Pointer
from assay.files.finding import Finding, found

__all__ = ["Raw", "all_known", "known"]

#: A part of a contract that has the right shape.
Raw: TypeAlias = Mapping[str, Any]


def known(at: Pointer, name: str, names: Collection[str], noun: str) -> Iterator[Finding]:
    """Find fault with a name that is not among the names."""
    if name not in names:
        hint = did_you_mean(name, names) or f"the contract names no {noun}"
        yield at, f"there is no {noun} {found(name)}", hint


def all_known(
    at: Pointer, wanted: Sequence[str], names: Collection[str], noun: str
) -> Iterator[Finding]:
    """Find fault with each of a list of names that is not among the names."""
    for index, name in enumerate(wanted):
        yield from known((*at, index), name, names, noun)
