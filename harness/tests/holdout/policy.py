"""Every decision of the holdout bank, one method each: a fault overrides some of them.

What a method decides as the document says it stands here and nowhere else.
"""

import re
from datetime import date, datetime, timedelta
from typing import Any

from holdout.account_policy import AccountPolicy
from holdout.domain import (
    APP,
    CANCELLED,
    CAP,
    CLOSED,
    DONE,
    EXPIRED,
    INSTANT,
    LATER,
    NOW,
    OPEN,
    PLANNED,
    REJECTED,
    SMS,
    Call,
    Customer,
    Item,
    Movement,
    Order,
    Payment,
    Session,
    World,
    iban_holds,
)

AMOUNT = re.compile(r"[0-9]{1,12}(\.[0-9]{1,2})?")


class RequestPolicy(AccountPolicy):
    """What is decided when a payment is requested, changed or read."""

    def order_errors(self, call: Call, order: Order) -> str | None:
        """The reason for which a request does not meet the contract."""
        checks = {
            "FRAIS": self.charge_ok(call, order),
            "MOTIF": self.purpose_ok(call, order),
            "BENEFICIAIRE": self.creditor_ok(call, order),
            "RETOUR": self.success_ok(call, order),
            "UNIQUE": self.single(call),
            "EXECUTION": self.kind_ok(call, order),
            "DEVISE": self.euro(call, order),
            "MONTANT": self.amount_ok(call, order),
            "ECHEANCE": self.date_ok(call, order),
        }
        return next((reason for reason, holds in checks.items() if not holds), None)

    def charge_ok(self, call: Call, order: Order) -> bool:
        return order.charge == "SLEV"

    def purpose_ok(self, call: Call, order: Order) -> bool:
        return (
            isinstance(order.purpose, str) and re.fullmatch("[A-Z]{4}", order.purpose) is not None
        )

    def creditor_ok(self, call: Call, order: Order) -> bool:
        return iban_holds(order.creditor)

    def success_ok(self, call: Call, order: Order) -> bool:
        url = order.success
        return isinstance(url, str) and re.fullmatch(r"https?://[^\s/?#]+[^\s]*", url) is not None

    def single(self, call: Call) -> bool:
        return not isinstance(call.body, dict) or "ordres" not in call.body

    def kind_ok(self, call: Call, order: Order) -> bool:
        return order.kind in (NOW, LATER, INSTANT)

    def euro(self, call: Call, order: Order) -> bool:
        return order.currency == "EUR"

    def amount_ok(self, call: Call, order: Order) -> bool:
        text = order.amount
        if not isinstance(text, str) or not AMOUNT.fullmatch(text):
            return False
        return text.strip("0.") != ""

    def date_ok(self, call: Call, order: Order) -> bool:
        if order.date is None:
            return order.kind != LATER
        if not isinstance(order.date, str) or not re.fullmatch(
            r"[0-9]{4}-[0-9]{2}-[0-9]{2}T00:00:00", order.date
        ):
            return False
        try:
            day = order.day
        except ValueError:
            return False
        return day > call.world.today if order.kind == LATER else day == call.world.today

    def instant_offered(self, call: Call, order: Order) -> bool:
        return order.kind != INSTANT or INSTANT not in call.world.lacking

    def served(self, world: World, customer: Customer, order: Order) -> bool:
        return customer.segment in ("PART", "PRO")

    def debtor_ok(self, world: World, item: Item, order: Order) -> bool:
        traits = ("savings", "inactive", "offline")
        return not item.card and not any(item.is_(trait) for trait in traits)

    def parameters(self, order: Order) -> tuple[Any, ...]:
        """What two identical payments have in common, except for the date."""
        return (
            *(order.debtor, order.creditor, self.cents(order.amount), order.currency),
            *(order.kind, order.charge, order.purpose, order.success),
        )

    def cents(self, amount: str) -> int:
        whole, _, rest = amount.partition(".")
        return int(whole) * 100 + int(rest.ljust(2, "0"))

    def effective(self, world: World, order: Order) -> date:
        return order.day if order.kind == LATER and order.date else world.today

    def repeated(self, world: World, order: Order, id: str = "") -> bool:
        """Whether an identical payment was executed already."""
        return any(
            other.id != id
            and other.state == DONE
            and other.executed == self.effective(world, order)
            and self.parameters(other.order) == self.parameters(order)
            for other in world.payments.values()
        )

    def accepted(self, call: Call, payment: Payment) -> None:
        """What a new request leads to: it waits for its signature."""
        call.world.payments[payment.id] = payment

    def refused(self, call: Call, payment: Payment, reason: str) -> None:
        """What a refused request leads to: nothing."""

    def readable(self, call: Call, payment: Payment) -> bool:
        return payment.tpp == call.tpp

    def shown(self, call: Call, payment: Payment) -> Order:
        return payment.order

    def shown_state(self, call: Call, payment: Payment) -> tuple[str, str | None]:
        return payment.state, payment.cause

    # Changes.

    def may_change(self, call: Call, payment: Payment) -> bool:
        return payment.order.kind == LATER and payment.state in (OPEN, PLANNED)

    def change_ok(self, call: Call, payment: Payment, order: Order) -> str | None:
        errors = self.order_errors(call, order)
        if errors:
            return errors
        if payment.customer and self.cash_refused(call.world, payment, order):
            return "ESPECES"
        return "DOUBLON" if self.repeated(call.world, order, payment.id) else None

    def changed(self, call: Call, payment: Payment, order: Order) -> None:
        payment.order = order

    def change_refused(self, call: Call, payment: Payment, order: Order) -> None:
        """What a refused change leads to: nothing."""

    def may_cancel(self, call: Call, payment: Payment) -> bool:
        return payment.order.kind == LATER and payment.state in (OPEN, PLANNED)

    def cancelled(self, world: World, payment: Payment) -> None:
        payment.state, payment.cause = CLOSED, CANCELLED

    def cancel_refused(self, call: Call, payment: Payment) -> None:
        """What a refused cancellation leads to: nothing."""

    def may_withdraw(self, world: World, payment: Payment) -> bool:
        return payment.state in (OPEN, PLANNED)

    def withdrawn(self, world: World, payment: Payment) -> None:
        payment.state, payment.cause = CLOSED, CANCELLED

    # Rules about who signed.

    def cash_refused(self, world: World, payment: Payment, order: Order) -> bool:
        if order.purpose != "CASH" or payment.factor == APP:
            return False
        return not self.known_long(world, payment, order)

    def known_long(self, world: World, payment: Payment, order: Order) -> bool:
        since = payment.customer.known.get(order.creditor) if payment.customer else None
        return since is not None and world.now - since > self.known_age(world, payment)

    def known_age(self, world: World, payment: Payment) -> timedelta:
        return timedelta(hours=72)


