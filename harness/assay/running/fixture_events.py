"""Fixture events besides customers and time: registrations and executed requests.

A customer who existed before has values (creditors) of its own on file, which is all that it can
have. One that fits the age which a probe asks for is taken instead of the target file's value.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from datetime import datetime, timedelta
from typing import TYPE_CHECKING

from assay.binding.encode import BARE, Access
from assay.binding.target import FixtureKind
from assay.contract.model import Capability
from assay.errors import CannotArrange
from assay.history import (
    Effect,
    Register,
    Registered,
    Registration,
    Subject,
    Withdraw,
    Withdrawn,
)

if TYPE_CHECKING:
    from assay.running.executor import Executor

__all__ = ["new_effects", "registered", "withdrawn"]

#: An older registration will do where at least this age is asked for: no limit is near.
LONG = timedelta(days=7)
#: Otherwise it must be of this age, give or take.
CLOSE = timedelta(seconds=1)
#: Older than any registration.
EVER = timedelta(days=1_000_000)


def new_effects(executor: Executor) -> tuple[Effect, ...] | None:
    """Return all executions of each request of which earlier events do not have all."""
    offered = Capability.EFFECTS in executor.environment.target.fixtures.offers
    if not offered or (done := executor.fixture.effects()) is None:
        return None
    by_request: dict[str, list[Effect]] = {}
    for effect in executor.submissions.effects(done):
        by_request.setdefault(effect.request, []).append(effect)
    new = {key: those for key, those in by_request.items() if executor.effects.get(key) != those}
    executor.effects |= new
    return tuple(effect for those in new.values() for effect in those)


def withdrawn(executor: Executor, step: Withdraw) -> Withdrawn:
    """Have the customer cancel a request at the bank, under the key that the bank has for it."""
    known = replace(step, request=executor.submissions.bank_key(step.request))
    done = executor.fixture.withdraw(known)
    return Withdrawn(subject=step.subject, request=step.request, done=done, now=executor.look())


def registered(executor: Executor, step: Register) -> Registered:
    """Have a value registered, or take one that is on file; return the event.

    Raises:
        CannotArrange: there is no value to register, or none of this age is on file.

    """
    binding = executor.environment.target.operations.get(step.operation, BARE)
    spelling = binding.arguments.get(step.argument)
    value = step.value if step.value is not None else spelling.value if spelling else None
    customer = next(
        (
            event
            for event in reversed(executor.events)
            if isinstance(event, Subject) and event.name == step.subject
        ),
        None,
    )
    if customer is not None and not customer.fresh and customer.registrations is not None:
        known = _on_file(customer.registrations, step, executor.look())
        # The value of the target file is preferred: other calls have it, too.
        known = sorted(known, key=lambda each: each.value != value)
        if not known:
            fixtures = executor.environment.target.fixtures
            running = fixtures.kind is FixtureKind.ROLES and fixtures.now is None
            raise CannotArrange(_wanted(step, running=running))
        first = known[0]
        return Registered(
            subject=step.subject,
            argument=step.argument,
            value=first.value,
            since=first.since,
            latest=first.latest,
        )
    if value is None:
        key = ("operations", step.operation, "arguments", step.argument)
        raise CannotArrange(f"a value for {'.'.join(key)} in the target file", key=key)
    access = executor.access.get(step.subject, Access())
    since = executor.fixture.register(step, access, value)
    return Registered(subject=step.subject, argument=step.argument, value=value, since=since)


def _on_file(
    registrations: Sequence[Registration], step: Register, now: datetime
) -> list[Registration]:
    """Return the registrations that are as old as asked for."""
    return [
        known
        for known in registrations
        if known.argument == step.argument
        and step.value in (None, known.value)
        and _fits(known, step, now)
    ]


def _fits(known: Registration, step: Register, now: datetime) -> bool:
    """Whether a registration is surely as old as asked for."""
    latest = known.latest or known.since
    span = step.exact if latest == known.since else step.rough
    if step.exact is None:
        span = (step.age, step.age + CLOSE) if step.age < LONG else (step.age, EVER)
    return span is not None and span[0] <= now - latest and now - known.since <= span[1]


def _wanted(step: Register, *, running: bool) -> str:
    """Say what registration is missing; by a `running` clock no age is known to the second."""
    what = f"a customer with a {step.argument} registered"
    where = "(fixtures.roles.….registrations)"
    span = step.rough if running else step.exact
    if step.exact is None or step.age >= LONG:
        return f"{what} {_told(step.age)} before {where}"
    if span is None:
        clock = "and a clock that is fixed (fixtures.now) or can be moved"
        return f"{what} exactly {_told(step.age)} before {where}, {clock}"
    least, most = (_told(age) for age in span)
    if least == most:
        return f"{what} {least} before {where}"
    if not running:
        return f"{what} {least} to {most} before {where}"
    return f"{what} {least} to {most} before, give or take 5 minutes {where}"


def _told(age: timedelta) -> str:
    """Format an age for a reader: in days, if it is long."""
    if age >= LONG:
        return f"{-(-age // timedelta(days=1))} days"
    minutes, seconds = divmod(int(age.total_seconds()), 60)
    return f"{minutes // 60}:{minutes % 60:02}:{seconds:02} h"
