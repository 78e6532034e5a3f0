"""The shapes of values, and the values of every sort that a shape admits.

A shape is one row of a table: whether it fits the value that the binding has, and
functions for the values around it. To add a shape, write its functions beside the others
of its kind (`numbers`, `texts`) and add a row. Structurally wrong values, of another
type, size or alphabet, are the same for any shape.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from datetime import date
from decimal import Decimal
from typing import TypeAlias

from assay.binding.model.target import Place
from assay.contract.model import Json
from assay.fuzzing.draws import Draw, of_number, one_of
from assay.fuzzing.fields import texts
from assay.fuzzing.fields.arguments import ABSENT, Argument, Keys, Sort, Value
from assay.fuzzing.sequences.abstract_step import OwnedRef, RelativeDay
from assay.fuzzing.sequences.actions import SELF

# -- Generated numbers and dates around the limits that the contract names -----------------------
_AMOUNT = re.compile(r"[0-9]+\.[0-9]+")
#: The days ahead of a future date, first and last, and the days back of a past one.
SOON, LATER, BACK = 2, 28, 30
#: A large number of units that is still plausible.
MUCH = 10**9


# -- numbers, as such or as a text -------------------------------------------------
def is_number(argument: Argument) -> bool:
    """Whether the binding's value is a number, or an amount as a text."""
    own = argument.own
    if isinstance(own, str):
        return bool(_AMOUNT.fullmatch(own))
    return isinstance(own, int | float | Decimal) and not isinstance(own, bool)


def _step(argument: Argument) -> Decimal:
    """Return the smallest unit in which the binding's own number is written."""
    exponent = Decimal(str(argument.own)).as_tuple().exponent
    return Decimal(1).scaleb(exponent if isinstance(exponent, int) else 0)


def valid_number(argument: Argument) -> Draw[Value]:
    """Any number up to twice those of the binding, in the same spelling."""
    step = _step(argument)
    most = max(Decimal(str(value)) for value in argument.good_values if _readable(value)) * 2
    return of_number(1, int(most / step), lambda n: Value("as good as the usual one", n * step))


def _readable(value: Json) -> bool:
    return isinstance(value, int | float | Decimal) or bool(_AMOUNT.fullmatch(str(value)))


def edge_numbers(argument: Argument) -> Iterator[Value]:
    """The smallest unit, each limit and one unit below it, and a large number."""
    step = _step(argument)
    yield Value("the smallest unit", step)
    yield Value("much", MUCH + 1 - step)
    for limit in argument.named.limits:
        yield Value(f"at {limit}", Decimal(limit))
        yield Value(f"one unit below {limit}", Decimal(limit) - step)
    for small in argument.named.small:
        yield Value(small, Decimal(small))


def beyond_numbers(argument: Argument) -> Iterator[Value]:
    """Above each limit; zero, negative, too many decimals; and other spellings."""
    step = _step(argument)
    for limit in argument.named.limits:
        yield Value(f"one unit above {limit}", Decimal(limit) + step)
    yield Value("nothing", step - step)
    yield Value("negative", -step)
    yield Value("finer than the smallest unit", step / 10)
    if not isinstance(argument.own, str):
        return
    text = argument.own
    yield Value("with a comma", text.replace(".", ","))
    yield Value("with a sign", f"+{text}")
    yield Value("with spaces around it", f" {text} ")
    yield Value("with an exponent", f"{text}E0")
    yield Value("with a grouping sign", f"1_0{text}")
    yield Value(
        "with digits of another script", text.translate({48 + n: 1632 + n for n in range(10)})
    )
    yield Value("with its unit", f"{text} units")
    yield Value("without digits before the point", f".{text.partition('.')[2]}")
    yield Value("without digits after the point", f"{text.partition('.')[0]}.")


# -- days --------------------------------------------------------------------------
def is_day(argument: Argument) -> bool:
    """Whether the binding's value is a date, or the contract says that it is one."""
    if argument.own is None:
        return bool(argument.named.days) or argument.ahead
    try:
        date.fromisoformat(str(argument.own))
    except ValueError:
        return False
    return isinstance(argument.own, str)


def valid_day(argument: Argument) -> Draw[Value]:
    """A date in the near future, or in the recent past."""
    if argument.ahead:
        return of_number(SOON, LATER, lambda n: Value(f"in {n} days", RelativeDay(n)))
    least = min(argument.named.days, default=BACK)
    return of_number(0, least - 1, lambda n: Value(f"{n} days ago", RelativeDay(-n)))


def edge_days(argument: Argument) -> Iterator[Value]:
    """The first and the last date that are allowed, as far as the contract says."""
    if argument.ahead:
        yield Value("tomorrow", RelativeDay(1))
        yield Value("in a month", RelativeDay(31))
        return
    yield Value("today", RelativeDay(0))
    for days in argument.named.days:
        yield Value(f"{days - 1} days ago", RelativeDay(1 - days))
        yield Value(f"{days} days ago", RelativeDay(-days))


def beyond_days(argument: Argument) -> Iterator[Value]:
    """Dates too early or too late, invalid dates, and other spellings."""
    if argument.ahead:
        for n in (0, -1, -31):
            yield Value("not in the future", RelativeDay(n))
        yield Value("in ten years", RelativeDay(3653))
    else:
        yield Value("tomorrow", RelativeDay(1))
        for days in argument.named.days:
            for beyond in (1, 2, 10, 109, 640):
                yield Value(f"{days + beyond} days ago", RelativeDay(-days - beyond))
    yield Value("the last possible date", "9999-12-31")
    yield Value("the first possible date", "0001-01-01")
    for text in ("2024-02-30", "2024-5-1", "20240515", "15/05/2024", "2024-05-15T00:00:00Z"):
        yield Value("not an ISO 8601 date", text)


# -- The shapes of values, and the values of every sort that a shape admits ----
#: Generates values around those of an argument.
Around: TypeAlias = Callable[[Argument], Iterator[Value]]


@dataclass(frozen=True, slots=True)
class ValueShape:
    """The shape of a value."""

    name: str
    fits: Callable[[Argument], bool]
    valid: Callable[[Argument], Draw[Value]]
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
        is_number,
        valid_number,
        edge_numbers,
        beyond_numbers,
    ),
    ValueShape("day", is_day, valid_day, edge_days, beyond_days),
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


def draws(argument: Argument) -> Mapping[Sort, Draw[Value]]:
    """Return what draws values, for each sort that has some.

    There are no valid values if neither binding nor shape has one, and no valid key of a request: a
    sequence has to make the request first.
    """
    shape = shape_of(argument)
    by_sort: dict[Sort, Draw[Value]] = {}
    if argument.good_values or shape.name in {"day", "keys"} or argument.keys is Keys.OWNED:
        by_sort[Sort.VALID] = shape.valid(argument)
    tables: Mapping[Sort, Iterable[Value]] = {
        Sort.EDGE: shape.edge(argument),
        Sort.BEYOND: shape.beyond(argument),
        Sort.WRONG: (*missing_values(argument), *wrong_values(argument)),
    }
    for sort, table in tables.items():
        if values := tuple(table):
            by_sort[sort] = one_of(values)
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
