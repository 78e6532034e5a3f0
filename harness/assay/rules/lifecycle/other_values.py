"""Values that are not the one valid value of a field: other values, and other spellings of it.

A text that is written like a number or a truth value may be taken for it, so that it is no other
value; and a text of another kind in place of one is a value of another type.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from decimal import Decimal

from assay.contract.model import Json
from assay.contract.scalars import is_word

#: The ways in which a value can be invalid.
OTHER, CASE, PADDED = "other-value", "lower-case", "padded"


def difference(right: Json, value: Json) -> str:
    """Return in which way a value is not the right one; "" if that is not certain."""
    if is_word(right, value) or not isinstance(value, str | int | float | Decimal):
        return ""
    if isinstance(right, str):
        return _spelling(right, value) if isinstance(value, str) else ""
    alike = not isinstance(value, str) and isinstance(value, bool) is isinstance(right, bool)
    return OTHER if alike else ""


def _spelling(right: str, value: str) -> str:
    """Return in which way a text is not the right one; "" for an empty one."""
    if not value.strip():
        return ""
    if value.strip().casefold() != right.strip().casefold():
        return OTHER
    if value.casefold() == right.casefold():
        return CASE
    return PADDED if value.strip() == right.strip() else ""


def spellings(right: Json) -> Sequence[tuple[Json, str]]:
    """Return other spellings of a value, each with a description; only texts have any."""
    if not isinstance(right, str):
        return ()
    return (
        (right.lower(), f"{right} in lower case"),
        (f" {right}", f"{right} after a space"),
        (f"{right} ", f"{right} before a space"),
        (f"{right}\n", f"{right} before a line break"),
    )


def others(right: Json) -> Iterator[Json]:
    """Yield values that are like the right one, and are others."""
    match right:
        case str():
            yield from _alike(right)
        case bool():
            yield not right
        case int() | Decimal():
            yield from (right + 1, right * 10 + 1, -right - 1)
        case _:
            pass


def _alike(text: str) -> Iterator[str]:
    """Yield texts that differ from the given one in all, some or the order of their letters."""
    yield "".join(map(_next, text))
    yield text[:-1] + _next(text[-1])
    yield _next(text[0]) + text[1:]
    yield text[::-1]
    yield text + text[-1]
    yield text[:-1]


def _next(letter: str) -> str:
    """Return the next letter or digit of the same sort, or any other character unchanged."""
    for first, last in ("AZ", "az", "09"):
        if first <= letter <= last:
            return first if letter == last else chr(ord(letter) + 1)
    return letter
