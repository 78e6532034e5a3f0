"""What a provider asks for: a payment request, a change or a cancellation, for the bank.

Each of the bank's members is found at one place; what is not there is not asked for, and
what has a wrong type there has one for the bank as well. The bank's `paymentType` follows
from the request:

* `instant`, when `paymentTypeInformation.localInstrument` is `INST`;
* else `deferred`, when there is a `requestedExecutionDate`;
* else `immediate`.

The day of `creationDateTime` is the provider's today, and a `requestedExecutionDate` of
that same day asks for nothing: it is left out. What the bank's today is, is not told here.

Several transfers are several `creditTransferTransaction`, or a `numberOfTransactions`
other than 1. What would make the one transfer another thing than a single SEPA credit
transfer is refused with the type of payment: anything that makes it a standing order, or
not SEPA.

STET's own PUT cancels and changes nothing. Here it cancels when it says RJCT and DS02,
and otherwise changes what it names, since the bank's document has modifications.

Payments as STET shows them: what was sent, with what the bank says of it laid over.

The bank keeps less of a request than STET shows, so the rest is remembered here, by the
identifier of the payment, and only those members that the standard has. Whatever the bank
shows takes the place of what was sent, and what it does not show is not shown.
"""

import json
from collections import OrderedDict
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from threading import Lock
from typing import Final

from assay.sandbox.dialects.stet.responses import StetAnswer, hal, renamed, unknown_members
from assay.sandbox.dialects.stet.values import (
    CANCELLED,
    UNFIT,
    Content,
    JsonPath,
    OpaqueIds,
    calendar_day,
    find,
    listed,
    members,
    status_members,
    with_value,
)
from assay.sandbox.messages import Malformed, read_object
from assay.sandbox.payments.terms import ABSENT

_TRANSFERS = "creditTransferTransaction"
_AMOUNT: JsonPath = (_TRANSFERS, 0, "instructedAmount")
#: The bank's name of the day, and STET's.
DAY: Final = "requestedExecutionDate"
#: Where the texts that go with a transfer stand: a list of one.
REFERENCES: JsonPath = (_TRANSFERS, 0, "remittanceInformation")
INSTRUMENT: JsonPath = ("paymentTypeInformation", "localInstrument")
INSTANT = "INST"
#: Where each of the bank's members stands.
PLACES: Mapping[str, JsonPath] = {
    "chargeBearer": ("chargeBearer",),
    "categoryPurpose": ("paymentTypeInformation", "categoryPurpose"),
    "debtorAccount": ("debtorAccount", "iban"),
    "creditorAccount": ("beneficiary", "creditorAccount", "iban"),
    "amount": (*_AMOUNT, "amount"),
    "currency": (*_AMOUNT, "currency"),
    DAY: (DAY,),
    "successfulReportUrl": ("supplementaryData", "successfulReportUrl"),
    "unsuccessfulReportUrl": ("supplementaryData", "unsuccessfulReportUrl"),
}
#: What makes one transfer a standing order, or puts it off by itself.
_REPEATING = (DAY, "endDate", "frequency")


def to_bank_payment(body: bytes) -> bytes:
    """Turn a payment request into one of the bank's; what does not read is passed on."""
    try:
        content = read_object(body)
    except Malformed:
        return body
    terms = _terms(content)
    request = {**terms, "paymentType": _kind(content, terms)}
    several = _several(content)
    return _written(request if several is ABSENT else {**request, "transfers": several})


def to_bank_change(body: bytes) -> bytes:
    """Turn a change or a cancellation into one of the bank's.

    A currency that is named with an amount, and is the euro, is no change.
    """
    try:
        content = read_object(body)
    except Malformed:
        return body
    status = content.get("paymentInformationStatus", ABSENT)
    reason = content.get("statusReasonInformation", ABSENT)
    if (status, reason) == CANCELLED:
        return _written({"status": "cancelled"})
    if status is not ABSENT or reason is not ABSENT:
        return _written({"status": UNFIT})
    terms = _terms(content)
    if "amount" in terms and terms.get("currency") == "EUR":
        del terms["currency"]
    if find(content, INSTRUMENT) is not ABSENT:
        terms["paymentType"] = UNFIT
    return _written(terms)


def _written(content: Content) -> bytes:
    return json.dumps(content).encode()


def _terms(content: Content) -> Content:
    """Find what is asked for, each thing at its place."""
    terms = {name: find(content, path) for name, path in PLACES.items()}
    terms[DAY] = _day(terms[DAY], content.get("creationDateTime"))
    terms["reference"] = _reference(find(content, REFERENCES))
    return {name: value for name, value in terms.items() if value is not ABSENT}


def _day(asked: object, created: object) -> object:
    """Read the day that is asked for; the very day of the request is none."""
    if not isinstance(asked, str):
        return asked
    day = calendar_day(asked)
    today = calendar_day(created) if isinstance(created, str) else None
    return ABSENT if day is not None and day == today else day or asked


def _reference(texts: object) -> object:
    """Read the one text that may go with a transfer."""
    if texts is ABSENT or texts is None or texts == []:
        return ABSENT
    found = listed(texts)
    return found[0] if len(found) == 1 else UNFIT


