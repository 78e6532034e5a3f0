"""Everything the bank decides about payments, as one frozen value.

As in :mod:`assay.sandbox.policies`, of whose value this is one part: a mutant replaces
one entry, and each field names the clause it carries out.
"""

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import Literal, TypeAlias

from assay.sandbox.accounts import Base, Item, same_everywhere
from assay.sandbox.calendar import Closed, monday_night
from assay.sandbox.messages import Answer, Table, error
from assay.sandbox.payments.records import Activity, Lapse, Payment, Step
from assay.sandbox.payments.rules import CashRule, DuplicateRule, Until, after_first, after_last
from assay.sandbox.payments.terms import (
    FIELDS,
    MODIFIABLE,
    Decision,
    Defect,
    Factor,
    Field,
    PaymentType,
    ReadField,
    Segment,
    Single,
    Status,
    Terms,
    at_most_one,
)

__all__ = [
    "SOUND_PAYMENTS",
    "Finding",
    "PaymentOperation",
    "PaymentPlace",
    "PaymentPolicies",
    "PaymentRefusal",
    "Return",
]

#: The methods, and the one that is not offered.
PaymentOperation: TypeAlias = Literal["create", "read", "modify", "confirmation"]
#: The links that answers have.
PaymentPlace: TypeAlias = Literal["create-self", "create-approval", "read-self", "modify-self"]
#: The methods that name a payment.
Finding: TypeAlias = Literal["read", "modify"]
#: Why the bank says no; the document gives no codes, so they are a choice.
PaymentRefusal: TypeAlias = Literal["debtor", "segment", "state", "foreign"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Return:
    """A customer about to leave the screens."""

    terms: Terms
    decision: Decision
    #: Where the browser says it wants to go, in a field the screens do not have.
    asked: str


@dataclass(frozen=True, slots=True, kw_only=True)
class PaymentPolicies:
    """The payment initiation half of one bank."""

    #: maintenance
    closed: Closed
    #: redirect-only: does a customer's login and password do for a provider's token?
    honours_credentials: bool
    #: host: is this host answered?
    serves: Callable[[str], bool]
    #: host: links stay on the host that was called.
    links: Table[PaymentPlace, Base]
    #: mandatory fields, charge-bearer, euro
    fields: Table[Field, ReadField]
    #: single
    single: Single
    #: payments.create, payments.modify: what does not read is refused, with this status.
    malformed: Callable[[PaymentOperation, str, Defect], int]
    #: Status codes of refusals.
    refusals: Table[PaymentRefusal, int]
    #: payment types; told whether the bank offers instant payments.
    offered: Callable[[PaymentType, bool], bool]
    #: ...and whether one of a type can be made while others are open, told their types.
    beside: Callable[[PaymentType, frozenset[PaymentType]], bool]
    #: segments; told the customer's, and those of all who bank here.
    segments: Callable[[Segment, frozenset[Segment]], bool]
    #: eligible accounts; told the account, and all that its owner has, in order.
    debtor: Callable[[Item, Iterable[Item]], bool]
    #: Is what these rules bar refused at once, and not only once it is signed?
    at_once: bool
    #: payments.content: what is shown of a payment.
    shows: Callable[[Payment], Terms]
    #: payments.addressed: by whom it can be found, told "is it the provider's own"...
    visible: Table[Finding, Callable[[bool], bool]]
    #: ...what is said of a payment that there never was...
    absent: Table[Finding, Callable[[str], Answer]]
    #: ...and where it is said to stand.
    shown: Callable[[Payment], Status]
    #: payments.confirmation, told "is there a signature"
    confirmation: Callable[[bool], Answer]
    #: modify.deferred-only: may this one be modified...
    modifiable: Callable[[Payment], bool]
    #: ...in which fields...
    changeable: tuple[Field, ...]
    #: ...what is kept, of what was and what is asked for...
    modified: Callable[[Terms, Terms], Terms]
    #: ...and what is executed.
    executed: Callable[[Payment], Terms]
    #: cancel: may this one be cancelled, by either party?
    cancellable: Callable[[Payment], bool]
    #: sca.required: is this one executed when its time has come...
    executable: Callable[[Payment], bool]
    #: ...and where does the customer's decision take it?
    decisions: Table[Decision, Status]
    #: sca.factors: what is offered...
    factors: Table[Segment, tuple[Factor, ...]]
    #: ...which screen comes first...
    begins: Step
    #: ...which follows which, told the factor that was chosen...
    follows: Callable[[Step, Factor | None], Step]
    #: ...whose password is taken, told "is it the debtor's owner"...
    signs: Callable[[bool], bool]
    #: ...and when a factor's code is right, told the one that was given and the right one.
    code: Callable[[Factor, str, str], bool]
    #: Wrong passwords and codes that end a signing.
    tries: int
    #: duplicate
    duplicate: DuplicateRule
    #: cash
    cash: CashRule
    #: redirect.idle, redirect.overall: from when on it is too late...
    timers: Table[Lapse, Until]
    #: ...does this keep a customer from falling idle...
    renews: Table[Activity, bool]
    #: ...where the payment stands then...
    lapsed: Table[Lapse, Status]
    #: ...and where the customer is sent, if anywhere.
    disconnected: Table[Lapse, Callable[[Terms], str | None]]
    #: report-url
    returns: Callable[[Return], str | None]
    #: The last look at every answer of a method.
    respond: Callable[[PaymentOperation | None, Answer], Answer]


def _any_host(_host: str) -> bool:
    return True


def _bad_request(_operation: PaymentOperation, _field: str, _way: Defect) -> int:
    return 400


def _offered(type: PaymentType, instant: bool) -> bool:
    return type != "instant" or instant


def _whatever_is_open(_type: PaymentType, _open: frozenset[PaymentType]) -> bool:
    return True


def _retail_and_small(segment: Segment, _others: frozenset[Segment]) -> bool:
    return segment in ("PART", "PRO")


def _current_account(item: Item, _others: Iterable[Item]) -> bool:
    return item.resource == "account" and item.active and item.online and not item.savings


def _own(own: bool) -> bool:
    return own


def _not_found(_id: str) -> Answer:
    return error(404, "no such payment request")


def _where_it_stands(payment: Payment) -> Status:
    return payment.status


def _not_offered(_signed: bool) -> Answer:
    return error(405, "this method is not available", ("Allow", ""))


def _deferred_and_open(payment: Payment) -> bool:
    return payment.terms.type == "deferred" and payment.status in ("received", "pending")


def _new_terms(_former: Terms, new: Terms) -> Terms:
    return new


def _terms_in_force(payment: Payment) -> Terms:
    return payment.terms


def _signed_and_pending(payment: Payment) -> bool:
    return payment.status == "pending"


def _one_by_one(step: Step, _factor: Factor | None) -> Step:
    order: Mapping[Step, Step] = {"password": "factor", "factor": "code", "code": "confirm"}
    return order[step]


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
    closed=monday_night,
    honours_credentials=False,
    serves=_any_host,
    links=MappingProxyType(dict.fromkeys(_PLACES, same_everywhere)),
    fields=FIELDS,
    single=at_most_one,
    malformed=_bad_request,
    refusals=MappingProxyType({"debtor": 403, "segment": 403, "state": 403, "foreign": 404}),
    offered=_offered,
    beside=_whatever_is_open,
    segments=_retail_and_small,
    debtor=_current_account,
    at_once=True,
    shows=_terms_in_force,
    visible=MappingProxyType({"read": _own, "modify": _own}),
    absent=MappingProxyType({"read": _not_found, "modify": _not_found}),
    shown=_where_it_stands,
    confirmation=_not_offered,
    modifiable=_deferred_and_open,
    changeable=MODIFIABLE,
    modified=_new_terms,
    executed=_terms_in_force,
    cancellable=_deferred_and_open,
    executable=_signed_and_pending,
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
    code=_same_code,
    tries=3,
    duplicate=DuplicateRule(),
    cash=CashRule(),
    timers=MappingProxyType({"idle": after_last(minutes=4), "overall": after_first(minutes=30)}),
    renews=MappingProxyType({"look": True, "form": True}),
    lapsed=MappingProxyType({"idle": "expired", "overall": "expired"}),
    disconnected=MappingProxyType({"idle": _nowhere, "overall": _nowhere}),
    returns=_report_url,
    respond=_unchanged,
)
