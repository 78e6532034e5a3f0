"""Handlers of payment initiation: one function per operation, from a call to an answer.

The order of refusals is the same everywhere: payments of other TPPs, malformed requests,
then what the rules forbid. A modification checks the state of the payment before its
fields, since fields of another type of payment cannot be valid. Routing and maintenance
are handled in :mod:`assay.sandbox.payments.routing`.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace

from assay.sandbox.calendar import today
from assay.sandbox.messages import Answer, Json, bank_called, error
from assay.sandbox.payments.lifecycle import PaymentContext, cancel, execute_if_due
from assay.sandbox.payments.policies import (
    Finding,
    NamingCall,
    PaymentOperation,
    PaymentPlace,
    PaymentRefusal,
)
from assay.sandbox.payments.records import Payment, Tpp
from assay.sandbox.payments.terms import (
    ABSENT,
    Content,
    FieldError,
    Segment,
    Terms,
    read_body,
    read_changes,
    read_terms,
)

__all__ = ["PAYMENT_METHODS", "PaymentCall", "PaymentRefused"]

_MESSAGES: Mapping[PaymentRefusal, str] = {
    "debtor": "not an account that payments can be made from",
    "segment": "customers of this segment are not served here",
    "state": "this payment cannot be modified",
    "cancellation": "this payment cannot be cancelled",
    "foreign": "no such payment request",
}


class PaymentRefused(Exception):  # noqa: N818 - a refusal is no error of the bank
    """A refusal; carries the whole answer."""

    def __init__(self, answer: Answer) -> None:
        """Store the answer."""
        super().__init__(answer.status)
        self.answer = answer


@dataclass(frozen=True, slots=True, kw_only=True)
class PaymentCall:
    """One authorised call of a TPP."""

    context: PaymentContext
    tpp: Tpp
    #: The identifier in the path; empty if there is none.
    id: str
    body: bytes
    #: Scheme and host for links.
    base: str

    def link(self, place: PaymentPlace, path: str) -> str:
        """Return a link to a path on the host that was called."""
        return self.context.policies.links[place](self.base) + path


def _refused(context: PaymentContext, reason: PaymentRefusal) -> PaymentRefused:
    """Look up the bank's answer for the reason."""
    return PaymentRefused(error(context.policies.refusals[reason], _MESSAGES[reason]))


def _create(call: PaymentCall) -> Answer:
    context, policies, world = call.context, call.context.policies, call.context.world
    content = read_body(call.body)
    terms = read_terms(content, policies.fields, today(world.now), policies.dated)
    debtor = policies.debited(terms.debtor, world.owners.keys())
    if debtor is None:
        raise _refused(context, "debtor")
    terms = replace(terms, debtor=debtor)
    barred = False
    try:
        _check_scope(context, content, terms)
    except (FieldError, PaymentRefused):
        if policies.at_once:
            raise
        barred = True
    payment = context.book.add(world.id, call.tpp, terms, world.now, bank_called(call.base))
    payment.barred = barred
    execute_if_due(context, payment)
    body: dict[str, Json] = {
        "paymentRequestResourceId": payment.id,
        "status": policies.shown(payment),
        "links": {
            "self": call.link("create-self", f"/payment-requests/{payment.id}"),
            "consentApproval": _approval(call, payment),
        },
    }
    return Answer(status=201, body=policies.created(payment, body))


def _approval(call: PaymentCall, payment: Payment) -> str:
    """Return the link to the screens where a payment is signed."""
    path = f"/consent-approval/{call.context.world.id}/{payment.approval}"
    return call.link("create-approval", path)


