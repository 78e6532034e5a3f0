"""`assay plan`: every obligation with its requirements and cost, and what cannot be tested.

The coverage table shows clause by dimension, and why a value is not tested. `assay run --dry-run`
prints the costs alone.
"""

from __future__ import annotations

import json
import sys
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from datetime import UTC, datetime
from itertools import groupby
from shutil import get_terminal_size
from typing import Any

import click

from assay.cli import options
from assay.cli.open_points import open_point_lines
from assay.contexts.context import Cell
from assay.fixtures.waiting import can_wait, format_span, with_clock
from assay.journal.writer import planned
from assay.planning.contextual import ContextPlan
from assay.planning.plan import Disposition, Plan, Planned, count_signatures
from assay.planning.plan import plan as make_plan
from assay.preparation.cost import announced, waits
from assay.preparation.prepare import Prepared, prepare
from assay.report.wording import counted, shared_reasons, waiver_notes
from assay.rules.obligation import UNSPECIFIED

EPILOG = """\b
Examples:
  assay plan
  assay plan --target bank.yaml --verbose
  assay plan -m quota --json
  assay plan --open-points
"""


@click.command(epilog=EPILOG)
@options.contracts
@options.target
@options.waivers
@options.selection
@options.wait
@options.ledger
@options.contexts
@options.roles
@click.option("-v", "--verbose", is_flag=True, help="Also show sentences and sources.")
@click.option("--json", "as_json", is_flag=True, help="Print one JSON object per line.")
@click.option(
    "--open-points",
    "open_points",
    is_flag=True,
    help="Instead, list what the document leaves open, how the bank answers it, and what an answer "
    "would add.",
)
def command(verbose: bool, as_json: bool, open_points: bool, **given: Any) -> int:
    """List what a run would test, the calls of each trial, and what cannot be tested.

    Nothing is sent.
    """
    prepared = prepare(given.pop("contracts"), given.pop("target"), **given)
    plan = prepared.plan
    if open_points:
        for line in open_point_lines(prepared):
            _echo(line)
        return 0
    lines = (
        (json.dumps(planned(item)) for item in plan.items) if as_json else plan_lines(plan, verbose)
    )
    for line in lines:
        _echo(line)
    for line in cost_json(prepared) if as_json else cost_lines(prepared):
        click.echo(line)
    if as_json:
        for record in coverage_records(prepared.contexts):
            click.echo(json.dumps(record))
        return 0
    coverage = coverage_lines(plan, prepared.contexts, verbose)
    for line in (*waiting_lines(prepared), *base_only_lines(prepared.base_only), *coverage):
        click.echo(line)
    for line in waiver_notes(prepared.target):
        click.echo(line)
    return 0


def _echo(line: str) -> None:
    """Print a line; on a terminal, broken between words."""
    if not sys.stdout.isatty():
        click.echo(line)
        return
    from assay.report.formats.terminal import Styled, wrapped  # noqa: PLC0415 -- only for a terminal

    width = get_terminal_size().columns
    for part in wrapped(Styled(line, indent=len(line) - len(line.lstrip()) + 2), width):
        click.echo(part)


def plan_lines(plan: Plan, verbose: bool = False) -> Iterator[str]:
    """Yield the plan as lines of text."""
    for _, group in groupby(
        plan.items, key=lambda item: (item.obligation.contract, item.obligation.clause)
    ):
        items = list(group)
        yield from _clause(items, verbose)
        if verbose:
            yield from _explained(plan, items[0])
    yield ""
    yield (
        f"{counted(len(plan.items), 'obligation')}: {len(plan.asked)} tested in"
        f" {counted(len(plan.trials), 'trial')} with"
        f" {counted(sum(trial.calls for trial in plan.trials), 'call')}"
    )
    if plan.person and plan.signed:
        signatures = counted(count_signatures(plan), "signature")
        trials = counted(plan.signed, "trial")
        yield f"up to {signatures} by a person, in {trials} that run last"
    for fate in (Disposition.UNVERIFIED, Disposition.NOT_APPLICABLE, Disposition.UNSPECIFIED):
        count = sum(item.disposition is fate for item in plan.items)
        if count:
            yield f"{count} {fate.value}"
    lacking = [item.reason for item in plan.items if item.disposition is Disposition.UNVERIFIED]
    shared = shared_reasons(lacking)
    numbers = Counter(shared[reason] for reason in lacking)
    for why in sorted(numbers):
        yield f"  {numbers[why]} unverified: {why}"


def _clause(items: Sequence[Planned], verbose: bool) -> Iterator[str]:
    first = items[0].obligation
    yield f"{first.contract}/{first.clause}  [{first.kind}]"
    if verbose and first.clause != first.kind:
        yield f"    {first.statement}"
        for source in first.sources:
            yield f"    {source}: {source.text}" if source.text else f"    {source}"
    priced: set[str] = set()
    width = max(_FACET, *(len(item.obligation.facet) for item in items))
    for item in items:
        yield _line(item, width, first_of_trial=item.obligation.trial not in priced)
        priced.add(item.obligation.trial)
        if verbose:
            obligation = item.obligation
            open_point = obligation.kind == UNSPECIFIED
            yield f"      {obligation.statement if open_point else obligation.description}"


