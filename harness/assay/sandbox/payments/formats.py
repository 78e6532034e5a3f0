"""Which texts are IBANs, by length and check digits, in capitals and without gaps.

Written out here, since the bank shares no code with what judges it. Not about whether
the account exists: the creditor's bank is another one.

Which texts are absolute http(s) URLs that a customer can be sent to; and our own paths.

Only what RFC 3986 allows in a URL, so that nothing in it can end a header or a content
policy, and with no user name, which would only deceive whoever reads it. Not about
whether anybody answers there.

The words of a payment: what a third party asks for, as one frozen value.

Texts are kept as they were sent, so that reading gives back what was created; what they
mean is worked out beside them. Not for reading them: see
:mod:`assay.sandbox.payments.reading`.
"""

import re
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import date
from decimal import Decimal
from typing import Literal, TypeAlias, get_args

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


#: What the paths of this half of the bank begin with.
PAYMENT_PATHS = ("/payment-requests", "/consent-approval/", "/signing/")

_URL = re.compile(
    r"(?P<origin>https?://(?:[0-9A-Za-z_.-]+|\[[0-9A-Fa-f:.]+\])(?::(?P<port>[0-9]{1,5}))?)"
    r"(?:[/?#](?:[0-9A-Za-z_.~!$&'()*+,;=:@/?#-]|%[0-9A-Fa-f]{2})*)?",
    re.IGNORECASE,
)
_LONGEST = 2_000
_PORTS = range(1, 65_536)


def is_absolute_url(text: str) -> bool:
    """Check the whole text."""
    found = _URL.fullmatch(text) if len(text) <= _LONGEST else None
    return found is not None and int(found["port"] or 80) in _PORTS


def origin(url: str) -> str:
    """Give scheme, host and port of a URL; nothing when it is none."""
    found = _URL.fullmatch(url)
    return found["origin"] if found else ""


#: When a payment is executed: at signing, on its day, or at signing within seconds.
PaymentType: TypeAlias = Literal["immediate", "deferred", "instant"]
#: The kinds of customers that the document names; only the first two are served.
Segment: TypeAlias = Literal["PART", "PRO", "LARGE_PRO", "CORPORATE", "ASSOCIATION", "GUARDIAN"]
#: What a customer shows beside the password; the last is offered by no sound bank.
Factor: TypeAlias = Literal["sms", "cap", "soft-token", "email"]
#: What a customer says to the payment, having seen it.
Decision: TypeAlias = Literal["confirm", "refuse"]
#: Where a payment stands.
Status: TypeAlias = Literal[
    "received", "pending", "executed", "rejected", "refused", "expired", "cancelled"
]
#: Why a signed payment was rejected.
Reason: TypeAlias = Literal["duplicate", "cash", "scope"]

SEGMENTS: tuple[Segment, ...] = get_args(Segment)
FACTORS: tuple[Factor, ...] = get_args(Factor)
DECISIONS: tuple[Decision, ...] = get_args(Decision)


@dataclass(frozen=True, slots=True, kw_only=True)
class Terms:
    """One transfer as it was asked for, or as it was modified."""

    type: PaymentType
    #: The local day of a deferred payment; None for the others.
    day: date | None
    debtor: str
    creditor: str
    #: As it was sent; see `cents`.
    amount: str
    currency: str
    charge_bearer: str
    purpose: str
    #: None when there is none.
    reference: str | None
    success_url: str
    failure_url: str | None

    @property
    def cents(self) -> int:
        """The amount, however it was spelt."""
        return int(Decimal(self.amount) * 100)
