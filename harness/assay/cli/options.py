"""Options that several commands share, so that they mean the same everywhere.

`--wait`: how long may be waited in all, what that comes to, and how far it is.

What a run will cost, as a user sees it: `--ledger`, `--dry-run`, and the lines of both.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

import click

from assay.estimate.estimate import announced, in_turn
from assay.fixtures.waiting import NONE, format_span, lends_itself, span, timed
from assay.planning.plan import plan
from assay.planning.prepare import Prepared

F = TypeVar("F", bound=Callable[..., Any])


def contracts(command: F) -> F:
    """Add `--contract`."""
    return click.option(
        "-c",
        "--contract",
        "contracts",
        multiple=True,
        metavar="NAME|FILE",
        help="A shipped contract (aisp) or a file; may be given again. Default: all shipped.",
    )(command)


def target(command: F) -> F:
    """Add `--target`."""
    return click.option(
        "-t",
        "--target",
        metavar="FILE|URL|NAME",
        help="A target file, the URL of a served sandbox, or a shipped target. "
        "Default: the embedded sandbox.",
    )(command)


def selection(command: F) -> F:
    """Add `-k` and `-m`."""
    command = click.option(
        "-m",
        "marks",
        default="",
        metavar="EXPR",
        help="Only obligations with these markers: rule kind, contract, level.",
    )(command)
    return click.option(
        "-k",
        "keywords",
        default="",
        metavar="EXPR",
        help="Only obligations whose id contains these words; as in pytest.",
    )(command)


#: What `--wait` alone stands for.
ALONE = "1d"


def _read_span(_context: click.Context, _parameter: click.Parameter, value: str | None) -> Any:
    return None if value is None else span(value)


def wait(command: F) -> F:
    """Add `--wait`."""
    return click.option(
        "--wait",
        is_flag=False,
        flag_value=ALONE,
        callback=_read_span,
        metavar="[SPAN]",
        help="Where no clock can be moved: check time rules by waiting, the shortest first, "
        f"for at most so long in all (45m, 26h, 1d12h; alone: {ALONE}).",
    )(command)


def wait_lines(prepared: Prepared, *, now: datetime | None = None) -> Iterator[str]:
    """Yield what a plan has to say of waiting, where there is something to wait for."""
    target, now = prepared.target, now or datetime.now(UTC)
    if not lends_itself(target):
        return
    if words := announced(prepared.plan, target, now):
        yield words
    # Selected as the plan was, every item that it has.
    chosen = {one.obligation.id for one in prepared.plan.items}
    every = plan(prepared.bound, timed(target), lambda one: one.id in chosen)
    left = [one for one in in_turn(every, now, len(target.sca.screens)) if one.span]
    held = prepared.plan.asked
    if any(each.id not in held for one in left for each in one.trial.settles):
        whole = sum((one.span for one in left), NONE)
        yield f"waiting for all that a clock would tell: --wait {format_span(whole)}"


if TYPE_CHECKING:
    from assay.execution.session import RunResult


def ledger(command: F) -> F:
    """Add `--ledger`."""
    return click.option(
        "--ledger",
        type=click.Path(path_type=Path, dir_okay=False),
        metavar="FILE",
        help="Where it is kept what was spent on real customers today, by any run. "
        "Default: $ASSAY_LEDGER, or a file in your state directory.",
    )(command)


def dry_run(command: F) -> F:
    """Add `--dry-run`."""
    return click.option(
        "--dry-run", is_flag=True, help="Tell what the run would cost, and send nothing."
    )(command)


def cost_lines(prepared: Prepared, *, dry: bool = False) -> Iterator[str]:
    """Yield what a run costs besides calls; of an arranged world only where it runs dry."""
    if prepared.feasibility is None and not dry:
        return
    from assay.estimate.cost import cost_of, lines  # noqa: PLC0415 -- not for every plan

    cost = cost_of(prepared.foreseen(), prepared.target)
    if dry:
        yield f"{len(prepared.plan.items)} obligations, {cost.unverified} of them unverified"
        more = ", and one for each further page of a list" if prepared.feasibility else ""
        yield f"{cost.calls} calls in {cost.trials} trials{more}"
    yield from lines(cost)


def tell_dry(prepared: Prepared) -> int:
    """Print what a run would cost; return the exit code."""
    for line in (*cost_lines(prepared, dry=True), *wait_lines(prepared), "nothing was sent"):
        click.echo(line)
    return 0


def as_json(prepared: Prepared) -> Iterator[str]:
    """Yield the same as one JSON object, where there is anything to tell."""
    if prepared.feasibility is not None:
        from assay.estimate.cost import cost_of, record  # noqa: PLC0415 -- as above

        yield json.dumps({"cost": record(cost_of(prepared.feasibility, prepared.target))})


def held_back(result: RunResult) -> Iterator[str]:
    """Yield what the budgets left out of a run, and what stopped it, if anything did."""
    from assay.execution.guard import is_held_back  # noqa: PLC0415 -- only after a run

    number = sum(is_held_back(one) for one in result.verdicts)
    if number:
        some = "1 obligation was" if number == 1 else f"{number} obligations were"
        yield f"{some} held back by the budget: see why, or run again on another day"
    if result.stopped:
        yield result.stopped
