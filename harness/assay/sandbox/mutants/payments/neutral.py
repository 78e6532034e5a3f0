"""Neutral variants of payment initiation: banks that differ where the document is silent.

Codes of refusals, further members, the choice among the allowed factors, the exact
moment of a timer and the page after a refusal are not in the document, so no check may
depend on them.
"""

from collections.abc import Callable
from dataclasses import dataclass, replace
from datetime import datetime, time, timedelta
from functools import partial
from types import MappingProxyType
from typing import Any

from assay.sandbox.messages import Answer, error
from assay.sandbox.mutants.mutant import Neutral, edge_flipped, neutral_pis
from assay.sandbox.mutants.payments.neutral_answers import ANSWERS_NEUTRAL
from assay.sandbox.mutants.payments.neutral_lifecycle import LIFECYCLE_NEUTRAL
from assay.sandbox.payments.policies import SOUND_PAYMENTS, PaymentOperation
from assay.sandbox.payments.records import Payment, Return
from assay.sandbox.payments.rules import Timer, execution_moment
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
from assay.sandbox.policies import put
from assay.sandbox.threshold import Threshold

__all__ = ["PIS_NEUTRAL"]


def _refusals(status: int) -> dict[str, Any]:
    names = SOUND_PAYMENTS.refusals

    def malformed(_operation: PaymentOperation, _field: str, _way: str) -> int:
        return status

    return {"refusals": MappingProxyType(dict.fromkeys(names, status)), "malformed": malformed}


def _banks_own(_base: str) -> str:
    """Return the host in the bank's own domain, where its direct access is."""
    return "https://www.30001.live.bank.example"


def _not_offered(_signed: bool) -> Answer:
    return error(501, "this operation is not available")


def _factors(part: tuple[Factor, ...], pro: tuple[Factor, ...]) -> dict[str, Any]:
    offered = {**SOUND_PAYMENTS.factors, "PART": part, "PRO": pro}
    return {"factors": MappingProxyType(offered)}


def _with_more(_operation: PaymentOperation | None, answer: Answer) -> Answer:
    if isinstance(answer.body, bytes) or not isinstance(answer.body, dict):
        return answer
    return replace(answer, body={**answer.body, "x-note": None, "x-more": {"since": 2026}})


def _with_nulls(_operation: PaymentOperation | None, answer: Answer) -> Answer:
    """Show null for every field of a payment that has no value."""
    if isinstance(answer.body, bytes) or not isinstance(answer.body, dict):
        return answer
    return replace(answer, body={**dict.fromkeys(FIELDS), **answer.body})


def _with_location(operation: PaymentOperation | None, answer: Answer) -> Answer:
    if operation != "create" or answer.status != 201 or not isinstance(answer.body, dict):  # noqa: PLR2004
        return answer
    path = f"/payment-requests/{answer.body['paymentRequestResourceId']}"
    return replace(answer, headers=(*answer.headers, ("Location", path)))


def _stays_after_refusal(leaving: Return) -> str | None:
    return leaving.terms.success_url if leaving.decision == "confirm" else None


def _no_reference(payment: Payment) -> Terms:
    return replace(payment.terms, reference=None)


def _home_after_refusal(leaving: Return) -> str | None:
    """Redirect a refusing customer to the home page of the TPP."""
    url = leaving.terms.success_url
    return url if leaving.decision == "confirm" else f"{origin(url)}/"


def _one_address(leaving: Return) -> str | None:
    """Redirect to the one address that the request names, whatever the customer decides."""
    return leaving.terms.success_url


def _with_own_parameters(leaving: Return) -> str | None:
    """Put the result and a number of the bank's before and after what the address has."""
    target = SOUND_PAYMENTS.returns(leaving)
    if target is None:
        return None
    place, _, query = target.partition("?")
    return f"{place}?{'&'.join(filter(None, (f'state={leaving.decision}', query, 'id=4711')))}"


def _lost_is_rejected(payment: Payment) -> Status:
    """Show a payment as rejected once a wrong entry has ended its signing."""
    signing = payment.signing
    return "rejected" if signing and signing.step == "locked" else payment.status


def _in_the_evening(payment: Payment, terms: Terms) -> datetime:
    """Execute a deferred payment at 22:00 of its day."""
    moment = SOUND_PAYMENTS.due(payment, terms)
    return moment if terms.day is None else max(moment, execution_moment(terms.day, time(22)))


def _just_after(timer: Timer) -> Timer:
    """Expire just after the time instead of at it."""
    return replace(timer, expired=edge_flipped(timer.expired))


@dataclass(frozen=True, slots=True, kw_only=True)
class _SecondsOver(Threshold[timedelta]):
    """A limit that is compared with the whole seconds that are over."""

    def __call__(self, value: timedelta) -> bool:
        """Return whether a length of time, rounded down, has passed the limit."""
        return value // self.unit * self.unit > self.limit


