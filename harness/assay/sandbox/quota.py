"""How often a third party may come without the customer: four times a calendar day.

A rule looks at the accesses kept in one pool and asks of each whether it still counts;
so a calendar day, another zone's day or a sliding day differ in one function. An
operation has a tuple of rules, and all must admit the access. Attended accesses and
page turns are neither counted nor refused. Not a rate limiter: nothing waits.
"""

from collections.abc import Callable, Hashable, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import TypeAlias

from assay.sandbox.calendar import today
from assay.sandbox.wire import Operation

__all__ = ["BATCH", "Access", "Quota", "Uses", "admit", "batch", "same_local_day"]


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
