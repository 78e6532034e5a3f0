"""Banks that differ where the document is silent on payments; a check that minds is wrong.

Codes of refusals, further members, which of the allowed factors a customer has, the
edge of a timer, where a customer is sent who refused: none of it is in the document.
"""

from dataclasses import replace
from datetime import timedelta
from types import MappingProxyType
from typing import Any

from assay.sandbox.messages import Answer, error
from assay.sandbox.mutants.mutant import Neutral
from assay.sandbox.payments.policies import SOUND_PAYMENTS, PaymentOperation, Return
from assay.sandbox.payments.records import Payment
from assay.sandbox.payments.rules import Until, after_first, after_last
from assay.sandbox.payments.terms import (
    FIELDS,
    Factor,
    Field,
    FieldError,
    ReadField,
    Status,
    Terms,
    origin,
)
from assay.sandbox.policies import Policies, put

__all__ = ["PIS_NEUTRAL"]


def _neutral(id: str, says: str, **policies: Any) -> Neutral:
    def change(bank: Policies) -> Policies:
        return replace(bank, payments=replace(bank.payments, **policies))

    return Neutral(id=f"pis.{id}", says=says, change=change)


def _refusals(status: int) -> dict[str, Any]:
    names = SOUND_PAYMENTS.refusals

    def malformed(_operation: PaymentOperation, _field: str, _way: str) -> int:
        return status

    return {
        "refusals": MappingProxyType(dict.fromkeys(names, status)),
        "malformed": malformed,
    }


def _also_cancelled(payment: Payment) -> bool:
    """Let deferred ones be modified while they are open, or cancelled."""
    open_ = payment.status in ("received", "pending", "cancelled")
    return payment.terms.type == "deferred" and open_


def _not_offered(_signed: bool) -> Answer:
    return error(501, "this method is not available")


def _factors(part: tuple[Factor, ...], pro: tuple[Factor, ...]) -> dict[str, Any]:
    offered = {**SOUND_PAYMENTS.factors, "PART": part, "PRO": pro}
    return {"factors": MappingProxyType(offered)}


def _with_more(_operation: PaymentOperation | None, answer: Answer) -> Answer:
    if isinstance(answer.body, bytes) or not isinstance(answer.body, dict):
        return answer
    return replace(answer, body={**answer.body, "x-note": None, "x-more": {"since": 2026}})


def _stays_after_refusal(leaving: Return) -> str | None:
    return leaving.terms.success_url if leaving.decision == "confirm" else None


def _no_reference(payment: Payment) -> Terms:
    return replace(payment.terms, reference=None)


def _home_after_refusal(leaving: Return) -> str | None:
    """Go to the third party's first page, which is not where one goes who has signed."""
    url = leaving.terms.success_url
    return url if leaving.decision == "confirm" else f"{origin(url)}/"


def _cancelled_as_rejected(payment: Payment) -> Status:
    return "rejected" if payment.status == "cancelled" else payment.status


def _past(until: Until) -> Until:
    """Disconnect just after the time, not at it."""
    return lambda times: until(times) + timedelta(microseconds=1)


#: Stands where something was asked for that does not read.
_UNFIT = "unfit"


def _later(read: ReadField) -> ReadField:
    """Take what does not read, and remember that it does not."""

    def reads(value: object) -> str | None:
        try:
            return read(value)
        except FieldError:
            return _UNFIT

    return reads


def _fit(payment: Payment) -> bool:
    asked = payment.terms
    texts = (asked.charge_bearer, asked.purpose, asked.creditor, asked.success_url, asked.currency)
    return _UNFIT not in texts


def _shown(payment: Payment) -> Status:
    return payment.status if _fit(payment) else "rejected"


def _executable(payment: Payment) -> bool:
    return _fit(payment) and SOUND_PAYMENTS.executable(payment)


def _rejected_later() -> dict[str, Any]:
    names: tuple[Field, ...] = (
        "chargeBearer",
        "categoryPurpose",
        "creditorAccount",
        "successfulReportUrl",
        "currency",
    )
    return {
        "fields": put(FIELDS, **{name: _later(FIELDS[name]) for name in names}),
        "shown": _shown,
        "executable": _executable,
    }


def _any_spelling(value: object) -> str | None:
    return FIELDS["currency"](value.strip().upper() or value if isinstance(value, str) else value)


#: Every neutral variant of payment initiation.
PIS_NEUTRAL: tuple[Neutral, ...] = (
    _neutral("refusals-422", "Everything that is refused is refused with 422.", **_refusals(422)),
    _neutral("refusals-409", "Everything that is refused is refused with 409.", **_refusals(409)),
    _neutral(
        "rejected-later",
        "A request that is not as it must be is taken, and shown as rejected.",
        **_rejected_later(),
    ),
    _neutral(
        "euro-any-spelling",
        "The euro may be written in small letters, and with blanks around it.",
        fields=put(FIELDS, currency=_any_spelling),
    ),
    _neutral("confirmation-501", "The confirmation answers 501.", confirmation=_not_offered),
    _neutral(
        "factors-not-all",
        "Retail customers have no code by SMS, small professionals have nothing else.",
        **_factors(("cap", "soft-token"), ("sms",)),
    ),
    _neutral("more-members", "Answers have members that nobody asked for.", respond=_with_more),
    _neutral(
        "barred-late",
        "Who or what is not served is refused only once the payment is signed.",
        at_once=False,
    ),
    _neutral("no-reference", "A payment is shown without its reference.", shows=_no_reference),
    _neutral("refused-stays", "Who refused stays at the bank.", returns=_stays_after_refusal),
    _neutral(
        "refused-goes-home",
        "Who refused is sent to the first page of the third party.",
        returns=_home_after_refusal,
    ),
    _neutral(
        "too-late-stays-open",
        "What was not signed in time stays as it is, and cannot be signed any more.",
        lapsed=MappingProxyType({"idle": "received", "overall": "received"}),
    ),
    _neutral(
        "too-late-is-rejected",
        "What was not signed in time counts as rejected.",
        lapsed=MappingProxyType({"idle": "rejected", "overall": "rejected"}),
    ),
    _neutral(
        "timers-just-after",
        "A timer ends just after its time, not at it.",
        timers=MappingProxyType(
            {"idle": _past(after_last(minutes=4)), "overall": _past(after_first(minutes=30))}
        ),
    ),
    _neutral(
        "cancelled-modifiable",
        "A cancelled payment takes changes, and stays cancelled.",
        modifiable=_also_cancelled,
    ),
    _neutral(
        "cancelled-is-rejected",
        "A cancelled payment is shown as rejected.",
        shown=_cancelled_as_rejected,
    ),
    _neutral(
        "amount-modifiable",
        "Of a deferred payment only the amount can be modified.",
        changeable=("amount",),
    ),
)