def _kind(content: Content, terms: Content) -> object:
    """Tell what type of payment is asked for; see the module."""
    if not _is_plain(content):
        return UNFIT
    instrument = find(content, INSTRUMENT)
    if instrument is ABSENT or instrument is None:
        return "immediate" if terms.get(DAY) is None else "deferred"
    return "instant" if instrument == INSTANT else UNFIT


def _is_plain(content: Content) -> bool:
    """Tell whether each transfer is a SEPA credit transfer that is made once."""
    level = find(content, ("paymentTypeInformation", "serviceLevel"))
    transfers = [members(one) for one in listed(content.get(_TRANSFERS))]
    repeating = any(name in transfer for transfer in transfers for name in _REPEATING)
    return (level is ABSENT or level in (None, "SEPA")) and not repeating


def _several(content: Content) -> object:
    """Find more transfers than one; `ABSENT` when there is one, and it says so."""
    transfers = listed(content.get(_TRANSFERS))
    if len(transfers) > 1:
        return transfers
    number = content.get("numberOfTransactions", ABSENT)
    return ABSENT if number is ABSENT or (number == 1 and number is not True) else UNFIT


#: The oldest make room for new ones; what is forgotten is shown as the bank shows it.
_MOST = 10_000
#: What the standard has a request consist of, and the bank may not keep.
_KEPT = (
    "paymentInformationId",
    "creationDateTime",
    "numberOfTransactions",
    "initiatingParty",
    "paymentTypeInformation",
    "debtor",
    "debtorAccount",
    "debtorAgent",
    "beneficiary",
    "ultimateCreditor",
    "purpose",
    "chargeBearer",
    DAY,
    "creditTransferTransaction",
    "supplementaryData",
)
_KNOWN = (*PLACES, "paymentRequestResourceId", "status", "reason", "paymentType", "reference")


@dataclass(slots=True)
class SentRequests:
    """What was sent of the payments of one application."""

    _requests: OrderedDict[str, Content] = field(default_factory=OrderedDict[str, Content])
    _lock: Lock = field(default_factory=Lock)

    def keep(self, id: object, request: Content) -> None:
        """Remember a request by the identifier that the bank gave it, if it did."""
        if not isinstance(id, str):
            return
        kept = {name: request[name] for name in _KEPT if name in request}
        with self._lock:
            self._requests[id] = kept
            while len(self._requests) > _MOST:
                self._requests.popitem(last=False)

    def of(self, id: object) -> Content:
        """Give what was sent; nothing when it is not known."""
        return self._requests.get(id, {}) if isinstance(id, str) else {}


def _read(body: bytes) -> Content:
    """Read a request that the bank took; one that is none has nothing to remember."""
    try:
        return read_object(body)
    except Malformed:
        return {}


def show_created(
    body: bytes, sent: SentRequests, ids: OpaqueIds
) -> Callable[[Content], StetAnswer]:
    """Show a new payment: whom to send the customer to, and where the payment is found."""

    def show(content: Content) -> StetAnswer:
        links = hal(members(content.get("links")), ids)
        sent.keep(content.get("paymentRequestResourceId"), _read(body))
        here = members(links.pop("self", None)).get("href")
        approach = (
            {"appliedAuthenticationApproach": "REDIRECT"} if "consentApproval" in links else {}
        )
        return StetAnswer(
            body={**approach, **unknown_members(content, (*_KNOWN, "links")), "_links": links},
            headers=(("Location", here),) if isinstance(here, str) and _fits_a_header(here) else (),
        )

    return show


def _fits_a_header(link: str) -> bool:
    """Tell whether a link can stand in a header; a host is the caller's own word."""
    return link.isascii() and link.isprintable()


def show_payment(
    body: bytes, sent: SentRequests, ids: OpaqueIds
) -> Callable[[Content], StetAnswer]:
    """Show a payment, as the bank has it now; `body` is the change that was made, if any."""

    def show(content: Content) -> StetAnswer:
        named = content.get("paymentRequestResourceId")
        before, change = sent.of(named), _read(body)
        if before and DAY in change:
            before = {**before, DAY: change[DAY]}
            sent.keep(named, before)
        shown = {
            **renamed(content, resourceId="paymentRequestResourceId"),
            **_laid_over(before, content),
            **status_members(content),
        }
        links = hal(members(content.get("links")), ids)
        known = {"paymentRequest": shown, **unknown_members(content, (*_KNOWN, "links"))}
        return StetAnswer(body={**known, "_links": links})

    return show


def _laid_over(before: Content, content: Content) -> Content:
    """Lay what the bank shows over what was sent."""
    shown: object = before
    for name, path in PLACES.items():
        shown = with_value(shown, path, content.get(name, ABSENT))
    texts = [content["reference"]] if "reference" in content else ABSENT
    shown = with_value(shown, REFERENCES, texts)
    instrument = INSTANT if content.get("paymentType") == "instant" else ABSENT
    shown = members(with_value(shown, INSTRUMENT, instrument))
    day, written = shown.get(DAY), before.get(DAY)
    if isinstance(day, str) and isinstance(written, str) and calendar_day(written):
        # In the form in which it was asked for, with its time and offset.
        shown = {**shown, DAY: day + written[len(day) :]}
    return shown
