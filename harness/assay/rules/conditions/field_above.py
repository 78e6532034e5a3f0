"""`{field: F, above: N}`: the argument F of the request is a number greater than N.

Asked at N, which is not above it, and one step below and above. The step is 1 if N is
written as a whole number, and else 0.01, or finer if N is.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from decimal import Decimal

from assay.model import Json
from assay.rules.conditions import fields
from assay.rules.conditions.atom import FAR, Point, Seen, Value
from assay.rules.conditions.fields import Given
from assay.rules.requests import Life

_CENT = -2


@dataclass(frozen=True, slots=True, kw_only=True)
class FieldAbove:
    """One such atom; `limit` is spelt as in the contract."""

    argument: str
    limit: str
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
        return f"{self.argument} above {self.limit}"

    @property
    def points(self) -> tuple[Point, ...]:
        """At the limit, and one step to each side; nobody asks for nothing or less."""
        limit = Decimal(self.limit)
        exponent = limit.as_tuple().exponent
        finest = exponent if isinstance(exponent, int) else 0
        step = Decimal(1).scaleb(min(finest, _CENT)) if "." in self.limit else Decimal(1)
        tried = (("at", limit), ("just-above", limit + step), ("just-below", limit - step))
        return tuple(self._point(word, value) for word, value in tried if value > 0)

    def _point(self, word: str, value: Decimal) -> Point:
        text = f"{value:f}"

        def near(seen: Value) -> float:
            found = fields.number(seen.text) if isinstance(seen, Given) else None
            return FAR if found is None else float(abs(found - value))

        return Point(
            name=f"{word}-{self.limit}",
            says=f"{self.argument} is {text}",
            value=Given(text=text),
            near=near,
            ask=fields.give(self.argument, value),
            wants=fields.want(self.life, "argument", self.argument),
        )

    def holds(self, value: Value) -> bool | None:
        """Whether a value is greater; what is no number, nobody can tell."""
        found = fields.number(value.text) if isinstance(value, Given) else None
        return None if found is None else found > Decimal(self.limit)

    def look(self, seen: Seen) -> Value | None:
        """Return what was sent."""
        return fields.look(seen, self.argument)


def read(raw: Mapping[str, Json], life: Life) -> FieldAbove:
    """Read the atom."""
    return FieldAbove(argument=str(raw["field"]), limit=str(raw["above"]), life=life)
