"""`{field: F, is: V}`: the argument F of the request has the value V, letter by letter.

The value that the profile has there, and its other one, are taken to be different from
V. Where they are not, the check sees what was sent, and counts it for what it is.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from assay.model import Json
from assay.rules.conditions import fields
from assay.rules.conditions.atom import FAR, Point, Seen, Value
from assay.rules.conditions.fields import Given
from assay.rules.requests import Life


@dataclass(frozen=True, slots=True, kw_only=True)
class FieldIs:
    """One such atom."""

    argument: str
    value: str
    life: Life = field(compare=False, repr=False)

    @property
    def input(self) -> str:
        """The argument."""
        return f"field {self.argument}"

    @property
    def stem(self) -> str:
        """The argument's name."""
        return self.argument

    @property
    def head(self) -> str:
        """What it says."""
        return f"{self.argument} is {self.value}"

    @property
    def points(self) -> tuple[Point, ...]:
        """The value; what the profile has there; and the other that it has."""
        name, value = self.argument, self.value
        return (
            Point(
                name=value,
                says=f"{name} is {value}",
                value=Given(text=value),
                near=lambda seen: 0 if isinstance(seen, Given) and seen.text == value else FAR,
                ask=fields.give(name, value),
                wants=fields.want(self.life, "argument", name),
            ),
            Point(
                name=f"not-{value}",
                says=f"{name} is as usual",
                value=Given(),
                near=lambda seen: 1 if isinstance(seen, Given) and seen.other else 0,
            ),
            Point(
                name=f"not-{value}-other",
                says=f"{name} is neither {value} nor as usual",
                value=Given(other=True),
                near=lambda seen: 0 if isinstance(seen, Given) and seen.other else 1,
                ask=fields.vary(name),
                wants=fields.want(self.life, "other", name),
            ),
        )

    def holds(self, value: Value) -> bool | None:
        """Whether a value is this one."""
        return value.text == self.value if isinstance(value, Given) else None

    def look(self, seen: Seen) -> Value | None:
        """Return what was sent."""
        return fields.look(seen, self.argument)


def read(raw: Mapping[str, Json], life: Life) -> FieldIs:
    """Read the atom."""
    return FieldIs(argument=str(raw["field"]), value=str(raw["is"]), life=life)
