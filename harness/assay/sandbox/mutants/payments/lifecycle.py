"""Faults of modifying and cancelling: too much, not really, or not for long."""

from collections.abc import Callable
from dataclasses import replace

from assay.sandbox.mutants.payments.change import breaking_pis
from assay.sandbox.payments.book import Payment
from assay.sandbox.payments.policies import SOUND_PAYMENTS
from assay.sandbox.payments.terms import PaymentType, Status, Terms

__all__ = ["LIFECYCLE_FAULTS"]

_SOUND = SOUND_PAYMENTS


def _open_and_of_type(*types: PaymentType) -> Callable[[Payment], bool]:
    def modifiable(payment: Payment) -> bool:
        is_open = payment.status in ("received", "pending", "executed")
        return (payment.terms.type in types and is_open) or _SOUND.modifiable(payment)

    return modifiable


def _also_at(*statuses: Status) -> Callable[[Payment], bool]:
    def modifiable(payment: Payment) -> bool:
        late = payment.terms.type == "deferred" and payment.status in statuses
        return late or _SOUND.modifiable(payment)

    return modifiable


def _unsigned_only(payment: Payment) -> bool:
    return payment.status == "received" and _SOUND.modifiable(payment)


def _never(_payment: Payment) -> bool:
    return False


def _keeps_nothing(former: Terms, _new: Terms) -> Terms:
    return former


def _keeps_amount(former: Terms, new: Terms) -> Terms:
    return replace(new, amount=former.amount)


def _keeps_creditor(former: Terms, new: Terms) -> Terms:
    return replace(new, creditor=former.creditor)


def _keeps_day(former: Terms, new: Terms) -> Terms:
    return replace(new, day=former.day)


def _keeps_reference(former: Terms, new: Terms) -> Terms:
    return replace(new, reference=former.reference)


def _as_created(payment: Payment) -> Terms:
    return payment.original


def _former_amount(payment: Payment) -> Terms:
    return replace(payment.terms, amount=payment.original.amount)


def _former_creditor(payment: Payment) -> Terms:
    return replace(payment.terms, creditor=payment.original.creditor)


def _executes_cancelled(by: str) -> Callable[[Payment], bool]:
    def executable(payment: Payment) -> bool:
        was_cancelled = payment.status == "cancelled" and payment.cancelled_by == by
        return was_cancelled or _SOUND.executable(payment)

    return executable


def _hides_cancelled(by: str, shown_as: Status) -> Callable[[Payment], Status]:
    def shown(payment: Payment) -> Status:
        hidden = payment.status == "cancelled" and payment.cancelled_by == by
        return shown_as if hidden else payment.status

    return shown


LIFECYCLE_FAULTS = (
    breaking_pis(
        "modify.immediate",
        "modify.deferred-only/immediate-refused",
        "an immediate payment can be modified",
        modifiable=_open_and_of_type("immediate"),
    ),
    breaking_pis(
        "modify.instant",
        "modify.deferred-only/instant-refused",
        "an instant payment can be modified",
        modifiable=_open_and_of_type("instant"),
    ),
    breaking_pis(
        "modify.executed",
        "modify.deferred-only/executed-refused",
        "a deferred payment can be modified after it was executed",
        modifiable=_also_at("executed"),
    ),
    breaking_pis(
        "modify.cancelled",
        "modify.deferred-only/cancelled-refused",
        "a deferred payment can be modified after it was cancelled",
        modifiable=_also_at("cancelled"),
    ),
    breaking_pis(
        "modify.unsigned-only",
        "modify.deferred-only/signed-accepted",
        "a deferred payment cannot be modified once it is signed",
        modifiable=_unsigned_only,
    ),
    *(
        breaking_pis(
            f"modify.keeps-{what}",
            "modify.deferred-only/persists",
            f"a modification is answered as if it were done, but keeps {what} as it was",
            modified=modified,
        )
        for what, modified in (
            ("everything", _keeps_nothing),
            ("amount", _keeps_amount),
            ("creditor", _keeps_creditor),
            ("day", _keeps_day),
            ("reference", _keeps_reference),
        )
    ),
    *(
        breaking_pis(
            f"modify.executes-{what}",
            "modify.deferred-only/executes-as-modified",
            f"a modified payment is executed with {says}",
            executed=executed,
        )
        for what, says, executed in (
            ("as-created", "everything as it was created", _as_created),
            ("former-amount", "its former amount", _former_amount),
            ("former-creditor", "its former creditor", _former_creditor),
        )
    ),
    breaking_pis(
        "cancel.refused",
        "cancel/accepted",
        "a deferred payment cannot be cancelled",
        cancellable=_never,
    ),
    *(
        breaking_pis(
            f"cancel.executed-{by}",
            f"cancel/by-{by}-never-executes",
            f"a payment that the {by} cancelled is executed on its day",
            executable=_executes_cancelled(by),
        )
        for by in ("provider", "customer")
    ),
    *(
        breaking_pis(
            f"cancel.{by}-not-shown-{status}",
            f"cancel/by-{by}-shown",
            f"a payment that the {by} cancelled is shown as {status}",
            shown=_hides_cancelled(by, status),
        )
        for by in ("provider", "customer")
        for status in ("pending", "received")
    ),
)
