"""Which texts are IBANs, by length and check digits, in capitals and without gaps.

Written out here, since the bank shares no code with what judges it. Not about whether
the account exists: the creditor's bank is another one.
"""

import re
from collections.abc import Mapping

__all__ = ["is_iban"]

_SHAPE = re.compile(r"[A-Z]{2}[0-9]{2}[0-9A-Z]{11,30}")
_LOWEST, _HIGHEST = 2, 98
#: Of the countries in the euro payments area.
_LENGTHS: Mapping[str, int] = {
    **dict.fromkeys(("NO",), 15),
    **dict.fromkeys(("BE",), 16),
    **dict.fromkeys(("DK", "FI", "NL"), 18),
    **dict.fromkeys(("SI", "MK"), 19),
    **dict.fromkeys(("AT", "EE", "LT", "LU"), 20),
    **dict.fromkeys(("CH", "HR", "LI", "LV"), 21),
    **dict.fromkeys(("BG", "DE", "GB", "IE", "ME", "RS", "VA"), 22),
    **dict.fromkeys(("GI",), 23),
    **dict.fromkeys(("AD", "CZ", "ES", "MD", "RO", "SE", "SK"), 24),
    **dict.fromkeys(("PT",), 25),
    **dict.fromkeys(("IS",), 26),
    **dict.fromkeys(("FR", "GR", "IT", "MC", "SM"), 27),
    **dict.fromkeys(("AL", "CY", "HU", "PL"), 28),
    **dict.fromkeys(("MT",), 31),
}


def is_iban(text: str) -> bool:
    """Check the shape, the length where it is known, and the two check digits."""
    if not _SHAPE.fullmatch(text) or _LENGTHS.get(text[:2], len(text)) != len(text):
        return False
    if not _LOWEST <= int(text[2:4]) <= _HIGHEST:
        return False
    digits = "".join(str(int(letter, 36)) for letter in text[4:] + text[:4])
    return int(digits) % 97 == 1
