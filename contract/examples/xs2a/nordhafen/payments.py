"""Payments: made once for a request, signed, executed on their day, or ended."""

import re
from datetime import date, datetime, timedelta
from decimal import Decimal
from typing import TYPE_CHECKING, Any
from zoneinfo import ZoneInfo

from werkzeug.wrappers import Response

from nordhafen.consents import day_of
from nordhafen.domain import Authorisation, Customer, Payment, RefusedError, World
from nordhafen.policy import Policy

if TYPE_CHECKING:
    from nordhafen.application import Call

ENDED = ("ACSC", "RJCT", "CANC")


def make(call: "Call", product: str) -> Response:
    """Make a payment, or return the one that the same request made before."""
    policy, world, content = call.policy, call.world, call.body
    request = (product, content)
    key = (call.caller.tpp, call.request.headers.get("X-Request-ID", ""))
    former = world.made.get(key)
    if former is not None and world.now - former[0] < policy.same_request:
        if former[1] != request and policy.conflict:
            raise RefusedError(409, "REQUEST_ID_USED")
        return call.json(made(call, world.payments[former[2]]), 201)
    due = check(call, content)
    payment = Payment(
        id=world.new_id(),
        tpp=call.caller.tpp,
        product=product,
        content=content,
        due=due,
        authorisation=Authorisation(redirect_uri=call.request.headers.get("TPP-Redirect-URI")),
    )
    world.payments[payment.id] = payment
    world.made[key] = (world.now, request, payment.id)
    limit = policy.unsigned_limit
    if limit is not None and amount_of(payment) < Decimal(limit):
        signed(policy, world, payment)
    return call.json(made(call, payment), 201)


def made(call: "Call", payment: Payment) -> dict[str, Any]:
    """Return the answer to a payment that was made."""
    own = f"/v1/payments/{payment.product}/{payment.id}"
    links = {"self": call.link(own), "status": call.link(f"{own}/status")}
    if call.policy.payment_link:
        links["scaRedirect"] = call.screens(f"/sca/payments/{payment.id}")
    words = dict(call.policy.payment_words)
    status = words.get("RCVD", "RCVD")
    return {"paymentId": payment.id, "transactionStatus": status, "_links": links}


def check(call: "Call", content: dict[str, Any]) -> date | None:
    """Refuse a payment that is not as it must be; return its day, if it is put off to one."""
    policy = call.policy
    for name in ("debtorAccount", "creditorAccount"):
        account = content.get(name)
        if account is None and name not in policy.payment_members:
            continue
        if not isinstance(account, dict) or not is_text(account.get("iban")):
            raise RefusedError(400, "FORMAT_ERROR", name)
    if "creditorName" in policy.payment_members and not is_text(content.get("creditorName")):
        raise RefusedError(400, "FORMAT_ERROR", "creditorName")
    check_amount(policy, content)
    debtor = (content.get("debtorAccount") or {}).get("iban")
    if debtor is not None and not any(one.owns(debtor) for one in call.world.customers):
        raise RefusedError(400, "FORMAT_ERROR", "debtorAccount: unknown")
    if content.get("requestedExecutionDate") is None:
        return None
    due = day_of(content["requestedExecutionDate"], "requestedExecutionDate")
    if due < call.today and not policy.past_days:
        raise RefusedError(400, "EXECUTION_DATE_INVALID", "requestedExecutionDate: in the past")
    return due if due > call.today and policy.deferred else None


def check_amount(policy: Policy, content: dict[str, Any]) -> None:
    """Refuse an amount that is none, or in another currency."""
    instructed = content.get("instructedAmount")
    if "instructedAmount" not in policy.payment_members:
        instructed = content["instructedAmount"] = {
            "currency": "EUR",
            "amount": "1.00",
            **(instructed or {}),
        }
    if not isinstance(instructed, dict):
        raise RefusedError(400, "FORMAT_ERROR", "instructedAmount")
    if instructed.get("currency") not in policy.currencies:
        raise RefusedError(400, "FORMAT_ERROR", "currency: EUR")
    amount = instructed.get("amount")
    form = rf"\d{{1,12}}(\.\d{{1,{policy.decimals}}})?"
    if not isinstance(amount, str) or not re.fullmatch(form, amount, re.ASCII):
        raise RefusedError(400, "FORMAT_ERROR", "amount")
    if Decimal(amount) <= 0:
        raise RefusedError(400, "FORMAT_ERROR", "amount: above 0")


