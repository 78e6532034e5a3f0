"""Mutants of modification, cancellation and execution.

What is carried out differs from what was asked for, changed and answered.
"""

from collections.abc import Callable, Mapping
from dataclasses import replace
from datetime import datetime, timedelta
from typing import cast

from assay.sandbox.messages import Answer, Json, error
from assay.sandbox.mutants.mutant import allowing, breaking_pis, only_when
from assay.sandbox.payments.policies import SOUND_PAYMENTS, PaymentOperation
from assay.sandbox.payments.records import Payment
from assay.sandbox.payments.rules import signed_at
from assay.sandbox.payments.terms import (
    FIELDS,
    Content,
    PaymentType,
    Reason,
    Status,
    Terms,
)
from assay.sandbox.policies import put

__all__ = ["EXECUTION_FAULTS", "LIFECYCLE_FAULTS"]

_SOUND = SOUND_PAYMENTS
_AT_ONCE: tuple[PaymentType, ...] = ("immediate", "instant")
_STANDS: tuple[tuple[str, Status], ...] = (("unsigned", "received"), ("signed", "pending"))
_WAITING: tuple[Status, ...] = ("pending", "received")
#: The parties that can cancel, and their names in sentences.
_BY = {"tpp": "TPP", "customer": "customer"}


def _also(status: Status, type: PaymentType) -> Callable[[Payment], bool]:
    """Also allow changes of payments with this status and type."""
    return allowing(
        lambda payment: (payment.terms.type, payment.status) == (type, status), _SOUND.modifiable
    )


def _unchangeable(_payment: Payment) -> bool:
    return False


def _stands_as(status: Status) -> Callable[[Payment], bool]:
    return lambda payment: payment.status == status


def _as_signed(payment: Payment) -> Terms:
    shown = payment.signing.shown if payment.signing else None
    return shown or payment.terms


def _cancelled(by: str) -> Callable[[Payment], bool]:
    return lambda payment: payment.status == "cancelled" and payment.cancelled_by == by


def _executes_cancelled(by: str) -> Callable[[Payment], bool]:
    return allowing(_cancelled(by), _SOUND.executable)


def _executes_changed(by: str) -> Callable[[Payment], bool]:
    """Execute a cancelled payment if it was modified before."""
    return allowing(lambda each: bool(each.changes) and _cancelled(by)(each), _SOUND.executable)


def _cancelled_once(payment: Payment) -> Status:
    return "cancelled" if payment.cancelled_by else payment.status


def _hides_cancelled(by: str, shown_as: Status) -> Callable[[Payment], Status]:
    return only_when(_cancelled(by), lambda _: shown_as, _SOUND.shown)


# fmt: off
#: Part of an accepted modification that is ignored, in reading and in execution.
_KEEPS: tuple[tuple[str, Callable[[Terms, Terms], Terms]], ...] = (
    ("everything", lambda former, _new: former),
    ("amount", lambda former, new: replace(new, amount=former.amount)),
    ("creditor", lambda former, new: replace(new, creditor=former.creditor)),
    ("day", lambda former, new: replace(new, day=former.day)),
)
#: Former terms that are shown, or executed, instead of the modified ones.
_FORMER: tuple[tuple[str, str, Callable[[Payment], Terms]], ...] = (
    ("as-created", "its original terms", lambda payment: payment.original),
    ("former-amount", "its former amount",
     lambda payment: replace(payment.terms, amount=payment.original.amount)),
    ("former-creditor", "its former creditor",
     lambda payment: replace(payment.terms, creditor=payment.original.creditor)),
    ("former-day", "its former day",
     lambda payment: replace(payment.terms, day=payment.original.day)),
)
# fmt: on

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

