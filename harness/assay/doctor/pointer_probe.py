"""What a pointer may have meant: looked for in what the target really answered.

By the name of the last step before all else, then by looks. Answers are hostile: only so
much of one is looked through.

One pointer of the profile held against real answers: found, not found, of a wrong type.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import date
from difflib import SequenceMatcher
from itertools import islice
from typing import Any, TypeAlias, cast
from urllib.parse import urlsplit

from assay.binding.pointer import MISSING, find, steps
from assay.binding.target import Target
from assay.contract.files.document import Pointer
from assay.contract.model import Json
from assay.doctor.finding import Finding, Weight, at

#: What a value has to look like.
Fits: TypeAlias = Callable[[Json], bool]
#: So deep, and so many members of an answer, are looked at; of a list the first few.
_DEEP, _MOST, _FIRST = 8, 2_000, 3
#: Names that are as alike as this are taken for one another.
ALIKE = 0.6
#: A name longer than this is nobody's.
_LONGEST = 100


def members(document: Json, at: str = "", deep: int = _DEEP) -> Iterator[tuple[str, Json]]:
    """Yield every pointer into a document with what stands there, the nearest first."""
    level: list[tuple[str, Json]] = [(at, document)]
    left = _MOST
    for _ in range(deep):
        below = [
            (f"{pointer}/{name}", one) for pointer, value in level for name, one in _children(value)
        ]
        level = below[: max(left, 0)]
        left -= len(level)
        yield from level


def _children(value: Json) -> Iterable[tuple[str, Json]]:
    if isinstance(value, dict):
        named = cast("dict[str, Any]", value)
        first = islice(named.items(), _MOST)
        return [(_escaped(name), one) for name, one in first if len(name) <= _LONGEST]
    if isinstance(value, list):
        return [(str(n), one) for n, one in enumerate(cast("list[Json]", value)[:_FIRST])]
    return ()


def _escaped(name: str) -> str:
    return name.replace("~", "~0").replace("/", "~1")


def suggest(documents: Sequence[Json], wanted: str, fits: Fits, *, named: bool = False) -> str:
    """Return the pointer that was meant, if one can be told; else nothing.

    `wanted` is what was written, or a name. With `named` only a similar name will do;
    without, the only thing that fits does as well, whatever its name.
    """
    candidates: dict[str, None] = {}
    for document in documents[:_FIRST]:
        candidates |= {at: None for at, value in members(document) if fits(value)}
    ranked = sorted(candidates, key=lambda one: (-likeness(one, wanted), one.count("/")))
    if ranked and likeness(ranked[0], wanted) >= ALIKE:
        return ranked[0]
    return ranked[0] if len(ranked) == 1 and not named else ""


def likeness(one: str, other: str) -> float:
    """Say from 0 to 1 how alike the last steps of two pointers are; their ways count a little."""
    last = SequenceMatcher(None, _last(one), _last(other)).ratio()
    if _last(one) and (_last(one) in _last(other) or _last(other) in _last(one)):
        last = max(last, 0.8) if _last(other) else last
    return last + 0.01 * SequenceMatcher(None, one, other).ratio()


def _last(pointer: str) -> str:
    found = steps(pointer) if pointer.startswith("/") else (pointer,)
    return "".join(c for c in (found or ("",))[-1].lower() if c.isalnum())


def nearest(word: str, known: Iterable[str]) -> str:
    """Return the known word that is the most like another, if one is at all."""
    ranked = sorted(known, key=lambda one: -likeness(one, word))
    return ranked[0] if ranked and likeness(ranked[0], word) >= ALIKE else ""


def is_text(value: Json) -> bool:
    """Whether it is a text with anything in it."""
    return isinstance(value, str) and bool(value)


def is_things(value: Json) -> bool:
    """Whether it is a list of objects."""
    listed = cast("list[Json]", value) if isinstance(value, list) else []
    return bool(listed) and all(isinstance(one, Mapping) for one in listed)


def is_day(value: Json) -> bool:
    """Whether it begins with an ISO date."""
    try:
        return isinstance(value, str) and bool(date.fromisoformat(value[:10]))
    except ValueError:
        return False


def is_link(value: Json) -> bool:
    """Whether it is an http URL, or a path on the host."""
    if not isinstance(value, str) or not value.isprintable() or " " in value:
        return False
    try:
        parts = urlsplit(value)
    except ValueError:
        return False
    return parts.scheme in {"http", "https"} or (value.startswith("/") and len(value) > 1)


def kind(value: Json) -> str:
    """Name what a value is, without telling it: it may be somebody's."""
    match value:
        case None:
            return "null"
        case bool():
            return "true or false"
        case str():
            return "a text" if value else "an empty text"
        case dict():
            return "an object"
        case list():
            return "a list" if value else "an empty list"
        case _:
            return "a number"


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
