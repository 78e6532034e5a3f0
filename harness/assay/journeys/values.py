"""Values of a story as JSON, and back: what stands for something is an object of one key.

`{"own": 0, "of": "psu-1"}`, `{"made": 2}` and `{"day": -90}` are references; a number
that a target spells in its own way is `{"number": "12.30"}`, one that it does not is
`{"float": "1.5"}`, and any object that is meant as it is stands in `{"literal": …}`.
"""

from __future__ import annotations

from collections.abc import Mapping
from decimal import Decimal, InvalidOperation
from typing import cast

from assay.journeys.told import Day, Made, Own
from assay.model import Json


def encoded(value: Json) -> Json:
    """Return a value of a story as JSON."""
    match value:
        case Own(of=of, n=n):
            out: Json = {"own": n, "of": of}
        case Made(step=place):
            out = {"made": place + 1}
        case Day(days=days):
            out = {"day": days}
        case Decimal():
            out = {"number": str(value)}
        case float():
            out = {"float": repr(value)}
        case Mapping():
            named = cast("Mapping[str, Json]", value)
            out = {"literal": {name: encoded(one) for name, one in named.items()}}
        case list() | tuple():
            out = [encoded(one) for one in cast("list[Json]", value)]
        case _:
            out = value
    return out


def decoded(value: Json) -> Json:
    """Return the value that JSON stands for.

    Raises:
        ValueError: an object that stands for nothing.

    """
    match value:
        case {"own": int(n), "of": str(of)}:
            out: Json = Own(of=of, n=n)
        case {"made": int(place)} if place > 0:
            out = Made(place - 1)
        case {"day": int(days)}:
            out = Day(days)
        case {"number": str(text)} | {"float": str(text)}:
            out = _number(text, exact="number" in cast("Mapping[str, Json]", value))
        case {"literal": Mapping() as below}:
            named = cast("Mapping[str, Json]", below)
            out = {name: decoded(one) for name, one in named.items()}
        case Mapping():
            raise ValueError("an object with own and of, made, day, number, float or literal")
        case list():
            out = [decoded(one) for one in cast("list[Json]", value)]
        case _:
            out = value
    return out


def _number(text: str, *, exact: bool) -> Json:
    try:
        return Decimal(text) if exact else float(text)
    except InvalidOperation:
        raise ValueError(f"a number, not {text[:40]!r}") from None
