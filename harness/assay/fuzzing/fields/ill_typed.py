"""Structurally wrong values: of another type, size or alphabet than any shape."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from assay.binding.target import Place
from assay.contract.model import Json
from assay.fuzzing.fields.shape import ABSENT, Argument, Keys, Value
from assay.fuzzing.sequences.abstract_step import OwnedRef
from assay.fuzzing.sequences.actions import SELF

#: A bank may treat a text of this length as an attack, but still has to answer.
LONG = 10_000
#: A header of this length is accepted by every server.
LONG_HEADER = 2_000
DEPTH = 100

#: Texts that are valid nowhere.
TEXTS: Mapping[str, str] = {
    "a text that is no number": "NaN",
    "a text of no number that could be": "-Infinity",
    "a text of null": "null",
    "a text of a list": "[]",
    "a text of an object": '{"a": 1}',
    "a single quote": "' OR ''='",
    "a format": "%s%n{0}${x}",
}
#: Likewise, and no header can carry them.
RAW: Mapping[str, str] = {
    "control characters": "\x00\x01\x1b\x7f",
    "the end of a line": "\r\n",
    "nothing but a blank": " ",
    "of no Latin script": "\u4e2d\u6587\u0639\u0631",
    "letters with marks of their own": "e\u0301\u202e\U0001f3e6",
    "digits of another script": "\u0664\u0667\u0661",
}


def lacking(argument: Argument) -> Iterator[Value]:
    """Leave an argument out, or make it empty or null; a path cannot do without."""
    if argument.place is not Place.PATH:
        yield Value("missing", ABSENT)
        yield Value("empty", "")
    if argument.place is Place.BODY:
        yield Value("null", None)


def wrong(argument: Argument) -> Iterator[Value]:
    """Make all other values that are wrong in an argument."""
    body = argument.place is Place.BODY
    texts = TEXTS if argument.place is Place.HEADER else {**TEXTS, **RAW}
    for says, text in texts.items():
        yield Value(says, text)
    yield Value("very long", "9" * (LONG_HEADER if argument.place is Place.HEADER else LONG))
    if body:
        yield from _types(argument)


def _types(argument: Argument) -> Iterator[Value]:
    own, text = argument.own, str(argument.own)
    if own is None:
        # What only the target can name is a text everywhere, as far as anybody knows.
        own, text = (OwnedRef(SELF, 0) if argument.keys is Keys.OWNED else "x"), "x"
    every: list[tuple[str, Json]] = [
        ("a number", 4711),
        ("zero", 0),
        ("a number that is not whole", 0.5),
        ("a huge number", 10**400),
        ("a text", "x"),
        ("its own as a text", text),
        ("true", True),
        ("false", False),
        ("an empty list", []),
        ("a list of its own", [own]),
        ("a list of null", [None]),
        ("an empty object", {}),
        ("an object of its own", {"value": own}),
    ]
    for says, value in every:
        if kind(value) != kind(own):
            yield Value(says, value)
    deep: Json = own
    for _ in range(DEPTH):
        deep = [deep]
    yield Value("nested deep", deep)


def kind(value: Json) -> str:
    """Return the JSON type of a value."""
    for types, name in _KINDS:
        if isinstance(value, types):
            return name
    return "number"


_KINDS: tuple[tuple[type | tuple[type, ...], str], ...] = (
    ((str, OwnedRef), "text"),
    (bool, "truth value"),
    ((list, tuple), "list"),
    (Mapping, "object"),
)
