"""The control API for payments: providers, creditors, and what customers do elsewhere.

Those controls that only this half of the bank needs; ``CONTROL.md`` tells of them along
with the others. A signature given here is the same as one from the screens, for runs
that have nobody to walk them.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import TypeAlias

from assay.sandbox.accounts import iban
from assay.sandbox.calendar import local
from assay.sandbox.control_requests import Unusable, read_choice, read_moment
from assay.sandbox.messages import Answer
from assay.sandbox.payments.lifecycle import Desk, cancel, sign
from assay.sandbox.payments.records import Payment
from assay.sandbox.payments.terms import DECISIONS, FACTORS, Decision, is_iban
from assay.sandbox.world import Customer, Registry

__all__ = ["Errand", "run_errand"]

_MOST_HOURS = 24 * 365 * 20


@dataclass(frozen=True, slots=True, kw_only=True)
class Errand:
    """One control request about a world's payments."""

    desk: Desk
    registry: Registry
    content: Mapping[str, object]


_Action: TypeAlias = Callable[[Errand], Answer]


def run_errand(method: str, steps: Sequence[str], errand: Errand) -> Answer:
    """Carry out a control request; the steps are those below the world."""
    action = _route(method, steps)
    with errand.desk.world.lock:
        return action(errand)


def _route(method: str, steps: Sequence[str]) -> _Action:
    match (method, *steps):
        case ("POST", "providers"):
            return _enroll
        case ("GET", "executions"):
            return _executions
        case ("POST", "customers", id, "creditors"):
            return lambda errand: _register(errand, id)
        case ("POST", "payments", id, "cancel"):
            return lambda errand: _cancel(errand, _payment(errand, id))
        case ("POST", "payments", id, "sign"):
            return lambda errand: _sign(errand, _payment(errand, id))
        case _:
            raise Unusable("no such control; see GET /assay-control/1/", 404)


def _payment(errand: Errand, id: str) -> Payment:
    payment = errand.desk.book.payments.get(id)
    if payment is None:
        raise Unusable(f"no payment {id[:40]!r} in this world", 404)
    return payment


def _customer(errand: Errand, id: str) -> Customer:
    customer = errand.desk.world.customers.get(id)
    if customer is None:
        raise Unusable(f"no customer {id[:40]!r} in this world", 404)
    return customer


def _enroll(errand: Errand) -> Answer:
    provider = errand.registry.enroll(errand.desk.world)
    return Answer(status=201, body={"provider": provider.id, "token": provider.token})


def _executions(errand: Errand) -> Answer:
    rows = [
        {
            "payment": execution.payment,
            "date": execution.date.isoformat(),
            "debtor": execution.debtor,
            "creditor": execution.creditor,
            "amount": execution.amount,
        }
        for execution in errand.desk.book.executions
    ]
    return Answer(status=200, body={"executions": rows})


def _register(errand: Errand, id: str) -> Answer:
    """Register a creditor; who is registered twice is so since the first time."""
    customer, world = _customer(errand, id), errand.desk.world
    moment = _registered(errand.content, world.now)
    creditor = errand.content.get("iban")
    if creditor is None:
        creditor = iban(world.mark())
    if not isinstance(creditor, str) or not is_iban(creditor):
        raise Unusable("iban: expected an IBAN, in capitals and without gaps")
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
    raise Unusable('registered: expected a moment that has been, or {"hours_ago": 73}')


def _sign(errand: Errand, payment: Payment) -> Answer:
    """Sign or refuse as the customer, with no screens."""
    desk, content = errand.desk, errand.content
    named = content.get("customer")
    customer = _customer(errand, named if isinstance(named, str) else "")
    factor = read_choice(content, "factor", FACTORS)
    decision: Decision = read_choice(content, "decision", DECISIONS)
    if payment.status != "received":
        raise Unusable(f"this payment is {payment.status}; there is nothing to sign", 409)
    if customer is not desk.owner(payment):
        raise Unusable("this customer does not own the account to be debited", 409)
    if factor not in desk.policies.factors[customer.segment]:
        raise Unusable(f"factor: {factor} is not offered to {customer.segment}", 409)
    sign(desk, payment, factor, decision)
    return _stands(desk, payment)


def _cancel(errand: Errand, payment: Payment) -> Answer:
    """Cancel as the customer, through the bank's direct access."""
    if not cancel(errand.desk, payment, by_customer=True):
        raise Unusable(f"this {payment.terms.type} payment is {payment.status}", 409)
    return _stands(errand.desk, payment)


def _stands(desk: Desk, payment: Payment) -> Answer:
    body = {"payment": payment.id, "status": desk.policies.shown(payment)}
    return Answer(status=200, body=body)