def is_text(value: Any) -> bool:
    """Whether a value is a text that says something."""
    return isinstance(value, str) and bool(value.strip()) and len(value) <= 140  # noqa: PLR2004


def found(call: "Call", product: str, key: str) -> Payment:
    """Return the payment of the caller."""
    payment = call.world.payments.get(key)
    if payment is None or payment.tpp != call.caller.tpp or payment.product != product:
        raise RefusedError(404, "RESOURCE_UNKNOWN")
    return payment


def word(policy: Policy, payment: Payment) -> str:
    """Return the status as it is shown."""
    return str(dict(policy.payment_words).get(payment.status, payment.status))


def show(call: "Call", product: str, key: str) -> Response:
    """Show what was sent."""
    payment = found(call, product, key)
    content = {**payment.content, **dict(call.policy.payment_changes)}
    return call.json({**content, "transactionStatus": word(call.policy, payment)})


def show_status(call: "Call", product: str, key: str) -> Response:
    """Show the status of a payment, and of its authorisation."""
    payment = found(call, product, key)
    sca = payment.authorisation.sca_status
    sca = call.policy.sca_finalised if sca == "finalised" else sca
    return call.json({"transactionStatus": word(call.policy, payment), "scaStatus": sca})


def cancel(call: "Call", product: str, key: str) -> Response:
    """Cancel a payment for the TPP."""
    payment = found(call, product, key)
    if payment.status not in call.policy.cancellable:
        raise RefusedError(409, "CANCELLATION_INVALID")
    payment.status = call.policy.cancelled_status
    return Response(status=204)


def amount_of(payment: Payment) -> Decimal:
    """Return how much a payment is."""
    return Decimal(payment.content["instructedAmount"]["amount"])


def may_sign(payment: Payment, customer: Customer) -> bool:
    """Whether a payment is from an account of the customer."""
    debtor = (payment.content.get("debtorAccount") or {}).get("iban")
    return debtor is None or customer.owns(debtor)


def authorised(policy: Policy, world: World, payment: Payment, factor: str) -> None:
    """Go on with a payment that its customer has signed."""
    amount, limit = amount_of(payment), Decimal(policy.photo_tan_above)
    large = amount > limit or (policy.photo_tan_from and amount == limit)
    if large and factor not in policy.large_factors:
        payment.status = "RJCT"
    else:
        signed(policy, world, payment)


def signed(policy: Policy, world: World, payment: Payment) -> None:
    """Accept a payment, and execute it if it is not put off."""
    payment.status = policy.signed_status
    if payment.due is None:
        execute(world, payment, today_of(policy, world))


def execute(world: World, payment: Payment, day: date) -> None:
    """Execute a payment on a day."""
    if payment.status == "ACTC":
        payment.status = "ACSC"
    content = payment.content
    execution = {
        "payment": payment.id,
        "date": day.isoformat(),
        "amount": content["instructedAmount"]["amount"],
        "debtor": (content.get("debtorAccount") or {}).get("iban", ""),
        "creditor": (content.get("creditorAccount") or {}).get("iban", ""),
    }
    world.executions.append(execution)


def execute_due(policy: Policy, world: World) -> None:
    """Execute what has become due by now, in the order of the days."""
    today, late = today_of(policy, world), timedelta(days=policy.days_late)
    executed = {execution["payment"] for execution in world.executions}
    waiting = [
        (payment.due + late, payment)
        for payment in world.payments.values()
        if payment.due is not None and payment.id not in executed
    ]
    for day, payment in sorted(waiting, key=lambda pair: pair[0]):
        cancelled = payment.status == "CANC" and policy.cancelled_executed
        if day <= today and (payment.status == policy.signed_status or cancelled):
            execute(world, payment, day)
    for payment in world.payments.values():
        if payment.status == "RJCT" and not policy.ended_stays:
            payment.status = "RCVD"


def local(policy: Policy, world: World) -> datetime:
    """Return the bank's local time."""
    return world.now.astimezone(ZoneInfo(policy.zone))


def today_of(policy: Policy, world: World) -> date:
    """Return the bank's calendar day."""
    return local(policy, world).date()
