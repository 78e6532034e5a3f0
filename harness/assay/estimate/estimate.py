"""What a run will demand of people: signatures, and waiting time.

Every probe is played against a dry target first. It grants whatever a probe asks for,
so a request that a real target would refuse is signed here as well: the figures are
upper bounds for a conforming target. Waiting counts where no clock can be moved; each
trial begins when the previous one has ended. The number of calls is the plan's own
price.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping
from contextlib import suppress
from dataclasses import dataclass, replace
from datetime import UTC, datetime, timedelta

from assay.binding.target import Target
from assay.contract.model import Capability
from assay.fixtures.waiting import NONE, Waiting, describe_span, format_span, telling
from assay.history import Advance, Authorise, Event, Step
from assay.planning.plan import Plan, Planned, Trial, restrict, script_of
from assay.rules.dry_run import MOST, DryTarget
from assay.rules.steps import perform_all


@dataclass(frozen=True, slots=True, kw_only=True)
class Wait:
    """How long a trial waits when its turn comes, and when it is run at once."""

    trial: Trial
    span: timedelta
    alone: timedelta


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


def in_turn(plan: Plan, now: datetime, screens: int) -> tuple[Wait, ...]:
    """Return the waits of the trials that need a clock, the shortest first.

    Each begins when the previous one has ended; trials that need a person come last.
    """
    left = [trial for trial in plan.trials if _timed(trial)]
    first = {trial.id: waited_in(plan, trial, now, screens) for trial in left}
    turns: list[Wait] = []
    then, costs = now, dict(first)
    while left:
        least = min(left, key=lambda one: (plan.person and one.signed, costs[one.id]))
        left.remove(least)
        turns.append(Wait(trial=least, span=costs[least.id], alone=first[least.id]))
        if costs[least.id]:
            then += costs[least.id]
            costs = {one.id: waited_in(plan, one, then, screens) for one in left}
    return tuple(turns)


def with_waits(
    plan: Plan, timed: Plan, now: datetime, *, screens: int, most: timedelta = NONE
) -> Plan:
    """Return a plan in which clocks are waited for, up to the allowed total.

    `plan` is the one for a target whose clock cannot be moved, `timed` the same if it
    could be. An obligation that is not waited for states how long that would take.
    """
    turns = in_turn(timed, now, screens)
    total, held = NONE, list[Trial]()
    for one in turns:
        if total + one.span > most or not most:
            break
        total += one.span
        held.append(one.trial)
    going = {each.id for trial in held for each in trial.settles}
    waits = {each.id: one.alone for one in turns for each in one.trial.settles}
    items = tuple(
        _decided(before, after, going, waits)
        for before, after in zip(plan.items, timed.items, strict=True)
    )
    whole = restrict(replace(plan, items=items), {one.obligation.id for one in items})
    order = {trial.id: number for number, trial in enumerate(held, 1)}
    person = plan.person
    trials = sorted(whole.trials, key=lambda one: (person and one.signed, order.get(one.id, 0)))
    return replace(whole, trials=tuple(trials))


def _decided(
    before: Planned, after: Planned, going: Collection[str], waits: Mapping[str, timedelta]
) -> Planned:
    """Return the plan for one obligation, given what is waited for."""
    id_ = before.obligation.id
    if id_ in going:
        return after
    if before.disposition is after.disposition or id_ not in waits:
        return before  # it lacks more than a clock
    waiting = f"or waiting: --wait {format_span(waits[id_])} (this trial)"
    return replace(before, reason=f"{before.reason}, {waiting}")


def _timed(trial: Trial) -> bool:
    return any(Capability.CLOCK in one.needs for one in trial.settles)


def announced(plan: Plan, target: Target, now: datetime) -> str:
    """Say how long a run will wait in total; empty if it will not."""
    waits = [one.span for one in in_turn(plan, now, len(target.sca.screens)) if one.span]
    trials = f"{len(waits)} trial{'' if len(waits) == 1 else 's'}"
    return f"will wait {describe_span(sum(waits, NONE))} in total, in {trials}" if waits else ""


def announce(
    waiting: Waiting | None, plan: Plan, target: Target, tell: Callable[[str], None]
) -> None:
    """Announce before a run how long it will wait in total, and during it each wait."""
    if waiting is not None and (words := announced(plan, target, datetime.now(UTC))):
        tell(words)
        waiting.tell = telling(waiting, tell)
