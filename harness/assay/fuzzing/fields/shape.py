"""Types for generated argument values: value, sort, argument, and shape.

A shape is one frozen record: whether it fits the value that the binding has, and the
values around it. `shapes` is the table of them. To add a shape, write its functions
beside the others of its kind and add its record to the table.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from enum import Enum
from typing import Final

from hypothesis.strategies import SearchStrategy

from assay.binding.target import Place
from assay.contract.model import Json


class Sort(Enum):
    """How good a value is, by its form, the contract and the binding.

    This does not decide what is right: the contract's checks do.
    """

    VALID = "valid"
    EDGE = "at an edge"
    BEYOND = "just beyond"
    WRONG = "structurally wrong"


class _Absent:
    """The type of `ABSENT`."""

    def __repr__(self) -> str:
        return "ABSENT"


#: Stands for an argument that is left out.
ABSENT: Final = _Absent()


@dataclass(frozen=True, slots=True)
class Value:
    """A value, possibly a `RelativeDay` or `ABSENT`, and its description."""

    says: str
    json: Json


@dataclass(frozen=True, slots=True, kw_only=True)
class Named:
    """What a contract names for an argument.

    `right` are the fixed values and `others` some that differ, `known` those that make
    a difference, `limits` the numbers above which something changes, `small` those that
    are no exception, and `days` how far back something goes.
    """

    right: tuple[str, ...] = ()
    others: tuple[str, ...] = ()
    known: tuple[str, ...] = ()
    limits: tuple[str, ...] = ()
    small: tuple[str, ...] = ()
    days: tuple[int, ...] = ()

    @property
    def any(self) -> bool:
        """Whether it names anything."""
        return any(getattr(self, name) for name in self.__dataclass_fields__)


class Keys(Enum):
    """What an argument names that only the target can name."""

    NONE = "nothing of the kind"
    OWNED = "one thing that the customer owns"
    SEVERAL = "a list of things that the customer owns"
    MADE = "a request that was made"


@dataclass(frozen=True, slots=True, kw_only=True)
class Argument:
    """One argument of an operation, as a target binds it.

    `own` is the binding's value and `other` an equally good one, None where it has
    none; `strange` are the texts of other arguments. `keys` says that it names things
    of the customer's: one, or a list of them. `ahead` says that its days are in the
    future, `spoken` that a clause names it.
    """

    operation: str
    name: str
    place: Place
    own: Json = None
    other: Json = None
    strange: tuple[str, ...] = ()
    keys: Keys = Keys.NONE
    ahead: bool = False
    spoken: bool = False
    named: Named = field(default_factory=Named)

    @property
    def goods(self) -> tuple[Json, ...]:
        """The values that the binding has."""
        return tuple(one for one in (self.own, self.other) if one is not None)


#: Generates values around those of an argument.
Around = Callable[[Argument], Iterator[Value]]


@dataclass(frozen=True, slots=True, kw_only=True)
class ValueShape:
    """The shape of a value. `valid` takes one draw."""

    name: str
    fits: Callable[[Argument], bool]
    valid: Callable[[Argument], SearchStrategy[Value]]
    edge: Around
    beyond: Around
