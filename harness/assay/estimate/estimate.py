"""Estimate of the time that a run will wait, where no clock can be moved.

Every probe is run against a dry target first. It grants whatever a probe asks for, so the
figures are upper bounds for a conforming target. Each trial begins when the previous one
has ended.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping
from contextlib import suppress
from dataclasses import dataclass, replace
from datetime import UTC, datetime, timedelta

from assay.binding.target import Target
from assay.contract.model import Capability
from assay.fixtures.waiting import NONE, Waiting, announcing, describe_span, format_span
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
    left = [trial for trial in plan.trials if _needs_clock(trial)]
    alone = {trial.id: waited_in(plan, trial, now, screens) for trial in left}
    waits: list[Wait] = []
    then, spans = now, dict(alone)
    while left:
        trial = min(left, key=lambda trial: (plan.person and trial.signed, spans[trial.id]))
        left.remove(trial)
        span = spans[trial.id]
        waits.append(Wait(trial=trial, span=span, alone=alone[trial.id]))
        if span:
            then += span
            spans = {each.id: waited_in(plan, each, then, screens) for each in left}
    return tuple(waits)


def with_waits(
    plan: Plan, timed: Plan, now: datetime, *, screens: int, most: timedelta = NONE
) -> Plan:
    """Return a plan in which clocks are waited for, up to the allowed total.

    `plan` is the one for a target whose clock cannot be moved, `timed` the same if it
    could be. An obligation that is not waited for states how long that would take.
    """
    waits = in_turn(timed, now, screens)
    total, chosen = NONE, list[Trial]()
    for wait in waits:
        if total + wait.span > most or not most:
            break
        total += wait.span
        chosen.append(wait.trial)
    tested = {obligation.id for trial in chosen for obligation in trial.settles}
    spans = {obligation.id: wait.alone for wait in waits for obligation in wait.trial.settles}
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


def _needs_clock(trial: Trial) -> bool:
    return any(Capability.CLOCK in obligation.needs for obligation in trial.settles)


def announced(plan: Plan, target: Target, now: datetime) -> str:
    """Say how long a run will wait in total; empty if it will not."""
    waits = in_turn(plan, now, len(target.sca.screens))
    spans = [wait.span for wait in waits if wait.span]
    trials = f"{len(spans)} trial{'' if len(spans) == 1 else 's'}"
    return f"will wait {describe_span(sum(spans, NONE))} in total, in {trials}" if spans else ""


def announce(
    waiting: Waiting | None, plan: Plan, target: Target, tell: Callable[[str], None]
) -> None:
    """Announce before a run how long it will wait in total, and during it each wait."""
    if waiting is not None and (announcement := announced(plan, target, datetime.now(UTC))):
        tell(announcement)
        waiting.tell = announcing(waiting, tell)
