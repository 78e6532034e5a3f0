"""Atom `{factor: F}`: the customer signed the request with the factor F.

Tried with F and with each other factor that a `factors` rule of the contract names. The
factor is known where it was chosen and its right code entered. It is unknown where the
screen to choose it never came, or where any offered factor would do.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace

from assay.contract.model import Json
from assay.history import Authorise, Code
from assay.rules.conditions.expression import FAR, DecidedRequest, Point, Value
from assay.rules.lifecycle import request_queries
from assay.rules.lifecycle.tracker import Lifecycle
from assay.rules.rule import facts_of

#: The kind of screen on which a factor is chosen.
CHOICE = "factor"


@dataclass(frozen=True, slots=True, kw_only=True)
class Factor:
    """An atom that holds where the request was signed with one factor."""

    factor: str
    lifecycle: Lifecycle = field(compare=False, repr=False)

    @property
    def input(self) -> str:
        """The signature of the request."""
        return "factor"

    @property
    def argument(self) -> None:
        """None: it is not about an argument."""

    @property
    def id_prefix(self) -> str:
        """The same for all factors."""
        return "factor"

    @property
    def label(self) -> str:
        """What it says."""
        return f"signed with {self.factor}"

    @property
    def points(self) -> tuple[Point, ...]:
        """Each other factor, and this one; where no other is known, any that is offered."""
        offered = _offered(self.lifecycle)
        others: list[str | None] = [factor for factor in offered if factor != self.factor]
        factors = (*(others or [None]), self.factor)
        return tuple(_point(factor, offered.get(factor or "", ())) for factor in factors)

    def holds(self, value: Value) -> bool | None:
        """Whether it is this factor."""
        return value == self.factor

    def look(self, seen: DecidedRequest) -> Value | None:
        """Return the factor with which the customer signed."""
        signature = request_queries.signature(seen.request)
        if signature is None or signature.step.code is not Code.RIGHT:
            return None
        if signature.screens and CHOICE not in signature.screens:
            return None
        only = signature.offered[0] if signature.offered and len(signature.offered) == 1 else None
        return signature.step.factor or only


def _offered(lifecycle: Lifecycle) -> Mapping[str, tuple[str, ...]]:
    """Return the factors that the contract names, each with the segments that have it."""
    out: dict[str, tuple[str, ...]] = {}
    offered = facts_of(lifecycle.contract).factors_by_segment.get(lifecycle.request.id, {})
    for segment, factors in offered.items():
        for factor in factors:
            out[factor] = (*out.get(factor, ()), segment)
    return out


def _point(factor: str | None, segments: tuple[str, ...]) -> Point:
    def near(seen: Value) -> float:
        return 0 if seen == factor else FAR if factor is None else 1

    return Point(
        name=factor or "other",
        description=f"it is signed with {factor or 'any factor'}",
        value=factor,
        distance=near,
        sign=_with(factor),
        segments=segments,
    )


def _with(factor: str | None) -> Callable[[Authorise], Authorise]:
    return lambda how: replace(how, factor=factor)


def read(raw: Mapping[str, Json], lifecycle: Lifecycle) -> Factor:
    """Read the atom."""
    return Factor(factor=str(raw["factor"]), lifecycle=lifecycle)
