"""Terms of a payment as one frozen value, and the parsing of payment requests.

Each field has a parser in a table, so that a mutant can be lenient with one field in one
way. Every fault has a field and a defect. Input is never repeated in an answer. Texts are
kept as they were sent, so that a payment reads back as it was created. IBANs are checked
by length and check digits. URLs may contain only what RFC 3986 allows, so that they
cannot break a header or a content policy, and no user name, which could deceive a reader.
"""

import re
from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass, replace
from datetime import date, timedelta
from decimal import Decimal
from types import MappingProxyType
from typing import Final, Literal, TypeAlias, cast, get_args

from assay.sandbox.calendar import Threshold, parse_day
from assay.sandbox.messages import Malformed, Table, read_object

_SHAPE = re.compile(r"[A-Z]{2}[0-9]{2}[0-9A-Z]{11,30}")
_LOWEST, _HIGHEST = 2, 98
#: Lengths of IBANs in the countries of the euro payments area.
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
    """Check the shape, the length of known countries, and the check digits."""
    if not _SHAPE.fullmatch(text) or _LENGTHS.get(text[:2], len(text)) != len(text):
        return False
    if not _LOWEST <= int(text[2:4]) <= _HIGHEST:
        return False
    digits = "".join(str(int(letter, 36)) for letter in text[4:] + text[:4])
    return int(digits) % 97 == 1


#: Path prefixes of payment initiation.
PAYMENT_PATHS = ("/payment-requests", "/consent-approval/", "/signing/")

_URL = re.compile(
    r"(?P<origin>https?://(?:[0-9A-Za-z_.-]+|\[[0-9A-Fa-f:.]+\])(?::(?P<port>[0-9]{1,5}))?)"
    r"(?:[/?#](?:[0-9A-Za-z_.~!$&'()*+,;=:@/?#-]|%[0-9A-Fa-f]{2})*)?",
    re.IGNORECASE,
)
_LONGEST = 2_000
_PORTS = range(1, 65_536)


def is_absolute_url(text: str) -> bool:
    """Return whether the whole text is an absolute http(s) URL."""
    match = _URL.fullmatch(text) if len(text) <= _LONGEST else None
    return match is not None and int(match["port"] or 80) in _PORTS


def origin(url: str) -> str:
    """Return scheme, host and port of a URL; empty if it is none."""
    match = _URL.fullmatch(url)
    return match["origin"] if match else ""


#: Executed at signing, on a later day, or within seconds of signing.
PaymentType: TypeAlias = Literal["immediate", "deferred", "instant"]
#: Customer segments of the document; only the first two are served.
Segment: TypeAlias = Literal["PART", "PRO", "LARGE_PRO", "CORPORATE", "ASSOCIATION", "GUARDIAN"]
#: Authentication factors besides the password; the sound bank never offers the last.
Factor: TypeAlias = Literal["sms", "cap", "soft-token", "email"]
#: The customer's decision on a payment.
Decision: TypeAlias = Literal["confirm", "refuse"]
#: Status of a payment.
Status: TypeAlias = Literal[
    "received", "pending", "executed", "rejected", "refused", "expired", "cancelled"
]
#: Reason for rejecting a signed payment.
Reason: TypeAlias = Literal["duplicate", "cash", "scope"]

SEGMENTS: tuple[Segment, ...] = get_args(Segment)
FACTORS: tuple[Factor, ...] = get_args(Factor)
DECISIONS: tuple[Decision, ...] = get_args(Decision)


@dataclass(frozen=True, slots=True, kw_only=True)
class Terms:
    """One transfer as requested or as modified."""

    type: PaymentType
    #: The local day of a deferred payment; None for the others.
    day: date | None
    debtor: str
    creditor: str
    #: As sent; see `cents`.
    amount: str
    currency: str
    charge_bearer: str
    purpose: str
    #: None if absent.
    reference: str | None
    success_url: str
    failure_url: str | None

    @property
    def cents(self) -> int:
        """The amount in cents."""
        return int(Decimal(self.amount) * 100)


Field: TypeAlias = Literal[
    "paymentType",
    "requestedExecutionDate",
    "debtorAccount",
    "creditorAccount",
    "amount",
    "currency",
    "chargeBearer",
    "categoryPurpose",
    "reference",
    "successfulReportUrl",
    "unsuccessfulReportUrl",
]
#: Defect of a field; for a whole body, see the faults in :mod:`assay.sandbox.messages`.
Defect: TypeAlias = str
Content: TypeAlias = Mapping[str, object]
#: Parses the value of one field; None if an optional field is absent.
ReadField: TypeAlias = Callable[[object], str | None]
#: Whether a request with this member "transfers" is accepted.
Single: TypeAlias = Callable[[object], bool]

#: Marks an absent member.
ABSENT: Final = object()
#: Fields that a modification may contain.
MODIFIABLE: tuple[Field, ...] = ("amount", "creditorAccount", "requestedExecutionDate", "reference")
#: Known purposes; the document names the first.
PURPOSES = ("CASH", "DVPM", "SALA", "SUPP")

_TYPES: tuple[PaymentType, ...] = ("immediate", "deferred", "instant")
_AMOUNT = re.compile(r"[0-9]{1,15}(?:\.[0-9]{1,2})?")


