"""Reading what a third party asks for, and naming what is wrong with it.

One reader a field, in a table, so that a mutant can be lenient with a single one in a
single way. Every fault has a field and a way. Input is never repeated in an answer. Not
about rights: an account that reads well may still be somebody else's.
"""

import re
from collections.abc import Callable, Collection, Mapping
from dataclasses import replace
from datetime import date
from types import MappingProxyType
from typing import Final, Literal, TypeAlias, cast

from assay.sandbox.calendar import parse_day
from assay.sandbox.payments.formats import PaymentType, Terms, is_absolute_url, is_iban
from assay.sandbox.reading import Malformed, read_object
from assay.sandbox.wire import Table

__all__ = [
    "ABSENT",
    "FIELDS",
    "MODIFIABLE",
    "PURPOSES",
    "Content",
    "Field",
    "ReadField",
    "Single",
    "Unfit",
    "Way",
    "at_most_one",
    "read_body",
    "read_changes",
    "read_terms",
]

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
#: How a field is wrong; for a whole body also what :mod:`assay.sandbox.reading` names.
Way: TypeAlias = str
Content: TypeAlias = Mapping[str, object]
#: Reads one field's value: its text, or None when there is none and none is needed.
ReadField: TypeAlias = Callable[[object], str | None]
#: May a request with these "transfers" beside its own fields be taken?
Single: TypeAlias = Callable[[object], bool]

#: Stands for a member that is not there.
ABSENT: Final = object()
#: What a modification may name at all.
MODIFIABLE: tuple[Field, ...] = ("amount", "creditorAccount", "requestedExecutionDate", "reference")
#: Known purposes; the document names the first.
PURPOSES = ("CASH", "DVPM", "SALA", "SUPP")

_TYPES: tuple[PaymentType, ...] = ("immediate", "deferred", "instant")
_AMOUNT = re.compile(r"[0-9]{1,15}(?:\.[0-9]{1,2})?")


class Unfit(Exception):  # noqa: N818 - it is the request that is at fault
    """The request does not read; carries the field and what is wrong with it."""

    def __init__(self, field: str, way: Way) -> None:
        """Keep where and how."""
        super().__init__(field, way)
        self.field = field
        self.way = way


def _mandatory(name: Field, fits: Callable[[str], bool]) -> ReadField:
    def read(value: object) -> str:
        if value is ABSENT:
            raise Unfit(name, "missing")
        if value is None:
            raise Unfit(name, "null")
        if not isinstance(value, str):
            raise Unfit(name, "type")
        if not value:
            raise Unfit(name, "empty")
        if not fits(value):
            raise Unfit(name, "value")
        return value

    return read


def _optional(name: Field, fits: Callable[[str], bool]) -> ReadField:
    def read(value: object) -> str | None:
        if value is ABSENT or value is None:
            return None
        if not isinstance(value, str):
            raise Unfit(name, "type")
        if not fits(value):
            raise Unfit(name, "value")
        return value

    return read


def _any(_text: str) -> bool:
    return True


def _is_amount(text: str) -> bool:
    """Accept a positive decimal with two digits after the point at most."""
    return bool(_AMOUNT.fullmatch(text)) and bool(text.strip("0."))


#: The sound bank's readers.
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
    """Read a JSON object."""
    try:
        return read_object(body)
    except Malformed as no:
        raise Unfit("body", no.fault.removeprefix("body-")) from None


def at_most_one(transfers: object) -> bool:
    """Take a list of one transfer at most, or none at all."""
    if transfers is ABSENT or transfers is None:
        return True
    return isinstance(transfers, list) and len(cast("list[object]", transfers)) <= 1


def read_terms(content: Content, fields: Table[Field, ReadField], today: date) -> Terms:
    """Read all fields of a new payment."""

    def maybe(name: Field) -> str | None:
        return fields[name](content.get(name, ABSENT))

    def text(name: Field) -> str:
        return maybe(name) or ""

    kind = cast("PaymentType", text("paymentType"))
    asked = maybe("requestedExecutionDate")
    terms = Terms(
        type=kind,
        day=_read_day(asked, today) if asked is not None else None,
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
    if (kind == "deferred") is (asked is None):
        raise Unfit("requestedExecutionDate", "missing" if asked is None else "value")
    return terms


def read_changes(
    content: Content,
    terms: Terms,
    fields: Table[Field, ReadField],
    today: date,
    named: Collection[Field] = MODIFIABLE,
) -> Terms:
    """Read a modification: the terms as they are to be."""
    if not content:
        raise Unfit("body", "empty")
    if unknown := content.keys() - set(named):
        raise Unfit("status" if "status" in unknown else "body", "value")
    for name, value in content.items():
        text = fields[cast("Field", name)](value)
        match name:
            case "amount":
                terms = replace(terms, amount=text or "")
            case "creditorAccount":
                terms = replace(terms, creditor=text or "")
            case "requestedExecutionDate":
                terms = replace(terms, day=_read_day(text, today))
            case _:
                terms = replace(terms, reference=text)
    return terms


def _read_day(text: str | None, today: date) -> date:
    """Read the day of a deferred payment, which is to come."""
    day = parse_day(text) if text else None
    if day is None or day <= today:
        raise Unfit("requestedExecutionDate", "value")
    return day
