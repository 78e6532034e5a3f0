"""Access rules of account information: eligible accounts, consent scope and batch quota.

Eligible accounts are current accounts that are active and accessible online; eligible
cards are active delayed debit cards used in the past two calendar months, inclusive.
They are listed with or without a consent. Balances, outstandings, transactions and slips
are served only for the customer's own items that the consent names.

A quota limits accesses without the customer present to four per calendar day and
operation. A :class:`Quota` decides for each recorded access whether it still counts, so
variants (UTC day, sliding window) differ in one function. An operation has a tuple of
quotas, and all must admit the access. Attended accesses and follow-up pages are neither
counted nor refused.
"""

from collections.abc import Callable, Hashable, Sequence
from dataclasses import dataclass
from datetime import date, datetime
from enum import Enum
from typing import TypeAlias

from assay.sandbox.accounts import Item
from assay.sandbox.calendar import Threshold, months_before, today
from assay.sandbox.messages import Operation

#: Returns whether an item is eligible on a local day.
Eligible: TypeAlias = Callable[[Item, date], bool]


@dataclass(frozen=True, slots=True, kw_only=True)
class Listing:
    """Input for the list of accounts on one local day."""

    #: The eligible items.
    items: Sequence[Item]
    #: Those that are not; unused by the sound bank.
    others: Sequence[Item]
    #: The consent in force; None when there never was one.
    consent: frozenset[str] | None
    today: date
    #: Other customers' eligible items, and those that their consents name; unused by the sound bank.
    foreign: Sequence[Item]
    foreign_consented: Sequence[Item]
    #: The page that is asked for; unused by the sound bank.
    page: int


#: Returns the eligible items that are listed.
Listed: TypeAlias = Callable[[Listing], Sequence[Item]]


def account_eligible(item: Item, _today: date) -> bool:
    """Return whether a current account is active and accessible online."""
    return item.active and item.online and not item.savings


def two_months_before(day: date) -> date:
    """Return the same day two calendar months earlier."""
    return months_before(day, 2)


@dataclass(frozen=True, slots=True, kw_only=True)
class CardWindow:
    """Active delayed debit cards are eligible if they were used recently."""

    #: Returns the first day of the window, given today.
    begins: Callable[[date], date]
    #: Whether the last use is too old, given by how many days it precedes the window.
    too_old: Threshold[int]

    def __call__(self, item: Item, today: date) -> bool:
        """Return whether a card is eligible on a local day."""
        used = item.last_used
        if not item.active or item.immediate_debit or used is None:
            return False
        return not self.too_old((self.begins(today) - used).days)


#: Cards used in the past two calendar months, inclusive.
CARD_WINDOW = CardWindow(
    begins=two_months_before, too_old=Threshold(limit=0, inclusive=False, unit=1)
)


def list_all(listing: Listing) -> Sequence[Item]:
    """List every eligible item, whatever the consent."""
    return listing.items


class Decision(Enum):
    """Outcome of a request to read an item."""

    SERVED = "served"
    REFUSED = "refused"
    #: Refused by its status, but with the data in the body. Used by mutants only.
    LEAKED = "leaked"


@dataclass(frozen=True, slots=True, kw_only=True)
class AccessRequest:
    """A request to read one item; consents are None if there never was one."""

    item: Item
    #: Whether the item belongs to the customer of the access token.
    own: bool
    consent: frozenset[str] | None
    #: The consent of the customer who owns the item.
    owners_consent: frozenset[str] | None
    #: Keys of all items of the requesting customer.
    owned: frozenset[str]
    #: The page that is asked for; unused by the sound bank.
    page: int
    #: Whether the customer's login and password came with the call; unused by the sound bank.
    credentials: bool


#: Decides on one request to read an item.
Scope: TypeAlias = Callable[[AccessRequest], Decision]


@dataclass(frozen=True, slots=True, kw_only=True)
class ConsentRequest:
    """A consent as it was transmitted: keys of items."""

    named: frozenset[str]
    #: Keys of all items of the customer.
    owned: frozenset[str]
    #: Keys of those that a consent can name.
    grantable: frozenset[str]


