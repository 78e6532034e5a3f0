"""Parser of JSON from a target: whatever it returns can be compared, sent and recorded.

Numbers stay exact. What no number or no text can hold is kept as the text that it is in the
body: `NaN` and the infinities, which are no JSON but understood by most parsers, numbers
whose exponent has four digits, and lone surrogates. The rule that says a body is JSON
judges its bytes, so nothing is excused here.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable
from decimal import Decimal
from typing import cast

from assay.contract.model import Json

#: The most digits of a whole number that every Python converts (`-X int_max_str_digits`).
MOST_DIGITS = 640
#: The deepest nesting that is read: a check and the journal go down every level.
MOST_DEPTH = 128
#: An exponent of four digits: such a number is no amount, and written out, it would be endless.
_FAR = re.compile(r"[eE][+-]?0*[1-9][0-9]{3}")
#: Half of a character of UTF-16 without the other, and what may spell one.
_LONE = re.compile("[\ud800-\udfff]")
_ESCAPED = re.compile(r"\\u[dD][89a-fA-F]")
#: A lone surrogate as it is kept.
SPELLED_OUT = re.compile(r"\\ud[89a-f][0-9a-f]{2}")


def parse_json(body: bytes) -> Json:
    """Return a body as JSON with exact numbers.

    Raises:
        ValueError: it is not JSON.
        RecursionError: it is nested too deeply to be read.

    """
    text = body.decode(json.detect_encoding(body), "surrogatepass")
    try:
        if _FAR.search(text):
            raise ValueError  # noqa: TRY301 -- perhaps a number that is kept as its text
        value = json.loads(text, parse_float=Decimal, parse_constant=str)
    except ValueError:  # no JSON, or a number beyond all limits
        value = json.loads(text, parse_float=_decimal, parse_int=_whole, parse_constant=str)
    if text.count("[") + text.count("{") > MOST_DEPTH:
        _check_depth(value)
    return _spelled_out(value) if _may_have_surrogates(text) else value


def is_too_deep(body: bytes) -> bool:
    """Whether a body cannot be read only because it is nested too deeply."""
    try:
        parse_json(body)
    except (ValueError, RecursionError) as error:
        return isinstance(error, RecursionError)
    return False


def _may_have_surrogates(text: str) -> bool:
    lone = not text.isascii() and _LONE.search(text)
    return bool(lone or ("\\u" in text and _ESCAPED.search(text)))


def _check_depth(value: Json) -> None:
    level = [value]
    for _ in range(MOST_DEPTH):
        level = [member for container in level for member in _members(container)]
    if any(isinstance(member, list | dict) for member in level):
        raise RecursionError


def _members(value: Json) -> Iterable[Json]:
    match value:
        case list():
            return cast("list[Json]", value)
        case dict():
            return cast("dict[str, Json]", value).values()
        case _:
            return ()


def _decimal(text: str) -> Decimal | str:
    return text if _FAR.search(text) else Decimal(text)


def _whole(text: str) -> int | Decimal:
    return int(text) if len(text) <= MOST_DIGITS else Decimal(text)


def _spelled_out(value: Json) -> Json:
    r"""Return a value with every lone surrogate as its escape, such as `\ud800`."""
    match value:
        case str():
            return _LONE.sub(lambda match: f"\\u{ord(match[0]):04x}", value)
        case list():
            return [_spelled_out(member) for member in cast("list[Json]", value)]
        case dict():
            members = cast("dict[str, Json]", value)
            return {str(_spelled_out(name)): _spelled_out(each) for name, each in members.items()}
        case _:
            return value
