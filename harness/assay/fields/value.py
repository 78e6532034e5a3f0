"""What may stand in one argument of a call: a value, how good it is, and what it is in words."""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum
from typing import Final

from assay.model import Json


class Sort(Enum):
    """How good a value is, as far as its form, the contract and the binding tell.

    What is right is not decided by it: that is a matter of the contract's checks.
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
    """A value, which may be a `Day` or `ABSENT`, and what it is: "its last digit is off"."""

    says: str
    json: Json