@dataclass(frozen=True, slots=True, kw_only=True)
class RefusedConsent:
    """A consent that is refused; `named` is empty where it cannot be read."""

    #: The reason; "malformed" where it cannot be read.
    why: str
    #: The consent in force.
    former: frozenset[str] | None
    named: frozenset[str]
    #: Keys of all items of the customer.
    owned: frozenset[str]


#: Returns the consent in force after one that is refused.
AfterRefusal: TypeAlias = Callable[[RefusedConsent], frozenset[str] | None]
#: Returns the keys that a consent grants, or None to refuse the consent.
Granted: TypeAlias = Callable[[ConsentRequest], frozenset[str] | None]
#: Returns the consent in force, given the former one and the new one.
Renew: TypeAlias = Callable[[frozenset[str] | None, frozenset[str]], frozenset[str]]


def consented_only(request: AccessRequest) -> Decision:
    """Serve the customer's own items that the consent names."""
    if request.own and request.consent is not None and request.item.key in request.consent:
        return Decision.SERVED
    return Decision.REFUSED


def all_or_none(request: ConsentRequest) -> frozenset[str] | None:
    """Grant what the consent names; refuse it if anything in it cannot be granted."""
    return request.named if request.named <= request.grantable else None


def keep_consent(refused: RefusedConsent) -> frozenset[str] | None:
    """Keep the consent that was in force."""
    return refused.former


def replace_consent(_former: frozenset[str] | None, new: frozenset[str]) -> frozenset[str]:
    """Replace the former consent by the new one."""
    return new


@dataclass(frozen=True, slots=True, kw_only=True)
class Access:
    """One call, as seen by the quota."""

    customer: str
    operation: Operation
    attended: bool
    page: int
    now: datetime
    #: How often the token of the call was renewed; unused by the sound bank.
    renewals: int = 0
    #: The name of the method that was called; unused by the sound bank.
    name: str = ""


#: The recorded accesses of every pool of a world.
Uses: TypeAlias = dict[Hashable, list[datetime]]


def same_local_day(then: datetime, now: datetime) -> bool:
    """Return whether both moments are on the same calendar day of the bank."""
    return today(then) == today(now)


def each_customer_and_operation(access: Access) -> Hashable:
    """Use one pool per customer and operation."""
    return (access.customer, access.operation)


def batch(access: Access) -> bool:
    """Return whether the call starts a reading without the customer present."""
    return not access.attended and access.page == 1


FOUR_A_DAY = Threshold(limit=4, inclusive=True, unit=1)


@dataclass(frozen=True, slots=True, kw_only=True)
class Quota:
    """One limit on the number of accesses."""

    #: Whether the quota is used up, given the number of accesses that count.
    used_up: Threshold[int] = FOUR_A_DAY
    #: Whether an access served at the first moment still counts at the second.
    counts: Callable[[datetime, datetime], bool] = same_local_day
    #: Accesses with the same pool share the limit.
    pool: Callable[[Access], Hashable] = each_customer_and_operation
    #: Whether this access can be refused.
    applies: Callable[[Access], bool] = batch
    #: Whether this access is recorded once it is served.
    charged: Callable[[Access], bool] = batch
    #: Whether refused accesses are recorded as well.
    charges_refused: bool = False


#: Four accesses a day without the customer present.
BATCH = Quota()


def admit(
    rules: Sequence[Quota],
    uses: Uses,
    access: Access,
    between: Callable[[], object] | None = None,
) -> bool:
    """Decide whether an access is admitted, and record it where the quotas say so.

    `between` the two, the sound bank does nothing.
    """
    admitted = True
    for index, rule in enumerate(rules):
        if not rule.applies(access):
            continue
        kept = uses.get((index, rule.pool(access)), ())
        spent = sum(rule.counts(then, access.now) for then in kept)
        admitted = admitted and not rule.used_up(spent)
    if between is not None:
        between()
    for index, rule in enumerate(rules):
        if rule.charged(access) and (admitted or rule.charges_refused):
            uses.setdefault((index, rule.pool(access)), []).append(access.now)
    return admitted
