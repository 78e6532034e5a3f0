"""All decisions of the bank as one frozen value.

``SOUND`` is the bank of the document. A mutant replaces one entry of one table; there is
no other way to make the bank misbehave, and no code of the bank knows of mutants. The
comment on each field names the clauses that it implements.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import Literal, TypeAlias, TypeVar

from assay.sandbox.access import (
    BATCH,
    CARD_WINDOW,
    AfterRefusal,
    Eligible,
    Granted,
    Listed,
    Quota,
    Renew,
    Scope,
    account_eligible,
    all_or_none,
    consented_only,
    keep_consent,
    list_all,
    replace_consent,
)
from assay.sandbox.accounts import (
    AliasView,
    Base,
    Currency,
    Cutter,
    Entry,
    Identity,
    IdSeed,
    LinkPlace,
    as_is,
    card_token,
    disclosed_after_consent,
    electronic_iban,
    euro,
    iban,
    pages_of,
    same_everywhere,
)
from assay.sandbox.calendar import (
    NINETY_DAYS,
    SUNDAY_NIGHT,
    Closed,
    Depth,
    Extended,
    Period,
    not_supported,
    requested_range,
)
from assay.sandbox.messages import (
    KINDS,
    OPERATIONS,
    Answer,
    Fault,
    Kind,
    Missing,
    Operation,
    ReadBody,
    Request,
    Resource,
    Table,
    consented_keys,
    error,
)
from assay.sandbox.payments.policies import SOUND_PAYMENTS, PaymentPolicies

__all__ = ["SOUND", "Approach", "Policies", "Refusal", "put"]

#: How a call identifies the customer; only the token is supposed to work. The last three take
#: whoever came last: without a token, or with one that nobody issued; or either, on later pages.
Approach: TypeAlias = Literal[
    "token", "basic", "body", "query", "none", "invented", "any-later", "beginning", "ending"
]
#: Reasons of refusals; the document specifies no codes, so they are a choice.
Refusal: TypeAlias = Literal["scope", "ineligible", "unknown", "extended", "quota"]
#: Returns the answer of an unavailable operation, given whether there is a consent.
Unavailable: TypeAlias = Callable[[bool], Answer]

_K = TypeVar("_K", bound=str)
_V = TypeVar("_V")


@dataclass(frozen=True, slots=True, kw_only=True)
class Policies:
    """The decisions of one bank."""

    #: redirect-only: customers' credentials are not honoured.
    honours: Table[Operation, frozenset[Approach]]
    #: maintenance
    closed: Closed
    #: accounts.available: whether a bank of the group, by its code, has account information.
    served_by: Callable[[str], bool]
    #: accounts.eligible, cards.eligible: items that are listed.
    eligible: Table[Resource, Eligible]
    #: Items that a consent can name.
    grantable: Table[Resource, Eligible]
    #: What a consent grants that names something else.
    granted: Granted
    #: consent.effect: the consent in force after one that is refused.
    after_refusal: AfterRefusal
    #: accounts.listing
    listed: Listed
    #: psu-identity
    identity: Identity
    #: accounts.page-size, transactions.page-size
    pages: Table[Literal["accounts", "transactions"], Cutter]
    #: transactions.depth
    depth: Depth
    #: consistent: days shown, given those requested.
    period: Period
    #: no-extended-history
    extended: Extended
    #: Order of the entries, given newest first.
    order: Callable[[tuple[Entry, ...]], tuple[Entry, ...]]
    #: iban
    mint: Table[Resource, Callable[[IdSeed], str]]
    #: What an identifier is looked up as that nothing has as it is written.
    iban_of: Callable[[str], str]
    #: euro
    currency: Table[Kind, Currency]
    #: balance-type
    balance_types: Table[Resource, tuple[str | None, ...]]
    #: consent.scope
    scope: Table[Kind, Scope]
    renew: Renew
    #: batch-quota, online-unlimited: all quotas of an operation must admit the access.
    quota: Table[Operation, tuple[Quota, ...]]
    #: Whether accesses count that are refused for want of a consent; the document leaves it open.
    counts_refused: bool
    #: Whether the bank handles another call between deciding on one and recording it, given
    #: whether it handles calls at the same time.
    interleaves: Callable[[bool], bool]
    #: What the second of two calls gets that the bank handles at the same time, instead of this
    #: answer; None if it handles one after the other.
    overlapped: Callable[[Request, Answer], Answer] | None
    #: trusted-beneficiaries, end-user-identity
    unavailable: Table[Missing, Unavailable]
    #: *.available: rows shown by the aliases of a path.
    aliases: Table[Literal["balances", "transactions"], AliasView]
    #: Status codes for malformed requests.
    malformed: Table[Operation, Callable[[Fault], int]]
    body: ReadBody
    #: Status codes of refusals.
    refusals: Table[Refusal, int]
    #: consistent: what a link to another page carries of the query.
    carried: Callable[[Mapping[str, str]], Mapping[str, str]]
    #: live-host
    links: Table[LinkPlace, Base]
    #: well-formed, consistent: applied last to every answer.
    respond: Callable[[Request, Answer], Answer]
    #: Payment initiation.
    payments: PaymentPolicies


def put(table: Table[_K, _V], **entries: _V) -> Table[_K, _V]:
    """Copy a table with some entries replaced; ``_`` in a keyword stands for ``-``."""
    named = {key.replace("_", "-"): value for key, value in entries.items()}
    if unknown := named.keys() - set(table):
        raise KeyError(*sorted(unknown))
    changed: Mapping[_K, _V] = {key: named.get(key, table[key]) for key in table}
    return MappingProxyType(changed)


def _each(keys: tuple[_K, ...], value: _V) -> Table[_K, _V]:
    return MappingProxyType(dict.fromkeys(keys, value))


def _bad_request(_fault: Fault) -> int:
    return 400


def _not_offered(_consented: bool) -> Answer:
    return error(405, "this operation is not available", ("Allow", ""))


def _one_at_a_time(_threaded: bool) -> bool:
    return False


def _all_but_one(bank: str) -> bool:
    return bank != "30004"


def _newest_first(entries: tuple[Entry, ...]) -> tuple[Entry, ...]:
    return entries


def _whole_query(query: Mapping[str, str]) -> Mapping[str, str]:
    return query


def _unchanged(_request: Request, answer: Answer) -> Answer:
    return answer


_PLACES: tuple[LinkPlace, ...] = (
    "accounts-self",
    "accounts-next",
    "balances-self",
    "transactions-self",
    "transactions-next",
)
_RESOURCES: tuple[Resource, ...] = ("account", "card")
_TOKEN: frozenset[Approach] = frozenset({"token"})
_ELIGIBLE: Table[Resource, Eligible] = MappingProxyType(
    {"account": account_eligible, "card": CARD_WINDOW}
)

#: The bank of the document.
SOUND = Policies(
    honours=_each(OPERATIONS, _TOKEN),
    closed=SUNDAY_NIGHT,
    served_by=_all_but_one,
    eligible=_ELIGIBLE,
    grantable=_ELIGIBLE,
    granted=all_or_none,
    after_refusal=keep_consent,
    listed=list_all,
    identity=disclosed_after_consent,
    pages=MappingProxyType({"accounts": pages_of(5), "transactions": pages_of(15)}),
    depth=NINETY_DAYS,
    period=requested_range,
    extended=not_supported,
    order=_newest_first,
    mint=MappingProxyType({"account": iban, "card": card_token}),
    iban_of=electronic_iban,
    currency=_each(tuple(KINDS.values()), euro),
    balance_types=_each(_RESOURCES, ("CLBD", "VALU", "OTHR")),
    scope=_each(tuple(KINDS.values()), consented_only),
    renew=replace_consent,
    quota=_each(OPERATIONS, (BATCH,)),
    counts_refused=False,
    interleaves=_one_at_a_time,
    overlapped=None,
    unavailable=MappingProxyType(
        {"trustedBeneficiaries": _not_offered, "endUserIdentity": _not_offered}
    ),
    aliases=MappingProxyType({"balances": as_is, "transactions": as_is}),
    malformed=_each(OPERATIONS, _bad_request),
    body=consented_keys,
    refusals=MappingProxyType(
        {
            "scope": 403,
            "ineligible": 403,
            "unknown": 404,
            "extended": 403,
            "quota": 429,
        }
    ),
    carried=_whole_query,
    links=_each(_PLACES, same_everywhere),
    respond=_unchanged,
    payments=SOUND_PAYMENTS,
)
