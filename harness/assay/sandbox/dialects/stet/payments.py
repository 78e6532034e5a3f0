"""STET payments: translation of requests, changes and cancellations, and of their answers.

Each member of the bank's request is found at one place (`PLACES`). An absent member stays
absent, and a member of a wrong type gets a wrong type. The bank's `paymentType` is

* `instant`, if `paymentTypeInformation.localInstrument` is `INST`;
* otherwise `deferred`, if there is a `requestedExecutionDate`;
* otherwise `immediate`.

A `requestedExecutionDate` on the day of `creationDateTime` is omitted. Several transfers
are several `creditTransferTransaction`, or a `numberOfTransactions` other than 1. Anything
that makes a transfer a standing order, or not SEPA, makes the type of payment invalid.

STET's PUT only cancels. Here it cancels with RJCT and DS02, and otherwise modifies what
it names, since the bank's document has modifications.

The bank keeps less of a request than STET returns, so the standard's members of the
request are stored here by the identifier of the payment. Values of the bank replace those
of the request, and values that the bank omits are omitted.
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
_CREDITOR: JsonPath = ("beneficiary", "creditorAccount")
#: Name of the execution day in both interfaces.
DAY: Final = "requestedExecutionDate"
#: Place of the remittance texts, a list of one.
REFERENCES: JsonPath = (_TRANSFERS, 0, "remittanceInformation")
INSTRUMENT: JsonPath = ("paymentTypeInformation", "localInstrument")
INSTANT = "INST"
#: Place of each member of the bank's request.
PLACES: Mapping[str, JsonPath] = {
    "chargeBearer": ("chargeBearer",),
    "categoryPurpose": ("paymentTypeInformation", "categoryPurpose"),
    "debtorAccount": ("debtorAccount", "iban"),
    "creditorAccount": (*_CREDITOR, "iban"),
    "amount": (*_AMOUNT, "amount"),
    "currency": (*_AMOUNT, "currency"),
    DAY: (DAY,),
    "successfulReportUrl": ("supplementaryData", "successfulReportUrl"),
    "unsuccessfulReportUrl": ("supplementaryData", "unsuccessfulReportUrl"),
}
#: Members that make a transfer a standing order, or defer it individually.
_REPEATING = (DAY, "endDate", "frequency")


def to_bank_payment(body: bytes) -> bytes:
    """Translate a payment request; a malformed one is passed on."""
    try:
        content = read_object(body)
    except Malformed:
        return body
    terms = _terms(content)
    request = {**terms, "paymentType": _kind(content, terms)}
    several = _several(content)
    return _written(request if several is ABSENT else {**request, "transfers": several})


def to_bank_change(body: bytes) -> bytes:
    """Translate a change or a cancellation.

    A currency of EUR along with an amount is not a change.
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
    """Return the members of the bank's request that are present."""
    terms = {name: find(content, path) for name, path in PLACES.items()}
    terms["creditorAccount"] = _iban(find(content, _CREDITOR))
    terms[DAY] = _day(terms[DAY], content.get("creationDateTime"))
    terms["reference"] = _reference(find(content, REFERENCES))
    return {name: value for name, value in terms.items() if value is not ABSENT}


def _iban(account: object) -> object:
    """Return the IBAN of an account; an account without members is an empty one."""
    if isinstance(account, dict):
        return members(account).get("iban", ABSENT) if account else ""
    if isinstance(account, list):
        ibans = [_iban(each) for each in listed(account)]
        return [UNFIT if iban is ABSENT else iban for iban in ibans]
    return account if account is ABSENT or account is None else UNFIT


def _day(asked: object, created: object) -> object:
    """Return the requested day; absent if it is the day of the request."""
    if not isinstance(asked, str):
        return asked
    day = calendar_day(asked)
    today = calendar_day(created) if isinstance(created, str) else None
    return ABSENT if day is not None and day == today else day or asked


def _reference(texts: object) -> object:
    """Return the only remittance text of a transfer."""
    if texts is ABSENT or texts is None or texts == []:
        return ABSENT
    items = listed(texts)
    return items[0] if len(items) == 1 else UNFIT


def _kind(content: Content, terms: Content) -> object:
    """Return the type of payment (see the module)."""
    if not _is_plain(content):
        return UNFIT
    instrument = find(content, INSTRUMENT)
    if instrument is ABSENT or instrument is None:
        return "immediate" if terms.get(DAY) is None else "deferred"
    return "instant" if instrument == INSTANT else UNFIT


def _is_plain(content: Content) -> bool:
    """Return whether each transfer is a single SEPA credit transfer."""
    level = find(content, ("paymentTypeInformation", "serviceLevel"))
    transfers = [members(item) for item in listed(content.get(_TRANSFERS))]
    repeating = any(name in transfer for transfer in transfers for name in _REPEATING)
    return (level is ABSENT or level in (None, "SEPA")) and not repeating


def _several(content: Content) -> object:
    """Return more than one transfer; `ABSENT` if there is exactly one."""
    transfers = listed(content.get(_TRANSFERS))
    if len(transfers) > 1:
        return transfers
    number = content.get("numberOfTransactions", ABSENT)
    return ABSENT if number is ABSENT or (number == 1 and number is not True) else UNFIT


#: Maximum number of stored requests; without one, only the values of the bank are shown.
_MOST = 10_000
#: Members of a request in the standard, some of which the bank does not keep.
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
    """Stored requests of the payments of one application."""

    _requests: OrderedDict[str, Content] = field(default_factory=OrderedDict[str, Content])
    _lock: Lock = field(default_factory=Lock)

    def keep(self, id: object, request: Content) -> None:
        """Store a request by the bank's identifier, if there is one."""
        if not isinstance(id, str):
            return
        kept = {name: request[name] for name in _KEPT if name in request}
        with self._lock:
            self._requests[id] = kept
            while len(self._requests) > _MOST:
                self._requests.popitem(last=False)

    def of(self, id: object) -> Content:
        """Return a stored request; empty if unknown."""
        return self._requests.get(id, {}) if isinstance(id, str) else {}


def _read(body: bytes) -> Content:
    """Parse an accepted request; empty if it is malformed."""
    try:
        return read_object(body)
    except Malformed:
        return {}


def show_created(
    body: bytes, sent: SentRequests, ids: OpaqueIds
) -> Callable[[Content], StetAnswer]:
    """Translate the answer to a new payment: its location and the approval link."""

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
    """Return whether a link fits into a header; its host comes from the caller."""
    return link.isascii() and link.isprintable()


def show_payment(
    body: bytes, sent: SentRequests, ids: OpaqueIds
) -> Callable[[Content], StetAnswer]:
    """Translate a payment; `body` is the change that was made, if any."""

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
    """Replace the values of the request by those of the bank."""
    shown: object = before
    for name, path in PLACES.items():
        shown = with_value(shown, path, content.get(name, ABSENT))
    texts = [content["reference"]] if "reference" in content else ABSENT
    shown = with_value(shown, REFERENCES, texts)
    instrument = INSTANT if content.get("paymentType") == "instant" else ABSENT
    shown = members(with_value(shown, INSTRUMENT, instrument))
    day, written = shown.get(DAY), before.get(DAY)
    if isinstance(day, str) and isinstance(written, str) and calendar_day(written):
        # In the form in which it was requested, with its time and offset.
        shown = {**shown, DAY: day + written[len(day) :]}
    return shown
