"""`assay plan`: every obligation, what it needs, what it costs, what stays open."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from datetime import timedelta
from itertools import groupby
from pathlib import Path

import click

from assay.cli import options
from assay.journal.writer import planned
from assay.planning.obligation import UNSPECIFIED
from assay.planning.plan import Disposition, Plan, Planned, count_signatures
from assay.planning.prepare import prepare

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
@click.option("-v", "--verbose", is_flag=True, help="Show sentences, needs and sources too.")
@click.option("--json", "as_json", is_flag=True, help="One JSON object a line, for machines.")
def command(
    contracts: Sequence[str],
    target: str | None,
    keywords: str,
    marks: str,
    wait: timedelta | None,
    ledger: Path | None,
    verbose: bool,
    as_json: bool,
) -> int:
    """Show what a run would ask, what each trial costs in calls, and what stays open.

    Nothing is sent.
    """
    prepared = prepare(contracts, target, keywords=keywords, marks=marks, wait=wait, ledger=ledger)
    plan = prepared.plan
    lines = (json.dumps(planned(one)) for one in plan.items) if as_json else text(plan, verbose)
    for line in lines:
        click.echo(line)
    for line in options.as_json(prepared) if as_json else options.cost_lines(prepared):
        click.echo(line)
    if not as_json:
        for line in options.wait_lines(prepared):
            click.echo(line)
    return 0


def text(plan: Plan, verbose: bool = False) -> Iterator[str]:
    """Yield the plan as lines for a reader."""
    for _, group in groupby(
        plan.items, key=lambda one: (one.obligation.contract, one.obligation.clause)
    ):
        items = list(group)
        yield from _clause(items, verbose)
        if verbose:
            yield from _explained(plan, items[0])
    asked = [one for one in plan.items if one.fate is Disposition.ASK]
    yield ""
    yield (
        f"{len(plan.items)} obligations: {len(asked)} will be asked in {len(plan.trials)} trials "
        f"and {plan.calls} calls"
    )
    if plan.person and plan.signed:
        asked_for = count_signatures(plan)
        yield f"up to {asked_for} signatures by a person, in {plan.signed} trials, which come last"
    for fate in (Disposition.UNVERIFIED, Disposition.NOT_APPLICABLE, Disposition.UNSPECIFIED):
        count = sum(one.fate is fate for one in plan.items)
        if count:
            yield f"{count} {fate.value}"
    for why in sorted({one.why for one in plan.items if one.fate is Disposition.UNVERIFIED}):
        held = sum(one.why == why for one in plan.items)
        yield f"  {held} unverified: {why}"


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
    applied = plan.ruled[one.contract].get(one.clause)
    explanation = applied.kind.explain() if applied is not None else None
    if explanation is not None:
        for line in explanation.splitlines():
            yield f"    {line}".rstrip()


def _line(item: Planned, *, first_of_trial: bool) -> str:
    one = item.obligation
    if item.fate is not Disposition.ASK:
        return f"  {one.facet:<26} {item.fate.value}: {item.why}"
    cost = f"{item.calls:>3} call{'' if item.calls == 1 else 's'}"
    needs = ", ".join(sorted(need.value for need in one.needs))
    return f"  {one.facet:<26} {cost if first_of_trial else 'as above':<10} needs {needs}"
