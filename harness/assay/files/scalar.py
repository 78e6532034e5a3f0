"""A plain word of a file -> null, true, false, a number or text, as JSON spells them.

YAML reads `22:00` as 1320, `NO` as false and `012` as 10. Here a word is a number
only if JSON would read it as one, with a point as `Decimal`; the rest stays text.
Where a word stands, and whether it was quoted, is for `strict` to know.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from decimal import Decimal
from typing import Final

from assay.model import Json

__all__ = ["odd", "plain"]

_MAX_NUMBER: Final = 64
_MAX_EXPONENT: Final = 3
_CONSTANTS: Final[Mapping[str, Json]] = {
    "": None,
    "null": None,
    "true": True,
    "false": False,
}
_NUMBER: Final = re.compile(r"-?(?:0|[1-9][0-9]*)(\.[0-9]+)?(?:[eE][+-]?([0-9]+))?")
# What YAML calls not printable, and the line break that only YAML knows.
_ODD: Final = re.compile("[^\t\n\r\x20-\x7e\xa0-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")


def odd(text: str) -> re.Match[str] | None:
    """Find the first control character."""
    return _ODD.search(text)


def plain(word: str) -> Json:
    """Read a plain word as JSON would; what JSON does not know is text.

    Raises:
        ValueError: a number is too large to be meant.

    """
    if word in _CONSTANTS:
        return _CONSTANTS[word]
    number = _NUMBER.fullmatch(word)
    if number is None:
        return word
    fraction, exponent = number.groups()
    if len(word) > _MAX_NUMBER or len(exponent or "") > _MAX_EXPONENT:
        raise ValueError(word)
    return Decimal(word) if fraction or exponent else int(word)
