"""Formats that a `field` rule can require, each a name and a predicate.

To add one, add a function to the table at the end.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from functools import lru_cache

from assay.contract.model import Json
from assay.history.events import Masked

#: The possible lengths of a card number (ISO/IEC 7812).
PAN_LENGTHS = range(12, 20)
#: The first digits of the networks of payment cards; others have no card numbers.
NETWORKS = re.compile(r"[3-6]|2(?:2[2-9]|[3-6]|7[01]|720)")
#: The name of `is_like_a_pan` among the forms of a masked text.
LIKE_A_PAN = "like-a-pan"
#: An IBAN has at most 34 characters (ISO 13616), and may be written with spaces.
LONGEST_IBAN = 64


def is_iban(value: Json) -> bool:
    """Whether this is a valid IBAN: known country, right length, mod 97 (ISO 13616)."""
    if isinstance(value, Masked):
        return "iban" in value.forms
    return isinstance(value, str) and len(value) <= LONGEST_IBAN and _is_iban(value)


@lru_cache(maxsize=4096)
def _is_iban(value: str) -> bool:
    from stdnum import iban  # noqa: PLC0415 -- only where a contract asks for it

    return bool(iban.is_valid(value, check_country=False))


def is_no_clear_pan(value: Json) -> bool:
    """Whether this is no card number in clear: the digits of a payment network that pass Luhn."""
    if isinstance(value, Masked):
        return "no-clear-pan" in value.forms
    from stdnum import luhn  # noqa: PLC0415 -- only where a contract asks for it

    if not isinstance(value, str) or not value:
        return False
    digits = _digits(value)
    return not (is_like_a_pan(value) and NETWORKS.match(digits) and luhn.is_valid(digits))


def is_like_a_pan(value: Json) -> bool:
    """Whether this has as many digits as a card number, and nothing else.

    A token that keeps the format of what it encrypts looks like that, too.
    """
    if isinstance(value, Masked):
        return LIKE_A_PAN in value.forms
    if not isinstance(value, str):
        return False
    digits = _digits(value)
    return digits.isdigit() and len(digits) in PAN_LENGTHS


def _digits(value: str) -> str:
    return value.replace(" ", "").replace("-", "")


#: The formats that a rule can require.
FORMATS: Mapping[str, Callable[[Json], bool]] = {
    "iban": is_iban,
    "no-clear-pan": is_no_clear_pan,
}
#: What is noted of a text that a journal masks: its formats, and what it looks like.
FORMS: Mapping[str, Callable[[Json], bool]] = {**FORMATS, LIKE_A_PAN: is_like_a_pan}
#: Formats with a test for valid values that may look invalid by chance.
LOOKALIKES: Mapping[str, Callable[[Json], bool]] = {"no-clear-pan": is_like_a_pan}
