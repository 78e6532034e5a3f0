"""Account and card numbers, recognised by what they look like.

They are masked without being known. But an id or a digest that only has as many characters
must stay readable, so the country, the length or the network count as well.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from functools import lru_cache

from assay.rules.formats import NETWORKS

__all__ = ["LIKE_A_NUMBER", "is_account_or_card", "squeezed"]

#: Texts that look like an IBAN or a clear card number, also in groups.
LIKE_A_NUMBER = re.compile(
    r"(?:(?<![A-Z0-9])|(?<=%[0-9A-F]{2}))[A-Z]{2}\d{2}"
    r"(?:[A-Z0-9]{11,30}|(?:[ +-][A-Z0-9]{4}){2,7}(?:[ +-][A-Z0-9]{1,4})?)(?![A-Z0-9])"
    # Not a part of a UUID, whose groups may be digits only.
    r"|(?:(?<![A-Z0-9-])|(?<=%[0-9A-F]{2}))"
    r"(?:\d{13,19}|\d{4}(?:[ +-]\d{4}){2,3}(?:[ +-]?\d{1,7})?)(?!-?[A-Z0-9])",
    re.IGNORECASE | re.ASCII,
)
_GROUPED = str.maketrans("", "", " +-")
#: The lengths of an IBAN, and how many characters a mistaken one may have more or less.
_IBAN_LENGTHS, _TOLERANCE = range(15, 35), 2
#: Countries with IBANs, by their lengths (ISO 13616).
_COUNTRIES: Mapping[int, str] = {
    15: "NO",
    16: "BE",
    18: "DK FI FK FO GL NL SD",
    19: "MK SI",
    20: "AT BA EE KZ LT LU MN XK",
    21: "CH HR LI LV",
    22: "BG BH CR DE GB GE IE ME RS VA",
    23: "AE GI IL IQ OM SO TL",
    24: "AD CZ ES MD PK RO SA SE SK TN VG",
    25: "LY PT ST",
    26: "IS TR",
    27: "BI DJ FR GR IT MC MR SM",
    28: "AL AZ BY CY DO GT HN HU LB NI PL SV",
    29: "BR EG PS QA UA",
    30: "JO KW MU YE",
    31: "MT SC",
    32: "LC",
    33: "RU",
}
_LENGTH_OF = {country: length for length, names in _COUNTRIES.items() for country in names.split()}


def squeezed(number: str) -> str:
    """Return a number without the spaces or signs between its groups."""
    return number.translate(_GROUPED)


@lru_cache(8192)
def is_account_or_card(number: str, *, grouped: bool) -> bool:
    """Whether a text is an IBAN, perhaps a mistaken one, or has the beginning of a card number.

    Ids and digests may look like one: by their case, their beginning and their length they do not.
    """
    if number.isdigit():
        return NETWORKS.match(number) is not None
    if not (number.isupper() or number.islower()) or len(number) not in _IBAN_LENGTHS:
        return False
    upper = number.upper()
    if int("".join(str(int(char, 36)) for char in upper[4:] + upper[:4])) % 97 == 1:
        return True
    length = _LENGTH_OF.get(number[:2])
    return length is not None and (grouped or abs(len(number) - length) <= _TOLERANCE)