# fmt: off
LIFECYCLE_FAULTS = (
    breaking_pis("modify.never", "modify.deferred-only/deferred-accepted",
        "no payment can be modified", modifiable=_unchangeable),
    *(breaking_pis(f"modify.{kind}", f"modify.deferred-only/{kind}-refused",
          f"an {kind} payment can be modified", modifiable=_also("received", kind))
      for kind in _AT_ONCE),
    breaking_pis("modify.executed", "modify.deferred-only/done-refused",
        "a deferred payment can be modified after it was executed",
        modifiable=_also("executed", "deferred")),
    breaking_pis("modify.immediate-executed", "modify.deferred-only/done-refused",
        "an immediate payment can be modified after it was executed",
        modifiable=_also("executed", "immediate")),
    *(breaking_pis(f"modify.keeps-{what}",
          f"modify.deferred-only/persists {_CARRIED} {_WRONGLY[what]}",
          f"a modification is accepted but does not change {what}", modified=modified)
      for what, modified in _KEEPS),
    *(breaking_pis(f"modify.shows-{what}", "modify.deferred-only/persists",
          f"a modified payment is shown with {says}, but executed as modified", shows=shows)
      for what, says, shows in _FORMER),
    *(breaking_pis(f"modify.executes-{what}", f"{_CARRIED} {_WRONGLY[what]}",
          f"a modified payment is executed with {says}", executed=executed)
      for what, says, executed in (
          *_FORMER,
          ("as-signed", "the terms that were signed", _as_signed),
      )),
    breaking_pis("cancel.refused", "cancel/accepted",
        "a deferred payment cannot be cancelled", cancellable=_unchangeable),
    *(breaking_pis(f"cancel.500-if-{what}", "cancel/accepted",
          f"the cancellation of a deferred payment that is {what} answers 500",
          cancellable=only_when(_stands_as(status), _unchangeable, _SOUND.cancellable),
          refusals=put(_SOUND.refusals, cancellation=500))
      for what, status in _STANDS),
    *(breaking_pis(f"cancel.executed-{by}", f"cancel/by-{by}-never-done execution/cancelled-undone",
          f"a payment cancelled by the {_BY[by]} is executed on its day",
          executable=_executes_cancelled(by))
      for by in ("tpp", "customer")),
    *(breaking_pis(f"cancel.executed-in-silence-{by}",
          f"cancel/by-{by}-never-done execution/cancelled-undone",
          f"a payment cancelled by the {_BY[by]} is executed, but still shown as cancelled",
          executable=_executes_cancelled(by), shown=_cancelled_once)
      for by in ("tpp", "customer")),
    *(breaking_pis(f"cancel.executed-if-changed-{by}",
          f"cancel/by-{by}-never-done execution/cancelled-undone",
          f"a payment that was modified and then cancelled by the {_BY[by]} is executed",
          executable=_executes_changed(by), shown=_cancelled_once)
      for by in ("tpp", "customer")),
    *(breaking_pis(f"cancel.{by}-not-shown-{status}", f"cancel/by-{by}-shown",
          f"a payment cancelled by the {_BY[by]} is shown as {status}",
          shown=_hides_cancelled(by, status))
      for by in ("tpp", "customer") for status in _WAITING),
)
# fmt: on


_DAY = timedelta(days=1)
_LATER: tuple[PaymentType, ...] = ("deferred", "instant")
_TYPES: tuple[PaymentType, ...] = ("immediate", *_LATER)


def _never(type: PaymentType) -> Callable[[Payment], bool]:
    """Never execute payments of this type."""
    return lambda payment: payment.terms.type != type and _SOUND.executable(payment)


def _twice(type: PaymentType) -> Callable[[Payment], int]:
    return lambda payment: 2 if payment.terms.type == type else 1


def _unmodified(payment: Payment) -> bool:
    return payment.terms == payment.original


def _unmodified_and_usual(payment: Payment) -> bool:
    return _unmodified(payment) and payment.terms.purpose != "CASH"


def _with_fee(payment: Payment) -> Terms:
    return replace(payment.terms, amount=f"{payment.terms.cents / 100 + 1:.2f}")


