"""All decisions of the bank about payments as one frozen value.

Part of the value in :mod:`assay.sandbox.policies`: a mutant replaces one entry. The
comment on each field names the clauses that it implements.
"""

from collections.abc import Callable, Collection, Iterable, Mapping
from dataclasses import dataclass
from datetime import datetime, timedelta
from types import MappingProxyType
from typing import Literal, TypeAlias

from assay.sandbox.accounts import Base, Item, same_everywhere
from assay.sandbox.calendar import MONDAY_NIGHT, Closed, Threshold
from assay.sandbox.messages import Answer, Json, Table, error
from assay.sandbox.payments.records import Activity, Lapse, Payment, Return, Step
from assay.sandbox.payments.rules import IDLE, OVERALL, CashRule, DuplicateRule, Timer, due
from assay.sandbox.payments.terms import (
    AT_MOST_ONE,
    FIELDS,
    MODIFIABLE,
    Content,
    Decision,
    Defect,
    Factor,
    Field,
    PaymentType,
    ReadField,
    Reason,
    Segment,
    Single,
    Status,
    Terms,
)

__all__ = [
    "SOUND_PAYMENTS",
    "Finding",
    "NamingCall",
    "PaymentOperation",
    "PaymentPlace",
    "PaymentPolicies",
    "PaymentRefusal",
]

#: The operations; the last one is not offered.
PaymentOperation: TypeAlias = Literal["create", "read", "modify", "confirmation"]
#: The links in answers.
PaymentPlace: TypeAlias = Literal["create-self", "create-approval", "read-self", "modify-self"]
#: The operations that name a payment.
Finding: TypeAlias = Literal["read", "modify"]
#: The same, and what a modification may be, too.
NamingCall: TypeAlias = Literal[Finding, "cancel"]
#: Where a customer's credentials can be, though a TPP must send none.
CredentialPlace: TypeAlias = Literal["basic", "body", "query"]
#: Reasons of refusals; the document specifies no codes, so they are a choice.
PaymentRefusal: TypeAlias = Literal["debtor", "segment", "state", "cancellation", "foreign"]


