"""`--wait`: how long may be waited in all, what that comes to, and how far it is."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from datetime import UTC, datetime
from typing import Any, TypeVar

import click

from assay.plan import plan
from assay.prepare import Prepared
from assay.run.forecast import announced, in_turn
from assay.run.waiting import NONE, lends_itself, span, spelt, timed

F = TypeVar("F", bound=Callable[..., Any])

#: What `--wait` alone stands for.
ALONE = "1d"


def _read(_context: click.Context, _parameter: click.Parameter, value: str | None) -> Any:
    return None if value is None else span(value)


def option(command: F) -> F:
    """Add `--wait`."""
    return click.option(
        "--wait",
        is_flag=False,
        flag_value=ALONE,
        callback=_read,
        metavar="[SPAN]",
        help="Where no clock can be moved: check time rules by waiting, the shortest first, "
        f"for at most so long in all (45m, 26h, 1d12h; alone: {ALONE}).",
    )(command)


def told(prepared: Prepared, *, now: datetime | None = None) -> Iterator[str]:
    """Yield what a plan has to say of waiting, where there is something to wait for."""
    profile, now = prepared.profile, now or datetime.now(UTC)
    if not lends_itself(profile):
        return
    if words := announced(prepared.plan, profile, now):
        yield words
    # Selected as the plan was, every item that it has.
    chosen = {one.obligation.id for one in prepared.plan.items}
    every = plan(prepared.bound, timed(profile), lambda one: one.id in chosen)
    left = [one for one in in_turn(every, now, len(profile.sca.screens)) if one.span]
    held = prepared.plan.asked
    if any(each.id not in held for one in left for each in one.trial.settles):
        whole = sum((one.span for one in left), NONE)
        yield f"waiting for all that a clock would tell: --wait {spelt(whole)}"