def _to_itself(payment: Payment) -> Terms:
    return replace(payment.terms, creditor=payment.terms.debtor)


def _moved(days: int) -> Callable[[Payment, Terms], datetime]:
    """Execute deferred payments days later, or earlier but not before they are signed."""

    def due(payment: Payment, terms: Terms) -> datetime:
        moment = _SOUND.due(payment, terms)
        if terms.day is None or not _unmodified(payment):
            return moment
        return max(signed_at(payment), moment + days * _DAY)

    return due


def _at_signing(payment: Payment, terms: Terms) -> datetime:
    """Execute unmodified payments when they are signed."""
    return signed_at(payment) if _unmodified(payment) else _SOUND.due(payment, terms)


def _shown(when: Status, type: PaymentType, shown_as: Status) -> Callable[[Payment], Status]:
    """Show payments of a type that have a status with another one."""

    def wrong(_payment: Payment) -> Status:
        return shown_as

    return only_when(
        lambda payment: (payment.status, payment.terms.type) == (when, type), wrong, _SOUND.shown
    )


def _bearer(value: object) -> str | None:
    return "SHAR" if value == "SHAR" else FIELDS["chargeBearer"](value)


def _shares(payment: Payment) -> bool:
    return payment.terms.charge_bearer == "SHAR" and payment.status == "received"


def _refusing_executed(operation: PaymentOperation | None, answer: Answer) -> Answer:
    """Refuse to create a payment that was executed already."""
    body = answer.body
    created = operation == "create" and isinstance(body, dict)
    if created and cast("dict[str, Json]", body).get("status") == "executed":
        return error(400, "chargeBearer must be SLEV")
    return answer


def _lacking(
    kind: PaymentType, member: str
) -> Callable[[Payment, Mapping[str, Json]], Mapping[str, Json]]:
    """Omit a member of the answer to a new payment of one type."""

    def created(payment: Payment, body: Mapping[str, Json]) -> Mapping[str, Json]:
        omitted = {member} if payment.terms.type == kind else set[str]()
        return {name: value for name, value in body.items() if name not in omitted}

    return created


def _without(name: str) -> Callable[[PaymentOperation | None, Answer], Answer]:
    """Leave a member out of the answer to a creation."""

    def respond(operation: PaymentOperation | None, answer: Answer) -> Answer:
        body = answer.body
        if operation != "create" or not isinstance(body, dict):
            return answer
        kept = {key: value for key, value in body.items() if key != name}
        return replace(answer, body=kept)

    return respond


def _two_days_later(payment: Payment) -> timedelta | None:
    return 2 * _DAY if payment.terms.type == "deferred" else None


def _rejected(payment: Payment) -> bool:
    return payment.status == "rejected" and payment.reason == "duplicate"


def _stored(payment: Payment, content: Content) -> Terms:
    """Store the amount of a modification of an immediate payment that nobody signed."""
    amount = content.get("amount")
    if payment.status != "received" or not isinstance(amount, str):
        return payment.terms
    return replace(payment.terms, amount=amount)


def _stored_when_done(payment: Payment, content: Content) -> Terms:
    amount = content.get("amount")
    done = payment.status == "executed" and isinstance(amount, str)
    return replace(payment.terms, amount=str(amount)) if done else payment.terms


def _open_in_deed(operation: PaymentOperation | None, answer: Answer) -> Answer:
    """Refuse a payment that shares the charges in words, and show it as open afterwards."""
    if not isinstance(answer.body, dict):
        return answer
    body = answer.body
    if operation == "create" and body.get("status") == "expired":
        return Answer(status=400, body={"message": "chargeBearer must be SLEV", **body})
    if operation == "read" and body.get("chargeBearer") == "SHAR":
        return replace(answer, body={**body, "status": "received"})
    return answer


