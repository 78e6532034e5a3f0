"""Whose data may be read, and what a new consent does to the former one.

Balances, outstandings, transactions and slips are served for the customer's own items
that the consent names. Not about the list of accounts, which needs no consent.
"""

from collections.abc import Callable
from dataclasses import dataclass
from enum import Enum
from typing import TypeAlias

from assay.sandbox.roster import Item

__all__ = ["Ask", "Decision", "Renew", "Scope", "consented_only", "replaces"]


class Decision(Enum):
    """What becomes of a wish to read."""

    SERVED = "served"
    REFUSED = "refused"
    #: Refused by its status, with the data in the body all the same. Only a mutant.
    LEAKED = "leaked"


@dataclass(frozen=True, slots=True, kw_only=True)
class Ask:
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
Scope: TypeAlias = Callable[[Ask], Decision]
#: Makes the consent in force from the former one and the new one.
Renew: TypeAlias = Callable[[frozenset[str] | None, frozenset[str]], frozenset[str]]


def consented_only(ask: Ask) -> Decision:
    """Serve the customer's own items that are in the consent."""
    if ask.own and ask.consent is not None and ask.item.key in ask.consent:
        return Decision.SERVED
    return Decision.REFUSED


def replaces(_former: frozenset[str] | None, new: frozenset[str]) -> frozenset[str]:
    """Forget the former consent."""
    return new
