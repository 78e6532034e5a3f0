"""Neutral variants of modification, cancellation and repeats of payments.

Which fields a modification may name, when a payment can be modified or cancelled, and
whether its type is one of the parameters of a repeat are not in the document.
"""

from collections.abc import Callable, Hashable
from dataclasses import replace
from datetime import date

from assay.sandbox.mutants.mutant import Neutral, allowing, neutral_pis
from assay.sandbox.payments.policies import SOUND_PAYMENTS
from assay.sandbox.payments.records import Payment
from assay.sandbox.payments.rules import compared_parameters
from assay.sandbox.payments.terms import FIELDS, MODIFIABLE, Field, Status, Terms
from assay.sandbox.policies import put

__all__ = ["LIFECYCLE_NEUTRAL"]


def _deferred_and_cancelled(payment: Payment) -> bool:
    return payment.terms.type == "deferred" and payment.status == "cancelled"


def _only_while(status: Status, sound: Callable[[Payment], bool]) -> Callable[[Payment], bool]:
    return lambda payment: payment.status == status and sound(payment)


def _whatever_type(terms: Terms, day: date) -> Hashable:
    return compared_parameters(replace(terms, type="immediate"), day)


def _cancelled_as_rejected(payment: Payment) -> Status:
    return "rejected" if payment.status == "cancelled" else payment.status


def _ignored(_value: object) -> None:
    return None


#: What has no control where the amount of an unsigned payment cannot be modified.
_NO_CHANGE = (
    "payments.modify/answers payments.modify/survives-malformed payments.modify/refuses-malformed"
    " payments.addressed/modify-payment-unknown payments.addressed/modify-payment-foreign"
    " euro/stays-when-changed modify.deferred-only/immediate-refused"
    " modify.deferred-only/instant-refused modify.deferred-only/done-refused"
    " redirect-only/modify-payment host/modify-payment-links values/modify-payment-amount"
    " values/modify-payment-creditorAccount values/modify-payment-date"
    " values/modify-payment-currency token-required/modify-payment-without-token"
    " token-required/modify-payment-invented-token"
)
#: What is not shown where a signed payment cannot be cancelled.
_NOT_CANCELLED = (
    "cancel/by-tpp-never-done cancel/by-customer-never-done"
    " duplicate/after-cancelled-accepted execution/cancelled-undone"
)
_MODIFIABLE_ALONE: tuple[tuple[str, Field, str], ...] = (
    ("amount", "amount", ""),
    ("creditor", "creditorAccount", _NO_CHANGE),
    ("day", "requestedExecutionDate", _NO_CHANGE),
)
_PHASES: tuple[tuple[str, Status], ...] = (
    ("before-signing", "received"),
    ("after-signing", "pending"),
)

#: The neutral variants of what happens to a payment after it was created.
LIFECYCLE_NEUTRAL: tuple[Neutral, ...] = (
    neutral_pis(
        "cancelled-modifiable",
        "A cancelled payment can be modified, and stays cancelled.",
        modifiable=allowing(_deferred_and_cancelled, SOUND_PAYMENTS.modifiable),
    ),
    neutral_pis(
        "cancelled-is-rejected",
        "A cancelled payment is shown as rejected.",
        shown=_cancelled_as_rejected,
    ),
    neutral_pis(
        "currency-ignored",
        "A modification may name the currency, and stays in euro whatever it says.",
        changeable=(*MODIFIABLE, "currency"),
        changes=put(FIELDS, currency=_ignored),
    ),
    *(
        neutral_pis(
            f"{name}-modifiable",
            f"Only the {name} of a deferred payment can be modified.",
            changeable=(field,),
            leaves=leaves,
        )
        for name, field, leaves in _MODIFIABLE_ALONE
    ),
    *(
        neutral_pis(
            f"modifiable-{when}",
            f"A deferred payment can be modified only {when.replace('-', ' ')}.",
            modifiable=_only_while(status, SOUND_PAYMENTS.modifiable),
            leaves=_NO_CHANGE if status == "pending" else "",
        )
        for when, status in _PHASES
    ),
    *(
        neutral_pis(
            f"cancellable-{when}",
            f"A deferred payment can be cancelled only {when.replace('-', ' ')}.",
            cancellable=_only_while(status, SOUND_PAYMENTS.cancellable),
            leaves=_NOT_CANCELLED if status == "received" else "",
        )
        for when, status in _PHASES
    ),
    neutral_pis(
        "repeats-in-any-type",
        "Payments that differ only in their type count as repeats.",
        duplicate=replace(SOUND_PAYMENTS.duplicate, parameters=_whatever_type),
    ),
)