def _shares_expired(payment: Payment) -> Status:
    return "expired" if payment.terms.charge_bearer == "SHAR" else payment.status


def _repeats(reason: Reason) -> bool:
    return reason == "duplicate"


# fmt: off
EXECUTION_FAULTS = (
    breaking_pis("execution.no-immediate", "execution/main-flow",
        "signed immediate payments are never executed", executable=_never("immediate")),
    breaking_pis("execution.no-link", "execution/main-flow",
        "the answer to a new payment request has no link to sign it", respond=_without("links")),
    breaking_pis("execution.no-id", "execution/main-flow",
        "the answer to a new payment request does not identify it",
        respond=_without("paymentRequestResourceId")),
    *(breaking_pis(f"execution.{kind}-without-{what}", f"execution/{kind}-carried-out",
          f"the answer to a new {kind} payment has no {what}", created=_lacking(kind, member))
      for kind in _LATER
      for what, member in (("id", "paymentRequestResourceId"), ("link", "links"))),
    *(breaking_pis(f"execution.no-{each}", f"execution/{each}-carried-out",
          f"signed {each} payments are never executed", executable=_never(each))
      for each in _LATER),
    *(breaking_pis(f"execution.{each}-twice", "execution/once",
          f"{each} payments are executed twice", times=_twice(each))
      for each in _TYPES),
    *(breaking_pis(f"execution.{name}", "execution/as-asked",
          f"a payment, but for CASH and modified ones, is executed {says}",
          executed=only_when(_unmodified_and_usual, wrong, _SOUND.executed))
      for name, says, wrong in (
          ("with-fee", "with one euro more", _with_fee),
          ("to-itself", "to the account that pays", _to_itself),
      )),
    breaking_pis("execution.a-day-early", "execution/not-early",
        "unmodified deferred payments are executed a day before their day", due=_moved(-1)),
    breaking_pis("execution.at-signing", "execution/not-early",
        "unmodified deferred payments are executed when they are signed", due=_at_signing),
    breaking_pis("execution.a-day-late", "execution/not-late",
        "unmodified deferred payments are executed a day after their day", due=_moved(1)),
    breaking_pis("execution.refused-executed", "execution/refused-undone",
        "a request that shares the charges is refused, and executed all the same",
        fields=put(FIELDS, chargeBearer=_bearer), executable=allowing(_shares, _SOUND.executable),
        respond=_refusing_executed),
    breaking_pis("execution.repeat-executed", "execution/repeat-undone duplicate/repeat-refused",
        "a repeat is shown as rejected, and executed all the same", executes_rejected=_repeats),
    breaking_pis("execution.again-in-two-days", "execution/once",
        "deferred payments are executed a second time two days later, as of the same day",
        again=_two_days_later),
    breaking_pis("execution.repeat-reopened", "execution/repeat-undone",
        "a repeat that was rejected can be signed again, and is then executed", reopens=_rejected),
    breaking_pis("execution.refused-open", "execution/refused-undone",
        "a request that shares the charges is refused, and can be read and is open",
        fields=put(FIELDS, chargeBearer=_bearer), shown=_shares_expired, respond=_open_in_deed),
    breaking_pis("execution.refused-change-stored",
        "execution/refused-change-undone execution/as-asked",
        "a modification of an immediate payment is refused, and executed", after_refusal=_stored),
    breaking_pis("execution.refused-change-shown", "execution/refused-change-undone",
        "a modification of an executed payment is refused, and shown",
        after_refusal=_stored_when_done),
    breaking_pis("execution.shown-too-soon", "execution/shown-as-it-is",
        "a deferred payment is shown as executed once it is signed",
        shown=_shown("pending", "deferred", "executed")),
    breaking_pis("execution.shown-as-pending", "execution/shown-as-it-is",
        "a deferred payment that was executed is shown as pending for good",
        shown=_shown("executed", "deferred", "pending")),
)
# fmt: on
