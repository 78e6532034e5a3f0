"""One pointer of the profile held against real answers: found, not found, of a wrong type."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from assay.binding.pointer import MISSING, find
from assay.binding.target import Target
from assay.contract.files.document import Pointer
from assay.contract.model import Json
from assay.doctor.finding import Finding, Weight, at
from assay.doctor.suggest import Fits, kind, suggest

__all__ = ["PointerProbe", "look", "mean", "values"]


@dataclass(frozen=True, slots=True, kw_only=True)
class PointerProbe:
    """What is looked for: `key` is the place in the profile, `at` the pointers that stand there.

    `what` says what should be found, and `fits` whether a value is such a thing. With
    `named`, something else is only suggested if its name is similar to one of the pointers
    or of `names`; `missing` is how much it weighs when nothing is found and nothing is
    suggested.
    """

    key: Pointer
    at: tuple[str, ...]
    what: str
    fits: Fits
    named: bool = True
    names: tuple[str, ...] = ()
    missing: Weight = Weight.DOUBT


def values(documents: Sequence[Json], pointers: Sequence[str]) -> list[Json]:
    """Return what the first pointer that finds anything finds in each document, if any does."""
    out: list[Json] = []
    for document in documents:
        found = (find(document, pointer) for pointer in pointers)
        value = next((one for one in found if one is not MISSING), MISSING)
        if value is not MISSING:
            out.append(value)
    return out


def look(target: Target, one: PointerProbe, documents: Sequence[Json]) -> Finding | None:
    """Hold a pointer against some answers, or parts of them; None if it finds such a thing."""
    found = values(documents, one.at)
    if any(one.fits(value) for value in found):
        return None
    hint = mean(documents, one)
    what = f"{kind(found[0])} at {_spelt(one.at)}" if found else f"nothing at {_spelt(one.at)}"
    weight = Weight.FAULT if hint or found else one.missing
    return at(target, one.key, one.what, what, hint, weight=weight)


def mean(documents: Sequence[Json], one: PointerProbe) -> str:
    """Return the hint that names what a pointer may have meant, or nothing."""
    for wanted in (*one.at, *one.names):
        pointer = suggest(documents, wanted, one.fits, named=one.named)
        if pointer and pointer not in one.at:
            return f"did you mean {pointer}?"
    return ""


def _spelt(pointers: Sequence[str]) -> str:
    return " or ".join(one or "the top" for one in pointers)
