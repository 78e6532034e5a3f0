"""Formats that a `field` rule can require, each a name and a predicate.

To add one, add a function to the table at the end.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import lru_cache

from assay.contract.model import Json
from assay.history.events import Masked

#: The possible lengths of a card number (ISO/IEC 7812).
PAN_LENGTHS = range(12, 20)
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
    """Whether this is no card number in clear (12 to 19 digits that pass Luhn)."""
    if isinstance(value, Masked):
        return "no-clear-pan" in value.forms
    from stdnum import luhn  # noqa: PLC0415 -- only where a contract asks for it

    if not isinstance(value, str) or not value:
        return False
    digits = value.replace(" ", "").replace("-", "")
    card = digits.isdigit() and len(digits) in PAN_LENGTHS and luhn.is_valid(digits)
    return not card


FORMATS: Mapping[str, Callable[[Json], bool]] = {
    "iban": is_iban,
    "no-clear-pan": is_no_clear_pan,
}
