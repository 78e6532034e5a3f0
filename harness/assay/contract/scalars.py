"""Texts, numbers and truth values of JSON: how each is written as a text, and when two are the same."""

from __future__ import annotations

from decimal import Decimal

from assay.contract.model import Json


def text_of(value: Json) -> str:
    """Return the text of a value in a URL or a header: `true`, `12.50`, the text itself."""
    if isinstance(value, bool):
        return "true" if value else "false"
    return f"{value:f}" if isinstance(value, Decimal) else str(value)


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
