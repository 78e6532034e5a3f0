"""What the condition of a decision refers to: arguments of the request, and factors."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Final

from assay.files.document import Pointer
from assay.files.finding import Finding
from assay.references.names import Raw, known

__all__ = ["when"]

#: What holds further conditions, and the keys whose values are arguments.
_PARTS: Final = ("all", "any")
_ARGUMENTS: Final = ("field", "registered")
#: The table of a condition doubles with each atom.
_MOST: Final = 8


def when(at: Pointer, value: Raw, rule: Raw, raw: Raw) -> Iterator[Finding]:
    """Find fault with a condition."""
    every: Mapping[str, Raw] = raw["operations"]
    request = rule.get("request")
    makes = next((one for one in every.values() if one.get("makes") == request), None)
    factors = {
        name
        for one in raw["rules"]
        if one["kind"] == "factors" and one.get("request") == request
        for names in one["offered"].values()
        for name in names
    }
    atoms = list(_atoms(at, value))
    for where, atom in atoms:
        for key in _ARGUMENTS:
            if key in atom and makes is not None:
                yield from known((*where, key), atom[key], makes.get("arguments", ()), "argument")
        if "factor" in atom and factors:
            yield from known((*where, "factor"), atom["factor"], factors, "factor")
    if len({tuple(sorted(atom.items())) for _, atom in atoms}) > _MOST:
        yield at, f"there are more than {_MOST} atoms", "write several rules"


def _atoms(at: Pointer, node: Raw) -> Iterator[tuple[Pointer, Raw]]:
    parts = [(key, n, one) for key in _PARTS for n, one in enumerate(node.get(key, ()))]
    if parts:
        for key, n, one in parts:
            yield from _atoms((*at, key, n), one)
    elif "not" in node:
        yield from _atoms((*at, "not"), node["not"])
    else:
        yield at, node
