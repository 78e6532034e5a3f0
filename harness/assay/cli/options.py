"""Options that several commands share, and the lines that say what a run will cost."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

import click

from assay.contexts.covering import Depth
from assay.estimate.estimate import announced, in_turn
from assay.fixtures.waiting import NONE, can_wait, format_span, span, with_clock
from assay.planning.plan import plan
from assay.planning.prepare import Prepared

if TYPE_CHECKING:
    from assay.execution.session import RunResult

F = TypeVar("F", bound=Callable[..., Any])

#: The span of `--wait` without a value.
DEFAULT_WAIT = "1d"


class SectionedCommand(click.Command):
    """A command whose help lists its options in sections, by their parameter names."""

    def __init__(self, *args: Any, sections: Mapping[str, Sequence[str]], **kwargs: Any) -> None:
        self.sections = sections
        super().__init__(*args, **kwargs)

    def format_options(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """Write each section, and the options of no section last."""
        records = {
            str(parameter.name): record
            for parameter in self.get_params(ctx)
            if (record := parameter.get_help_record(ctx)) is not None
        }
        for title, names in self.sections.items():
            with formatter.section(title):
                formatter.write_dl([records.pop(name) for name in names])
        if records:
            with formatter.section("Options"):
                formatter.write_dl([*records.values()])


def contracts(command: F) -> F:
    """Add `--contract`."""
    return click.option(
        "-c",
        "--contract",
        "contracts",
        multiple=True,
        metavar="NAME|FILE",
        help="Contract to use: a shipped name (aisp, pis) or a file. Repeatable. "
        "Default: all shipped contracts.",
    )(command)


def target(command: F) -> F:
    """Add `--target`."""
    return click.option(
        "-t",
        "--target",
        metavar="FILE|URL|NAME",
        help="Target to use: a target file, the URL of a served sandbox, or a shipped name. "
        "Default: the embedded sandbox.",
    )(command)


def selection(command: F) -> F:
    """Add `-k` and `-m`."""
    command = click.option(
        "-m",
        "marks",
        default="",
        metavar="EXPR",
        help="Only obligations with these markers (rule kind, contract, level), as in pytest.",
    )(command)
    return click.option(
        "-k",
        "keywords",
        default="",
        metavar="EXPR",
        help="Only obligations whose id contains these words, as in pytest.",
    )(command)


def out(command: F) -> F:
    """Add `--out`, the folder of journal and reports."""
    return click.option(
        "--out",
        type=click.Path(path_type=Path, file_okay=False),
        metavar="DIR",
        help="Folder for the journal and the reports. Default: a new folder in reports/local.",
    )(command)


def allow_incomplete(command: F) -> F:
    """Add `--allow-incomplete`."""
    return click.option(
        "--allow-incomplete",
        is_flag=True,
        help="Exit with 0 even if `must` obligations could not be verified.",
    )(command)


def quiet(command: F) -> F:
    """Add `--quiet`."""
    return click.option("-q", "--quiet", is_flag=True, help="Print only the closing line.")(command)


def _read_depth(_context: click.Context, _parameter: click.Parameter, value: str | None) -> Any:
    return None if value is None else Depth(value)


def contexts(command: F) -> F:
    """Add `--contexts`."""
    return click.option(
        "--contexts",
        type=click.Choice([depth.value for depth in Depth]),
        callback=_read_depth,
        envvar="ASSAY_CONTEXTS",
        help="Contexts in which each rule is tested (payment type, segment, host, weekday, ...): "
        "only the base context, each value once, or every pair of values. "
        "Default: each where customers are created for each trial, base elsewhere.",
    )(command)


def _read_span(_context: click.Context, _parameter: click.Parameter, value: str | None) -> Any:
    return None if value is None else span(value)


def wait(command: F) -> F:
    """Add `--wait`."""
    return click.option(
        "--wait",
        is_flag=False,
        flag_value=DEFAULT_WAIT,
        callback=_read_span,
        metavar="[SPAN]",
        help="Verify time rules by waiting in real time where the target's clock cannot be moved: "
        f"shortest first, up to SPAN in total (45m, 26h, 1d12h; default {DEFAULT_WAIT}).",
    )(command)


def ledger(command: F) -> F:
    """Add `--ledger`."""
    return click.option(
        "--ledger",
        type=click.Path(path_type=Path, dir_okay=False),
        metavar="FILE",
        help="File that records the call quota used today for each real customer; shared by all "
        "runs. Default: $ASSAY_LEDGER, or a file in your state directory.",
    )(command)


def dry_run(command: F) -> F:
    """Add `--dry-run`."""
    return click.option(
        "--dry-run", is_flag=True, help="Print what the run would cost, and send nothing."
    )(command)


def waiting_lines(prepared: Prepared, *, now: datetime | None = None) -> Iterator[str]:
    """Yield how long a run will wait, and how long it would wait to verify every time rule.

    Yields nothing where no waiting is needed.
    """
    target, now = prepared.target, now or datetime.now(UTC)
    if not can_wait(target):
        return
    if announcement := announced(prepared.plan, target, now):
        yield announcement
    # All trials of the selected obligations, as if the clock could be moved.
    selected = {one.obligation.id for one in prepared.plan.items}
    timed_plan = plan(prepared.bound, with_clock(target), lambda one: one.id in selected)
    waits = [one for one in in_turn(timed_plan, now, len(target.sca.screens)) if one.span]
    asked = prepared.plan.asked
    if any(each.id not in asked for one in waits for each in one.trial.settles):
        total = format_span(sum((one.span for one in waits), NONE))
        yield f"verifying every time rule by waiting takes {total}: --wait {total}"


def cost_lines(prepared: Prepared, *, dry: bool = False) -> Iterator[str]:
    """Yield what a run costs where customers are real; always for a dry run."""
    if prepared.feasibility is None and not dry:
        return
    from assay.estimate.cost import cost_of, lines  # noqa: PLC0415 -- not for every plan

    cost = cost_of(prepared.foreseen(), prepared.target)
    if dry:
        yield f"{len(prepared.plan.items)} obligations, {cost.unverified} of them unverified"
        pages = ", and one for each further page of a list" if prepared.feasibility else ""
        yield f"{cost.calls} calls in {cost.trials} trials{pages}"
    yield from lines(cost)


def print_dry_run(prepared: Prepared) -> int:
    """Print what a run would cost; return the exit code."""
    for line in (*cost_lines(prepared, dry=True), *waiting_lines(prepared), "nothing was sent"):
        click.echo(line)
    return 0


def cost_json(prepared: Prepared) -> Iterator[str]:
    """Yield what a run costs as one JSON object, where customers are real."""
    if prepared.feasibility is not None:
        from assay.estimate.cost import cost_of, record  # noqa: PLC0415 -- as above

        yield json.dumps({"cost": record(cost_of(prepared.feasibility, prepared.target))})


def shortage_lines(result: RunResult) -> Iterator[str]:
    """Yield how many obligations the budgets left out of a run, and what stopped the run."""
    from assay.execution.guard import is_held_back  # noqa: PLC0415 -- only after a run

    number = sum(is_held_back(one) for one in result.verdicts)
    if number:
        skipped = "1 obligation was" if number == 1 else f"{number} obligations were"
        yield (
            f'{skipped} skipped: today\'s call budget is used up (see "Not verified");'
            " run again tomorrow"
        )
    if result.stopped:
        yield result.stopped
