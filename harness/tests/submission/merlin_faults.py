"""Faults of the bank beside it, each a row with the obligations that it breaks; and neutral variants."""

from dataclasses import replace

from faulty import changed, row
from merlin_bank import Merlin

from assay.sandbox.payments.rules import DuplicateRule
from assay.sandbox.policies import SOUND

TIMES = {"redirect.idle/nothing-done", "redirect.overall/nothing-done"}


def with_payments(**policies):
    """Return the policies of a sound bank with other ones about payments."""
    return replace(SOUND, payments=replace(SOUND.payments, **policies))


def taking(*statuses):
    """Return what submits a payment in these states, signed or not."""

    def carry_out(bank, world, payment):
        payment.status = "pending"
        Merlin.carry_out(bank, world, payment)

    return {"may_submit": lambda bank, payment: payment.status in statuses, "carry_out": carry_out}


def a_cent_more(bank, world, payment):
    payment.terms = replace(payment.terms, amount=f"{float(payment.terms.amount) + 0.01:.2f}")
    Merlin.carry_out(bank, world, payment)


def twice(bank, world, payment):
    Merlin.carry_out(bank, world, payment)
    if payment.status == "executed":
        payment.status = "pending"
        Merlin.carry_out(bank, world, payment)


def also_cancelled(bank, sound):
    return lambda payment: (
        payment.id in bank.names and (sound(payment) or payment.status == "cancelled")
    )


TAKES_UNSIGNED = row(
    "takes unsigned payments",
    "execution/unsigned-undone",
    "sca.required/even-amount",
    "sca.required/nothing-before-signing",
    "sca.required/only-the-owner",
    **taking("received", "pending"),
)
TAKES_REFUSED = row(
    "takes refused payments",
    "execution/denied-undone",
    "sca.required/nothing-after-refusal",
    **taking("refused", "pending"),
)
OTHER_AMOUNT = row(
    "executes another amount",
    "duplicate/amount-changed-accepted",
    "execution/as-asked",
    "modify.deferred-only/carried-out-as-changed",
    shows=["payments.content/amount"],
    carry_out=a_cent_more,
)
FORGETS_RULES = row(
    "refuses no repeat",
    "duplicate/repeat-refused",
    sound=with_payments(duplicate=DuplicateRule(originals=frozenset())),
)
FAULTS = (
    TAKES_UNSIGNED,
    TAKES_REFUSED,
    row("takes expired payments", "execution/timed-out-undone", *TIMES,
        **taking("expired", "pending")),
    OTHER_AMOUNT,
    row("executes nothing", "execution/deferred-carried-out", "execution/instant-carried-out",
        "execution/main-flow", executable=lambda bank, sound: lambda payment: False),
    row("executes twice", "execution/once", carry_out=twice),
    row("executes what was cancelled", "cancel/by-customer-never-done", "cancel/by-tpp-never-done",
        "execution/cancelled-undone", executable=also_cancelled),
    FORGETS_RULES,
)  # fmt: skip


# -- neutral variants ------------------------------------------------------------------
class JudgesSubmissions(Merlin):
    """The rules about repeats are applied to the submission, and not to the signature."""

    submitting = False

    def __init__(self):
        super().__init__(
            with_payments(duplicate=replace(SOUND.payments.duplicate, parameters=self.parameters))
        )

    def parameters(self, terms, day):
        """Return what repeats share; nothing repeats anything before its submission."""
        return SOUND.payments.duplicate.parameters(terms, day) if self.submitting else object()

    def carry_out(self, world, payment):
        """Carry it out by the rules."""
        self.submitting = True
        super().carry_out(world, payment)
        self.submitting = False


class ForgetsRefusals(JudgesSubmissions):
    """The consent of a submission that was refused is shown as a signed one."""

    def refuse(self, payment):
        """Leave it signed."""
        payment.status = "pending"
        return super().refuse(payment)


def strictly(bank, payment):
    """Whether a payment is signed; otherwise the attempt to submit it ends it."""
    if payment.status == "received":
        payment.status = "expired"
    return Merlin.may_submit(bank, payment)


Impatient = changed(
    Merlin,
    "Impatient",
    executable=lambda bank, sound: sound,
    may_submit=lambda bank, payment: payment.status in {"pending", "executed"},
)
Strict = changed(Merlin, "Strict", may_submit=strictly)
SOUND_VARIANTS = (JudgesSubmissions, ForgetsRefusals, Impatient, Strict)


# -- other banks -----------------------------------------------------------------------
def customers_tpp(bank, token):
    """Return the world of a customer's token, and the TPP that acts for them."""
    session = bank.registry.by_token(token)
    return session and (session.world, next(iter(session.world.payments.tpps.values())))


WAITING = ("received", "pending")
TakesCustomers = changed(Merlin, "TakesCustomers", caller=customers_tpp)
Unsigned = changed(
    Merlin,
    "Unsigned",
    sound=with_payments(executable=lambda payment: payment.status in WAITING),
    may_submit=lambda bank, payment: payment.status in WAITING,
)
Fails = changed(Merlin, "Fails", submit=lambda bank, environ, sent: (500, {}))
