"""Comparison of pointers of the target file with real answers, and suggestions for wrong ones.

A suggestion is chosen by the name of the last step first, then by the value. Answers may be
hostile: only a bounded part of one is searched.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import date, tzinfo
from difflib import SequenceMatcher
from itertools import islice
from typing import Any, TypeAlias, cast
from urllib.parse import urlsplit

from assay.binding.model.features import BINDING_FEATURES
from assay.binding.model.pointer import (
    MISSING,
    BodyPointer,
    DerivedPointer,
    ItemInBody,
    UrlEndPointer,
    find,
    steps,
)
from assay.binding.model.spelling import OperationBinding
from assay.binding.wire.date_formats import EPOCHS, day_if_midnight, read
from assay.binding.wire.links import id_of
from assay.contract.model import Json, Operation
from assay.files.document import Pointer
from assay.files.edits import Edit
from assay.history import Item
from assay.onboarding.doctor.record import Examined, Finding, SeenAnswer, Weight

#: Whether a value is of the expected sort.
Fits: TypeAlias = Callable[[Json], bool]
#: Bounds of a search: depth, members of an answer, items of a list.
_DEEP, _MOST, _FIRST = 8, 2_000, 3
#: The least similarity of names that may be confused.
ALIKE = 0.6
#: The least similarity of two spellings of one name.
_SAME_WORD = 0.75
#: Longer names are ignored.
_LONGEST = 100


def members(document: Json, at: str = "", deep: int = _DEEP) -> Iterator[tuple[str, Json]]:
    """Yield every pointer into a document with its value, the shortest first."""
    level: list[tuple[str, Json]] = [(at, document)]
    left = _MOST
    for _ in range(deep):
        below = [
            (f"{pointer}/{name}", child)
            for pointer, value in level
            for name, child in _children(value)
        ]
        level = below[: max(left, 0)]
        left -= len(level)
        yield from level


def _children(value: Json) -> Iterable[tuple[str, Json]]:
    if isinstance(value, dict):
        named = cast("dict[str, Any]", value)
        first = islice(named.items(), _MOST)
        return [(_escaped(name), member) for name, member in first if len(name) <= _LONGEST]
    if isinstance(value, list):
        return [(str(n), element) for n, element in enumerate(cast("list[Json]", value)[:_FIRST])]
    return ()


def _escaped(name: str) -> str:
    return name.replace("~", "~0").replace("/", "~1")


def suggest(documents: Sequence[Json], wanted: str, fits: Fits, *, named: bool = False) -> str:
    """Return the pointer that was probably meant, or an empty text.

    `wanted` is the written pointer, or a name. With `named`, the name must be similar;
    without, the only value that fits is suggested whatever its name.
    """
    located = (member for document in documents[:_FIRST] for member in members(document))
    candidates = dict.fromkeys(at for at, value in located if fits(value))
    ranked = sorted(candidates, key=lambda at: (-likeness(at, wanted), at.count("/")))
    if ranked and likeness(ranked[0], wanted) >= ALIKE:
        return ranked[0]
    return ranked[0] if len(ranked) == 1 and not named else ""


def likeness(pointer: str, candidate: str) -> float:
    """Return the similarity of two pointers, mostly of their last steps, from 0 to 1.01."""
    last = SequenceMatcher(None, _last(pointer), _last(candidate)).ratio()
    if _last(pointer) and (
        _last(pointer) in _last(candidate) or _last(candidate) in _last(pointer)
    ):
        last = max(last, 0.8) if _last(candidate) else last
    return last + 0.01 * SequenceMatcher(None, pointer, candidate).ratio()


def _last(pointer: str) -> str:
    names = steps(pointer) if pointer.startswith("/") else (pointer,)
    return "".join(c for c in (names or ("",))[-1].lower() if c.isalnum())


def nearest(word: str, known: Iterable[str]) -> str:
    """Return the known word most similar to another, or an empty text."""
    ranked = sorted(known, key=lambda candidate: -likeness(candidate, word))
    return ranked[0] if ranked and likeness(ranked[0], word) >= ALIKE else ""


def is_text(value: Json) -> bool:
    """Whether a value is a text that is not empty."""
    return isinstance(value, str) and bool(value)


def is_id(value: Json) -> bool:
    """Whether a value is an id: a text, or a whole number."""
    return id_of(value) is not None


def is_things(value: Json) -> bool:
    """Whether a value is a list of objects."""
    listed = cast("list[Json]", value) if isinstance(value, list) else []
    return bool(listed) and all(isinstance(item, Mapping) for item in listed)


def is_day(value: Json) -> bool:
    """Whether a value begins with an ISO date."""
    try:
        return isinstance(value, str) and bool(date.fromisoformat(value[:10]))
    except ValueError:
        return False


#: The formats in which a bank may write dates other than ISO.
_FORMATS = ("YYYYMMDD", "DD.MM.YYYY", "DD/MM/YYYY", "DD-MM-YYYY", "YYYY/MM/DD", *EPOCHS)


def other_format(shown: Sequence[Json], fits: Fits | None, zone: tzinfo | None) -> str:
    """Return the format in which some values are days of this century that fit; "" for none."""
    for pattern in _FORMATS:
        for value in shown:
            day = day_if_midnight(read(value, pattern, zone), zone)
            if day != value and str(day).startswith("20") and (fits is None or fits(day)):
                return pattern
    return ""


def is_link(value: Json) -> bool:
    """Whether a value is an http URL, or a path on the host."""
    if not isinstance(value, str) or not value.isprintable() or " " in value:
        return False
    try:
        parts = urlsplit(value)
    except ValueError:
        return False
    return parts.scheme in {"http", "https"} or (value.startswith("/") and len(value) > 1)


def is_reference(value: Json) -> bool:
    """Whether a value can be a URI reference: a link, or one relative to the address (RFC 3986)."""
    if not isinstance(value, str) or not value.isprintable() or " " in value or not value:
        return False
    return is_link(value) or ("://" not in value and any(mark in value for mark in "/?#"))


def differs_in_spelling(pointer: str, other: str) -> bool:
    """Whether two pointers differ in one step only, and there in a few letters."""
    mine, theirs = steps(pointer), steps(other)
    pairs = [pair for pair in zip(mine, theirs, strict=False) if pair[0] != pair[1]]
    if len(mine) != len(theirs) or len(pairs) != 1:
        return False
    return SequenceMatcher(None, *pairs[0]).ratio() >= _SAME_WORD


def respelt(
    documents: Iterable[Json],
    pointer: str,
    known: Collection[str | None],
    fits: Fits = lambda _: True,
) -> str:
    """Return the pointer, not yet known, of which a written one is a misspelling, if there is one."""
    located = (member for document in documents for member in members(document))
    return next(
        (
            at
            for at, value in located
            if at not in known and fits(value) and differs_in_spelling(at, pointer)
        ),
        "",
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class Meant:
    """A value that was probably meant, and `of` which one it takes the place; None for none."""

    of: str | None
    value: str
    certain: bool = False

    def edit(self, place: Pointer) -> Edit | None:
        """Return the change of the file; None where that is more than one value."""
        old, new = self.of, self.value
        if isinstance(old, DerivedPointer):
            if not isinstance(new, DerivedPointer) or new.key != old.key:
                return None
            old, new = old.inner, new.inner
        changed = new.written if isinstance(new, DerivedPointer) else str(new)
        return Edit(at=place, old=old, new=changed, certain=self.certain)


def meant(pointer: str) -> str:
    """Return the hint that names what was probably meant, empty if that is."""
    return f"did you mean {pointer}?" if pointer else ""


def kind(value: Json) -> str:
    """Return the type of a value in words, because the value may be private."""
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
class AnsweredOperation:
    """The successful answers of an operation, in which its pointers must find something."""

    record: Examined
    operation: Operation
    answers: Sequence[SeenAnswer]

    @property
    def binding(self) -> OperationBinding:
        """The binding of the operation."""
        return self.answers[0].binding

    @property
    def bodies(self) -> list[Json]:
        """The decoded bodies."""
        return [answer.body for answer in self.answers if answer.body is not MISSING]

    @property
    def items(self) -> list[Json]:
        """Every item of the answers, as it was sent."""
        return [item for answer in self.answers for item in answer.raw_items]

    def place(self, feature: str, name: str = "") -> Pointer:
        """Return the key of a feature in the target file."""
        _, _, *below = BINDING_FEATURES[feature].place(self.operation.id, name)
        return self.answers[0].place(*below)

    def documents(self, feature: str) -> list[Json]:
        """Return what the pointers of a feature lead into: the items, or the bodies."""
        return self.items if "item" in BINDING_FEATURES[feature].section else self.bodies

    def doubt(
        self,
        feature: str,
        expected: str,
        found: str,
        hint: str = "",
        *,
        name: str = "",
        below: tuple[str | int, ...] = (),
        weight: Weight = Weight.DOUBT,
        instead: Meant | None = None,
    ) -> Finding:
        """Return a finding at the key of a feature, or `below` it.

        Where a value was probably meant, it is the hint, and the change of the file.
        """
        place = (*self.place(feature, name), *below)
        edit = None
        if instead:
            hint = hint or meant(instead.value)
            edit = instead.edit(place)
        return self.record.finding(place, expected, found, hint, weight=weight, edit=edit)


def paired(answer: SeenAnswer) -> Sequence[tuple[Mapping[str, Json], Item]]:
    """Return each item as it was sent and as it was decoded; none if that is not clear."""
    raw, items = answer.raw_items, answer.items
    return tuple(zip(raw, items, strict=True)) if len(raw) == len(items) else ()


@dataclass(frozen=True, slots=True, kw_only=True)
class PointerProbe:
    """What the pointers `at` of a feature should find; `fits` recognises the value.

    `name` is that of the field or value, and `below` leads from the key of the feature to
    that of the pointer. `what` replaces the title of the feature. With `named`, another
    pointer is suggested only if its name is similar to one of the pointers or of `names`;
    `missing` is the weight of the finding if nothing is found and nothing is suggested. Without
    any `at`, nothing is wrong. With `spelling_only`, a pointer is suggested only if it differs in the
    spelling of one step. `recognised` says that `fits` knows the value itself, not only its sort.
    """

    feature: str
    at: tuple[str, ...]
    fits: Fits
    name: str = ""
    below: tuple[str | int, ...] = ()
    what: str = ""
    named: bool = True
    names: tuple[str, ...] = ()
    missing: Weight = Weight.DOUBT
    spelling_only: bool = False
    recognised: bool = False

    @property
    def expected(self) -> str:
        """What a finding says that the pointer should find."""
        return self.what or BINDING_FEATURES[self.feature].title


def values(documents: Sequence[Json], pointers: Sequence[str]) -> list[Json]:
    """Return from each document the value of the first pointer that finds one."""
    firsts = (
        next((value for at in pointers if (value := find(document, at)) is not MISSING), MISSING)
        for document in documents
    )
    return [value for value in firsts if value is not MISSING]


def compare(
    seen: AnsweredOperation, probe: PointerProbe, documents: Sequence[Json] | None = None
) -> Iterator[Finding]:
    """Yield a finding unless a pointer finds its value in some answers, or parts of them."""
    documents = seen.documents(probe.feature) if documents is None else documents
    seen_values = values(documents, probe.at)
    if not probe.at or any(probe.fits(value) for value in seen_values):
        return
    instead = correction(documents, probe)
    pointers = " or ".join(pointer or "the top level" for pointer in probe.at)
    what = f"{kind(seen_values[0])} at {pointers}" if seen_values else f"nothing at {pointers}"
    weight = Weight.DOUBT if instead or seen_values else probe.missing
    yield seen.doubt(
        probe.feature,
        probe.expected,
        what,
        instead=instead,
        name=probe.name,
        below=probe.below,
        weight=weight,
    )


def correction(documents: Sequence[Json], probe: PointerProbe) -> Meant | None:
    """Return the pointer that was probably meant, if there is one.

    It is certain where the value is recognised.
    """
    for wanted in (*probe.at, *probe.names):
        pointer = suggest(documents, wanted, probe.fits, named=probe.named)
        if probe.spelling_only and not any(differs_in_spelling(pointer, at) for at in probe.at):
            continue
        if pointer and pointer not in probe.at:
            of = max(probe.at, key=lambda at: likeness(at, pointer)) if probe.at else None
            return Meant(of=of, value=pointer, certain=probe.recognised)
    return None if probe.spelling_only else _derived(documents, probe)


def _derived(documents: Sequence[Json], probe: PointerProbe) -> Meant | None:
    """Return a pointer from the body, or at a URL, that was probably meant, if there is one.

    What identifies an item does not stand beside it, and a URL ends with any word unless more is known.
    """
    items = [each for each in documents[:_FIRST] if isinstance(each, ItemInBody)]
    pointers: list[DerivedPointer] = []
    if probe.feature not in {"key", "id"}:
        located = (each for item in items for each in members(item.body))
        # What stands in a list belongs to one item.
        beside = (at for at, value in located if probe.fits(value) and "0" not in steps(at))
        pointers += [BodyPointer(at) for at in dict.fromkeys(beside)]
    elif probe.recognised:
        ends = (UrlEndPointer(at) for item in items for at, _ in members(item))
        pointers += [at for at in ends if any(probe.fits(find(item, at)) for item in items)]
    ranked = sorted(pointers, key=lambda at: -_likest(at.inner, probe))
    only = len({*ranked}) == 1 and not probe.named
    enough = only or (ranked and _likest(ranked[0].inner, probe) >= ALIKE)
    if not enough or ranked[0] in probe.at:
        return None
    of = next(
        (at for at in probe.at if isinstance(at, type(ranked[0]))), next(iter(probe.at), None)
    )
    return Meant(of=of, value=ranked[0], certain=probe.recognised)


def _likest(pointer: str, probe: PointerProbe) -> float:
    return max(likeness(pointer, wanted) for wanted in (*probe.at, *probe.names))