@dataclass(frozen=True, slots=True, kw_only=True)
class _SecondsBegun(Threshold[timedelta]):
    """A limit that is compared with the seconds that have begun."""

    def __call__(self, value: timedelta) -> bool:
        """Return whether a length of time, rounded up, has reached the limit."""
        return -(-value // self.unit) * self.unit >= self.limit


def _counting(limit: type[Threshold[timedelta]], timer: Timer) -> Timer:
    """Count whole seconds."""
    sound = timer.expired
    return replace(
        timer, expired=limit(limit=sound.limit, inclusive=sound.inclusive, unit=sound.unit)
    )


def _timers(changed: Callable[[Timer], Timer]) -> dict[str, Any]:
    sound = SOUND_PAYMENTS.timers.items()
    return {"timers": MappingProxyType({lapse: changed(timer) for lapse, timer in sound})}


#: Replaces a malformed value.
_UNFIT = "unfit"


def _later(read: ReadField) -> ReadField:
    """Accept a malformed value, and mark it."""

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
    neutral_pis("refusals-422", "Every refusal has the status 422.", **_refusals(422)),
    neutral_pis("refusals-409", "Every refusal has the status 409.", **_refusals(409)),
    neutral_pis(
        "rejected-later",
        "A malformed request is accepted, and the payment is shown as rejected.",
        **_rejected_later(),
    ),
    neutral_pis(
        "euro-any-spelling",
        "The currency EUR may be in lower case and surrounded by blanks.",
        fields=put(FIELDS, currency=_any_spelling),
    ),
    neutral_pis("confirmation-501", "The confirmation answers 501.", confirmation=_not_offered),
    neutral_pis(
        "factors-not-all",
        "Retail customers are not offered SMS codes, small professionals nothing else.",
        **_factors(("cap", "soft-token"), ("sms",)),
    ),
    neutral_pis(
        "location",
        "The answer to a new payment has a header Location with a relative link.",
        respond=_with_location,
    ),
    neutral_pis(
        "screens-elsewhere",
        "The bank's screens are on the host in its own domain.",
        links=put(SOUND_PAYMENTS.links, **{"create-approval": _banks_own}),
    ),
    neutral_pis("more-members", "Answers have further members.", respond=_with_more),
    neutral_pis(
        "nulls",
        "Answers show null for every field of a payment that has no value.",
        respond=_with_nulls,
    ),
    neutral_pis(
        "barred-late", "Payments out of scope are rejected only after signing.", at_once=False
    ),
    neutral_pis("no-reference", "A payment is shown without its reference.", shows=_no_reference),
    neutral_pis(
        "refused-stays", "A customer who refuses is not redirected.", returns=_stays_after_refusal
    ),
    neutral_pis(
        "refused-goes-home",
        "A customer who refuses is redirected to the home page of the TPP.",
        returns=_home_after_refusal,
    ),
    neutral_pis(
        "refused-goes-back",
        "A customer who refuses is redirected to the same address as one who signs.",
        returns=_one_address,
    ),
    neutral_pis(
        "returns-with-parameters",
        "The redirection adds parameters of the bank to the address.",
        returns=_with_own_parameters,
    ),
    neutral_pis(
        "too-late-stays-open",
        "A payment not signed in time keeps its status, but can no longer be signed.",
        lapsed=MappingProxyType({"idle": "received", "overall": "received"}),
    ),
    neutral_pis(
        "too-late-is-rejected",
        "A payment not signed in time is shown as rejected.",
        lapsed=MappingProxyType({"idle": "rejected", "overall": "rejected"}),
    ),
    neutral_pis(
        "screens-load-once",
        "A screen answers the form before it, and its own address does not show it again.",
        leaves="redirect.overall/alive-before redirect.overall/dead-after"
        " redirect.overall/no-redirection redirect.overall/nothing-done",
        reloads=False,
    ),
    neutral_pis(
        "one-wrong-entry",
        "A payment is rejected after one wrong password or code, whoever entered it.",
        locked=replace(SOUND_PAYMENTS.locked, limit=1),
        shown=_lost_is_rejected,
    ),
    neutral_pis(
        "executes-in-the-evening",
        "A deferred payment is executed at 22:00 of its day.",
        due=_in_the_evening,
    ),
    neutral_pis(
        "timers-just-after",
        "A timer expires just after its time instead of at it.",
        **_timers(_just_after),
    ),
    neutral_pis(
        "timers-round-down",
        "A timer counts whole seconds that are over, and expires after its time.",
        **_timers(partial(_counting, _SecondsOver)),
    ),
    neutral_pis(
        "timers-round-up",
        "A timer counts every second that has begun, and expires at its time.",
        **_timers(partial(_counting, _SecondsBegun)),
    ),
    *LIFECYCLE_NEUTRAL,
    *ANSWERS_NEUTRAL,
)
