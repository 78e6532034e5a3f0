"""Life cycle of a payment: signing, cancellation, expiry and execution.

::

    received -> pending -> executed | rejected      signed; then due, or rejected by a rule
    received -> refused                             the customer refused on the screen
    received -> expired                             the customer took too long
    received | pending -> cancelled                 deferred payments, by either party

A modified payment keeps its signature and is executed as modified, unless a variant of the
bank has it signed again: the document does not say. The two rules of
:mod:`assay.sandbox.payments.rules` are applied at signing and again at execution, since a
repeat may have been executed in between or the creditor changed. Only :func:`advance`
lets time pass.
"""

from dataclasses import dataclass
from datetime import datetime

from assay.sandbox.accounts import Item
from assay.sandbox.calendar import today
from assay.sandbox.payments.policies import PaymentPolicies
from assay.sandbox.payments.records import LAPSES, Execution, Payment, PaymentBook, Signing
from assay.sandbox.payments.rules import Facts, Times, breaks_cash, local_day, signed_at
from assay.sandbox.payments.terms import Decision, Factor, Reason, Terms
from assay.sandbox.world import Customer, World


@dataclass(frozen=True, slots=True, kw_only=True)
class PaymentContext:
    """One world's payments and the policies that apply to them."""

    world: World
    policies: PaymentPolicies
    #: Whether another call may be handled at the same time.
    threaded: bool = False

    @property
    def book(self) -> PaymentBook:
        """The payments of the world."""
        return self.world.payments

    def owner(self, payment: Payment) -> Customer:
        """Return the customer whose account is debited."""
        return self.world.owners[payment.terms.debtor]

    def account(self, payment: Payment) -> Item:
        """Return the account that is debited."""
        return self.owner(payment).items[payment.terms.debtor]


def sign(
    context: PaymentContext, payment: Payment, factor: Factor | None, decision: Decision
) -> None:
    """Record the customer's decision, and execute the payment if it is due."""
    payment.factor = factor
    payment.signed = context.world.now
    payment.status = context.policies.decisions[decision]
    if payment.status == "pending":
        payment.reason = _objection(context, payment, payment.terms)
        if payment.reason is not None:
            _reject(context, payment, payment.terms, payment.reason)
    execute_if_due(context, payment)


def cancel(context: PaymentContext, payment: Payment, *, by_customer: bool) -> bool:
    """Cancel a payment; False if that is not allowed."""
    if not context.policies.cancellable(payment):
        return False
    payment.cancelled_by = "customer" if by_customer else "tpp"
    payment.status = "cancelled"
    return True


def advance(context: PaymentContext) -> None:
    """Execute or expire everything that became due, each at its own moment."""
    payments = list(context.book.payments.values())
    for payment in payments:
        signing = payment.signing
        if signing is not None and payment.status == "received":
            _lapse(context, payment, signing)
    for payment in sorted(
        payments,
        key=lambda payment: context.policies.due(payment, context.policies.executed(payment)),
    ):
        execute_if_due(context, payment)
    for payment in payments:
        _execute_again(context, payment)


def _execute_again(context: PaymentContext, payment: Payment) -> None:
    """Execute a payment a second time on the same day; the sound bank never does this."""
    after = context.policies.again(payment)
    executions = [each for each in context.book.executions if each.payment == payment.id]
    if after is None or len(executions) != 1:
        return
    moment = context.policies.due(payment, payment.terms)
    if context.world.now - moment >= after:
        _post(context, payment, payment.terms, moment)


def _lapse(context: PaymentContext, payment: Payment, signing: Signing) -> None:
    """Expire a signing whose time is over; the customer counts as disconnected."""
    now, timers = context.world.now, context.policies.timers
    times = Times(first=signing.first, last=signing.last)
    lapse = min(LAPSES, key=lambda lapse: timers[lapse].left(times, now))
    if timers[lapse](times, now):
        signing.step = "disconnected"
        signing.lapse = lapse
        payment.status = context.policies.lapsed[lapse]


def execute_if_due(context: PaymentContext, payment: Payment) -> None:
    """Execute a payment if its moment has come."""
    terms = context.policies.executed(payment)
    moment = context.policies.due(payment, terms)
    if moment > context.world.now or not context.policies.executable(payment):
        return
    payment.reason = _objection(context, payment, terms)
    if payment.reason is not None:
        _reject(context, payment, terms, payment.reason)
        return
    if context.policies.interleaves(context.threaded):
        context.world.give_way()
    payment.status = "executed"
    for _ in range(context.policies.times(payment)):
        _post(context, payment, terms, moment)


def _reject(context: PaymentContext, payment: Payment, terms: Terms, reason: Reason) -> None:
    """Reject a signed payment for a reason."""
    payment.status = "rejected"
    if context.policies.executes_rejected(reason):
        _post(context, payment, terms, context.world.now)


def _post(context: PaymentContext, payment: Payment, terms: Terms, moment: datetime) -> None:
    """Record an execution, and debit the account."""
    execution = Execution(
        payment=payment.id,
        date=today(moment),
        debtor=terms.debtor,
        creditor=terms.creditor,
        amount=terms.amount,
    )
    context.book.executions.append(execution)
    label = f"VIR {terms.reference or terms.creditor}"
    context.account(payment).ledger.post(execution.date, -terms.cents, label)


def _objection(context: PaymentContext, payment: Payment, terms: Terms) -> Reason | None:
    """Return the rule that a signed payment breaks."""
    if payment.reopened:
        return None
    if payment.barred:
        return "scope"
    if _repeats(context, payment, terms):
        return "duplicate"
    if breaks_cash(context.policies.cash, _facts(context, payment, terms)):
        return "cash"
    return None


def _repeats(context: PaymentContext, payment: Payment, terms: Terms) -> bool:
    rule = context.policies.duplicate
    parameters = rule.parameters(terms, local_day(payment, terms))
    originals = [
        original
        for original in context.book.payments.values()
        if original is not payment
        and original.status in rule.originals
        and signed_at(payment) - signed_at(original) <= rule.window
    ]
    return any(
        rule.parameters(original.terms, local_day(original, original.terms)) == parameters
        for original in originals[-rule.memory :]
    )


def _facts(context: PaymentContext, payment: Payment, terms: Terms) -> Facts:
    owner = context.owner(payment)
    by_others = [
        customer.creditors[terms.creditor]
        for customer in context.world.customers.values()
        if customer is not owner and terms.creditor in customer.creditors
    ]
    return Facts(
        terms=terms,
        factor=payment.factor,
        signed=signed_at(payment),
        registered=owner.creditors.get(terms.creditor),
        registered_by_others=min(by_others, default=None),
    )
