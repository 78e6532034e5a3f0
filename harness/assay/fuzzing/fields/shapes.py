"""The shapes of values, and the values of every sort that a shape admits.

A shape is one row of a table: whether it fits the value that the binding has, and
functions for the values around it. To add a shape, write its functions beside the others
of its kind (`numbers`, `texts`) and add a row. Structurally wrong values, of another
type, size or alphabet, are the same for any shape.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import TypeAlias

from hypothesis.strategies import SearchStrategy, sampled_from

from assay.binding.target import Place
from assay.contract.model import Json
from assay.fuzzing.fields import numbers, texts
from assay.fuzzing.fields.arguments import ABSENT, Argument, Keys, Sort, Value
from assay.fuzzing.sequences.abstract_step import OwnedRef
from assay.fuzzing.sequences.actions import SELF

#: Generates values around those of an argument.
Around: TypeAlias = Callable[[Argument], Iterator[Value]]


@dataclass(frozen=True, slots=True)
class ValueShape:
    """The shape of a value. `valid` takes one draw."""

    name: str
    fits: Callable[[Argument], bool]
    valid: Callable[[Argument], SearchStrategy[Value]]
    edge: Around
    beyond: Around


_NONE = texts.no_values
#: In the order in which they are tried. "text" fits any text, "whatever" anything: a truth
#: value, a list, an object.
SHAPES: tuple[ValueShape, ...] = (
    ValueShape("key", texts.is_key, texts.own_key, _NONE, texts.beyond_keys),
    ValueShape(
        "keys",
        texts.is_key_list,
        texts.own_key_list,
        texts.edge_key_lists,
        texts.beyond_key_lists,
    ),
    ValueShape(
        "number",
        numbers.is_number,
        numbers.valid_number,
        numbers.edge_numbers,
        numbers.beyond_numbers,
    ),
    ValueShape("day", numbers.is_day, numbers.valid_day, numbers.edge_days, numbers.beyond_days),
    ValueShape(
        "account number",
        texts.is_account,
        texts.as_good,
        texts.edge_accounts,
        texts.beyond_accounts,
    ),
    ValueShape(
        "address",
        texts.is_address,
        texts.valid_address,
        texts.edge_addresses,
        texts.beyond_addresses,
    ),
    ValueShape("code", texts.is_code, texts.as_good, texts.known_codes, texts.beyond_codes),
    ValueShape("text", texts.is_text, texts.as_good, texts.known_codes, texts.beyond_codes),
    ValueShape("whatever", lambda _: True, texts.as_good, _NONE, _NONE),
)


def shape_of(argument: Argument) -> ValueShape:
    """Return the shape of an argument, as far as binding and contract show."""
    return next(shape for shape in SHAPES if shape.fits(argument))


def strategies(argument: Argument) -> Mapping[Sort, SearchStrategy[Value]]:
    """Return a strategy for each sort that has values.

    Each takes one draw, from a table or an integer, whatever it generates. There are no
    valid values if neither binding nor shape has one, and no valid key of a request: a
    sequence has to make the request first.
    """
    shape = shape_of(argument)
    by_sort: dict[Sort, SearchStrategy[Value]] = {}
    if argument.good_values or shape.name in {"day", "keys"} or argument.keys is Keys.OWNED:
        by_sort[Sort.VALID] = shape.valid(argument)
    tables: Mapping[Sort, Iterable[Value]] = {
        Sort.EDGE: shape.edge(argument),
        Sort.BEYOND: shape.beyond(argument),
        Sort.WRONG: (*missing_values(argument), *wrong_values(argument)),
    }
    for sort, table in tables.items():
        if values := tuple(table):
            by_sort[sort] = sampled_from(values)
    return by_sort


# -- structurally wrong values -----------------------------------------------------
#: A bank may treat a text of this length as an attack, but still has to answer.
LONG = 10_000
#: A header of this length is accepted by every server.
LONG_HEADER = 2_000
DEPTH = 100
#: Texts that are valid nowhere.
WRONG_TEXTS: Mapping[str, str] = {
    "a text that is not a number": "NaN",
    "the text -Infinity": "-Infinity",
    "a text of null": "null",
    "a text of a list": "[]",
    "a text of an object": '{"a": 1}',
    "a single quote": "' OR ''='",
    "a format string": "%s%n{0}${x}",
}
#: Likewise, and no header can carry them.
RAW_TEXTS: Mapping[str, str] = {
    "control characters": "\x00\x01\x1b\x7f",
    "a line break": "\r\n",
    "a single space": " ",
    "in a non-Latin script": "\u4e2d\u6587\u0639\u0631",
    "letters with combining marks": "e\u0301\u202e\U0001f3e6",
    "digits of another script": "\u0664\u0667\u0661",
}


def missing_values(argument: Argument) -> Iterator[Value]:
    """Leave an argument out, or make it empty or null; a path parameter stays."""
    if argument.place is not Place.PATH:
        yield Value("missing", ABSENT)
        yield Value("empty", "")
    if argument.place is Place.BODY:
        yield Value("null", None)


def wrong_values(argument: Argument) -> Iterator[Value]:
    """Return all other values that are wrong in an argument."""
    header = argument.place is Place.HEADER
    for says, text in (WRONG_TEXTS if header else {**WRONG_TEXTS, **RAW_TEXTS}).items():
        yield Value(says, text)
    yield Value("very long", "9" * (LONG_HEADER if header else LONG))
    if argument.place is Place.BODY:
        yield from _other_types(argument)


def _other_types(argument: Argument) -> Iterator[Value]:
    own, text = argument.own, str(argument.own)
    if own is None:
        # A key is a text in the body of every target, as far as is known.
        own, text = (OwnedRef(SELF, 0) if argument.keys is Keys.OWNED else "x"), "x"
    values: list[tuple[str, Json]] = [
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
    for says, value in values:
        if json_type(value) != json_type(own):
            yield Value(says, value)
    nested: Json = own
    for _ in range(DEPTH):
        nested = [nested]
    yield Value("nested deep", nested)


def json_type(value: Json) -> str:
    """Return the JSON type of a value."""
    match value:
        case str() | OwnedRef():
            return "text"
        case bool():
            return "truth value"
        case list() | tuple():
            return "list"
        case Mapping():
            return "object"
        case _:
            return "number"
