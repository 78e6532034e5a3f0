"""Texts, numbers and truth values of JSON: how each is read and written, and when two are the same.

This is the only reader, printer and comparer of numbers that a bank sends. Each of the three is
strict and bounded: what is not written as JSON or ISO 20022 write a number is no number, and no
number makes a long text. Values mean the same if they are the same number, the same instant
(`2027-01-27T00:00:00Z` and `2027-01-27T01:00:00.000+01:00`) or the same IBAN (in groups, or not).
"""

from __future__ import annotations

import re
from collections.abc import Hashable
from datetime import UTC, datetime
from decimal import Decimal
from typing import Final, cast

from assay.contract.model import Json

#: A number as JSON and ISO 20022 write it, without an exponent; bounded in length.
_NUMBER: Final = re.compile(r"-?[0-9]{1,30}(?:\.[0-9]{1,30})?", re.ASCII)
#: The place of the first digit of a number, from the decimal point, that is read and written out.
_LARGEST: Final = 60
#: A date and time; whether it is one of the calendar, `datetime` says.
_MOMENT: Final = re.compile(
    r"\d{4}-\d\d-\d\d[Tt]\d\d:\d\d(?::\d\d(?:[.,]\d{1,9})?)?\S{0,6}", re.ASCII
)
#: An IBAN, without the spaces between its groups (ISO 13616: at most 34 characters).
_IBAN: Final = re.compile(r"[A-Z]{2}[0-9]{2}[A-Z0-9]{11,30}", re.ASCII)


def text_of(value: Json) -> str:
    """Return the text of a value in a URL or a header: `true`, `12.50`, the text itself."""
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, Decimal) and value.is_finite() and abs(value.adjusted()) <= _LARGEST:
        return f"{value:f}"
    return str(value)


def number_of(value: Json) -> Decimal | None:
    """Return the number that a value is, or that a text writes; None for anything else.

    A text with an exponent, a sign `+`, spaces, underscores or other digits than 0 to 9 is no
    number, and neither is what is too large or too small for any amount.
    """
    if isinstance(value, bool) or not isinstance(value, str | int | float | Decimal):
        return None
    text = text_of(Decimal(str(value)) if isinstance(value, float) else value)
    return Decimal(text) if _NUMBER.fullmatch(text) else None


def moment_of(text: str) -> datetime | None:
    """Return the date and time that a text is, in UTC if it has an offset; None if it is none."""
    if not _MOMENT.fullmatch(text):
        return None
    try:
        moment = datetime.fromisoformat(text.upper().replace(",", "."))
        return moment.astimezone(UTC) if moment.tzinfo else moment
    except (ValueError, OverflowError):
        return None


def canonical(value: Json) -> Hashable:
    """Return a form of a value that is equal for values that mean the same."""
    match value:
        case list():
            return tuple(map(canonical, cast("list[Json]", value)))
        case dict():
            members = cast("dict[str, Json]", value)
            return frozenset((name, canonical(each)) for name, each in members.items())
        case None:
            return None
        case _:
            number = number_of(value)
            if number is not None or not isinstance(value, str):
                return text_of(value) if number is None else number
            return moment_of(value) or _iban(value) or str(value)


def same_value(first: Json, second: Json) -> bool:
    """Whether two values mean the same."""
    return canonical(first) == canonical(second)


def one_word(key: str) -> str:
    """Return the key of an item as one word: an IBAN without the spaces between its groups."""
    return key.replace(" ", "") if " " in key and _iban(key) else key


def _iban(text: str) -> str | None:
    compact = text.replace(" ", "").upper()
    if not _IBAN.fullmatch(compact):
        return None
    digits = "".join(str(int(sign, 36)) for sign in compact[4:] + compact[:4])
    return compact if int(digits) % 97 == 1 else None


def word_of(text: str) -> Json:
    """Return the word of a contract that a key of a mapping stands for: keys are always texts."""
    return {"true": True, "false": False}.get(text, text)


def same(value: Json, other: Json) -> bool:
    """Whether two JSON values are the same; `true` is not 1, as it is in Python."""
    return value == other and isinstance(value, bool) is isinstance(other, bool)


def is_word(known: Json, value: Json) -> bool:
    """Whether a value is a word of the contract: the same, or its text where one is a text."""
    if isinstance(known, str) is isinstance(value, str):
        return same(known, value)
    scalar = isinstance(value, str | int | float | Decimal)
    return scalar and text_of(known) == text_of(value)
