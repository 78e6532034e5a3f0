"""When a payment is executed: at signing, or on its day at half past six.

On the bank's wall clock, and Saturdays, Sundays and holidays are days like others,
since the document names no others. A deferred payment that is signed only after its
moment is executed at signing. Not a scheduler: see
:func:`assay.sandbox.payments.states.advance`.

How long a customer may take at the screens: 4 minutes a screen, 30 minutes in all.

A timer gives the moment from which it is too late, that moment included: a request
exactly four minutes after the last one comes too late. Time is the world's own clock.
Not about what being too late means: see :mod:`assay.sandbox.payments.states`.
"""

from collections.abc import Callable
from dataclasses import dataclass
from datetime import UTC, date, datetime, time, timedelta
from typing import TypeAlias

from assay.sandbox.calendar import PARIS, today
from assay.sandbox.payments.book import Payment
from assay.sandbox.payments.formats import Terms

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
