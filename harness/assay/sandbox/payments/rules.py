"""Rules on signed payments: execution day, screen timers, repeats and CASH.

A payment is executed at signing, a deferred one at 06:30 local time on its day, or at
signing if that is later. Saturdays, Sundays and holidays are ordinary days, since the
document does not exclude them. A signing expires 4 minutes after the last request and
30 minutes after the first screen; the moment of expiry itself is too late.

A repeat of an executed payment is rejected. So is a CASH payment to a creditor whom the
customer has not registered for more than 72 hours, unless it was signed with the soft
token.
"""

import sys
from collections.abc import Callable, Hashable
from dataclasses import dataclass
from datetime import UTC, date, datetime, time, timedelta
from typing import TypeAlias

from assay.sandbox.calendar import PARIS, Threshold, today
from assay.sandbox.payments.records import Payment
from assay.sandbox.payments.terms import Factor, Status, Terms

_EXECUTION = time(6, 30)


def execution_moment(day: date, at: time = _EXECUTION) -> datetime:
    """Return the moment at which deferred payments of a local day are executed."""
    return datetime.combine(day, at, PARIS).astimezone(UTC)


def signed_at(payment: Payment) -> datetime:
    """Return when a payment was signed; that of its creation if it was not."""
    return payment.signed or payment.created


def due(payment: Payment, terms: Terms) -> datetime:
    """Return the moment from which a payment with these terms can be executed."""
    signed = signed_at(payment)
    day = terms.day
    return signed if day is None else max(signed, execution_moment(day))


def local_day(payment: Payment, terms: Terms) -> date:
    """Return the local day of a payment, which a repeat would share."""
    return terms.day or today(signed_at(payment))


@dataclass(frozen=True, slots=True, kw_only=True)
class Times:
    """Moments of the first screen and of the last request."""

    first: datetime
    last: datetime


def since_last(times: Times) -> datetime:
    """Measure from the last request."""
    return times.last


def since_first(times: Times) -> datetime:
    """Measure from the first screen, whatever happened since."""
    return times.first


@dataclass(frozen=True, slots=True, kw_only=True)
class Timer:
    """When a signing expires."""

    #: Returns the moment from which time is measured.
    since: Callable[[Times], datetime]
    expired: Threshold[timedelta]

    def left(self, times: Times, now: datetime) -> timedelta:
        """Return the time until the limit; negative after it."""
        return self.expired.limit - (now - self.since(times))

    def __call__(self, times: Times, now: datetime) -> bool:
        """Return whether a signing has expired."""
        return self.expired(now - self.since(times))


_SECOND = timedelta(seconds=1)
#: Expires 4 minutes after the last request.
IDLE = Timer(
    since=since_last,
    expired=Threshold(limit=timedelta(minutes=4), inclusive=True, unit=_SECOND),
)
#: Expires 30 minutes after the first screen.
OVERALL = Timer(
    since=since_first,
    expired=Threshold(limit=timedelta(minutes=30), inclusive=True, unit=_SECOND),
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Facts:
    """Input of the CASH rule."""

    terms: Terms
    factor: Factor | None
    signed: datetime
    #: When the paying customer registered the creditor; None if never.
    registered: datetime | None
    #: When another customer first did so; unused by the sound bank.
    registered_by_others: datetime | None


#: Returns the registration that counts.
Registration: TypeAlias = Callable[[Facts], datetime | None]


def own_registration(facts: Facts) -> datetime | None:
    """Return the paying customer's own registration."""
    return facts.registered


#: A registration is trusted once it is more than 72 hours old.
MORE_THAN_72_HOURS = Threshold(limit=timedelta(hours=72), inclusive=False, unit=timedelta(hours=1))


@dataclass(frozen=True, slots=True, kw_only=True)
class CashRule:
    """Which CASH payments are rejected."""

    purposes: frozenset[str] = frozenset({"CASH"})
    exempt: frozenset[Factor] = frozenset({"soft-token"})
    registration: Registration = own_registration
    #: Whether a registration of this age is trusted.
    trusted: Callable[[timedelta], bool] = MORE_THAN_72_HOURS


def breaks_cash(rule: CashRule, facts: Facts) -> bool:
    """Return whether a payment breaks the CASH rule."""
    if facts.terms.purpose not in rule.purposes or facts.factor in rule.exempt:
        return False
    registered = rule.registration(facts)
    return registered is None or not rule.trusted(facts.signed - registered)


def compared_parameters(terms: Terms, day: date) -> Hashable:
    """Return the parameters by which payments differ."""
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
    """Which payments count as repeats."""

    #: Payments with equal parameters are repeats.
    parameters: Callable[[Terms, date], Hashable] = compared_parameters
    #: Statuses of payments that cannot be repeated.
    originals: frozenset[Status] = frozenset({"executed"})
    #: How long after the original a payment is a repeat.
    window: timedelta = timedelta.max
    #: How many payments a payment is compared with: the last ones.
    memory: int = sys.maxsize
