"""Names as words, so that `account-id`, `accountId` and `account_ids` are alike."""

from __future__ import annotations

import re
from collections.abc import Iterable
from functools import cache

__all__ = ["alike", "plain", "shown", "words"]

_PART = re.compile(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+|[0-9]+")
#: Words that say how and not what.
_EMPTY = frozenset(
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
#: What a name may look like that goes into a file.
_NAME = re.compile(r"[!-~]{1,200}")
#: How much of a foreign text a comment shows.
_SHOWN = 100


@cache
def words(name: str) -> tuple[str, ...]:
    """Return the words of a name in small letters and in the singular."""
    return tuple(_singular(one.lower()) for one in _PART.findall(name[:400]))


def _singular(word: str) -> str:
    if word.endswith("ies") and len(word) > len("ties"):
        return word[:-3] + "y"
    plural = word.endswith("s") and not word.endswith(("ss", "us", "is"))
    return word[:-1] if plural and len(word) > len("abs") else word


def telling(names: Iterable[str]) -> frozenset[str]:
    """Return the words of names and sentences without those that say nothing."""
    return frozenset(one for name in names for one in words(name)) - _EMPTY


def alike(one: Iterable[str], other: Iterable[str]) -> float:
    """Return how much two sets of words have in common, from 0 to 1."""
    first, second = frozenset(one), frozenset(other)
    return len(first & second) / len(first | second) if first | second else 0.0


def plain(name: str) -> bool:
    """Whether a name can stand in a file as it is: one printable word of ASCII."""
    return bool(_NAME.fullmatch(name))


def shown(text: str) -> str:
    """Return a foreign text as a comment can show it: in one line, printable and short."""
    line = "".join(one if one.isprintable() else " " for one in text[: 4 * _SHOWN])
    line = " ".join(line.split())
    return line if len(line) <= _SHOWN else line[: _SHOWN - 1] + "…"
