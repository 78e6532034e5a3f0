"""The two rules that are decided once a payment is signed: no repeats, and CASH.

A repeat of a payment that was executed is rejected, and so is CASH to a creditor whom
this customer has not registered for more than 72 hours, unless it was signed with the
soft token. Both look at plain facts. Not for what a request must look like: that is
refused before anybody signs.
"""

from collections.abc import Callable, Hashable
from dataclasses import dataclass
from datetime import date, datetime, timedelta
from typing import TypeAlias

from assay.sandbox.payments.formats import Factor, Status, Terms

__all__ = [
    "CashRule",
    "DuplicateRule",
    "Facts",
    "all_parameters",
    "breaks_cash",
    "more_than_72_hours",
    "own_registration",
]


@dataclass(frozen=True, slots=True, kw_only=True)
class Facts:
    """What the CASH rule looks at."""

    terms: Terms
    factor: Factor | None
    signed: datetime
    #: When the paying customer registered the creditor; None when never.
    registered: datetime | None
    #: When another customer did so first; the sound bank never asks.
    registered_by_others: datetime | None


#: The registration that counts.
Registration: TypeAlias = Callable[[Facts], datetime | None]


def own_registration(facts: Facts) -> datetime | None:
    """Take the paying customer's own."""
    return facts.registered


def more_than_72_hours(age: timedelta) -> bool:
    """Trust what is older than 72 hours; exactly 72 hours is not."""
    return age > timedelta(hours=72)


@dataclass(frozen=True, slots=True, kw_only=True)
class CashRule:
    """Which payments are too risky, in three parts."""

    purposes: frozenset[str] = frozenset({"CASH"})
    exempt: frozenset[Factor] = frozenset({"soft-token"})
    registration: Registration = own_registration
    #: Is a registration of this age good enough?
    trusted: Callable[[timedelta], bool] = more_than_72_hours


def breaks_cash(rule: CashRule, facts: Facts) -> bool:
    """Apply the rule."""
    if facts.terms.purpose not in rule.purposes or facts.factor in rule.exempt:
        return False
    registered = rule.registration(facts)
    return registered is None or not rule.trusted(facts.signed - registered)


def all_parameters(terms: Terms, day: date) -> Hashable:
    """Tell payments apart by their day and by all else that a customer would name."""
    return (
        day,
        terms.debtor,
        terms.creditor,
        terms.cents,
        terms.currency,
        terms.purpose,
        terms.reference,
        terms.type,
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class DuplicateRule:
    """What repeats what."""

    #: Payments that are equal in these are the same.
    parameters: Callable[[Terms, date], Hashable] = all_parameters
    #: Where a payment must stand to be repeated; one that moved no money cannot be.
    originals: frozenset[Status] = frozenset({"executed"})
