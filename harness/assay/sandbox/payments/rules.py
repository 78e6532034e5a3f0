"""When a payment is executed: at signing, or on its day at half past six.

On the bank's wall clock, and Saturdays, Sundays and holidays are days like others,
since the document names no others. A deferred payment that is signed only after its
moment is executed at signing. Not a scheduler: see
:func:`assay.sandbox.payments.states.advance`.

How long a customer may take at the screens: 4 minutes a screen, 30 minutes in all.

A timer gives the moment from which it is too late, that moment included: a request
exactly four minutes after the last one comes too late. Time is the world's own clock.
Not about what being too late means: see :mod:`assay.sandbox.payments.states`.

The two rules that are decided once a payment is signed: no repeats, and CASH.

A repeat of a payment that was executed is rejected, and so is CASH to a creditor whom
this customer has not registered for more than 72 hours, unless it was signed with the
soft token. Both look at plain facts. Not for what a request must look like: that is
refused before anybody signs.
"""

from collections.abc import Callable, Hashable
from dataclasses import dataclass
from datetime import UTC, date, datetime, time, timedelta
from typing import TypeAlias

from assay.sandbox.calendar import PARIS, today
from assay.sandbox.payments.records import Payment
from assay.sandbox.payments.terms import Factor, Status, Terms

_EXECUTION = time(6, 30)


def execution_moment(day: date) -> datetime:
    """Tell when deferred payments of this local day are executed."""
    return datetime.combine(day, _EXECUTION, PARIS).astimezone(UTC)


def due(payment: Payment, terms: Terms) -> datetime:
    """Tell from when on a payment can be executed with these terms."""
    signed = payment.signed or payment.created
    day = terms.day
    return signed if day is None else max(signed, execution_moment(day))


def day_of(payment: Payment, terms: Terms) -> date:
    """Give the local day of a payment, which its repeat would share."""
    return terms.day or today(payment.signed or payment.created)


@dataclass(frozen=True, slots=True, kw_only=True)
class Times:
    """When the first screen was shown, and when the last request came."""

    first: datetime
    last: datetime


#: From when on it is too late.
Until: TypeAlias = Callable[[Times], datetime]


def after_last(**span: int) -> Until:
    """So long after the last activity."""
    length = timedelta(**span)
    return lambda times: times.last + length


def after_first(**span: int) -> Until:
    """So long after the first screen, whatever happened since."""
    length = timedelta(**span)
    return lambda times: times.first + length


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