class FieldError(Exception):
    """The request is malformed; carries the field and the defect."""

    def __init__(self, field: str, defect: Defect) -> None:
        """Store the field and the defect."""
        super().__init__(field, defect)
        self.field = field
        self.defect = defect


def _mandatory(name: Field, fits: Callable[[str], bool]) -> ReadField:
    def read(value: object) -> str:
        if value is ABSENT:
            raise FieldError(name, "missing")
        if value is None:
            raise FieldError(name, "null")
        if not isinstance(value, str):
            raise FieldError(name, "type")
        if not value:
            raise FieldError(name, "empty")
        if not fits(value):
            raise FieldError(name, "value")
        return value

    return read


def _optional(name: Field, fits: Callable[[str], bool]) -> ReadField:
    def read(value: object) -> str | None:
        if value is ABSENT or value is None:
            return None
        if not isinstance(value, str):
            raise FieldError(name, "type")
        if not fits(value):
            raise FieldError(name, "value")
        return value

    return read


def _any(_text: str) -> bool:
    return True


def _is_amount(text: str) -> bool:
    """Accept a positive decimal with at most two decimal places."""
    return bool(_AMOUNT.fullmatch(text)) and bool(text.strip("0."))


#: Parsers of the sound bank.
FIELDS: Table[Field, ReadField] = MappingProxyType(
    {
        "paymentType": _mandatory("paymentType", lambda text: text in _TYPES),
        "requestedExecutionDate": _optional(
            "requestedExecutionDate", lambda text: parse_day(text) is not None
        ),
        "debtorAccount": _mandatory("debtorAccount", _any),
        "creditorAccount": _mandatory("creditorAccount", is_iban),
        "amount": _mandatory("amount", _is_amount),
        "currency": _mandatory("currency", lambda text: text == "EUR"),
        "chargeBearer": _mandatory("chargeBearer", lambda text: text == "SLEV"),
        "categoryPurpose": _mandatory("categoryPurpose", lambda text: text in PURPOSES),
        "reference": _optional("reference", _any),
        "successfulReportUrl": _mandatory("successfulReportUrl", is_absolute_url),
        "unsuccessfulReportUrl": _optional("unsuccessfulReportUrl", is_absolute_url),
    }
)


def read_body(body: bytes) -> Content:
    """Parse a JSON object."""
    try:
        return read_object(body)
    except Malformed as exc:
        raise FieldError("body", exc.fault.removeprefix("body-")) from None


@dataclass(frozen=True, slots=True, kw_only=True)
class TransferCount:
    """Accepts a list with few enough transfers, or no list."""

    too_many: Threshold[int]

    def __call__(self, transfers: object) -> bool:
        """Return whether a request with this member "transfers" is accepted."""
        if transfers is ABSENT or transfers is None:
            return True
        if not isinstance(transfers, list):
            return False
        return not self.too_many(len(cast("list[object]", transfers)))


#: Accepts at most one transfer.
AT_MOST_ONE = TransferCount(too_many=Threshold(limit=1, inclusive=False, unit=1))


def read_terms(
    content: Content,
    fields: Table[Field, ReadField],
    today: date,
    dated: Collection[PaymentType] = (),
) -> Terms:
    """Parse all fields of a new payment; those of the `dated` types may name today or a later day."""

    def maybe(name: Field) -> str | None:
        return fields[name](content.get(name, ABSENT))

    def text(name: Field) -> str:
        return maybe(name) or ""

    kind = cast("PaymentType", text("paymentType"))
    asked = maybe("requestedExecutionDate")
    earliest = today if kind in dated else today + timedelta(days=1)
    terms = Terms(
        type=kind,
        day=_read_day(asked, earliest) if asked is not None else None,
        debtor=text("debtorAccount"),
        creditor=text("creditorAccount"),
        amount=text("amount"),
        currency=text("currency"),
        charge_bearer=text("chargeBearer"),
        purpose=text("categoryPurpose"),
        reference=maybe("reference"),
        success_url=text("successfulReportUrl"),
        failure_url=maybe("unsuccessfulReportUrl"),
    )
    if (kind == "deferred") is (asked is None) and not (asked and kind in dated):
        raise FieldError("requestedExecutionDate", "missing" if asked is None else "value")
    return terms


def read_changes(
    content: Content,
    terms: Terms,
    fields: Table[Field, ReadField],
    today: date,
    named: Collection[Field] = MODIFIABLE,
) -> Terms:
    """Parse a modification; returns the resulting terms."""
    if not content:
        raise FieldError("body", "empty")
    if unknown := content.keys() - set(named):
        raise FieldError("status" if "status" in unknown else "body", "value")
    for name, value in content.items():
        text = fields[cast("Field", name)](value)
        match name:
            case "amount":
                terms = replace(terms, amount=text or "")
            case "creditorAccount":
                terms = replace(terms, creditor=text or "")
            case "requestedExecutionDate":
                terms = replace(terms, day=_read_day(text, today + timedelta(days=1)))
            case "currency":
                terms = replace(terms, currency=text or terms.currency)
            case _:
                terms = replace(terms, reference=text)
    return terms


def _read_day(text: str | None, earliest: date) -> date:
    """Parse the day of a payment, which must not be before the earliest one."""
    day = parse_day(text) if text else None
    if day is None or day < earliest:
        raise FieldError("requestedExecutionDate", "value")
    return day
