"""`assay plan`: every obligation, what it needs, what it costs, what stays open."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterator, Sequence
from datetime import timedelta
from itertools import groupby
from pathlib import Path

import click

from assay.cli import options
from assay.cli.coverage import coverage_lines, coverage_records
from assay.contexts.covering import Depth
from assay.journal.writer import planned
from assay.planning.obligation import UNSPECIFIED
from assay.planning.plan import Disposition, Plan, Planned, count_signatures
from assay.planning.prepare import prepare
from assay.report.wording import counted

EPILOG = """\b
Examples:
  assay plan
  assay plan --target bank.yaml --verbose
  assay plan -m quota --json
"""


@click.command(epilog=EPILOG)
@options.contracts
@options.target
@options.selection
@options.wait
@options.ledger
@options.contexts
@click.option("-v", "--verbose", is_flag=True, help="Also show sentences and sources.")
@click.option("--json", "as_json", is_flag=True, help="Print one JSON object per line.")
def command(
    contracts: Sequence[str],
    target: str | None,
    keywords: str,
    marks: str,
    wait: timedelta | None,
    ledger: Path | None,
    contexts: Depth | None,
    verbose: bool,
    as_json: bool,
) -> int:
    """Show what a run would test, the calls of each trial, and what stays open.

    Nothing is sent.
    """
    prepared = prepare(
        contracts,
        target,
        keywords=keywords,
        marks=marks,
        wait=wait,
        ledger=ledger,
        contexts=contexts,
    )
    plan = prepared.plan
    lines = (
        (json.dumps(planned(one)) for one in plan.items) if as_json else plan_lines(plan, verbose)
    )
    for line in lines:
        click.echo(line)
    for line in options.cost_json(prepared) if as_json else options.cost_lines(prepared):
        click.echo(line)
    if as_json:
        for record in coverage_records(prepared.contexts):
            click.echo(json.dumps(record))
        return 0
    for line in options.waiting_lines(prepared):
        click.echo(line)
    for line in coverage_lines(prepared.contexts, verbose):
        click.echo(line)
    return 0


def plan_lines(plan: Plan, verbose: bool = False) -> Iterator[str]:
    """Yield the plan as lines of text."""
    for _, group in groupby(
        plan.items, key=lambda one: (one.obligation.contract, one.obligation.clause)
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
        yield f"up to {signatures} by a person, in {trials}, which come last"
    untested = (Disposition.UNVERIFIED, Disposition.NOT_APPLICABLE, Disposition.UNSPECIFIED)
    for disposition in untested:
        count = sum(item.disposition is disposition for item in plan.items)
        if count:
            yield f"{count} {disposition.value}"
    unverified = [item for item in plan.items if item.disposition is Disposition.UNVERIFIED]
    for reason, count in sorted(Counter(item.reason for item in unverified).items()):
        yield f"  {count} unverified: {reason}"


def _clause(items: Sequence[Planned], verbose: bool) -> Iterator[str]:
    first = items[0].obligation
    yield f"{first.contract}/{first.clause}  [{first.kind}]"
    if verbose and first.clause != first.kind:
        yield f"    {first.statement}"
        for source in first.sources:
            yield f"    {source}: {source.text}" if source.text else f"    {source}"
    priced: set[str] = set()
    for item in items:
        yield _line(item, first_of_trial=item.obligation.trial not in priced)
        priced.add(item.obligation.trial)
        if verbose:
            one = item.obligation
            yield f"      {one.statement if one.kind == UNSPECIFIED else one.description}"


def _explained(plan: Plan, item: Planned) -> Iterator[str]:
    """Yield what the kind of a clause derived from it, if it tells."""
    one = item.obligation
    applied = plan.clauses[one.contract].get(one.clause)
    explanation = applied.kind.explain() if applied is not None else None
    if explanation is not None:
        for line in explanation.splitlines():
            yield f"    {line}".rstrip()


def _line(item: Planned, *, first_of_trial: bool) -> str:
    one = item.obligation
    if item.disposition is not Disposition.ASK:
        return f"  {one.facet:<26} {item.disposition.value}: {item.reason}"
    cost = f"{item.calls:>3} call{'' if item.calls == 1 else 's'}"
    needs = ", ".join(sorted(need.value for need in one.needs))
    return f"  {one.facet:<26} {cost if first_of_trial else 'as above':<10} needs {needs}"