@dataclass(frozen=True, slots=True, kw_only=True)
class PaymentPolicies:
    """The decisions of one bank about payments."""

    #: maintenance
    closed: Closed
    #: redirect-only: where a customer's credentials replace a TPP's token, by operation.
    honours_credentials: frozenset[tuple[PaymentOperation, CredentialPlace]]
    #: redirect-only: where a customer's credentials beside a TPP's token sign a payment, by operation.
    embedded: frozenset[tuple[PaymentOperation, CredentialPlace]]
    #: token-required: whether a caller whose token is unknown, or missing, is served.
    honours_anybody: Callable[[PaymentOperation | None, bool], bool]
    #: host: whether a host is served.
    serves: Callable[[str], bool]
    #: host: links stay on the host that was called.
    links: Table[PaymentPlace, Base]
    #: execution: what is answered to a new request.
    created: Callable[[Payment, Mapping[str, Json]], Mapping[str, Json]]
    #: mandatory fields, charge-bearer, euro
    fields: Table[Field, ReadField]
    #: Types of payments that may name a day, although they are not deferred.
    dated: tuple[PaymentType, ...]
    #: single
    single: Single
    #: single: whether a request for a payment at regular intervals is accepted, as a single one.
    recurring: bool
    #: payments.create, payments.modify: status codes for malformed requests.
    malformed: Callable[[PaymentOperation, str, Defect], int]
    #: Status codes of refusals.
    refusals: Table[PaymentRefusal, int]
    #: payment types: whether one is offered, given whether instant payments are.
    offered: Callable[[PaymentType, bool], bool]
    #: Whether a payment can be created, given the types of the open payments.
    beside: Callable[[PaymentType, frozenset[PaymentType]], bool]
    #: segments: whether one is served, given the segments of all customers.
    segments: Callable[[Segment, frozenset[Segment]], bool]
    #: eligible accounts: whether one can be debited, given all items of its owner, in order.
    debtor: Callable[[Item, Iterable[Item]], bool]
    #: The account that is debited, given the one asked for and all accounts; None if none is.
    debited: Callable[[str, Collection[str]], str | None]
    #: Whether the preceding rules refuse at creation, and not only after signing.
    at_once: bool
    #: payments.content: the terms shown of a payment.
    shows: Callable[[Payment], Terms]
    #: payments.addressed: whether a payment is visible, given whether it is the TPP's own.
    visible: Table[Finding, Callable[[bool], bool]]
    #: host: whether a payment is visible at a host, given whether that is of the same bank.
    at_banks: Table[NamingCall, Callable[[bool], bool]]
    #: Answers for payments that do not exist.
    absent: Table[Finding, Callable[[str], Answer]]
    #: The status shown of a payment.
    shown: Callable[[Payment], Status]
    #: payments.confirmation: answer, given whether there is a signature.
    confirmation: Callable[[bool], Answer]
    #: modify.deferred-only: whether a payment can be modified.
    modifiable: Callable[[Payment], bool]
    #: Fields that can be modified.
    changeable: tuple[Field, ...]
    #: Parsers of the fields of a modification.
    changes: Table[Field, ReadField]
    #: Returns the terms stored, given the former and the requested ones.
    modified: Callable[[Terms, Terms], Terms]
    #: Whether a signed payment that is modified has to be signed again, at another link.
    signed_again: bool
    #: Returns the terms that are executed.
    executed: Callable[[Payment], Terms]
    #: cancel: whether a payment can be cancelled, by either party.
    cancellable: Callable[[Payment], bool]
    #: sca.required: whether a payment that is due is executed.
    executable: Callable[[Payment], bool]
    #: Returns the moment from which a payment with these terms is executed.
    due: Callable[[Payment, Terms], datetime]
    #: Whether the bank handles another call between its last look at the rules and the execution,
    #: given whether it handles calls at the same time.
    interleaves: Callable[[bool], bool]
    #: execution: how often a payment is executed.
    times: Callable[[Payment], int]
    #: execution: after how long a payment is executed a second time, if ever.
    again: Callable[[Payment], timedelta | None]
    #: execution: whether a payment whose signing is over can be signed again.
    reopens: Callable[[Payment], bool]
    #: Whether the address of a screen shows it again.
    reloads: bool
    #: execution: the terms in force after a modification that is refused for the payment's state.
    after_refusal: Callable[[Payment, Content], Terms]
    #: execution: whether a payment that was rejected for this reason is executed all the same.
    executes_rejected: Callable[[Reason], bool]
    #: Status after the customer's decision.
    decisions: Table[Decision, Status]
    #: sca.factors: factors offered to each segment.
    factors: Table[Segment, tuple[Factor, ...]]
    #: The first screen.
    begins: Step
    #: Returns the next screen, given the current one and the chosen factor.
    follows: Callable[[Step, Factor | None], Step]
    #: Whether a customer can sign, given whether they own the debtor account.
    signs: Callable[[bool], bool]
    #: Whether a password is accepted, given the entered and the right one.
    password: Callable[[str, str], bool]
    #: Whether a factor is accepted from the customer, given those that are offered.
    takes: Callable[[Factor, tuple[Factor, ...]], bool]
    #: Whether a code is accepted, given the entered and the right one.
    code: Callable[[Factor, str, str], bool]
    #: Whether a password or code is checked, given the screen and the number of wrong entries.
    checks: Callable[[Step, int], bool]
    #: Whether the decision on a payment is answered with 403, and the payment rejected.
    forbids: Callable[[Payment], bool]
    #: Whether a signing is locked, given the number of wrong entries.
    locked: Threshold[int]
    #: duplicate
    duplicate: DuplicateRule
    #: cash
    cash: CashRule
    #: redirect.idle, redirect.overall: when a signing expires.
    timers: Table[Lapse, Timer]
    #: Whether an activity restarts the idle timer.
    renews: Table[Activity, bool]
    #: Status after expiry.
    lapsed: Table[Lapse, Status]
    #: Target of the customer after expiry, if any.
    disconnected: Table[Lapse, Callable[[Terms], str | None]]
    #: report-url: target of the customer after the decision.
    returns: Callable[[Return], str | None]
    #: Applied last to every answer.
    respond: Callable[[PaymentOperation | None, Answer], Answer]


def _any_host(_host: str) -> bool:
    return True


def _bad_request(_operation: PaymentOperation, _field: str, _way: Defect) -> int:
    return 400


def _offered(type: PaymentType, instant: bool) -> bool:
    return type != "instant" or instant


def _beside_any(_type: PaymentType, _open: frozenset[PaymentType]) -> bool:
    return True


def _retail_and_small(segment: Segment, _others: frozenset[Segment]) -> bool:
    return segment in ("PART", "PRO")


def _current_account(item: Item, _others: Iterable[Item]) -> bool:
    return item.resource == "account" and item.active and item.online and not item.savings


def _as_asked(asked: str, accounts: Collection[str]) -> str | None:
    return asked if asked in accounts else None


def _own(own: bool) -> bool:
    return own


def _not_found(_id: str) -> Answer:
    return error(404, "no such payment request")


