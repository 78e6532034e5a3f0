"""Which accounts and cards exist for a third party.

Current accounts that are active and reachable online; delayed debit cards that are
active and were used in the past two calendar months, the edge included. Not about
consent: all of these are listed with and without one.

Whose data may be read, and what a new consent does to the former one.

Balances, outstandings, transactions and slips are served for the customer's own items
that the consent names. Not about the list of accounts, which needs no consent.

How often a third party may come without the customer: four times a calendar day.

A rule looks at the accesses kept in one pool and asks of each whether it still counts;
so a calendar day, another zone's day or a sliding day differ in one function. An
operation has a tuple of rules, and all must admit the access. Attended accesses and
page turns are neither counted nor refused. Not a rate limiter: nothing waits.
"""

from collections.abc import Callable, Hashable, Sequence
from dataclasses import dataclass
from datetime import date, datetime
from enum import Enum
from typing import TypeAlias

from assay.sandbox.accounts import Item
from assay.sandbox.calendar import months_before, today
from assay.sandbox.messages import Operation

#: Is this item eligible on this local day?
Eligible: TypeAlias = Callable[[Item, date], bool]


@dataclass(frozen=True, slots=True, kw_only=True)
class Listing:
    """What a list is made from, on one local day."""

    #: The eligible items.
    items: Sequence[Item]
    #: The consent in force; None when there never was one.
    consent: frozenset[str] | None
    today: date


#: Which of the eligible items are put on the list.
Listed: TypeAlias = Callable[[Listing], Sequence[Item]]


def account_eligible(item: Item, _today: date) -> bool:
    """Current, active, accessible online."""
    return item.active and item.online and not item.savings


def card_eligible(item: Item, today: date) -> bool:
    """Active, and used at least once in the past two months."""
    return item.active and item.last_used is not None and item.last_used >= months_before(today, 2)


def list_all(listing: Listing) -> Sequence[Item]:
    """List all, whatever the customer consented to."""
    return listing.items


class Decision(Enum):
    """What becomes of a wish to read."""

    SERVED = "served"
    REFUSED = "refused"
    #: Refused by its status, with the data in the body all the same. Only a mutant.
    LEAKED = "leaked"


@dataclass(frozen=True, slots=True, kw_only=True)
class AccessRequest:
    """A wish to read one item; consents are None when there never was one."""

    item: Item
    #: Does the item belong to the customer whose token was shown?
    own: bool
    consent: frozenset[str] | None
    #: The consent of the customer who owns the item.
    owners_consent: frozenset[str] | None
    #: All that the asking customer owns.
    owned: frozenset[str]


#: Decides on one wish to read.
Scope: TypeAlias = Callable[[AccessRequest], Decision]
#: Makes the consent in force from the former one and the new one.
Renew: TypeAlias = Callable[[frozenset[str] | None, frozenset[str]], frozenset[str]]


def consented_only(request: AccessRequest) -> Decision:
    """Serve the customer's own items that are in the consent."""
    if request.own and request.consent is not None and request.item.key in request.consent:
        return Decision.SERVED
    return Decision.REFUSED


def replaces(_former: frozenset[str] | None, new: frozenset[str]) -> frozenset[str]:
    """Forget the former consent."""
    return new


@dataclass(frozen=True, slots=True, kw_only=True)
class Access:
    """One call, as the quota sees it."""

    customer: str
    operation: Operation
    attended: bool
    page: int
    now: datetime


#: The kept accesses of every pool of a world.
Uses: TypeAlias = dict[Hashable, list[datetime]]


def same_local_day(then: datetime, now: datetime) -> bool:
    """Count what was served on this calendar day of the bank."""
    return today(then) == today(now)


def each_customer_and_operation(access: Access) -> Hashable:
    """Keep every operation of every customer apart."""
    return (access.customer, access.operation)


def batch(access: Access) -> bool:
    """Pick what starts a reading without the customer."""
    return not access.attended and access.page == 1


@dataclass(frozen=True, slots=True, kw_only=True)
class Quota:
    """One limit."""

    limit: int = 4
    #: Does an access served then still count now?
    counts: Callable[[datetime, datetime], bool] = same_local_day
    #: Accesses with the same pool share the limit.
    pool: Callable[[Access], Hashable] = each_customer_and_operation
    #: Can this access be refused?
    applies: Callable[[Access], bool] = batch
    #: Is this access kept, once served?
    charged: Callable[[Access], bool] = batch
    #: Are refused accesses kept as well?
    charges_refused: bool = False


BATCH = Quota()


def admit(rules: Sequence[Quota], uses: Uses, access: Access) -> bool:
    """Decide on an access, and keep it where the rules say so."""
    admitted = True
    for index, rule in enumerate(rules):
        if not rule.applies(access):
            continue
        kept = uses.get((index, rule.pool(access)), ())
        spent = sum(rule.counts(then, access.now) for then in kept)
        admitted = admitted and spent < rule.limit
    for index, rule in enumerate(rules):
        if rule.charged(access) and (admitted or rule.charges_refused):
            uses.setdefault((index, rule.pool(access)), []).append(access.now)
    return admitted
