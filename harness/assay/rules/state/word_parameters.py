"""Parameters with the words of a status: lists of them, and which may follow which."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from assay.contract.model import Json
from assay.files.document import Finding, Pointer
from assay.rules import parameters
from assay.rules.parameters import Raw, known

_WORDS: Mapping[str, Json] = {
    "description": "a list of at least one word",
    "type": "array",
    "minItems": 1,
    "uniqueItems": True,
    "items": parameters.ref("word"),
}
TRANSITIONS: Mapping[str, Json] = {
    "description": "for each word the words that may follow it",
    "x-hint": "for example {received: [accepted, rejected], accepted: [done]}",
    "type": "object",
    "minProperties": 1,
    "additionalProperties": _WORDS,
}


def check_words(at: Pointer, wanted: Any, clause: Raw, _: Raw) -> Iterator[Finding]:
    """Find words that are not among those that may be shown."""
    shown: list[str] = clause.get("words", [])
    named: dict[str, tuple[str | int, ...]] = (
        {name: (index,) for index, name in enumerate(wanted)}
        if isinstance(wanted, list)
        else {name: (key,) for key, names in wanted.items() for name in (key, *names)}
    )
    for name, place in named.items() if shown else ():
        yield from known((*at, *place), name, shown, "word")


def status_words(key: str) -> Any:
    """Declare a list of words; empty where it is left out."""
    return parameters.names(
        _WORDS,
        key=key,
        references=check_words,
        required=False,
    )