def _explained(plan: Plan, item: Planned) -> Iterator[str]:
    """Yield what the kind of a clause derived from it, where the kind explains it."""
    clause = plan.clauses[item.obligation.contract].get(item.obligation.clause)
    explanation = clause.kind.explain() if clause is not None else None
    if explanation is not None:
        for line in explanation.splitlines():
            yield f"    {line}".rstrip()


#: The least width of the column of facets.
_FACET = 26


def _line(item: Planned, width: int, *, first_of_trial: bool) -> str:
    obligation = item.obligation
    if item.disposition is not Disposition.ASK:
        return f"  {obligation.facet:<{width}} {item.disposition.value}: {item.reason}"
    cost = f"{item.calls:>3} call{'' if item.calls == 1 else 's'}"
    needs = ", ".join(sorted(need.value for need in obligation.needs))
    return (
        f"  {obligation.facet:<{width}} {cost if first_of_trial else 'as above':<10} needs {needs}"
    )


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
    selected = {item.obligation.id for item in prepared.plan.items}
    timed_plan = make_plan(
        prepared.bound, with_clock(target), lambda obligation: obligation.id in selected
    )
    every = [wait for wait in waits(timed_plan, target, now) if wait.span]
    tested = prepared.plan.asked
    if any(obligation.id not in tested for wait in every for obligation in wait.trial.settles):
        total = format_span(max(wait.end for wait in every))
        yield f"verifying every time rule by waiting takes {total}: --wait {total}"


def cost_lines(prepared: Prepared, *, dry: bool = False) -> Iterator[str]:
    """Yield what a run costs where customers are real; always for a dry run."""
    if prepared.feasibility is None and not dry:
        return
    from assay.preparation.cost import cost_of, lines  # noqa: PLC0415 -- not for every plan

    cost = cost_of(prepared.foreseen(), prepared.target)
    if dry:
        number = counted(len(prepared.plan.items), "obligation")
        yield f"{number}, {cost.unverified} of them unverified"
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
        from assay.preparation.cost import cost_of, record  # noqa: PLC0415 -- as above

        yield json.dumps({"cost": record(cost_of(prepared.feasibility, prepared.target))})


#: The width of the column of clauses.
_CLAUSE = 26


def base_only_lines(base_only: str) -> Iterator[str]:
    """Yield why the base context alone is tested, and what to do about it."""
    if base_only:
        yield ""
        yield f"in the base context only: {base_only}"
        yield "  `--contexts each` also tests the rules in further contexts, with more calls"


def coverage_lines(plan: Plan, contexts: ContextPlan | None, verbose: bool) -> Iterator[str]:
    """Yield what the contexts cost and cover; each value that is not tested if `verbose`."""
    if contexts is None:
        return
    trials = plan.contextual
    calls = sum(trial.calls for trial in trials)
    yield ""
    yield f"in further contexts: {counted(len(trials), 'trial')} with {counted(calls, 'call')}"
    if not verbose:
        return
    for contract, clauses in contexts.coverage.items():
        names = [dimension.name for dimension in contexts.dimensions[contract]]
        yield ""
        yield f"{contract:<{_CLAUSE}}" + "".join(f"{name:>10}" for name in names)
        for clause, cells in clauses.items():
            yield f"  {clause:<{_CLAUSE - 2}}" + "".join(_cell(cells, name) for name in names)
        yield from _reasons(clauses)


def _cell(cells: Sequence[Cell], dimension: str) -> str:
    """Return how many values of a dimension are tested, of how many."""
    mine = [cell for cell in cells if cell.dimension == dimension]
    tested = sum(cell.trials > 0 for cell in mine)
    return f"{f'{tested} of {len(mine)}' if tested else '-':>10}"


def _reasons(clauses: Mapping[str, Sequence[Cell]]) -> Iterator[str]:
    """Yield each reason why values are not tested, with the clauses and values."""
    by_reason: dict[str, dict[str, list[str]]] = {}
    for clause, cells in clauses.items():
        for cell in cells:
            if not cell.trials:
                values = by_reason.setdefault(cell.reason, {}).setdefault(clause, [])
                values.append(f"{cell.dimension}={cell.value}")
    for reason, untested in by_reason.items():
        yield f"  not tested: {reason}"
        for clause, values in untested.items():
            yield f"    {clause}: {', '.join(values)}"


def coverage_records(contexts: ContextPlan | None) -> Iterator[dict[str, object]]:
    """Yield one record a clause and value, for `--json`."""
    for contract, clauses in contexts.coverage.items() if contexts else ():
        for cell in (cell for cells in clauses.values() for cell in cells):
            yield {
                "contract": contract,
                "clause": cell.clause,
                "dimension": cell.dimension,
                "value": cell.value,
                "trials": cell.trials,
                "reason": cell.reason,
            }