class Policy(RequestPolicy):
    """What is decided on the screens, and what is executed."""

    def idle(self, world: World, payment: Payment, session: Session) -> timedelta:
        return timedelta(minutes=4)

    def overall(self, world: World, payment: Payment, session: Session) -> timedelta:
        return timedelta(minutes=30)

    def disconnected(self, world: World, payment: Payment, session: Session) -> bool:
        return world.now - session.touched >= self.idle(
            world, payment, session
        ) or world.now - session.started >= self.overall(world, payment, session)

    def touch(self, world: World, session: Session) -> None:
        session.touched = world.now

    def after_disconnect(self, world: World, payment: Payment) -> None:
        payment.state, payment.cause = CLOSED, EXPIRED

    def disconnect_redirect(self, world: World, payment: Payment) -> str | None:
        return None

    def password_ok(self, world: World, customer: Customer, secret: str) -> bool:
        return customer.secret == secret

    def signer_ok(self, world: World, payment: Payment, customer: Customer) -> bool:
        """Whether this customer may sign: the debtor's account is theirs."""
        debtor = payment.order.debtor
        return debtor is None or customer.item(debtor) is not None

    def factors(self, world: World, payment: Payment, customer: Customer) -> tuple[str, ...]:
        return (SMS, CAP, APP) if customer.segment == "PART" else (SMS, CAP)

    def factor_ok(self, world: World, payment: Payment, customer: Customer, factor: str) -> bool:
        return factor in self.factors(world, payment, customer)

    def code_ok(self, world: World, payment: Payment, session: Session, code: str) -> bool:
        return session.customer is not None and session.customer.codes.get(session.factor) == code

    def exempt(self, world: World, payment: Payment, customer: Customer) -> bool:
        """Whether the second factor may be left out."""
        return False

    def presigned(self, world: World, payment: Payment) -> bool:
        """Whether a request needs no signature at all."""
        return False

    def sign_errors(self, world: World, payment: Payment) -> str | None:
        """The reason for which a signed payment is rejected."""
        order, customer = payment.order, payment.customer
        item = customer.item(order.debtor) if customer else None
        if item is None or customer is None:
            return "COMPTE"
        if not self.served(world, customer, order):
            return "SEGMENT"
        if not self.debtor_ok(world, item, order):
            return "COMPTE"
        if self.cash_refused(world, payment, order):
            return "ESPECES"
        return "DOUBLON" if self.repeated(world, order, payment.id) else None

    def declined(self, world: World, payment: Payment) -> None:
        payment.state, payment.cause = CLOSED, "REFUS"

    def sign_refused(self, world: World, payment: Payment) -> None:
        payment.state, payment.cause = CLOSED, REJECTED

    def success_redirect(self, world: World, payment: Payment) -> str | None:
        return payment.order.success

    def declined_redirect(self, world: World, payment: Payment) -> str | None:
        return None

    def rejected_redirect(self, world: World, payment: Payment) -> str | None:
        return None

    def planned(self, world: World, payment: Payment) -> bool:
        """Whether a signed payment waits for its day."""
        return payment.order.kind == LATER and payment.order.day > world.today

    def due_on(self, world: World, payment: Payment) -> date:
        return payment.order.day

    def carried_out(self, world: World, payment: Payment) -> Order:
        """What is executed."""
        return payment.order

    def movements(self, world: World, payment: Payment, on: date) -> list[Movement]:
        order = self.carried_out(world, payment)
        return [
            Movement(payment.id, on, order.amount, order.creditor, order.debtor, order.currency)
        ]

    def executed(self, world: World, payment: Payment, on: date) -> None:
        payment.state, payment.cause, payment.executed = DONE, None, on

    def not_executed(self, world: World, payment: Payment) -> None:
        """What becomes of a payment that is rejected on its day."""
        payment.state, payment.cause = CLOSED, REJECTED

    def lapsed(self, world: World, payment: Payment) -> bool:
        """Whether it is too late to sign."""
        return payment.order.kind == LATER and payment.order.day < world.today

    def expires_at(self, grant_at: datetime) -> datetime:
        return grant_at + timedelta(minutes=20)
