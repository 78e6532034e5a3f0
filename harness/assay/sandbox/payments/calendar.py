"""When a payment is executed: at signing, or on its day at half past six.

On the bank's wall clock, and Saturdays, Sundays and holidays are days like others,
since the document names no others. A deferred payment that is signed only after its
moment is executed at signing. Not a scheduler: see
:func:`assay.sandbox.payments.states.advance`.
"""

from datetime import UTC, date, datetime, time

from assay.sandbox.days import PARIS, today
from assay.sandbox.payments.book import Payment
from assay.sandbox.payments.terms import Terms

__all__ = ["day_of", "due", "execution_moment"]

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
