"""Neutral variants of payment initiation: banks that differ where the document is silent.

Codes of refusals, further members, the choice among the allowed factors, the exact
moment of a timer and the page after a refusal are not in the document, so no check may
depend on them.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable
from dataclasses import dataclass, replace
from datetime import date, datetime, time, timedelta
from functools import partial
from types import MappingProxyType
from typing import Any

from assay.sandbox.calendar import Threshold
from assay.sandbox.messages import Answer, Json, error
from assay.sandbox.mutants.mutant import Neutral, allowing, edge_flipped, neutral_pis
from assay.sandbox.payments.policies import SOUND_PAYMENTS, PaymentOperation
from assay.sandbox.payments.records import Payment, Return
from assay.sandbox.payments.rules import Timer, compared_parameters, execution_moment
from assay.sandbox.payments.terms import (
    FIELDS,
    MODIFIABLE,
    Factor,
    Field,
    FieldError,
    ReadField,
    Status,
    Terms,
    origin,
)
from assay.sandbox.policies import put


# -- Neutral variants of modification, cancellation and repeats of payments ----------------------
# Which fields a modification may name, when a payment can be modified or cancelled, and
# whether its type is one of the parameters of a repeat are not in the document.
def _deferred_and_cancelled(payment: Payment) -> bool:
    return payment.terms.type == "deferred" and payment.status == "cancelled"


def _only_while(status: Status, sound: Callable[[Payment], bool]) -> Callable[[Payment], bool]:
    return lambda payment: payment.status == status and sound(payment)


def _whatever_type(terms: Terms, day: date) -> Hashable:
    return compared_parameters(replace(terms, type="immediate"), day)


def _cancelled_as_rejected(payment: Payment) -> Status:
    return "rejected" if payment.status == "cancelled" else payment.status


#: What has no control where the amount of an unsigned payment cannot be modified.
_NO_CHANGE = (
    "payments.modify/answers payments.modify/survives-malformed payments.modify/refuses-malformed"
    " payments.addressed/modify-payment-unknown payments.addressed/modify-payment-foreign"
    " euro/stays-when-changed modify.deferred-only/immediate-refused"
    " modify.deferred-only/instant-refused modify.deferred-only/done-refused"
    " redirect-only/modify-payment host/modify-payment-links host/modify-payment-elsewhere"
    " values/modify-payment-amount"
    " values/modify-payment-creditorAccount values/modify-payment-date"
    " values/modify-payment-currency token-required/modify-payment-without-token"
    " token-required/modify-payment-invented-token well-formed/media-type"
)
#: The same where it cannot be modified before it is signed: the control of an executed payment is.
_NO_CHANGE_YET = _NO_CHANGE.replace(" modify.deferred-only/done-refused", "")
#: What is not shown where a signed payment cannot be cancelled.
_NOT_CANCELLED = (
    "cancel/by-tpp-never-done cancel/by-customer-never-done"
    " duplicate/after-cancelled-accepted execution/cancelled-undone"
)
_MODIFIABLE_ALONE: tuple[tuple[str, Field, str], ...] = (
    ("amount", "amount", ""),
    ("creditor", "creditorAccount", _NO_CHANGE),
    ("day", "requestedExecutionDate", _NO_CHANGE),
)
_PHASES: tuple[tuple[str, Status], ...] = (
    ("before-signing", "received"),
    ("after-signing", "pending"),
)

# fmt: off
#: The neutral variants of what happens to a payment after it was created.
LIFECYCLE_NEUTRAL: tuple[Neutral, ...] = (
    neutral_pis("cancelled-modifiable", "A cancelled payment can be modified, and stays cancelled.",
        modifiable=allowing(_deferred_and_cancelled, SOUND_PAYMENTS.modifiable)),
    neutral_pis("cancelled-is-rejected", "A cancelled payment is shown as rejected.",
        shown=_cancelled_as_rejected),
    neutral_pis("currency-ignored",
        "A modification may name the currency, and stays in euro whatever it says.",
        changeable=(*MODIFIABLE, "currency"), changes=put(FIELDS, currency=lambda _value: None)),
    *(neutral_pis(f"{name}-modifiable", f"Only the {name} of a deferred payment can be modified.",
          changeable=(field,), leaves=leaves)
      for name, field, leaves in _MODIFIABLE_ALONE),
    *(neutral_pis(f"modifiable-{when}",
          f"A deferred payment can be modified only {when.replace('-', ' ')}.",
          modifiable=_only_while(status, SOUND_PAYMENTS.modifiable),
          leaves=_NO_CHANGE_YET if status == "pending" else "")
      for when, status in _PHASES),
    *(neutral_pis(f"cancellable-{when}",
          f"A deferred payment can be cancelled only {when.replace('-', ' ')}.",
          cancellable=_only_while(status, SOUND_PAYMENTS.cancellable),
          leaves=_NOT_CANCELLED if status == "received" else "host/cancel-payment-elsewhere")
      for when, status in _PHASES),
    neutral_pis("repeats-in-any-type", "Payments that differ only in their type count as repeats.",
        duplicate=replace(SOUND_PAYMENTS.duplicate, parameters=_whatever_type)),
)
# fmt: on


# -- Neutral variants of how payments are read and shown: types, spellings and limits ------------
# Types, formats, limits of amounts and the states of a payment are not in the document, nor
# is for how long a payment that has ended can be read.
_Respond = Callable[[PaymentOperation | None, Answer], Answer]


def _showing(spell: Callable[[str], str], *fields: str) -> _Respond:
    """Spell some fields of a payment in another way."""

    def respond(operation: PaymentOperation | None, answer: Answer) -> Answer:
        if operation not in ("read", "modify") or not isinstance(answer.body, dict):
            return answer
        body: dict[str, Json] = {
            name: spell(value) if name in fields and isinstance(value, str) else value
            for name, value in answer.body.items()
        }
        return replace(answer, body=body)

    return respond


def _no_content(operation: PaymentOperation | None, answer: Answer) -> Answer:
    changed = operation == "modify" and answer.status == 200  # noqa: PLR2004
    return replace(answer, status=204, body=b"") if changed else answer


def _forgotten(operation: PaymentOperation | None, answer: Answer) -> Answer:
    body = answer.body
    ended = isinstance(body, dict) and body.get("status") in ("cancelled", "refused", "expired")
    return error(404, "no such payment request") if operation == "read" and ended else answer


def _lenient(read: ReadField) -> ReadField:
    """Read a number or a truth value as a text, as many libraries do."""

    def reads(value: object) -> str | None:
        if isinstance(value, bool):
            return read(str(value).lower())
        return read(str(value) if isinstance(value, int | float) else value)

    return reads


def _any_purpose(value: object) -> str | None:
    return value if isinstance(value, str) and value else FIELDS["categoryPurpose"](value)


def _limited(value: object) -> str | None:
    amount = FIELDS["amount"](value)
    if amount and not 1 <= float(amount) <= 5_000:  # noqa: PLR2004
        raise FieldError("amount", "value")
    return amount


# fmt: off
ANSWERS_NEUTRAL: tuple[Neutral, ...] = (
    neutral_pis("ibans-in-groups", "IBANs are shown in groups of four.",
        respond=_showing(lambda text: " ".join(text[at : at + 4] for at in range(0, len(text), 4)),
                         "creditorAccount", "debtorAccount")),
    neutral_pis("debtor-hidden", "The middle of the debtor's IBAN is hidden.",
        leaves="payments.content/debtorAccount",
        respond=_showing(lambda text: f"{text[:4]}{'*' * (len(text) - 7)}{text[-3:]}",
                         "debtorAccount")),
    neutral_pis("days-as-moments", "The day of a payment is shown as its first moment.",
        respond=_showing(lambda day: f"{day}T00:00:00+02:00", "requestedExecutionDate")),
    neutral_pis("addresses-with-port",
        "The return address is shown with its port, and its host in another case.",
        respond=_showing(
            lambda url: url.replace("https://tpp.example/", "https://TPP.example:443/"),
            "successfulReportUrl")),
    neutral_pis("changes-204", "A modification or cancellation is answered with 204 and no body.",
        leaves="host/modify-payment-links", respond=_no_content),
    neutral_pis("ended-is-forgotten",
        "A payment that was cancelled, refused or not signed in time cannot be read any more.",
        leaves="cancel/by-customer-shown cancel/by-tpp-shown"
               " redirect.idle/nothing-done redirect.overall/nothing-done", respond=_forgotten),
    neutral_pis("scalars-are-texts",
        "Numbers and truth values are read as texts, and any purpose is known.",
        fields=put(FIELDS, categoryPurpose=_lenient(_any_purpose))),
    neutral_pis("amounts-limited", "Payments of less than 1 and more than 5,000 euros are refused.",
        leaves="sca.required/even-amount", fields=put(FIELDS, amount=_limited)),
)
# fmt: on


# -- Neutral variants of payment initiation: banks that differ where the document is silent ----
__all__ = ["ANSWERS_NEUTRAL", "LIFECYCLE_NEUTRAL", "PIS_NEUTRAL"]


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


def _received_first(operation: PaymentOperation | None, answer: Answer) -> Answer:
    body = answer.body
    if operation != "create" or not isinstance(body, dict) or body.get("status") != "rejected":
        return answer
    return replace(answer, body={**body, "status": "received"})


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
    address, sign, fragment = target.partition("#")
    place, _, query = address.partition("?")
    added = "&".join(filter(None, (f"state={leaving.decision}", query, "id=4711")))
    return f"{place}?{added}{sign}{fragment}"


def _lost_is_rejected(payment: Payment) -> Status:
    """Show a payment as rejected once a wrong entry has ended its signing."""
    signing = payment.signing
    return "rejected" if signing and signing.step == "locked" else payment.status


def _refused_is_received(payment: Payment) -> Status:
    return "received" if payment.status == "refused" else payment.status


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


# fmt: off
#: Every neutral variant of payment initiation.
PIS_NEUTRAL: tuple[Neutral, ...] = (
    neutral_pis("refusals-422", "Every refusal has the status 422.", **_refusals(422)),
    neutral_pis("refusals-409", "Every refusal has the status 409.", **_refusals(409)),
    neutral_pis("rejected-later",
        "A malformed request is accepted, and the payment is shown as rejected.",
        **_rejected_later()),
    neutral_pis("rejected-when-read",
        "A malformed request is accepted as received, and shown as rejected when it is read.",
        **_rejected_later(), respond=_received_first),
    neutral_pis("euro-any-spelling",
        "The currency EUR may be in lower case and surrounded by blanks.",
        fields=put(FIELDS, currency=_any_spelling)),
    neutral_pis("days-of-any-type", "Immediate and instant payments may name a day.",
        dated=("immediate", "instant")),
    neutral_pis("confirmation-501", "The confirmation answers 501.", confirmation=_not_offered),
    neutral_pis("factors-not-all",
        "Retail customers are not offered SMS codes, small professionals nothing else.",
        **_factors(("cap", "soft-token"), ("sms",))),
    neutral_pis("location",
        "The answer to a new payment has a header Location with a relative link.",
        respond=_with_location),
    neutral_pis("changes-signed",
        "A signed payment that is modified has to be signed again, at the link in the answer.",
        signed_again=True),
    neutral_pis("screens-elsewhere", "The bank's screens are on the host in its own domain.",
        links=put(SOUND_PAYMENTS.links, **{"create-approval": _banks_own})),
    neutral_pis("more-members", "Answers have further members.", respond=_with_more),
    neutral_pis("nulls", "Answers show null for every field of a payment that has no value.",
        respond=_with_nulls),
    neutral_pis("barred-late", "Payments out of scope are rejected only after signing.",
        at_once=False),
    neutral_pis("no-reference", "A payment is shown without its reference.", shows=_no_reference),
    neutral_pis("refused-stays", "A customer who refuses is not redirected.",
        returns=_stays_after_refusal),
    neutral_pis("refused-goes-home",
        "A customer who refuses is redirected to the home page of the TPP.",
        returns=_home_after_refusal),
    neutral_pis("refused-goes-back",
        "A customer who refuses is redirected to the same address as one who signs.",
        returns=_one_address),
    neutral_pis("refused-stays-open",
        "A payment that the customer refused is still shown as received.",
        shown=_refused_is_received),
    neutral_pis("returns-with-parameters",
        "The redirection adds parameters of the bank to the address.",
        returns=_with_own_parameters),
    neutral_pis("too-late-stays-open",
        "A payment not signed in time keeps its status, but can no longer be signed.",
        lapsed=MappingProxyType({"idle": "received", "overall": "received"})),
    neutral_pis("too-late-is-rejected", "A payment not signed in time is shown as rejected.",
        lapsed=MappingProxyType({"idle": "rejected", "overall": "rejected"})),
    neutral_pis("screens-load-once",
        "A screen answers the form before it, and its own address does not show it again.",
        reloads=False),
    neutral_pis("one-wrong-entry",
        "A payment is rejected after one wrong password or code, whoever entered it.",
        locked=replace(SOUND_PAYMENTS.locked, limit=1), shown=_lost_is_rejected),
    neutral_pis("executes-in-the-evening", "A deferred payment is executed at 22:00 of its day.",
        due=_in_the_evening),
    neutral_pis("timers-just-after", "A timer expires just after its time instead of at it.",
        **_timers(_just_after)),
    neutral_pis("timers-round-down",
        "A timer counts whole seconds that are over, and expires after its time.",
        **_timers(partial(_counting, _SecondsOver))),
    neutral_pis("timers-round-up",
        "A timer counts every second that has begun, and expires at its time.",
        **_timers(partial(_counting, _SecondsBegun))),
    *LIFECYCLE_NEUTRAL,
    *ANSWERS_NEUTRAL,
)
# fmt: on
