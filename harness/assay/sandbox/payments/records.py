"""Records of payment initiation: TPPs, payments, signings and executions of one world.

Pure state; :mod:`assay.sandbox.payments.lifecycle` decides what may be done with it.
"""

from dataclasses import dataclass, field
from datetime import date, datetime
from hashlib import sha256
from secrets import token_urlsafe
from typing import Literal, TypeAlias, get_args

from assay.sandbox.messages import FIRST_BANK
from assay.sandbox.payments.terms import Decision, Factor, PaymentType, Reason, Status, Terms

__all__ = [
    "LAPSES",
    "Activity",
    "Execution",
    "Lapse",
    "Payment",
    "PaymentBook",
    "Return",
    "Signing",
    "Step",
    "Tpp",
]

#: Current step of a signing; the last three are final.
Step: TypeAlias = Literal["password", "factor", "code", "confirm", "done", "locked", "disconnected"]
#: Activity of a customer: loading a screen, or submitting its form.
Activity: TypeAlias = Literal["look", "form"]
#: Which of the two timers ended a signing.
Lapse: TypeAlias = Literal["idle", "overall"]

LAPSES: tuple[Lapse, ...] = get_args(Lapse)


@dataclass(frozen=True, slots=True, kw_only=True)
class Tpp:
    """A TPP that initiates payments, with its own token."""

    id: str
    token: str
    #: How often the token was renewed.
    renewals: int = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class Return:
    """A customer about to leave the screens."""

    terms: Terms
    decision: Decision
    #: Target requested by the browser, in a field that the screens do not have.
    asked: str


@dataclass(slots=True, kw_only=True)
class Signing:
    """The progress of a customer through the screens; at most one per payment."""

    #: The unguessable part of the URL; replaced after the password.
    key: str
    step: Step = "password"
    #: Moments of the first screen and of the last request.
    first: datetime
    last: datetime
    wrong: int = 0
    #: Id of the customer who logged in; empty if no login was required.
    customer: str = ""
    factor: Factor | None = None
    #: Terms shown on the confirmation screen.
    shown: Terms | None = None
    lapse: Lapse | None = None


@dataclass(slots=True, kw_only=True)
class Payment:
    """A payment request from creation to its end."""

    id: str
    #: Id of the TPP that created it.
    tpp: str
    terms: Terms
    #: The terms before any modification.
    original: Terms
    created: datetime
    #: The unguessable part of the link to the first screen.
    approval: str
    #: The code of the bank at whose host it was made.
    bank: str = FIRST_BANK
    status: Status = "received"
    reason: Reason | None = None
    #: Whether it is rejected once it is signed, since it should not have been accepted.
    barred: bool = False
    #: Whether it could be signed again after it was rejected.
    reopened: bool = False
    #: How often it was modified.
    changes: int = 0
    signing: Signing | None = None
    factor: Factor | None = None
    cancelled_by: Literal["tpp", "customer"] | None = None
    #: Moment of the customer's decision.
    signed: datetime | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Execution:
    """An executed transfer."""

    payment: str
    #: The local day.
    date: date
    debtor: str
    creditor: str
    amount: str


@dataclass(slots=True, kw_only=True)
class PaymentBook:
    """The payments of one world."""

    #: Whether this bank offers instant payments.
    instant: bool = True
    tpps: dict[str, Tpp] = field(default_factory=dict[str, Tpp])
    #: By id, in the order of creation.
    payments: dict[str, Payment] = field(default_factory=dict[str, Payment])
    #: By the unguessable part of the URL.
    approvals: dict[str, Payment] = field(default_factory=dict[str, Payment])
    signings: dict[str, Payment] = field(default_factory=dict[str, Payment])
    executions: list[Execution] = field(default_factory=list[Execution])

    def add(self, world: str, tpp: Tpp, terms: Terms, now: datetime, bank: str) -> Payment:
        """Create a payment."""
        number = len(self.payments) + 1
        payment = Payment(
            id=sha256(f"payment {world} {number}".encode()).hexdigest()[:24],
            tpp=tpp.id,
            terms=terms,
            original=terms,
            created=now,
            approval=token_urlsafe(24),
            bank=bank,
        )
        self.payments[payment.id] = payment
        self.approvals[payment.approval] = payment
        return payment

    def reopen(self, payment: Payment) -> None:
        """Let a signed payment be signed again, at another link; the former one becomes invalid."""
        del self.approvals[payment.approval]
        payment.approval, payment.status, payment.signing = token_urlsafe(24), "received", None
        self.approvals[payment.approval] = payment

    def open_types(self, debtor: str) -> frozenset[PaymentType]:
        """Return the types of the open payments from an account."""
        return frozenset(
            payment.terms.type
            for payment in self.payments.values()
            if payment.terms.debtor == debtor and payment.status in ("received", "pending")
        )

    def rekey(self, payment: Payment, signing: Signing) -> None:
        """Give a signing a new key; the former one becomes invalid."""
        self.signings.pop(signing.key, None)
        signing.key = token_urlsafe(24)
        self.signings[signing.key] = payment
