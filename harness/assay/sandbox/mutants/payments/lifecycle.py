"""Mutants of modification and cancellation."""

from collections.abc import Callable, Mapping
from dataclasses import replace

from assay.sandbox.mutants.mutant import allowing, breaking_pis, only_when
from assay.sandbox.payments.policies import SOUND_PAYMENTS
from assay.sandbox.payments.records import Payment
from assay.sandbox.payments.terms import PaymentType, Status, Terms

__all__ = ["LIFECYCLE_FAULTS"]

_SOUND = SOUND_PAYMENTS
_AT_ONCE: tuple[PaymentType, ...] = ("immediate", "instant")
_WAITING: tuple[Status, ...] = ("pending", "received")
#: The parties that can cancel, and their names in sentences.
_BY = {"tpp": "TPP", "customer": "customer"}


def _also(status: Status, type: PaymentType) -> Callable[[Payment], bool]:
    """Also allow changes of payments with this status and type."""
    return allowing(
        lambda payment: (payment.terms.type, payment.status) == (type, status), _SOUND.modifiable
    )


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


def _as_created(payment: Payment) -> Terms:
    return payment.original


def _as_signed(payment: Payment) -> Terms:
    shown = payment.signing.shown if payment.signing else None
    return shown or payment.terms


def _former_amount(payment: Payment) -> Terms:
    return replace(payment.terms, amount=payment.original.amount)


def _former_creditor(payment: Payment) -> Terms:
    return replace(payment.terms, creditor=payment.original.creditor)


def _former_day(payment: Payment) -> Terms:
    return replace(payment.terms, day=payment.original.day)


def _cancelled(by: str) -> Callable[[Payment], bool]:
    return lambda payment: payment.status == "cancelled" and payment.cancelled_by == by


def _executes_cancelled(by: str) -> Callable[[Payment], bool]:
    return allowing(_cancelled(by), _SOUND.executable)


def _cancelled_once(payment: Payment) -> Status:
    return "cancelled" if payment.cancelled_by else payment.status


def _hides_cancelled(by: str, shown_as: Status) -> Callable[[Payment], Status]:
    return only_when(_cancelled(by), lambda _: shown_as, _SOUND.shown)


#: Part of an accepted modification that is ignored, in reading and in execution.
_KEEPS = (
    ("everything", _keeps_nothing),
    ("amount", _keeps_amount),
    ("creditor", _keeps_creditor),
    ("day", _keeps_day),
)
#: Former terms that are shown, or executed, instead of the modified ones.
_FORMER = (
    ("as-created", "its original terms", _as_created),
    ("former-amount", "its former amount", _former_amount),
    ("former-creditor", "its former creditor", _former_creditor),
    ("former-day", "its former day", _former_day),
)

_CARRIED = "modify.deferred-only/carried-out-as-changed"
#: What is wrong with the execution of a modified payment, beside that it is not as modified.
_WRONGLY: Mapping[str, str] = {
    "everything": "execution/as-asked execution/not-early",
    "amount": "execution/as-asked",
    "creditor": "execution/as-asked",
    "day": "execution/not-early",
    "as-created": "execution/as-asked execution/not-early",
    "former-amount": "execution/as-asked",
    "former-creditor": "execution/as-asked",
    "former-day": "execution/not-early",
    "as-signed": "execution/as-asked execution/not-early",
}

LIFECYCLE_FAULTS = (
    breaking_pis(
        "modify.never",
        "modify.deferred-only/deferred-accepted",
        "no payment can be modified",
        modifiable=_never,
    ),
    *(
        breaking_pis(
            f"modify.{kind}",
            f"modify.deferred-only/{kind}-refused",
            f"an {kind} payment can be modified",
            modifiable=_also("received", kind),
        )
        for kind in _AT_ONCE
    ),
    breaking_pis(
        "modify.executed",
        "modify.deferred-only/done-refused",
        "a deferred payment can be modified after it was executed",
        modifiable=_also("executed", "deferred"),
    ),
    breaking_pis(
        "modify.immediate-executed",
        "modify.deferred-only/done-refused",
        "an immediate payment can be modified after it was executed",
        modifiable=_also("executed", "immediate"),
    ),
    *(
        breaking_pis(
            f"modify.keeps-{what}",
            f"modify.deferred-only/persists {_CARRIED} {_WRONGLY[what]}",
            f"a modification is accepted but does not change {what}",
            modified=modified,
        )
        for what, modified in _KEEPS
    ),
    *(
        breaking_pis(
            f"modify.shows-{what}",
            "modify.deferred-only/persists",
            f"a modified payment is shown with {says}, but executed as modified",
            shows=shows,
        )
        for what, says, shows in _FORMER
    ),
    *(
        breaking_pis(
            f"modify.executes-{what}",
            f"{_CARRIED} {_WRONGLY[what]}",
            f"a modified payment is executed with {says}",
            executed=executed,
        )
        for what, says, executed in (
            *_FORMER,
            ("as-signed", "the terms that were signed", _as_signed),
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
            f"cancel/by-{by}-never-done execution/cancelled-undone",
            f"a payment cancelled by the {_BY[by]} is executed on its day",
            executable=_executes_cancelled(by),
        )
        for by in ("tpp", "customer")
    ),
    *(
        breaking_pis(
            f"cancel.executed-in-silence-{by}",
            f"cancel/by-{by}-never-done execution/cancelled-undone",
            f"a payment cancelled by the {_BY[by]} is executed, but still shown as cancelled",
            executable=_executes_cancelled(by),
            shown=_cancelled_once,
        )
        for by in ("tpp", "customer")
    ),
    *(
        breaking_pis(
            f"cancel.{by}-not-shown-{status}",
            f"cancel/by-{by}-shown",
            f"a payment cancelled by the {_BY[by]} is shown as {status}",
            shown=_hides_cancelled(by, status),
        )
        for by in ("tpp", "customer")
        for status in _WAITING
    ),
)
