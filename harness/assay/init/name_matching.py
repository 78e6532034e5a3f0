"""Names as words, so that `account-id`, `accountId` and `account_ids` match."""

from __future__ import annotations

import re
from collections.abc import Iterable
from functools import cache

__all__ = ["distinctive_words", "is_plain_name", "printable", "similarity", "words"]

_PART = re.compile(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+|[0-9]+")
#: Words that do not distinguish names.
_STOP_WORDS = frozenset(
    [
        "a",
        "an",
        "and",
        "by",
        "for",
        "from",
        "get",
        "in",
        "is",
        "list",
        "new",
        "of",
        "on",
        "or",
        "post",
        "put",
        "read",
        "the",
        "to",
    ]
)
#: Names that can be written into a file.
_NAME = re.compile(r"[!-~]{1,200}")
#: How much of a foreign text a comment shows, in characters.
_SHOWN = 100


@cache
def words(name: str) -> tuple[str, ...]:
    """Return the words of a name in lower case and in the singular."""
    return tuple(_singular(one.lower()) for one in _PART.findall(name[:400]))


def _singular(word: str) -> str:
    if word.endswith("ies") and len(word) > len("ties"):
        return word[:-3] + "y"
    plural = word.endswith("s") and not word.endswith(("ss", "us", "is"))
    return word[:-1] if plural and len(word) > len("abs") else word


def distinctive_words(names: Iterable[str]) -> frozenset[str]:
    """Return the words of names and sentences without stop words."""
    return frozenset(one for name in names for one in words(name)) - _STOP_WORDS


def similarity(one: Iterable[str], other: Iterable[str]) -> float:
    """Return the share of words that two sets have in common, from 0 to 1."""
    first, second = frozenset(one), frozenset(other)
    return len(first & second) / len(first | second) if first | second else 0.0


def is_plain_name(name: str) -> bool:
    """Whether a name can be written into a file as it is: one printable word of ASCII."""
    return bool(_NAME.fullmatch(name))


def printable(text: str) -> str:
    """Return a foreign text fit for a comment: one line, printable and short."""
    line = "".join(one if one.isprintable() else " " for one in text[: 4 * _SHOWN])
    line = " ".join(line.split())
    return line if len(line) <= _SHOWN else line[: _SHOWN - 1] + "…"
