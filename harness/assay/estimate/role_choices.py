"""Choice of the listed customers of each trial: the least used come first.

What is used of a customer is a quota, a consent, a request, a signature. What the trials of the
plan use is known from their dry runs, and what earlier runs used today from the ledger. A customer
who cannot be used any more may be the first by that count (the quota of one operation is spent,
a creditor has another age), so the others are tried in turn until the dry run gets to its end.

The order depends on the plan, the target file and the ledger alone: a run takes what its plan says.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import date, datetime
from itertools import islice, permutations
from typing import TypeAlias

from assay.binding.target import Role, RoleChoice, Target
from assay.contract.model import Capability
from assay.estimate.dry_run import TrialEstimate
from assay.execution.guard import Customer, Guard, customer_for, item_of
from assay.fixtures.providers import Customers, customers_of
from assay.planning.plan import Trial

__all__ = ["Count", "RoleChoices"]

#: One count that a budget, and a bank, keep separately: a customer, an operation, a day.
Count: TypeAlias = tuple[Customer, str, date]

#: How many choices are tried for a trial that cannot get to its end.
MOST_CHOICES = 24
#: How many customers of a trial may change places: more than two are hardly ever asked for.
MOST_MOVED = 2


@dataclass(slots=True, kw_only=True)
class RoleChoices:
    """How much is used of each listed customer and of what they own, before the next trial."""

    target: Target
    guard: Guard
    now: datetime
    customers: Counter[str] = field(default_factory=Counter[str])
    items: Counter[str] = field(default_factory=Counter[str])
    consents: Counter[str] = field(default_factory=Counter[str])

    def __post_init__(self) -> None:
        """Begin with what earlier runs used today."""
        for role in self.roles:
            customer = customer_for(role, self.target)
            self.customers[role.name] = self.guard.used_earlier(customer, self.now)
            for owned in role.owns:
                self.items[owned.key] = self.guard.used_earlier(item_of(owned.key), self.now)

    @property
    def roles(self) -> Sequence[Role]:
        """The customers to choose from; none where they are not listed."""
        listed = customers_of(self.target) is Customers.LISTED
        return self.target.fixtures.roles if listed else ()

    def first(self, trial: Trial) -> RoleChoice | None:
        """Return the choice that prefers the least used customers.

        Where a trial transmits consents, those come first who transmitted the fewest. What was used
        of single items matters only where requests are made.
        """
        names = [role.name for role in self.roles]
        if not names:
            return None
        consents = self.consents if trial.consents else Counter[str]()
        names.sort(key=lambda name: (consents[name], self.customers[name]))
        writes = any(Capability.WRITE in obligation.needs for obligation in trial.settles)
        return RoleChoice(roles=tuple(names), uses=dict(self.items) if writes else {})

    def others(
        self, first: RoleChoice, estimate: TrialEstimate, spent: Mapping[Count, int]
    ) -> Iterator[RoleChoice]:
        """Yield further choices for a trial that took these customers and does not get on.

        Those with the fewest `spent` accesses to its operations come first.
        """
        operations = {operation for _, operation, _ in estimate.batch}
        accesses = Counter[str]()
        for (customer, operation, _), number in spent.items():
            if operation in operations:
                accesses[customer.name] += number
        segments = {role.name: role.segment for role in self.roles}
        asked = {segments[name] for name in estimate.customers}
        names = [name for name in first.roles if segments[name] in asked]
        names.sort(key=lambda name: accesses[name])
        moved = min(len(estimate.customers), MOST_MOVED)
        for front in islice(permutations(names, moved), MOST_CHOICES):
            if front != estimate.customers[:moved]:
                yield replace(first, preferred=front)

    def add(self, estimate: TrialEstimate) -> None:
        """Take in what a trial will use."""
        self.customers += estimate.uses
        self.items += estimate.items
        self.consents += estimate.consents
