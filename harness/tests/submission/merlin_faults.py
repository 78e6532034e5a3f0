"""Faults of the bank beside it, each with the obligations that it breaks; and neutral variants."""

from dataclasses import replace

from merlin_bank import Merlin

from assay.sandbox.payments.rules import DuplicateRule
from assay.sandbox.policies import SOUND


class TakesUnsigned(Merlin):
    """A payment can be submitted before its customer has signed it."""

    may_be = ("received", "pending")

    def may_submit(self, payment):
        """Whether it is in one of these states."""
        return payment.status in self.may_be

    def carry_out(self, world, payment):
        """Carry it out, signed or not."""
        payment.status = "pending"
        super().carry_out(world, payment)


class TakesRefused(TakesUnsigned):
    """A payment can be submitted after its customer has refused it."""

    may_be = ("refused", "pending")


class TakesExpired(TakesUnsigned):
    """A payment can be submitted although its customer took too long."""

    may_be = ("expired", "pending")


class OtherAmount(Merlin):
    """Another amount is executed than the customer has signed."""

    def carry_out(self, world, payment):
        """Carry out a cent more."""
        payment.terms = replace(payment.terms, amount=f"{float(payment.terms.amount) + 0.01:.2f}")
        super().carry_out(world, payment)


class Never(Merlin):
    """A submission is accepted, and nothing is executed."""

    def executable(self, sound):
        """Carry out nothing."""
        return lambda _: False


class Twice(Merlin):
    """A payment that is due at once is executed twice."""

    def carry_out(self, world, payment):
        """Carry it out again."""
        super().carry_out(world, payment)
        if payment.status == "executed":
            payment.status = "pending"
            super().carry_out(world, payment)


class LosesCancellation(Merlin):
    """A payment that was submitted is executed although it was cancelled since then."""

    def executable(self, sound):
        """Carry out what was cancelled, too."""
        return lambda payment: (
            payment.id in self.names and (sound(payment) or payment.status == "cancelled")
        )


class ForgetsRules(Merlin):
    """A submission is not refused, whatever the rules about repeats say."""

    def __init__(self):
        rule = DuplicateRule(originals=frozenset())
        super().__init__(replace(SOUND, payments=replace(SOUND.payments, duplicate=rule)))


# -- neutral variants ------------------------------------------------------------------
class JudgesSubmissions(Merlin):
    """The rules about repeats are applied to the submission, and not to the signature."""

    submitting = False

    def __init__(self):
        rule = SOUND.payments.duplicate
        later = replace(rule, parameters=self.parameters)
        super().__init__(replace(SOUND, payments=replace(SOUND.payments, duplicate=later)))

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


class Impatient(Merlin):
    """A payment is executed as soon as it is signed; its submission is accepted all the same."""

    def executable(self, sound):
        """Carry out what is signed."""
        return sound

    def may_submit(self, payment):
        """Whether it is signed, or executed already."""
        return payment.status in {"pending", "executed"}


class Strict(Merlin):
    """An attempt to submit what is not signed ends the consent."""

    def may_submit(self, payment):
        """Whether it is signed; otherwise it is cancelled."""
        if payment.status == "received":
            payment.status = "expired"
        return super().may_submit(payment)


SOUND_VARIANTS = (JudgesSubmissions, ForgetsRefusals, Impatient, Strict)


# -- other banks -----------------------------------------------------------------------
class TakesCustomers(Merlin):
    """A submission needs the token of the customer, who is bound by the consent."""

    def caller(self, token):
        """Return the world of a customer's token, and the TPP that acts for them."""
        session = self.registry.by_token(token)
        return session and (session.world, next(iter(session.world.payments.tpps.values())))


class Unsigned(Merlin):
    """No customer signs."""

    def __init__(self):
        waiting = ("received", "pending")
        payments = replace(SOUND.payments, executable=lambda payment: payment.status in waiting)
        super().__init__(replace(SOUND, payments=payments))

    def may_submit(self, payment):
        """Whether it was not executed yet."""
        return payment.status in {"received", "pending"}


class Fails(Merlin):
    """A submission fails."""

    def submit(self, environ, sent):
        """Answer that the bank has a problem."""
        return 500, {}
