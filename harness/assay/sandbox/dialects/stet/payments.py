"""Payments as STET shows them: what was sent, with what the bank says of it laid over.

The bank keeps less of a request than STET shows, so the rest is remembered here, by the
identifier of the payment, and only those members that the standard has. Whatever the bank
shows takes the place of what was sent, and what it does not show is not shown.
"""

from collections import OrderedDict
from collections.abc import Callable
from dataclasses import dataclass, field
from threading import Lock

from assay.sandbox.dialects.stet.orders import DAY, INSTANT, INSTRUMENT, PLACES, REFERENCES
from assay.sandbox.dialects.stet.responses import Shown, hal, others, renamed
from assay.sandbox.dialects.stet.values import Content, Ids, calendar_day, members, placed, standing
from assay.sandbox.payments.reading import ABSENT
from assay.sandbox.reading import Malformed, read_object

__all__ = ["Sent", "show_created", "show_payment"]

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
class Sent:
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


def show_created(body: bytes, sent: Sent, ids: Ids) -> Callable[[Content], Shown]:
    """Show a new payment: whom to send the customer to, and where the payment is found."""

    def show(content: Content) -> Shown:
        links = hal(members(content.get("links")), ids)
        sent.keep(content.get("paymentRequestResourceId"), _read(body))
        here = members(links.pop("self", None)).get("href")
        approach = (
            {"appliedAuthenticationApproach": "REDIRECT"} if "consentApproval" in links else {}
        )
        return Shown(
            body={**approach, **others(content, (*_KNOWN, "links")), "_links": links},
            headers=(("Location", here),) if isinstance(here, str) and _is_plain(here) else (),
        )

    return show


def _is_plain(link: str) -> bool:
    """Tell whether a link can stand in a header; a host is the caller's own word."""
    return link.isascii() and link.isprintable()


def show_payment(body: bytes, sent: Sent, ids: Ids) -> Callable[[Content], Shown]:
    """Show a payment, as the bank has it now; `body` is the change that was made, if any."""

    def show(content: Content) -> Shown:
        named = content.get("paymentRequestResourceId")
        before, change = sent.of(named), _read(body)
        if before and DAY in change:
            before = {**before, DAY: change[DAY]}
            sent.keep(named, before)
        shown = {
            **renamed(content, resourceId="paymentRequestResourceId"),
            **_laid_over(before, content),
            **standing(content),
        }
        links = hal(members(content.get("links")), ids)
        known = {"paymentRequest": shown, **others(content, (*_KNOWN, "links"))}
        return Shown(body={**known, "_links": links})

    return show


def _laid_over(before: Content, content: Content) -> Content:
    """Lay what the bank shows over what was sent."""
    shown: object = before
    for name, way in PLACES.items():
        shown = placed(shown, way, content.get(name, ABSENT))
    texts = [content["reference"]] if "reference" in content else ABSENT
    shown = placed(shown, REFERENCES, texts)
    instrument = INSTANT if content.get("paymentType") == "instant" else ABSENT
    shown = members(placed(shown, INSTRUMENT, instrument))
    day, written = shown.get(DAY), before.get(DAY)
    if isinstance(day, str) and isinstance(written, str) and calendar_day(written):
        # In the form in which it was asked for, with its time and offset.
        shown = {**shown, DAY: day + written[len(day) :]}
    return shown
