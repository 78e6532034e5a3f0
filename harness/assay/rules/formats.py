"""Formats that a `field` rule can require, each a name and a predicate.

To add one, add a function to the table at the end.
"""

from __future__ import annotations

import base64
import re
from collections.abc import Callable, Mapping
from contextlib import suppress
from datetime import date
from functools import lru_cache, partial

from assay.contract.model import Json
from assay.history.events import Masked

#: The possible lengths of a card number (ISO/IEC 7812).
PAN_LENGTHS = range(12, 20)
#: The first digits of the networks of payment cards; others have no card numbers.
NETWORKS = re.compile(r"[3-6]|2(?:2[2-9]|[3-6]|7[01]|720)")
#: The names of `is_like_a_pan` and `may_be_a_pan` among the forms of a masked text.
LIKE_A_PAN, MAY_BE_A_PAN, HOLDS_A_PAN = "like-a-pan", "may-be-a-pan", "holds-a-pan"
#: A card number of which a run of digits is blotted out: no encryption leaves the others in clear.
_MASK = r"Xx*#?_.\u2022\u25cf\u00b7\u2026"
_BLOTTED = re.compile(rf"(?<![0-9A-Za-z])([0-9]{{0,10}})([{_MASK}]+)([0-9]{{0,6}})(?![0-9A-Za-z])")
#: What stands between the groups of a number.
_GROUPED = re.compile(rf"(?<=[0-9{_MASK}])[ -](?=[0-9{_MASK}])")
#: The fewest digits, and the fewest signs of a mask, of a number of its usual length: fewer may be
#: part of something else. Of one that is shortened, the digits that receipts print.
_VISIBLE, _HIDDEN = 4, 4
_FIRST, _LAST = 6, 4
#: A run of digits beside other characters.
_RUN = re.compile(r"(?<![0-9])[0-9]{13,19}(?![0-9])")
#: The longest text that is decoded, and how many different texts show that their digits are no chance.
_ENCODED, SEVERAL = 64, 3
#: How an IBAN begins, and what it consists of.
_IBAN = re.compile(r"[A-Z]{2}[0-9]{2}[A-Z0-9]+")
#: An IBAN has at most 34 characters (ISO 13616), and may be written with spaces.
LONGEST_IBAN = 64


#: A UUID in its usual form, and its digits; a day in digits.
_UUID = re.compile(r"[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}", re.IGNORECASE)
_HEX = re.compile(r"[0-9a-f]{32}")
_DAY = re.compile(r"[0-9]{4}-[0-9]{2}-[0-9]{2}")


def is_iban(value: Json) -> bool:
    """Whether this is a valid IBAN: known country, right length, mod 97 (ISO 13616)."""
    if isinstance(value, Masked):
        return "iban" in value.forms
    return isinstance(value, str) and len(value) <= LONGEST_IBAN and _is_iban(value)


@lru_cache(maxsize=4096)
def _is_iban(value: str) -> bool:
    from stdnum import iban  # noqa: PLC0415 -- only where a contract asks for it

    return bool(iban.is_valid(value, check_country=False))


def iban_fault(value: Json) -> str:
    """Return what is wrong with an invalid IBAN, without the number itself."""
    if isinstance(value, Masked):
        return ""
    if not isinstance(value, str):
        return "not a text"
    compact = _digits(value).upper()
    if len(value) > LONGEST_IBAN or not _IBAN.fullmatch(compact):
        return f"{len(value):,} characters, not two letters, two digits, letters and digits"
    number = int("".join(str(int(each, 36)) for each in compact[4:] + compact[:4]))
    about = f"{compact[:2]}, {len(compact)} characters"
    if number % 97 != 1:
        return f"{about}: the check digits do not match (mod 97 is {number % 97}, not 1)"
    return f"{about}: not an IBAN of this country"


def pan_fault(value: Json) -> str:
    """Return why a text is a card number in clear, without the number itself."""
    if isinstance(value, Masked) or not isinstance(value, str):
        return ""
    if not value:
        return "an empty text"
    encoded = _decoded(value)
    if encoded and not (is_blotted(value) or _is_pan(_digits(value))):
        return f"{pan_fault(encoded)}, encoded but not encrypted"
    if is_blotted(value):
        return f"a card number of which {sum(map(str.isdigit, value))} digits stand in clear"
    return f"{len(_digits(value))} digits of a payment network, with a check digit that matches"


def is_uuid(value: Json) -> bool:
    """Whether this is a UUID in its usual form: 36 characters, in either case (RFC 9562)."""
    if isinstance(value, Masked):
        return "uuid" in value.forms
    return isinstance(value, str) and bool(_UUID.fullmatch(value))


def uuid_fault(value: Json) -> str:
    """Return what is wrong with what should be a UUID."""
    if isinstance(value, Masked):
        return ""
    return f"{len(value):,} characters" if isinstance(value, str) else "not a text"


def is_like_a_uuid(value: Json) -> bool:
    """Whether this may be meant as a UUID: without hyphens, in braces, or as a URN."""
    if isinstance(value, Masked):
        return "uuid" in value.forms
    bare = value.lower().removeprefix("urn:uuid:").strip("{}") if isinstance(value, str) else ""
    return bool(_HEX.fullmatch(bare.replace("-", "")))