def _where_it_stands(payment: Payment) -> Status:
    return payment.status


def _not_offered(_signed: bool) -> Answer:
    return error(405, "this operation is not available", ("Allow", ""))


def _deferred_and_open(payment: Payment) -> bool:
    return payment.terms.type == "deferred" and payment.status in ("received", "pending")


def _new_terms(_former: Terms, new: Terms) -> Terms:
    return new


def _terms_in_force(payment: Payment) -> Terms:
    return payment.terms


def _signed_and_pending(payment: Payment) -> bool:
    return payment.status == "pending"


def _once(_payment: Payment) -> int:
    return 1


def _never_again(_payment: Payment) -> None:
    return None


def _terms_stay(payment: Payment, _content: Content) -> Terms:
    return payment.terms


def _never(*_: object) -> bool:
    return False


def _always(*_: object) -> bool:
    return True


def _one_by_one(step: Step, _factor: Factor | None) -> Step:
    order: Mapping[Step, Step] = {"password": "factor", "factor": "code", "code": "confirm"}
    return order[step]


def _same_password(given: str, right: str) -> bool:
    return given == right


def _on_offer(factor: Factor, offered: tuple[Factor, ...]) -> bool:
    return factor in offered


def _same_code(_factor: Factor, given: str, right: str) -> bool:
    return given == right


def _nowhere(_terms: Terms) -> None:
    return None


def _report_url(leaving: Return) -> str | None:
    terms = leaving.terms
    return terms.success_url if leaving.decision == "confirm" else terms.failure_url


def _unchanged(_operation: PaymentOperation | None, answer: Answer) -> Answer:
    return answer


_RETAIL: tuple[Factor, ...] = ("sms", "cap", "soft-token")
_PROFESSIONAL: tuple[Factor, ...] = ("sms", "cap")
_PLACES: tuple[PaymentPlace, ...] = ("create-self", "create-approval", "read-self", "modify-self")

#: The bank of the document.
SOUND_PAYMENTS = PaymentPolicies(
    closed=MONDAY_NIGHT,
    honours_credentials=frozenset(),
    embedded=frozenset(),
    honours_anybody=_never,
    serves=_any_host,
    created=lambda _payment, body: body,
    links=MappingProxyType(dict.fromkeys(_PLACES, same_everywhere)),
    fields=FIELDS,
    dated=(),
    single=AT_MOST_ONE,
    recurring=False,
    malformed=_bad_request,
    refusals=MappingProxyType(
        {"debtor": 403, "segment": 403, "state": 403, "cancellation": 403, "foreign": 404}
    ),
    offered=_offered,
    beside=_beside_any,
    segments=_retail_and_small,
    debtor=_current_account,
    debited=_as_asked,
    at_once=True,
    shows=_terms_in_force,
    visible=MappingProxyType({"read": _own, "modify": _own}),
    at_banks=MappingProxyType({"read": _own, "modify": _own, "cancel": _own}),
    absent=MappingProxyType({"read": _not_found, "modify": _not_found}),
    shown=_where_it_stands,
    confirmation=_not_offered,
    modifiable=_deferred_and_open,
    changeable=MODIFIABLE,
    changes=FIELDS,
    modified=_new_terms,
    executed=_terms_in_force,
    cancellable=_deferred_and_open,
    executable=_signed_and_pending,
    due=due,
    interleaves=_never,
    times=_once,
    again=_never_again,
    reopens=_never,
    reloads=True,
    signed_again=False,
    after_refusal=_terms_stay,
    executes_rejected=_never,
    decisions=MappingProxyType({"confirm": "pending", "refuse": "refused"}),
    factors=MappingProxyType(
        {
            "PART": _RETAIL,
            "PRO": _PROFESSIONAL,
            "LARGE_PRO": _PROFESSIONAL,
            "CORPORATE": _PROFESSIONAL,
            "ASSOCIATION": _PROFESSIONAL,
            "GUARDIAN": _RETAIL,
        }
    ),
    begins="password",
    follows=_one_by_one,
    signs=_own,
    password=_same_password,
    takes=_on_offer,
    code=_same_code,
    checks=_always,
    forbids=_never,
    locked=Threshold(limit=3, inclusive=True, unit=1),
    duplicate=DuplicateRule(),
    cash=CashRule(),
    timers=MappingProxyType({"idle": IDLE, "overall": OVERALL}),
    renews=MappingProxyType({"look": True, "form": True}),
    lapsed=MappingProxyType({"idle": "expired", "overall": "expired"}),
    disconnected=MappingProxyType({"idle": _nowhere, "overall": _nowhere}),
    returns=_report_url,
    respond=_unchanged,
)
