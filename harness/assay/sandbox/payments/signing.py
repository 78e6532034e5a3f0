"""One customer in front of the screens: password, factor, code, and then the decision.

Each step takes what the form of its screen sends and says which page comes next. There
is one signing for each payment. Its key is in the URL and nowhere else, and changes with
the password: the link to the first screen was made by a third party's call, so whoever
knows it must not be able to go on in a customer's place. Not for HTML: see
:mod:`assay.sandbox.payments.screens`.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Literal, TypeAlias

from assay.sandbox.payments.lifecycle import PaymentContext, sign
from assay.sandbox.payments.policies import Return
from assay.sandbox.payments.records import Activity, Payment, Signing, Step
from assay.sandbox.payments.terms import DECISIONS, Decision

__all__ = ["Ending", "Form", "View", "begin", "look", "submit"]

Form: TypeAlias = Mapping[str, str]
#: Pages with no form, after which there is nothing more.
Ending: TypeAlias = Literal["disconnected", "locked", "closed", "elsewhere", "confirmed", "refused"]

_WRONG_LOGIN = "This login and password do not go with the account to be debited."
_WRONG_CODE = "This code is not right."
_NO_FACTOR = "Please choose one of these."
_NO_DECISION = "Please confirm or refuse."
_CHANGED = "The payment was changed meanwhile. Please look at it again."


@dataclass(frozen=True, slots=True, kw_only=True)
class View:
    """What the customer gets to see: a screen, a last page, or another site."""

    page: Step | Ending | None = None
    message: str = ""
    #: Where the browser is sent instead.
    target: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Act:
    """A form that was sent, and everything it is about."""

    context: PaymentContext
    payment: Payment
    signing: Signing
    form: Form

    def go_on(self) -> View:
        """Show the screen that follows."""
        signing = self.signing
        signing.step = self.context.policies.follows(signing.step, signing.factor)
        return self.show()

    def show(self, message: str = "") -> View:
        """Show the screen of this step."""
        if self.signing.step == "confirm":
            self.signing.shown = self.payment.terms
        return View(page=self.signing.step, message=message)

    def wrong(self, message: str) -> View:
        """Show the screen again, or end it all after too many."""
        self.signing.wrong += 1
        if self.signing.wrong < self.context.policies.tries:
            return self.show(message)
        self.signing.step = "locked"
        self.payment.status = "expired"
        return View(page="locked")


def begin(context: PaymentContext, payment: Payment) -> View:
    """Follow the link to the first screen; as long as nobody is logged in, again."""
    signing = payment.signing
    if signing is None and payment.status == "received":
        now, step = context.world.now, context.policies.begins
        signing = Signing(key="", step=step, first=now, last=now)
        payment.signing = signing
        context.book.rekey(payment, signing)
    if signing is None:
        return View(page="closed")
    if signing.step not in (context.policies.begins, "done", "locked", "disconnected"):
        return View(page="elsewhere")
    return look(context, payment, signing)


def look(context: PaymentContext, payment: Payment, signing: Signing) -> View:
    """Show where a signing stands."""
    return (
        _over(context, payment, signing, "look")
        or Act(context=context, payment=payment, signing=signing, form={}).show()
    )


def submit(context: PaymentContext, payment: Payment, signing: Signing, form: Form) -> View:
    """Take the form of a screen."""
    over = _over(context, payment, signing, "form")
    if over is not None:
        return over
    act = Act(context=context, payment=payment, signing=signing, form=form)
    return _STEPS[signing.step](act)


def _over(
    context: PaymentContext, payment: Payment, signing: Signing, doing: Activity
) -> View | None:
    """Tell how a signing ended; a signing that goes on is kept from falling idle."""
    if signing.lapse is not None:
        target = context.policies.disconnected[signing.lapse](payment.terms)
        return View(page="disconnected", target=target)
    if signing.step == "locked":
        return View(page="locked")
    if payment.status != "received":
        return View(page="closed")
    if context.policies.renews[doing]:
        signing.last = context.world.now
    return None


def _password(act: Act) -> View:
    login, password = act.form.get("login", ""), act.form.get("password", "")
    owner = act.context.owner(act.payment)
    found = [
        customer
        for customer in act.context.world.customers.values()
        if customer.login == login and customer.password == password
    ]
    if not found or not act.context.policies.signs(found[0] is owner):
        return act.wrong(_WRONG_LOGIN)
    act.signing.customer = found[0].id
    act.context.book.rekey(act.payment, act.signing)
    return act.go_on()


def _factor(act: Act) -> View:
    offered = act.context.policies.factors[act.context.owner(act.payment).segment]
    for factor in offered:
        if factor == act.form.get("factor"):
            act.signing.factor = factor
            return act.go_on()
    return act.show(_NO_FACTOR)


def _code(act: Act) -> View:
    factor = act.signing.factor
    given = act.form.get("code", "").strip()
    who = act.context.world.customers.get(act.signing.customer, act.context.owner(act.payment))
    right = who.factors[factor] if factor else ""
    if factor is None or not act.context.policies.code(factor, given, right):
        return act.wrong(_WRONG_CODE)
    return act.go_on()


def _confirm(act: Act) -> View:
    signing, terms = act.signing, act.payment.terms
    decision: Decision | None = next(
        (one for one in DECISIONS if one == act.form.get("decision")), None
    )
    if decision is None:
        return act.show(_NO_DECISION)
    if signing.shown != terms:
        return act.show(_CHANGED)
    sign(act.context, act.payment, signing.factor, decision)
    signing.step = "done"
    leaving = Return(terms=terms, decision=decision, asked=act.form.get("returnUrl", ""))
    target = act.context.policies.returns(leaving)
    return View(page="confirmed" if decision == "confirm" else "refused", target=target or None)


_STEPS: Mapping[Step, Callable[[Act], View]] = {
    "password": _password,
    "factor": _factor,
    "code": _code,
    "confirm": _confirm,
}