def is_date(value: Json) -> bool:
    """Whether this is a day of the calendar: YYYY-MM-DD (ISO 8601)."""
    if isinstance(value, Masked):
        return "date" in value.forms
    try:
        return isinstance(value, str) and bool(_DAY.fullmatch(value) and date.fromisoformat(value))
    except ValueError:
        return False


def date_fault(value: Json) -> str:
    """Return what is wrong with what should be a day."""
    if isinstance(value, Masked):
        return ""
    if not isinstance(value, str):
        return "not a text"
    return "no day of the calendar" if _DAY.fullmatch(value) else "not in the form YYYY-MM-DD"


def is_no_clear_pan(value: Json) -> bool:
    """Whether this is no card number in clear, neither whole nor in part, nor one that is encoded.

    In clear are the digits of a payment network that pass Luhn, and those beside a blotted run. The
    whole value has to be such a number: ciphertexts in hexadecimal or base64, and numeric tokens
    beside other characters, have long runs of digits by chance (`holds_a_pan`).
    """
    if isinstance(value, Masked):
        return "no-clear-pan" in value.forms
    if not isinstance(value, str) or not value:
        return False
    return not any(is_blotted(text) or _is_pan(_digits(text)) for text in (value, _decoded(value)))


def is_blotted(value: str) -> bool:
    """Whether this has a card number with a run of masking signs, such as 497010XXXXXX1234."""
    return any(
        (
            len(shown[0]) in PAN_LENGTHS
            and len(shown[2]) >= _HIDDEN
            and len(shown[1] + shown[3]) >= _VISIBLE
            and (not shown[1] or NETWORKS.match(shown[1]))
        )
        or (
            len(shown[1]) >= _FIRST
            and len(shown[3]) >= _LAST
            and NETWORKS.match(shown[1])
            and (len(shown[2]) > 1 or shown[2] == "\u2026")
        )
        for shown in _BLOTTED.finditer(_GROUPED.sub("", value))
    )


def holds_a_pan(value: Json) -> bool:
    """Whether this has, beside other characters, the digits of a payment network that pass Luhn.

    One token in twenty has such digits by chance; `SEVERAL` different ones do not.
    """
    if isinstance(value, Masked):
        return HOLDS_A_PAN in value.forms
    return isinstance(value, str) and any(map(_is_pan, _RUN.findall(_GROUPED.sub("", value))))


def _is_pan(digits: str) -> bool:
    from stdnum import luhn  # noqa: PLC0415 -- only where a contract asks for it

    return _has_network(digits) and luhn.is_valid(digits)


def _decoded(value: str) -> str:
    """Return what a text in hexadecimal or base64 says, if that is ASCII: no cipher is."""
    if len(value) > _ENCODED:
        return ""
    for decode in (bytes.fromhex, partial(base64.b64decode, altchars=b"-_", validate=True)):
        with suppress(ValueError):
            return decode(value).decode("ascii")
    return ""


def may_be_a_pan(value: Json) -> bool:
    """Whether these are the digits of a payment network that fail Luhn.

    It is a card number with a typing mistake, or a token that keeps the format of what it encrypts:
    some fail Luhn on purpose, to be no card numbers. So it neither conforms nor violates.
    """
    if isinstance(value, Masked):
        return MAY_BE_A_PAN in value.forms
    return _has_network(value) and is_no_clear_pan(value)


def _has_network(value: Json) -> bool:
    return isinstance(value, str) and is_like_a_pan(value) and bool(NETWORKS.match(_digits(value)))


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
    "uuid": is_uuid,
    "date": is_date,
}
#: What is wrong with a value that has not the format, in words without the value.
FAULTS: Mapping[str, Callable[[Json], str]] = {
    "iban": iban_fault,
    "no-clear-pan": pan_fault,
    "uuid": uuid_fault,
    "date": date_fault,
}
#: What is noted of a text that a journal masks: its formats, and what it looks like.
FORMS: Mapping[str, Callable[[Json], bool]] = {
    **FORMATS,
    LIKE_A_PAN: is_like_a_pan,
    MAY_BE_A_PAN: may_be_a_pan,
    HOLDS_A_PAN: holds_a_pan,
}
#: Formats with a test for values of which nobody can say whether they have the format.
OPEN: Mapping[str, tuple[Callable[[Json], bool], str]] = {
    "no-clear-pan": (may_be_a_pan, "the digits of a payment network, with a wrong check digit")
}
#: Formats with a test for values that are invalid if `SEVERAL` different ones, and no others, pass it.
RECURRING: Mapping[str, tuple[Callable[[Json], bool], str]] = {
    "no-clear-pan": (holds_a_pan, "the digits of a card number beside other characters")
}
#: Formats with a test for valid values that may look invalid by chance.
LOOKALIKES: Mapping[str, Callable[[Json], bool]] = {"no-clear-pan": is_like_a_pan}
#: The schema of a parameter that names a format for each resource.
BY_RESOURCE: Mapping[str, Json] = {
    "description": "a format for each resource",
    "type": "object",
    "minProperties": 1,
    "additionalProperties": {
        "description": f"a format: {' or '.join(FORMATS)}",
        "enum": list(FORMATS),
    },
}
