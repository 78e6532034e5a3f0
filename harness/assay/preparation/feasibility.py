"""Feasibility of a run: the obligations that it can test within its budgets and fixtures.

Every planned trial is dry-run (`dry_run`). One that would be stopped is not run, and
its obligations stay unverified for the reason that would stop it; where it observes
something before, it is run for that evidence only. The rest is planned in order, as far as the
budgets allow: calls in this run, and accesses without the customer today, of which the
ledger knows how many are used. So a run leaves open exactly what its plan announced.

This applies only where customers are real or a target file sets limits: test data that
is created for each trial has neither.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import UTC, date, datetime, time, timedelta
from functools import partial
from itertools import islice, permutations
from pathlib import Path
from typing import TypeAlias

from assay.binding.model.target import Role, RoleChoice, Target
from assay.contract.model import Capability
from assay.errors import CannotArrange, Shortage
from assay.fixtures.providers import Customers, customers_of, has_real_customers
from assay.fixtures.waiting import NONE, format_span
from assay.planning.plan import FREE, Disposition, Plan, Planned, Price, Trial, decided
from assay.preparation.dry_run import TrialEstimate, dry_run_trial
from assay.rules.state import calendar
from assay.running.guard import (
    UNUSED_DAY,
    Customer,
    Guard,
    customer_for,
    held_back,
    item_of,
    waiting_customers,
)
from assay.running.ledger import Ledger, default_path
from assay.running.tokens import UNAUTHENTICATED_TPP

# -- Choice of the listed customers of each trial: the least used come first ---------------------
# What is used of a customer is a quota, a consent, a request, a signature. What the trials of the
# plan use is known from their dry runs, and what earlier runs used today from the ledger. A customer
# who cannot be used any more may be the first by that count (the quota of one operation is spent,
# a creditor has another age), so the others are tried in turn until the dry run gets to its end.
#
# The order depends on the plan, the target file and the ledger alone: a run takes what its plan says.
#: One count that a budget, and a bank, keep separately: a customer, an operation, a day.
Count: TypeAlias = tuple[Customer, str, date]

#: How many choices are tried for a trial that cannot get to its end.
MOST_CHOICES = 24
#: How many customers of a trial may change places: more than two are hardly ever asked for.
MOST_MOVED = 2


@dataclass(slots=True, kw_only=True)
class RoleChoices:
    """How much is used of each listed customer and of what they own, before the next trial.

    `free` says from when on no trial waits for something of each.
    """

    target: Target
    guard: Guard
    now: datetime
    free: Mapping[str, timedelta] = field(default_factory=dict[str, timedelta])
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
        return RoleChoice(
            roles=tuple(names),
            busy={name: round(free.total_seconds()) for name, free in self.free.items()},
            uses=dict(self.items) if writes else {},
        )

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
        groups = {role.name: (role.bank, role.segment) for role in self.roles}
        asked = {groups[name] for name in estimate.customers}
        names = [name for name in first.roles if groups[name] in asked]
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


# -- Feasibility of a run: the obligations that it can test within its budgets and fixtures ----
__all__ = ["Count", "Feasibility", "RoleChoices", "assess", "without_valueless"]

#: How the reason begins for which a call cannot be made, whatever the fixtures offer.
UNSENDABLE = ("needs a value for ", f"needs {UNAUTHENTICATED_TPP}")


@dataclass(frozen=True, slots=True, kw_only=True)
class Feasibility:
    """A plan that can be executed, and what each of its trials will do.

    `before` is the plan without this computation, `waited` how long the run waits. `used` are the
    accesses without the customer that earlier runs made, of the counts that this run adds to;
    `bounds` are their limits, None for no limit.
    """

    plan: Plan
    before: Plan
    trials: dict[str, TrialEstimate]
    waited: timedelta = NONE
    used: Counter[Count] = field(default_factory=Counter[Count])
    bounds: dict[str, int | None] = field(default_factory=dict[str, int | None])


def assess(
    plan: Plan,
    target: Target,
    *,
    now: datetime,
    ledger: Path | None = None,
    wait: timedelta | None = None,
) -> Feasibility:
    """Dry-run a plan's trials, and plan what will be run, what will not, and why.

    They begin now, one after the other; where the run may `wait` so long for clocks, trials of
    different customers do it at the same time.

    Raises:
        InputError: the ledger cannot be read.

    """
    guard = Guard(target=target, book=_ledger(target, ledger))
    guard.learn(plan)
    schedule = _Schedule(plan=plan, target=target, guard=guard, now=now, wait=wait)
    choices = RoleChoices(target=target, guard=guard, now=now, free=schedule.free)
    for trial in plan.all_trials:
        run = partial(schedule.dry_run, trial)
        choice, estimate = _chosen(choices, trial, run, schedule)
        if schedule.add(trial, estimate):
            schedule.choices[trial.id] = choice
            choices.add(estimate)
    feasible = decided(plan, map(schedule.decide, plan.items))
    contextual = (trial for trial in feasible.contextual if trial.id in schedule.runnable)
    return Feasibility(
        plan=replace(
            feasible,
            trials=tuple(map(schedule.with_choice, schedule.in_order(feasible.trials))),
            contextual=tuple(map(schedule.with_choice, contextual)),
        ),
        before=plan,
        trials=schedule.runnable,
        waited=max(schedule.ends.values(), default=NONE),
        used=schedule.used,
        bounds={name: guard.bound(name) for _, name, _ in schedule.spent},
    )


def _chosen(
    choices: RoleChoices,
    trial: Trial,
    run: Callable[..., TrialEstimate],
    schedule: _Schedule,
) -> tuple[RoleChoice | None, TrialEstimate]:
    """Return the choice of customers with which a trial gets furthest, and its estimate.

    That is the first one with which it gets to its end; else one with which it shows something.
    """
    obstacle = partial(schedule.obstacle, trial)
    choice = choices.first(trial)
    estimate = run(choice=choice)
    best = choice, estimate
    if choice is None or not (estimate.stopped or obstacle(estimate)[0]):
        return _as_taken(*best)
    for other in choices.others(choice, estimate, schedule.used + schedule.spent):
        tried = run(choice=other)
        stopped = bool(obstacle(tried)[0])
        if not (tried.stopped or stopped):
            return _as_taken(other, tried)
        shown = len(() if stopped else tried.observed)
        if shown > len(() if obstacle(best[1])[0] else best[1].observed):
            best = other, tried
    return _as_taken(*best)


def _as_taken(
    choice: RoleChoice | None, estimate: TrialEstimate
) -> tuple[RoleChoice | None, TrialEstimate]:
    return choice and replace(choice, taken=estimate.customers), estimate


def without_valueless(plan: Plan, target: Target, *, now: datetime) -> Plan:
    """Return a plan in which nothing is tested that needs a value or a token which the file lacks.

    A run leaves it unverified.
    """
    schedule = _Schedule(plan=plan, target=target, guard=Guard(target=target), now=now)
    for trial in plan.trials:
        estimate = dry_run_trial(plan, trial, target, now)
        if estimate.stopped.startswith(UNSENDABLE):
            schedule.stopped[trial.id] = estimate
    return decided(plan, map(schedule.decide, plan.items))


def _ledger(target: Target, path: Path | None) -> Ledger | None:
    return Ledger.existing(path or default_path()) if has_real_customers(target) else None


@dataclass(slots=True, kw_only=True)
class _Schedule:
    """The trials considered so far: which can be run, and what they cost together."""

    plan: Plan
    target: Target
    guard: Guard
    now: datetime
    wait: timedelta | None = None
    runnable: dict[str, TrialEstimate] = field(default_factory=dict[str, TrialEstimate])
    stopped: dict[str, TrialEstimate] = field(default_factory=dict[str, TrialEstimate])
    calls: int = 0
    #: The first name of each customer for whom trials wait in turn.
    same: Mapping[str, str] = field(init=False)
    #: From when on no trial waits for something of each customer.
    free: dict[str, timedelta] = field(default_factory=dict[str, timedelta])
    ends: dict[str, timedelta] = field(default_factory=dict[str, timedelta])
    spent: Counter[Count] = field(default_factory=Counter[Count])
    used: Counter[Count] = field(default_factory=Counter[Count])
    choices: dict[str, RoleChoice | None] = field(default_factory=dict[str, "RoleChoice | None"])

    def __post_init__(self) -> None:
        """Look up which entries are one customer."""
        self.same = waiting_customers(self.target)

    def obstacle(self, trial: Trial, estimate: TrialEstimate) -> tuple[str, Shortage | None]:
        """Return why a trial is not run at all; an empty text if it is."""
        observes = any(facet.facet in estimate.observed for facet in trial.settles)
        if estimate.stopped and not observes:
            return estimate.stopped, None
        return next(self._exceeded(trial, estimate), ("", None))

    def with_choice(self, trial: Trial) -> Trial:
        """Return a trial with the customers that it takes."""
        return replace(trial, choice=self.choices.get(trial.id))

    def add(self, trial: Trial, estimate: TrialEstimate) -> bool:
        """Add the next trial if the budgets allow it; return whether they do."""
        reason, shortage = self.obstacle(trial, estimate)
        if reason:
            self.stopped[trial.id] = replace(
                estimate, stopped=reason, shortage=shortage, observed=frozenset()
            )
            return False
        if estimate.stopped:
            self.stopped[trial.id] = estimate
        self.runnable[trial.id] = estimate
        self.spent += estimate.batch
        self.calls += self._price(trial, estimate)
        self.guard.add_written(estimate.written)
        ended = self._end(estimate)
        self.free |= dict.fromkeys(self._customers(estimate), ended)
        self.ends[trial.id] = ended
        return True

    def dry_run(self, trial: Trial, choice: RoleChoice | None) -> TrialEstimate:
        """Dry-run a trial from when its customers are free."""
        estimate = self._estimated(trial, choice, NONE)
        begin = self._begin(estimate)
        return self._estimated(trial, choice, begin) if begin else estimate

    def _estimated(
        self, trial: Trial, choice: RoleChoice | None, begin: timedelta
    ) -> TrialEstimate:
        waits, then = self.wait is not None, self.now + begin
        return dry_run_trial(self.plan, trial, self.target, then, waits=waits, choice=choice)

    def _customers(self, estimate: TrialEstimate) -> Sequence[str]:
        """Return the entries whose next trial waits until this one has ended."""
        kept = {self.same[name] for name in estimate.customers if name in self.same} or {""}
        return [name for name, first in self.same.items() if first in kept]

    def _begin(self, estimate: TrialEstimate) -> timedelta:
        return max((self.free.get(name, NONE) for name in self._customers(estimate)), default=NONE)

    def _end(self, estimate: TrialEstimate) -> timedelta:
        return self._begin(estimate) + estimate.waited

    def in_order(self, trials: Iterable[Trial]) -> Sequence[Trial]:
        """Return trials in the order in which they end; none waits for a later one."""
        return sorted(trials, key=lambda trial: self.ends.get(trial.id, NONE))

    def decide(self, item: Planned) -> Planned:
        """Return what is planned for an obligation, once all trials are considered."""
        estimate = self.stopped.get(item.obligation.trial)
        if item.disposition is not Disposition.ASK or estimate is None:
            return item
        if item.obligation.facet in estimate.observed:
            calls = estimate.calls
            return replace(item, price=Price(lambda: calls))
        return replace(
            item,
            disposition=Disposition.UNVERIFIED,
            reason=estimate.stopped,
            price=FREE,
            shortage=estimate.shortage,
        )

    def _price(self, trial: Trial, estimate: TrialEstimate) -> int:
        if estimate.stopped:
            return estimate.calls + estimate.signatures
        return max(trial.calls, estimate.calls)

    def _exceeded(
        self, trial: Trial, estimate: TrialEstimate
    ) -> Iterator[tuple[str, Shortage | None]]:
        """Yield why the budgets do not allow a trial; nothing if they do."""
        ended = self._end(estimate)
        if self.wait is not None and estimate.waited and ended > self.wait:
            yield f"needs more waiting time (--wait {format_span(ended)})", None
        try:
            self.guard.check_limits(estimate.written)
        except CannotArrange as error:
            yield f"needs {error}", None
        most, price = self.target.budget.calls, self._price(trial, estimate)
        if most is not None and self.calls + price > most:
            calls = f"{price} more calls; {most - self.calls} of {most} left (budget.calls)"
            yield f"needs {calls}", Shortage.BUDGET
        for count in estimate.batch:
            customer, operation, _ = count
            needed, before = _shared(estimate.batch, count), self._used_before(count)
            bound = self.guard.bound(operation)
            if bound is not None and before + needed > bound:
                left = max(bound - before, 0)
                reason = f"needs {held_back(needed, operation, left, bound, customer.name)}"
                yield reason, Shortage.BUDGET
            quota = (self.guard.limits or {}).get(operation)
            if quota is not None and before and before + needed > quota:
                # The bank's own count may no longer be what the probe assumes.
                reason = (
                    f"needs {UNUSED_DAY} {operation} without the customer; "
                    f"{self._used_by(count)} ({customer.name})"
                )
                yield reason, Shortage.UNUSED_QUOTA

    def _used_by(self, count: Count) -> str:
        """Say by whom accesses are used when a trial begins."""
        uses = (
            (self.used[count], "made earlier today"),
            (_shared(self.spent, count), "planned earlier in this run"),
        )
        return " and ".join(f"{number} {when}" for number, when in uses if number)

    def _used_before(self, count: Count) -> int:
        """Return how many accesses are used when a trial begins: before the run, and in it.

        Where the fixture provider chooses the customers, only the trial itself shows which ones
        it uses.
        """
        customer, operation, day = count
        if customers_of(self.target) is Customers.CHOSEN:
            return 0
        if count not in self.used and self.guard.book is not None:
            use = self.guard.use(operation, customer, self.now)
            if day != use.day:  # a trial waits for another day
                then = calendar.at(day, time(12), use.zone or UTC)
                use = replace(use, at=then)
            self.used[count] = self.guard.book.used(use)
        return self.used[count] + _shared(self.spent, count)


def _shared(counts: Counter[Count], count: Count) -> int:
    """Return how many accesses are one customer's, whatever its entries are called."""
    customer, *which = count
    return sum(
        number
        for (other, *rest), number in counts.items()
        if rest == which and not customer.keys.isdisjoint(other.keys)
    )
