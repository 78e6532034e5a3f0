"""Control API of payments: TPPs, creditors, executions, and signing without screens.

``CONTROL.md`` specifies these controls along with the others. A signature given here has
the same effect as one on the screens, for runs that cannot operate the screens.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import TypeAlias

from assay.sandbox.accounts import iban
from assay.sandbox.calendar import local
from assay.sandbox.control_requests import ControlError, read_choice, read_moment
from assay.sandbox.messages import Answer
from assay.sandbox.payments.lifecycle import PaymentContext, cancel, sign
from assay.sandbox.payments.records import Payment
from assay.sandbox.payments.terms import DECISIONS, FACTORS, Decision, is_iban
from assay.sandbox.world import Customer, Registry

__all__ = ["ControlRequest", "answer_payment_control"]

_MOST_HOURS = 24 * 365 * 20


@dataclass(frozen=True, slots=True, kw_only=True)
class ControlRequest:
    """One control request about a world's payments."""

    context: PaymentContext
    registry: Registry
    content: Mapping[str, object]


_Action: TypeAlias = Callable[[ControlRequest], Answer]


def answer_payment_control(method: str, steps: Sequence[str], request: ControlRequest) -> Answer:
    """Answer a control request; `steps` are the path segments below the world."""
    action = _route(method, steps)
    with request.context.world.lock:
        return action(request)


def _route(method: str, steps: Sequence[str]) -> _Action:
    match (method, *steps):
        case ("POST", "tpps"):
            return _add_tpp
        case ("POST", "tpps" | "customers" as party, id, "token"):
            renew = _renew_tpp if party == "tpps" else _renew_customer
            return lambda request: renew(request, id)
        case ("GET", "executions"):
            return _executions
        case ("POST", "customers", id, "creditors"):
            return lambda request: _register_creditor(request, id)
        case ("POST", "payments", id, "cancel"):
            return lambda request: _cancel(request, _payment(request, id))
        case ("POST", "payments", id, "sign"):
            return lambda request: _sign(request, _payment(request, id))
        case _:
            raise ControlError("no such control; see GET /assay-control/1/", 404)


def _payment(request: ControlRequest, id: str) -> Payment:
    payment = request.context.book.payments.get(id)
    if payment is None:
        raise ControlError(f"no payment {id[:40]!r} in this world", 404)
    return payment


def _customer(request: ControlRequest, id: str) -> Customer:
    customer = request.context.world.customers.get(id)
    if customer is None:
        raise ControlError(f"no customer {id[:40]!r} in this world", 404)
    return customer


def _add_tpp(request: ControlRequest) -> Answer:
    tpp = request.registry.add_tpp(request.context.world)
    return Answer(status=201, body={"tpp": tpp.id, "token": tpp.token})


def _renew_tpp(request: ControlRequest, id: str) -> Answer:
    """Renew the token of a TPP."""
    tpp = request.context.book.tpps.get(id)
    if tpp is None:
        raise ControlError(f"no TPP {id[:40]!r} in this world", 404)
    token = request.registry.renew_tpp(request.context.world, tpp)
    return Answer(status=201, body={"tpp": id, "token": token})


def _renew_customer(request: ControlRequest, id: str) -> Answer:
    """Renew the token of a customer."""
    token = request.registry.renew_customer(request.context.world, _customer(request, id))
    return Answer(status=201, body={"customer": id, "token": token})


def _executions(request: ControlRequest) -> Answer:
    rows = [
        {
            "payment": execution.payment,
            "date": execution.date.isoformat(),
            "debtor": execution.debtor,
            "creditor": execution.creditor,
            "amount": execution.amount,
        }
        for execution in request.context.book.executions
    ]
    return Answer(status=200, body={"executions": rows})


def _register_creditor(request: ControlRequest, id: str) -> Answer:
    """Register a creditor; of several registrations the first counts."""
    customer, world = _customer(request, id), request.context.world
    moment = _registered(request.content, world.now)
    creditor = request.content.get("iban")
    if creditor is None:
        creditor = iban(world.next_id_seed())
    if not isinstance(creditor, str) or not is_iban(creditor):
        raise ControlError("iban: expected an IBAN in capitals without spaces")
    since = min(moment, customer.creditors.get(creditor, moment))
    customer.creditors[creditor] = since
    return Answer(status=201, body={"iban": creditor, "registered": local(since).isoformat()})


def _registered(content: Mapping[str, object], now: datetime) -> datetime:
    match content.get("registered"):
        case {"hours_ago": int() | float() as hours} if (
            not isinstance(hours, bool) and 0 <= hours <= _MOST_HOURS
        ):
            return now - timedelta(hours=hours)
        case str():
            moment = read_moment(content, "registered")
            if moment is not None and moment <= now:
                return moment
        case _:
            pass
    raise ControlError('registered: expected a past moment or {"hours_ago": 73}')


def _sign(request: ControlRequest, payment: Payment) -> Answer:
    """Confirm or refuse as the customer, without screens."""
    context, content = request.context, request.content
    named = content.get("customer")
    customer = _customer(request, named if isinstance(named, str) else "")
    factor = read_choice(content, "factor", FACTORS)
    decision: Decision = read_choice(content, "decision", DECISIONS)
    if payment.status != "received":
        raise ControlError(f"this payment is {payment.status}; there is nothing to sign", 409)
    if customer is not context.owner(payment):
        raise ControlError("this customer does not own the account to be debited", 409)
    if factor not in context.policies.factors[customer.segment]:
        raise ControlError(f"factor: {factor} is not offered to {customer.segment}", 409)
    sign(context, payment, factor, decision)
    return _status_of(context, payment)


def _cancel(request: ControlRequest, payment: Payment) -> Answer:
    """Cancel as the customer, through the bank's direct access."""
    if not cancel(request.context, payment, by_customer=True):
        raise ControlError(f"this {payment.terms.type} payment is {payment.status}", 409)
    return _status_of(request.context, payment)


def _status_of(context: PaymentContext, payment: Payment) -> Answer:
    body = {"payment": payment.id, "status": context.policies.shown(payment)}
    return Answer(status=200, body=body)
