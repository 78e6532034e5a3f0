"""Conditions as expression trees: all, any and not over numbered atoms.

An atom may be true, false, or unknown (None), and so may a condition: it is known where
it is the same whatever the unknown atoms are, as far as `all` and `any` show that.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import TypeAlias, assert_never, cast

from assay.contract.model import Json


@dataclass(frozen=True, slots=True)
class AtomRef:
    """One atom, by its number."""

    atom: int


@dataclass(frozen=True, slots=True)
class Not:
    """The negation of a condition."""

    part: Expression


@dataclass(frozen=True, slots=True)
class All:
    """The conjunction of several conditions."""

    parts: tuple[Expression, ...]


@dataclass(frozen=True, slots=True)
class Any:
    """The disjunction of several conditions."""

    parts: tuple[Expression, ...]


Expression: TypeAlias = AtomRef | Not | All | Any


def parse(raw: Json, number: Callable[[Mapping[str, Json]], int]) -> Expression:
    """Parse a condition of a contract; `number` returns the number of an atom."""
    node = cast("Mapping[str, Json]", raw)
    if "all" in node:
        return All(_parts(node["all"], number))
    if "any" in node:
        return Any(_parts(node["any"], number))
    if "not" in node:
        return Not(parse(node["not"], number))
    return AtomRef(number(node))


def _parts(raw: Json, number: Callable[[Mapping[str, Json]], int]) -> tuple[Expression, ...]:
    return tuple(parse(part, number) for part in cast("Sequence[Json]", raw))


def holds(expression: Expression, truths: Sequence[bool | None]) -> bool | None:
    """Whether a condition holds, given the truth of each atom."""
    match expression:
        case AtomRef(atom):
            return truths[atom]
        case Not(part):
            inner = holds(part, truths)
            return None if inner is None else not inner
        case All(parts):
            return _decided(parts, truths, by=False)
        case Any(parts):
            return _decided(parts, truths, by=True)
        case _:
            assert_never(expression)


def _decided(
    parts: Sequence[Expression], truths: Sequence[bool | None], *, by: bool
) -> bool | None:
    """Return `by` if one part is `by`; otherwise every part must be known to be the opposite."""
    holding = {holds(part, truths) for part in parts}
    if by in holding:
        return by
    return None if None in holding else not by


def describe(expression: Expression, labels: Sequence[str]) -> str:
    """Describe a condition, given the label of each atom."""
    match expression:
        case AtomRef(atom):
            return labels[atom]
        case Not(part):
            return f"not {_inner(part, labels)}"
        case All(parts):
            return " and ".join(_inner(part, labels) for part in parts)
        case Any(parts):
            return " or ".join(_inner(part, labels) for part in parts)
        case _:
            assert_never(expression)


def _inner(part: Expression, labels: Sequence[str]) -> str:
    text = describe(part, labels)
    return f"({text})" if isinstance(part, All | Any) else text
