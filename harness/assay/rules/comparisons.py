"""Comparisons of a parameter in two versions of a clause: which differences, and what they mean.

Each parameter of a kind is declared with a `Comparison`. It reads the checked JSON of both
versions of the clause and yields the differences, with the consequence of each for the
parties. A parameter that has no general direction is declared `undirected`.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from decimal import Decimal
from enum import Enum
from typing import Any, Final, TypeAlias, cast

from assay.contract.model import Json
from assay.files.document import Pointer
from assay.rules.consequences import (
    REFUSE_LESS,
    REFUSE_MORE,
    SERVE_LESS,
    SERVE_MORE,
    TEST_ONLY,
    UNDECIDED,
    UNSTATED,
    Consequence,
    Purpose,
)

#: A clause, or a mapping in it, as written in a contract of the right shape.
_Raw: TypeAlias = Mapping[str, Any]


class Absent(Enum):
    """The type of `ABSENT`, the value that a version does not have."""

    ABSENT = "absent"


ABSENT: Final = Absent.ABSENT


@dataclass(frozen=True, slots=True, kw_only=True)
class ParameterDifference:
    """One difference of two versions of a clause.

    `path` are the keys that lead to it, the same in both versions; `old_at` and `new_at`
    are the places of the values, with indexes. `moved_from` is the list that an item was in.
    """

    path: tuple[str, ...]
    old: Json
    new: Json
    consequence: Consequence
    old_at: Pointer
    new_at: Pointer
    moved_from: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Versions:
    """Two versions of a clause, the purpose of its kind, and new names (noun, then old name)."""

    old: _Raw
    new: _Raw
    purpose: Purpose = UNSTATED
    renamed: Mapping[str, Mapping[str, str]] = field(
        default_factory=dict[str, Mapping[str, str]], repr=False
    )

    def values(self, key: str) -> tuple[Json, Json]:
        """Return the old and the new value of a parameter; `ABSENT` where there is none."""
        return self.old.get(key, ABSENT), self.new.get(key, ABSENT)


#: Yields the differences of a parameter in two versions of a clause.
Comparison: TypeAlias = Callable[[str, Versions], Iterator[ParameterDifference]]


def canonical(value: Json) -> str:
    """Return a value as text that is the same only for the same value: `1` is neither `1.0` nor true."""
    return json.dumps(value, sort_keys=True, ensure_ascii=False, default=_number)


def _number(value: object) -> object:
    if isinstance(value, Decimal):
        return {"decimal": str(value)}
    if isinstance(value, Absent):
        return {"absent": True}
    raise TypeError(f"no JSON: {type(value).__name__}")


def same(old: Json, new: Json) -> bool:
    """Whether two values are the same."""
    return canonical(old) == canonical(new)


def _difference(key: str, old: Json, new: Json, consequence: Consequence) -> ParameterDifference:
    return ParameterDifference(
        path=(key,), old=old, new=new, consequence=consequence, old_at=(key,), new_at=(key,)
    )


# -- comparisons of single values -----------------------------------------------------
def any_change(consequence: Consequence) -> Comparison:
    """Compare a value that has the same consequence however it changes."""

    def compare(key: str, versions: Versions) -> Iterator[ParameterDifference]:
        old, new = versions.values(key)
        if not same(old, new):
            yield _difference(key, old, new, consequence)

    return compare


#: For a parameter whose change has no general meaning: an explicit "judge it".
undirected: Final = any_change(UNDECIDED)
#: For a parameter that only helps to test the clause.
test_only: Final = any_change(TEST_ONLY)


def names(noun: str) -> Comparison:
    """Compare the name of what a clause is about; a mere renaming in the contract is no change."""

    def compare(key: str, versions: Versions) -> Iterator[ParameterDifference]:
        old, new = versions.values(key)
        current = versions.renamed.get(noun, {}).get(str(old), old)
        if not same(current, new):
            yield _difference(key, old, new, UNDECIDED)

    return compare


def presence(
    *, added: Consequence, removed: Consequence, changed: Consequence = UNDECIDED
) -> Comparison:
    """Compare a value of which it matters most whether there is one."""
    return ordered(larger=changed, smaller=changed, added=added, removed=removed)


def ordered(
    *,
    larger: Consequence,
    smaller: Consequence,
    added: Consequence = UNDECIDED,
    removed: Consequence = UNDECIDED,
) -> Comparison:
    """Compare numbers or times of day."""

    def compare(key: str, versions: Versions) -> Iterator[ParameterDifference]:
        old, new = versions.values(key)
        if not same(old, new):
            yield _difference(key, old, new, _direction(old, new))

    def _direction(old: Json, new: Json) -> Consequence:
        if old is ABSENT or new is ABSENT:
            return added if old is ABSENT else removed
        if isinstance(old, str) and isinstance(new, str):
            return larger if new > old else smaller
        if isinstance(old, int | Decimal) and isinstance(new, int | Decimal):
            return larger if new > old else smaller
        return UNDECIDED

    return compare


#: For the largest number that is served: one more is refused.
allowance: Final = ordered(larger=SERVE_MORE, smaller=REFUSE_MORE)
#: For the largest number that may be served: less is allowed, more is not.
at_most: Final = ordered(larger=REFUSE_LESS, smaller=REFUSE_MORE)


def by_rank(old: int, new: int) -> Consequence:
    """Return the consequence of another rank: above 0 a bank must serve, below 0 it must refuse."""
    if new > old:
        return SERVE_MORE if new > 0 else REFUSE_LESS
    if new < old:
        return REFUSE_MORE if new < 0 else SERVE_LESS
    return TEST_ONLY


def ranked(ranks: Mapping[str, int], *, absent: str = "") -> Comparison:
    """Compare one of several words, each with a rank; `absent` is meant where it is left out."""

    def compare(key: str, versions: Versions) -> Iterator[ParameterDifference]:
        old, new = versions.old.get(key, absent), versions.new.get(key, absent)
        if not same(old, new):
            known = old in ranks and new in ranks
            consequence = by_rank(ranks[old], ranks[new]) if known else UNDECIDED
            yield _difference(key, *versions.values(key), consequence)

    return compare


def switch(*, on: Consequence, off: Consequence, absent: bool = False) -> Comparison:
    """Compare a truth value; `absent` is meant where it is left out."""

    def compare(key: str, versions: Versions) -> Iterator[ParameterDifference]:
        old, new = versions.old.get(key, absent), versions.new.get(key, absent)
        if not same(old, new):
            yield _difference(key, *versions.values(key), on if new is True else off)

    return compare


# -- comparisons of lists -------------------------------------------------------------
def members(*, added: Consequence, removed: Consequence, noun: str = "") -> Comparison:
    """Compare lists without order; each new or missing item is a difference."""
    return lambda key, versions: _members(key, versions, added, removed, noun)


def covered(noun: str = "") -> Comparison:
    """Compare lists of what the clause holds for: an item is like a clause of its own."""

    def compare(key: str, versions: Versions) -> Iterator[ParameterDifference]:
        purpose = versions.purpose
        yield from _members(key, versions, purpose.added, purpose.removed, noun)

    return compare


def _members(
    key: str, versions: Versions, added: Consequence, removed: Consequence, noun: str
) -> Iterator[ParameterDifference]:
    old, new = positions(versions.old.get(key)), positions(versions.new.get(key))
    current = versions.renamed.get(noun, {})
    old_now = {current.get(item, item): item for item in old}
    for now, item in old_now.items():
        if now not in new:
            gone = _difference(key, item, ABSENT, removed)
            yield replace(gone, old_at=(key, old[item]))
    for item, index in new.items():
        if item not in old_now:
            yield replace(_difference(key, ABSENT, item, added), new_at=(key, index))


def positions(value: object) -> dict[str, int]:
    """Return the items of a list of texts, each with its first index."""
    items = cast("list[object]", value) if isinstance(value, list | tuple) else []
    first: dict[str, int] = {}
    for index, item in enumerate(items):
        first.setdefault(str(item), index)
    return first


def classified(ranks: Mapping[str, int]) -> Comparison:
    """Compare lists that classify the same items; the ranks are those of the parameters.

    An item that moves from one list to another is one difference, of the list it is in now.
    """

    def compare(key: str, versions: Versions) -> Iterator[ParameterDifference]:
        old, new = positions(versions.old.get(key)), positions(versions.new.get(key))
        for item in old:
            if item not in new and _list_of(item, versions.new) is None:
                gone = _difference(key, item, ABSENT, by_rank(ranks[key], 0))
                yield replace(gone, old_at=(key, old[item]))
        for item, index in new.items():
            if item not in old:
                before = _list_of(item, versions.old)
                if before is None:
                    come = _difference(key, ABSENT, item, by_rank(0, ranks[key]))
                    yield replace(come, new_at=(key, index))
                else:
                    moved = _difference(key, item, item, by_rank(ranks[before], ranks[key]))
                    old_at = (before, positions(versions.old[before])[item])
                    yield replace(moved, old_at=old_at, new_at=(key, index), moved_from=before)

    def _list_of(item: str, version: _Raw) -> str | None:
        return next((key for key in ranks if item in positions(version.get(key))), None)

    return compare


# -- comparisons of mappings ----------------------------------------------------------
def keyed(
    comparisons: Mapping[str, Comparison], *, added: Consequence, removed: Consequence
) -> Comparison:
    """Compare a mapping with a comparison for each of its keys."""
    return lambda key, versions: _mapping(key, versions, comparisons.get, added, removed)


def by_name(
    comparison: Comparison, *, added: Consequence = UNDECIDED, removed: Consequence = UNDECIDED
) -> Comparison:
    """Compare a mapping from names to values that are all compared alike."""

    def compare(key: str, versions: Versions) -> Iterator[ParameterDifference]:
        old, new = (
            cast("_Raw", value) if isinstance(value, Mapping) else {}
            for value in versions.values(key)
        )
        for name in (*old, *(name for name in new if name not in old)):
            if name in old and name in new:
                inner = replace(versions, old=old, new=new)
                yield from (_below(key, each) for each in comparison(name, inner))
            else:
                consequence = added if name in new else removed
                values = old.get(name, ABSENT), new.get(name, ABSENT)
                yield _below(key, _difference(name, *values, consequence))

    return compare


def _mapping(
    key: str,
    versions: Versions,
    find: Callable[[str], Comparison | None],
    added: Consequence,
    removed: Consequence,
) -> Iterator[ParameterDifference]:
    old, new = versions.values(key)
    if not isinstance(old, Mapping) or not isinstance(new, Mapping):
        if not same(old, new):
            yield _difference(key, old, new, added if old is ABSENT else removed)
        return
    inner = replace(versions, old=cast("_Raw", old), new=cast("_Raw", new))
    for name in (*inner.old, *(name for name in inner.new if name not in inner.old)):
        comparison = find(name) or undirected
        yield from (_below(key, each) for each in comparison(name, inner))


def _below(key: str, difference: ParameterDifference) -> ParameterDifference:
    return replace(
        difference,
        path=(key, *difference.path),
        old_at=(key, *difference.old_at),
        new_at=(key, *difference.new_at),
    )