def _check_scope(context: PaymentContext, content: Content, terms: Terms) -> None:
    """Refuse payments and customers that the document excludes."""
    policies = context.policies
    if not policies.single(content.get("transfers", ABSENT)):
        raise FieldError("transfers", "value")
    if not policies.recurring and content.get("frequency") is not None:
        raise FieldError("frequency", "value")
    if not policies.offered(terms.type, context.book.instant):
        raise FieldError("paymentType", "value")
    owner = context.world.owners[terms.debtor]
    if not policies.debtor(owner.items[terms.debtor], owner.items.values()):
        raise _refused(context, "debtor")
    segments = frozenset[Segment](customer.segment for customer in context.world.customers.values())
    if not policies.segments(owner.segment, segments):
        raise _refused(context, "segment")
    if not policies.beside(terms.type, context.book.open_types(terms.debtor)):
        raise FieldError("paymentType", "value")


def _read(call: PaymentCall) -> Answer:
    payment = _find(call, "read")
    return _shown(call, payment, call.context.policies.shows(payment), "read-self")


def _modify(call: PaymentCall) -> Answer:
    context, policies = call.context, call.context.policies
    if _cancels(call.body):
        payment = _find(call, "cancel")
        _cancel(call, payment, read_body(call.body))
        return _shown(call, payment, payment.terms, "modify-self")
    payment = _find(call, "modify")
    content = read_body(call.body)
    if not policies.modifiable(payment):
        payment.terms = policies.after_refusal(payment, content)
        raise _refused(context, "state")
    now = today(context.world.now)
    terms = read_changes(content, payment.terms, policies.changes, now, policies.changeable)
    payment.terms = policies.modified(payment.terms, terms)
    payment.changes += 1
    again = policies.signed_again and payment.status == "pending"
    if again:
        context.book.reopen(payment)
    return _shown(call, payment, terms, "modify-self", to_sign=again)


def _cancels(body: bytes) -> bool:
    try:
        return "status" in read_body(body)
    except FieldError:
        return False


def _cancel(call: PaymentCall, payment: Payment, content: Content) -> None:
    if content != {"status": "cancelled"}:
        raise FieldError("status", "value")
    if not cancel(call.context, payment, by_customer=False):
        raise _refused(call.context, "cancellation")


def _confirm(call: PaymentCall) -> Answer:
    payment = call.context.book.payments.get(call.id)
    signed = payment is not None and payment.signed is not None
    return call.context.policies.confirmation(signed)


def _find(call: PaymentCall, asked: NamingCall) -> Payment:
    """Return the requested payment; payments of other TPPs do not exist for the caller."""
    operation: Finding = "read" if asked == "read" else "modify"
    payment = call.context.book.payments.get(call.id)
    bank = bank_called(call.base)
    if payment is None or not call.context.policies.at_banks[asked](payment.bank == bank):
        raise PaymentRefused(call.context.policies.absent[operation](call.id))
    if not call.context.policies.visible[operation](payment.tpp == call.tpp.id):
        raise _refused(call.context, "foreign")
    return payment


def _shown(
    call: PaymentCall,
    payment: Payment,
    terms: Terms,
    place: PaymentPlace,
    *,
    to_sign: bool = False,
) -> Answer:
    """Return the whole resource; members without a value are omitted."""
    body: dict[str, Json] = {
        "paymentRequestResourceId": payment.id,
        "status": call.context.policies.shown(payment),
        "reason": payment.reason,
        "paymentType": terms.type,
        "requestedExecutionDate": terms.day.isoformat() if terms.day else None,
        "debtorAccount": terms.debtor,
        "creditorAccount": terms.creditor,
        "amount": terms.amount,
        "currency": terms.currency,
        "chargeBearer": terms.charge_bearer,
        "categoryPurpose": terms.purpose,
        "reference": terms.reference,
        "successfulReportUrl": terms.success_url,
        "unsuccessfulReportUrl": terms.failure_url,
    }
    links = {"self": call.link(place, f"/payment-requests/{payment.id}")}
    if to_sign:
        links["consentApproval"] = _approval(call, payment)
    given = {name: value for name, value in body.items() if value is not None}
    return Answer(status=200, body={**given, "links": links})


#: Handler of each operation.
PAYMENT_METHODS: Mapping[PaymentOperation, Callable[[PaymentCall], Answer]] = {
    "create": _create,
    "read": _read,
    "modify": _modify,
    "confirmation": _confirm,
}
