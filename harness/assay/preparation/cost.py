"""Estimates of a run at a real bank: calls, accesses, signatures and waiting time.

Every probe is run against a dry target first. It grants whatever a probe asks for, so all figures
are upper bounds for a conforming target; of a list whose length is unknown, one page is counted.
Customers are named as in the target file. Of the arguments of a request only numbers are shown: the
others may be personal data. Where no clock can be moved, time is waited for: each trial begins when
the previous one of the same customers has ended.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from datetime import UTC, date, datetime, timedelta
from decimal import Decimal
from functools import cache

from assay.binding.model.target import Target
from assay.contract.model import Json
from assay.fixtures.waiting import NONE, Waiting, announcing, describe_span, format_span
from assay.history import Advance, Arrange, Authorise, Event, Step
from assay.planning.plan import (
    Disposition,
    Plan,
    Planned,
    Trial,
    count_signatures,
    restrict,
    script_of,
)
from assay.preparation.feasibility import Feasibility
from assay.rules.dry_run import MOST, DryTarget, dry_run
from assay.rules.steps import perform_all
from assay.running.guard import Customer, Guard, waiting_customers


@dataclass(frozen=True, slots=True, kw_only=True)
class Wait:
    """How long a trial waits when its turn comes, and when it is run at once.

    `end` is when it has waited, counted from when all waiting begins.
    """

    trial: Trial
    span: timedelta
    alone: timedelta
    end: timedelta


def waited_in(plan: Plan, trial: Trial, now: datetime, screens: int) -> timedelta:
    """Return how long a trial that begins now will wait, at most.

    `screens` is how many are filled in for a signature, because some signatures wait
    before each.
    """
    _, script = script_of(plan, trial)
    dry_target = DryTarget(contract=plan.contracts[trial.contract], now=now)

    def reply(step: Step) -> Event:
        if isinstance(step, Authorise):
            dry_target.now += step.pace * screens + sum(step.linger, NONE)
        elif isinstance(step, Advance) and step.to is not None:
            # What is over already is not waited for, and time does not run backwards.
            step = Advance(to=max(step.to, dry_target.now))
        return dry_target.reply(step)

    with suppress(Exception):  # an error of the probe ends it
        perform_all(script, reply, MOST)
    return dry_target.now - now


def waits(plan: Plan, target: Target, now: datetime) -> tuple[Wait, ...]:
    """Return the waits of the trials that need a clock, those that end first before the others.

    Each begins when its customers are free: those that it is known to take, or as many. Trials that
    need a person come last.
    """
    customers = waiting_customers(target)
    free = dict.fromkeys(customers.values(), NONE)
    left = [trial for trial in plan.trials if trial.needs_clock]
    numbers = {trial.id: _customers(plan, trial) for trial in left}
    found: list[Wait] = []

    @cache
    def span(trial: Trial, begin: timedelta) -> timedelta:
        return waited_in(plan, trial, now + begin, len(target.sca.screens))

    def taken(trial: Trial) -> Sequence[str]:
        chosen = trial.choice.taken if trial.choice else ()
        known = [customers[name] for name in chosen if name in customers]
        return known or sorted(free, key=free.__getitem__)[: numbers[trial.id]]

    def times(trial: Trial) -> tuple[timedelta, timedelta]:
        begin = max((free[name] for name in taken(trial)), default=NONE)
        return begin, begin + span(trial, begin)

    while left:
        trial = min(left, key=lambda trial: (plan.person and trial.signed, times(trial)[1]))
        left.remove(trial)
        begin, ended = times(trial)
        found.append(Wait(trial=trial, span=ended - begin, alone=span(trial, NONE), end=ended))
        free |= dict.fromkeys(taken(trial), ended)
    return tuple(found)


def _customers(plan: Plan, trial: Trial) -> int:
    """Return how many customers a trial takes, one at least."""
    _, script = script_of(plan, trial)
    played = dry_run(script, DryTarget(contract=plan.contracts[trial.contract]))
    return len({step.subject for step in played if isinstance(step, Arrange)}) or 1


def with_waits(
    plan: Plan, timed: Plan, target: Target, now: datetime, *, most: timedelta = NONE
) -> Plan:
    """Return a plan in which clocks are waited for, up to the allowed total.

    `plan` is the one for a target whose clock cannot be moved, `timed` the same if it
    could be. An obligation that is not waited for states how long that would take.
    """
    every = waits(timed, target, now)
    chosen = [wait.trial for wait in every if wait.end <= most] if most else []
    tested = {obligation.id for trial in chosen for obligation in trial.settles}
    spans = {obligation.id: wait.alone for wait in every for obligation in wait.trial.settles}
    items = tuple(
        _decided(before, after, tested, spans)
        for before, after in zip(plan.items, timed.items, strict=True)
    )
    whole = restrict(replace(plan, items=items), {item.obligation.id for item in items})
    order = {trial.id: number for number, trial in enumerate(chosen, 1)}

    def position(trial: Trial) -> tuple[bool, int]:
        return plan.person and trial.signed, order.get(trial.id, 0)

    return replace(whole, trials=tuple(sorted(whole.trials, key=position)))


def _decided(
    before: Planned, after: Planned, tested: Collection[str], spans: Mapping[str, timedelta]
) -> Planned:
    """Return the plan for one obligation, given those that are tested after a wait."""
    id_ = before.obligation.id
    if id_ in tested:
        return after
    if before.disposition is after.disposition or id_ not in spans:
        return before  # it lacks more than a clock
    waiting = f"or waiting: --wait {format_span(spans[id_])} (this trial)"
    return replace(before, reason=f"{before.reason}, {waiting}")


def announced(plan: Plan, target: Target, now: datetime) -> str:
    """Say how long a run will wait in total; empty if it will not."""
    every = [each for each in waits(plan, target, now) if each.span]
    if not every:
        return ""
    total, in_turn = max(each.end for each in every), sum((each.span for each in every), NONE)
    also = f" ({describe_span(in_turn)} one after another)" if in_turn > total else ""
    return f"will wait {describe_span(total)} in total, in {_some(len(every), 'trial')}{also}"


def announce(
    waiting: Waiting | None, plan: Plan, target: Target, tell: Callable[[str], None]
) -> None:
    """Announce before a run how long it will wait in total, and during it each wait."""
    if waiting is not None and waiting.brief and (signatures := count_signatures(plan)):
        seconds = f"{target.executes_within:g} s"
        times = f"up to {_some(signatures, 'signature')}"
        tell(
            f"will wait {seconds} after each of {times}, until the bank executes (executes_within)"
        )
    if waiting is not None and (announcement := announced(plan, target, datetime.now(UTC))):
        tell(announcement)
        waiting.tell = announcing(waiting, tell)


__all__ = ["Cost", "QuotaCost", "cost_of", "lines", "record"]

#: The argument that is taken for an amount where `safety.most` names none.
AMOUNT = re.compile(r"[0-9]{1,12}[.][0-9]{1,5}")


@dataclass(frozen=True, slots=True, kw_only=True)
class QuotaCost:
    """The number of accesses to an operation without the customer present on one day.

    `earlier` were made by earlier runs, and `most` are allowed, None for no limit.
    """

    customer: str
    operation: str
    day: str
    number: int
    earlier: int
    most: int | None


@dataclass(frozen=True, slots=True, kw_only=True)
class Cost:
    """What a run costs. `written` counts requests, by operation and amounts."""

    trials: int
    calls: int
    unverified: int
    batch: tuple[QuotaCost, ...]
    consents: Mapping[str, int]
    written: Mapping[tuple[str, str], int]
    signatures: int
    waited: timedelta
    limits: tuple[str, ...] = ()


def cost_of(feasibility: Feasibility, target: Target) -> Cost:
    """Add up the cost of all trials of a plan that will be run."""
    plan = feasibility.plan
    estimates = [feasibility.trials[trial.id] for trial in plan.all_trials]
    batch = sum((estimate.batch for estimate in estimates), Counter[tuple[Customer, str, date]]())
    consents = sum((estimate.consents for estimate in estimates), Counter[str]())
    written = Counter(
        (operation, _amounts(arguments, target))
        for estimate in estimates
        for operation, arguments in estimate.requests
    )
    return Cost(
        trials=len(plan.all_trials),
        calls=plan.calls,
        unverified=sum(item.disposition is Disposition.UNVERIFIED for item in plan.items),
        batch=tuple(
            QuotaCost(
                customer=customer.name,
                operation=operation,
                day=day.isoformat(),
                number=number,
                earlier=feasibility.used[customer, operation, day],
                most=feasibility.bounds.get(operation),
            )
            for (customer, operation, day), number in batch.items()
        ),
        consents=consents,
        written=written,
        signatures=sum(estimate.signatures for estimate in estimates),
        waited=feasibility.waited,
        limits=tuple(_limits(feasibility, target)) if written else (),
    )


def _limits(feasibility: Feasibility, target: Target) -> Iterator[str]:
    """Yield the limits of the run on requests, each with what the plan takes of it."""
    guard = Guard(target=target)
    for trial in feasibility.plan.all_trials:
        guard.add_written(feasibility.trials[trial.id].written)
    for name, limit in guard.most_written.items():
        what = f"of {name} in this run (safety.total)" if name else "requests (safety.requests)"
        yield f"{guard.written.get(name, 0)} of at most {limit} {what}"


def _amounts(arguments: Mapping[str, Json], target: Target) -> str:
    """Return the numeric arguments of a request, under their names in the contract."""
    amounts = [
        f"{name} {value}"
        for name, value in arguments.items()
        if not isinstance(value, bool)
        and isinstance(value, str | int | Decimal | float)
        and (name in target.safety.most or AMOUNT.fullmatch(str(value)))
    ]
    return ", ".join(amounts)


def lines(cost: Cost) -> Iterator[str]:
    """Yield what a run costs besides calls and waiting, one line each."""
    for use in cost.batch:
        left = "" if use.most is None else f"; {max(use.most - use.earlier, 0)} of {use.most} left"
        yield (
            f"{_some(use.number, 'access', 'accesses')} of {use.operation} without the customer "
            f"({use.customer}, {use.day}); {use.earlier} made earlier{left}"
        )
    for name, number in cost.consents.items():
        yield f"{_some(number, 'consent')} of {name}, which may replace earlier ones"
    for (operation, amounts), number in cost.written.items():
        yield f"{_some(number, 'call')} of {operation}{f' ({amounts})' if amounts else ''}"
    yield from cost.limits
    if cost.signatures:
        yield f"up to {_some(cost.signatures, 'signature')}"


def record(cost: Cost) -> dict[str, object]:
    """Return what a run costs as JSON data; waiting is in seconds."""
    return {
        "trials": cost.trials,
        "calls": cost.calls,
        "unverified": cost.unverified,
        "without_customer": [
            {
                "customer": accesses.customer,
                "operation": accesses.operation,
                "day": accesses.day,
                "accesses": accesses.number,
                "earlier": accesses.earlier,
                "most": accesses.most,
            }
            for accesses in cost.batch
        ],
        "consents": dict(cost.consents),
        "writes": [
            {"operation": operation, "amounts": amounts, "calls": number}
            for (operation, amounts), number in cost.written.items()
        ],
        "limits": list(cost.limits),
        "signatures": cost.signatures,
        "waiting": cost.waited.total_seconds(),
    }


def _some(number: int, noun: str, plural: str = "") -> str:
    return f"{number} {noun if number == 1 else plural or noun + 's'}"
