"""What a world remembers of payments: who asked, what for, and what became of it.

State and nothing else, as in :mod:`assay.sandbox.world`, which holds one book a world;
what may be done with it is decided in :mod:`assay.sandbox.payments.lifecycle`.
"""

from dataclasses import dataclass, field
from datetime import date, datetime
from hashlib import sha256
from secrets import token_urlsafe
from typing import Literal, TypeAlias, get_args

from assay.sandbox.payments.terms import Factor, PaymentType, Reason, Status, Terms

__all__ = [
    "LAPSES",
    "Activity",
    "Execution",
    "Lapse",
    "Payment",
    "PaymentBook",
    "Provider",
    "Signing",
    "Step",
]

#: Where a customer stands in signing; the last three are ends.
Step: TypeAlias = Literal["password", "factor", "code", "confirm", "done", "locked", "disconnected"]
#: What a customer does at a screen: look at it, once more or not, or send its form.
Activity: TypeAlias = Literal["look", "form"]
#: Which of the two timers ended a signing.
Lapse: TypeAlias = Literal["idle", "overall"]

LAPSES: tuple[Lapse, ...] = get_args(Lapse)


@dataclass(frozen=True, slots=True, kw_only=True)
class Provider:
    """A third party that initiates payments, with a token of its own."""

    id: str
    token: str


@dataclass(slots=True, kw_only=True)
class Signing:
    """One customer in front of the screens; there is one for each payment at most."""

    #: The unguessable part of the URL; another one after the password.
    key: str
    step: Step = "password"
    #: When the first screen was shown, and when the last request came.
    first: datetime
    last: datetime
    wrong: int = 0
    #: Who logged in; empty where nobody had to.
    customer: str = ""
    factor: Factor | None = None
    #: What the customer was shown to confirm.
    shown: Terms | None = None
    lapse: Lapse | None = None


@dataclass(slots=True, kw_only=True)
class Payment:
    """A payment request, from its creation to its end."""

    id: str
    #: Who asked for it: the id of a provider.
    provider: str
    terms: Terms
    #: As it was before any modification.
    original: Terms
    created: datetime
    #: The unguessable part of the link to the first screen.
    approval: str
    status: Status = "received"
    reason: Reason | None = None
    #: Is it one that may not be made, and that is rejected once it is signed?
    barred: bool = False
    signing: Signing | None = None
    factor: Factor | None = None
    cancelled_by: Literal["provider", "customer"] | None = None
    #: When the customer confirmed or refused.
    signed: datetime | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Execution:
    """Money that moved."""

    payment: str
    #: The local day.
    date: date
    debtor: str
    creditor: str
    amount: str


@dataclass(slots=True, kw_only=True)
class PaymentBook:
    """The payments of one world."""

    #: Does this bank offer instant payments?
    instant: bool = True
    providers: dict[str, Provider] = field(default_factory=dict[str, Provider])
    #: By their ids, in the order they were made.
    payments: dict[str, Payment] = field(default_factory=dict[str, Payment])
    #: By the unguessable parts of their URLs.
    approvals: dict[str, Payment] = field(default_factory=dict[str, Payment])
    signings: dict[str, Payment] = field(default_factory=dict[str, Payment])
    executions: list[Execution] = field(default_factory=list[Execution])

    def add(self, world: str, provider: Provider, terms: Terms, now: datetime) -> Payment:
        """Enter a new payment."""
        number = len(self.payments) + 1
        payment = Payment(
            id=sha256(f"payment {world} {number}".encode()).hexdigest()[:24],
            provider=provider.id,
            terms=terms,
            original=terms,
            created=now,
            approval=token_urlsafe(24),
        )
        self.payments[payment.id] = payment
        self.approvals[payment.approval] = payment
        return payment

    def open_types(self, debtor: str) -> frozenset[PaymentType]:
        """Tell of which types an account has payments that are not at their end."""
        return frozenset(
            payment.terms.type
            for payment in self.payments.values()
            if payment.terms.debtor == debtor and payment.status in ("received", "pending")
        )

    def rekey(self, payment: Payment, signing: Signing) -> None:
        """Give a signing a new key; the former one opens nothing any more."""
        self.signings.pop(signing.key, None)
        signing.key = token_urlsafe(24)
        self.signings[signing.key] = payment
