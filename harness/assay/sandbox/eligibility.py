"""Which accounts and cards exist for a third party.

Current accounts that are active and reachable online; delayed debit cards that are
active and were used in the past two calendar months, the edge included. Not about
consent: all of these are listed with and without one.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import date
from typing import TypeAlias

from assay.sandbox.calendar import months_before
from assay.sandbox.roster import Item

__all__ = [
    "Eligible",
    "Listed",
    "Listing",
    "account_eligible",
    "card_eligible",
    "everything",
]

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


def everything(listing: Listing) -> Sequence[Item]:
    """List all, whatever the customer consented to."""
    return listing.items
