"""The words of a payment: what a third party asks for, as one frozen value.

Texts are kept as they were sent, so that reading gives back what was created; what they
mean is worked out beside them. Not for reading them: see
:mod:`assay.sandbox.payments.reading`.
"""

from dataclasses import dataclass
from datetime import date
from decimal import Decimal
from typing import Literal, TypeAlias, get_args

__all__ = [
    "DECISIONS",
    "FACTORS",
    "SEGMENTS",
    "Decision",
    "Factor",
    "PaymentType",
    "Reason",
    "Segment",
    "Status",
    "Terms",
]

#: When a payment is executed: at signing, on its day, or at signing within seconds.
PaymentType: TypeAlias = Literal["immediate", "deferred", "instant"]
#: The kinds of customers that the document names; only the first two are served.
Segment: TypeAlias = Literal["PART", "PRO", "LARGE_PRO", "CORPORATE", "ASSOCIATION", "GUARDIAN"]
#: What a customer shows beside the password; the last is offered by no sound bank.
Factor: TypeAlias = Literal["sms", "cap", "soft-token", "email"]
#: What a customer says to the payment, having seen it.
Decision: TypeAlias = Literal["confirm", "refuse"]
#: Where a payment stands.
Status: TypeAlias = Literal[
    "received", "pending", "executed", "rejected", "refused", "expired", "cancelled"
]
#: Why a signed payment was rejected.
Reason: TypeAlias = Literal["duplicate", "cash", "scope"]

SEGMENTS: tuple[Segment, ...] = get_args(Segment)
FACTORS: tuple[Factor, ...] = get_args(Factor)
DECISIONS: tuple[Decision, ...] = get_args(Decision)


@dataclass(frozen=True, slots=True, kw_only=True)
class Terms:
    """One transfer as it was asked for, or as it was modified."""

    type: PaymentType
    #: The local day of a deferred payment; None for the others.
    day: date | None
    debtor: str
    creditor: str
    #: As it was sent; see `cents`.
    amount: str
    currency: str
    charge_bearer: str
    purpose: str
    #: None when there is none.
    reference: str | None
    success_url: str
    failure_url: str | None

    @property
    def cents(self) -> int:
        """The amount, however it was spelt."""
        return int(Decimal(self.amount) * 100)
