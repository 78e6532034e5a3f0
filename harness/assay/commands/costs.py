"""What a run will cost, as a user sees it: `--ledger`, `--dry-run`, and the lines of both."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

import click

from assay.commands import waits
from assay.prepare import Prepared

if TYPE_CHECKING:
    from assay.run.conduct import Result

F = TypeVar("F", bound=Callable[..., Any])


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


def told(prepared: Prepared, *, dry: bool = False) -> Iterator[str]:
    """Yield what a run costs besides calls; of an arranged world only where it runs dry."""
    if prepared.foresight is None and not dry:
        return
    from assay.run.cost import cost_of, lines  # noqa: PLC0415 -- not for every plan

    cost = cost_of(prepared.foreseen(), prepared.profile)
    if dry:
        yield f"{len(prepared.plan.items)} obligations, {cost.unverified} of them unverified"
        more = ", and one for each further page of a list" if prepared.foresight else ""
        yield f"{cost.calls} calls in {cost.trials} trials{more}"
    yield from lines(cost)


def tell_dry(prepared: Prepared) -> int:
    """Print what a run would cost; return the exit code."""
    for line in (*told(prepared, dry=True), *waits.told(prepared), "nothing was sent"):
        click.echo(line)
    return 0


def as_json(prepared: Prepared) -> Iterator[str]:
    """Yield the same as one JSON object, where there is anything to tell."""
    if prepared.foresight is not None:
        from assay.run.cost import cost_of, record  # noqa: PLC0415 -- as above

        yield json.dumps({"cost": record(cost_of(prepared.foresight, prepared.profile))})


def held_back(result: Result) -> Iterator[str]:
    """Yield what the budgets left out of a run, and what stopped it, if anything did."""
    from assay.run.guard import is_held_back  # noqa: PLC0415 -- only after a run

    number = sum(is_held_back(one) for one in result.verdicts)
    if number:
        some = "1 obligation was" if number == 1 else f"{number} obligations were"
        yield f"{some} held back by the budget: see why, or run again on another day"
    if result.stopped:
        yield result.stopped
