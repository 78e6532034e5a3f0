"""Comparison of a condition in two versions: whether it is true for more requests, or for fewer.

A threshold that is raised makes its atom true less often; `not` turns that around. A condition
that changes in a way that has no direction, such as another value of a field, must be judged by
the parties.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from decimal import Decimal
from typing import Any, Final, TypeAlias, cast

from assay.contract.model import Json
from assay.files.document import Pointer
from assay.rules.comparisons import ABSENT, ParameterDifference, Versions, canonical, same
from assay.rules.consequences import REFUSE_MORE, SERVE_MORE, UNDECIDED, Consequence

_Node: TypeAlias = Mapping[str, Any]

#: The atoms that are true less often the larger a number is, and the key of the number.
_THRESHOLDS: Final = {"above": "above", "registered": "more-than-hours"}
#: The keys of an atom that say what it is about.
_NAMES: Final = ("field", "registered", "factor")


@dataclass(frozen=True, slots=True)
class _Pair:
    """A condition in two versions, with its places, and what it means if it holds more often."""

    path: tuple[str, ...]
    old: Json
    new: Json
    old_at: Pointer
    new_at: Pointer
    wider: Consequence
    narrower: Consequence

    def below(
        self, path: tuple[str, ...], old: Json, new: Json, at: tuple[Pointer, Pointer]
    ) -> _Pair:
        """Return a condition in this one that makes it hold more often."""
        return _Pair(
            (*self.path, *path),
            old,
            new,
            (*self.old_at, *at[0]),
            (*self.new_at, *at[1]),
            self.wider,
            self.narrower,
        )

    def negated(self) -> _Pair:
        """Return the same with the opposite consequences."""
        return _Pair(
            self.path,
            self.old,
            self.new,
            self.old_at,
            self.new_at,
            self.narrower,
            self.wider,
        )

    def difference(self, consequence: Consequence) -> ParameterDifference:
        """Return the difference of the two versions."""
        return ParameterDifference(
            path=self.path,
            old=self.old,
            new=self.new,
            consequence=consequence,
            old_at=self.old_at,
            new_at=self.new_at,
        )


def compare_rejecting(key: str, versions: Versions) -> Iterator[ParameterDifference]:
    """Compare conditions under which a request is rejected."""
    old, new = versions.values(key)
    yield from _compare(_Pair((key,), old, new, (key,), (key,), REFUSE_MORE, SERVE_MORE))


def _compare(pair: _Pair) -> Iterator[ParameterDifference]:
    old, new = pair.old, pair.new
    if same(old, new):
        return
    if not isinstance(old, Mapping) or not isinstance(new, Mapping):
        yield pair.difference(UNDECIDED)
        return
    before, after = cast("_Node", old), cast("_Node", new)
    if _shape(before) != _shape(after):
        yield pair.difference(UNDECIDED)
    elif "not" in before:
        inner = pair.below(("not",), before["not"], after["not"], (("not",), ("not",)))
        yield from _compare(inner.negated())
    elif "all" in before or "any" in before:
        yield from _members(pair, "all" if "all" in before else "any", before, after)
    else:
        yield _threshold(pair, before, after)


def _threshold(pair: _Pair, old: _Node, new: _Node) -> ParameterDifference:
    """Return the difference of two atoms of the same shape."""
    key = next((number for atom, number in _THRESHOLDS.items() if atom in old), "is")
    inner = pair.below((key,), old[key], new[key], ((key,), (key,)))
    before, after = old[key], new[key]
    if key != "is" and isinstance(before, int | Decimal) and isinstance(after, int | Decimal):
        return inner.difference(pair.narrower if after > before else pair.wider)
    return inner.difference(UNDECIDED)


def _shape(node: Json) -> tuple[str, ...]:
    """Return what two conditions must have in common to be the same one, changed."""
    if not isinstance(node, Mapping):
        return (canonical(node),)
    raw = cast("_Node", node)
    if "not" in raw:
        return ("not", *_shape(raw["not"]))
    named = (canonical(raw[key]) for key in _NAMES if key in raw)
    return (*sorted(raw), *named)


def _members(pair: _Pair, key: str, old: _Node, new: _Node) -> Iterator[ParameterDifference]:
    """Compare the conditions of an `all` or `any`, without their order."""
    before, after = list(enumerate(old[key])), list(enumerate(new[key]))
    for alike in (canonical, _shape):
        for item in list(before):
            other = next((each for each in after if alike(each[1]) == alike(item[1])), None)
            if other is not None:
                before.remove(item)
                after.remove(other)
                at = (key, item[0]), (key, other[0])
                yield from _compare(pair.below((key, _name(item[1])), item[1], other[1], at))
    # One more condition makes `all` narrower, and `any` wider.
    if_added, if_removed = (
        (pair.narrower, pair.wider) if key == "all" else (pair.wider, pair.narrower)
    )
    for index, node in before:
        gone = pair.below((key, _name(node)), node, ABSENT, ((key, index), (key,)))
        yield gone.difference(if_removed)
    for index, node in after:
        come = pair.below((key, _name(node)), ABSENT, node, ((key,), (key, index)))
        yield come.difference(if_added)


def _name(node: Json) -> str:
    """Return a name of a condition in a list that stays the same if its number changes."""
    raw = cast("_Node", node) if isinstance(node, Mapping) else {}
    for key in _NAMES:
        if key in raw:
            return str(raw[key])
    if "not" in raw:
        return f"not-{_name(raw['not'])}"
    return next(iter(raw), "condition")
