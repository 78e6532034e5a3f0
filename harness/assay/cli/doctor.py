"""`assay doctor`: preflight examination of a target file."""

from __future__ import annotations

import json
import os
import re
import shlex
import sys
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import asdict, replace
from pathlib import Path
from typing import TYPE_CHECKING

import click

from assay.cli import options
from assay.cli.progress import ExaminationProgress
from assay.errors import InputError
from assay.preparation.prepare import Prepared, is_examined
from assay.transport.secrets import look_up

if TYPE_CHECKING:
    from assay.files.edits import Edit
    from assay.onboarding.doctor import Examination, Finding

EPILOG = """\b
Examples:
  assay doctor --target bank.yaml
  assay doctor --target bank.yaml --quick
  assay doctor --target bank.yaml --fix
  assay doctor --target bank.yaml --contract ./meters.yaml --verbose
  assay doctor --target bank.yaml --contract aisp --json

\b
Exit codes:
  0  no problems
  2  problems to fix in the target file
  3  no problems found, but some checks could not be made
"""


@click.command(epilog=EPILOG)
@options.contracts
@options.target
@click.option(
    "--quick",
    is_flag=True,
    help="Make at most three calls. The result lists the checks that need more.",
)
@click.option(
    "--fix",
    is_flag=True,
    help="Propose changes of the target file, show each as a diff, and make those that you accept;"
    " then check again, until nothing is left to propose. Comments are kept.",
)
@click.option(
    "-y",
    "--yes",
    is_flag=True,
    help="With --fix, make the changes that are certain, and ask nothing.",
)
@click.option(
    "--open-points",
    "open_points",
    is_flag=True,
    help="Instead, ask the bank how it answers what the document leaves open, and propose answers.",
)
@click.option("-v", "--verbose", is_flag=True, help="Also list every line marked as a guess.")
@click.option("--json", "as_json", is_flag=True, help="Print the result as JSON.")
def command(
    contracts: Sequence[str],
    target: str | None,
    quick: bool,
    fix: bool,
    yes: bool,
    open_points: bool,
    verbose: bool,
    as_json: bool,
) -> int:
    """Check a target file against its target, and name each wrong line.

    The doctor calls each operation with an ordinary request and compares every pointer in the
    file with the answers. It reports problems of the file, never faults of the bank.
    """
    if open_points:
        return _propose_answers(contracts, target)

    def look() -> Examination:
        return _examined(target, contracts, quick=quick, silent=as_json)

    examined = _fix(target, look, yes=yes) if fix else look()
    if as_json:
        click.echo(json.dumps(_document(target, examined), indent=2))
        return examined.exit.value
    return _report(examined, contracts, target, verbose=verbose)


def _propose_answers(contracts: Sequence[str], target: str | None) -> int:
    from assay.cli.open_points import (  # noqa: PLC0415 -- slow to import
        proposal_lines,
        proposals,
    )
    from assay.preparation.prepare import prepare  # noqa: PLC0415

    prepared = prepare(contracts, target)
    click.echo("The trials of each answer are run; the bank's customers are created for them.")
    for line in proposal_lines([*proposals(prepared)]):
        click.echo(line)
    return 0


def probe(path: Path, contracts: Sequence[str], *, yes: bool) -> int:
    """Complete a fresh target file with what the answers of its bank show; return the exit code.

    Customers' accesses are spent, and requests made, only after the user agreed.

    Raises:
        click.Abort: the user did not.

    """
    click.echo("The bank is called as by `assay doctor`: each operation once or a few times.")
    click.echo("Requests are made only if the file allows them; no real customer signs anything.")
    if not yes and asks():
        click.confirm("Call it?", default=True, abort=True)
    target = str(path)
    examined = _fix(target, lambda: _examined(target, contracts), yes=yes)
    return _report(examined, contracts, target, verbose=False)


def _examined(
    target: str | None, contracts: Sequence[str], *, quick: bool = False, silent: bool = False
) -> Examination:
    from assay.onboarding.doctor import examine  # noqa: PLC0415 -- slow to import

    terminal = sys.stderr.isatty() and not silent
    with ExaminationProgress(terminal, _silent if silent else click.echo) as shown:
        return examine(target, contracts, quick=quick, on_step=shown.on_step, on_call=shown.on_call)


def _report(
    examined: Examination, contracts: Sequence[str], target: str | None, *, verbose: bool
) -> int:
    for line in (*_lines(examined, verbose=verbose), *_confirmable(examined)):
        click.echo(line)
    click.echo(_next(_options(contracts, target), examined))
    return examined.exit.value


def asks() -> bool:
    """Whether somebody can be asked."""
    return sys.stdin.isatty()


def _fix(target: str | None, look: Callable[[], Examination], *, yes: bool) -> Examination:
    """Repair a target file with what the user accepts, or with what is certain; return what is left.

    Raises:
        InputError: the target is no file of the user's.

    """
    from assay.onboarding.doctor.repair import Proposal, repair  # noqa: PLC0415 -- slow to import

    path = Path(target or "")
    if not target or not path.is_file():
        what = "there is no target file to change" if not target else f"{target} is no file"
        raise InputError.one("--fix", what, hint="name it: `--target bank.yaml`")

    shown: list[str] = []

    def decide(proposal: Proposal) -> Edit | None:
        finding, edit = proposal.finding, proposal.finding.edit
        if finding.answer and finding.answer not in shown:
            shown.append(finding.answer)
            click.secho(finding.answer, err=True, dim=True)
        click.echo(f"  {finding}", err=True)
        for line in proposal.diff:
            click.echo(f"    {line}", err=True)
        if not yes and asks():
            return _asked(edit, default=proposal.certain)
        click.echo("    made" if proposal.certain else "    left: it is not certain", err=True)
        return edit if proposal.certain else None

    examined, changes = repair(path, look, decide)
    click.echo(f"{path}: {changes} change{'' if changes == 1 else 's'} made", err=True)
    return examined


def _asked(edit: Edit | None, *, default: bool) -> Edit | None:
    """Ask whether a change is made; `edit` stands for another value in its place."""
    choice = click.Choice(["y", "n", "edit"])
    prompt, usual = "    Make this change?", "y" if default else "n"
    answer = click.prompt(prompt, type=choice, default=usual, err=True)
    if edit is None or answer == "n":
        return None
    if answer == "y":
        return edit
    from assay.files.load import loads  # noqa: PLC0415 -- only for an answer

    while True:
        text = click.prompt("    Value, as in the file", default=edit.text, err=True)
        try:
            return replace(edit, new=loads(f"value: {text}").data["value"])
        except InputError as error:
            click.echo(f"    {error.problems[0].what}", err=True)


def fit(
    prepared: Prepared,
    contracts: Sequence[str],
    target_name: str | None,
    ledger: Path | None,
    *,
    concurrency: int | None,
    quiet: bool,
) -> bool:
    """Examine a target file before a run; return whether the run can begin.

    `contracts` and `target_name` are as given on the command line. Shipped target files are not
    examined, nor targets that are not called over a network.

    Raises:
        InputError: secrets are not set.

    """
    if not is_examined(prepared.target, target_name):
        return True
    look_up(prepared.target, os.environ)  # as the run does, which would not begin without them
    from assay.onboarding.doctor import examine  # noqa: PLC0415 -- only for a file, over a network

    with ExaminationProgress(sys.stderr.isatty(), _silent if quiet else click.echo) as progress:
        examined = examine(
            target_name,
            prepared=prepared,
            ledger=ledger,
            concurrency=concurrency,
            on_step=progress.on_step,
            on_call=progress.on_call,
        )
    for finding in examined.blocking:
        click.echo(f"assay: {finding}", err=True)
    if examined.blocking:
        details = (
            f"Details: assay doctor{_options(contracts, target_name)}. To run anyway: --no-doctor"
        )
        for line in _confirmable(examined):
            click.echo(f"assay: {line}", err=True)
        click.echo(f"assay: Run not started: the target file has errors. {details}", err=True)
    return not examined.blocking


def _silent(_text: str) -> None:
    """Print nothing."""


def _options(contracts: Sequence[str], target: str | None) -> str:
    """Return the options that name the same contracts and target on another command line."""
    named = [*(f" -c {shlex.quote(name)}" for name in contracts)]
    return "".join([*named, f" --target {shlex.quote(target)}" if target else ""])


#: A name that YAML reads as it stands.
_PLAIN = re.compile(r"[\w./-]+")
#: The check whose findings are marks of `assay init`: there are many in a fresh file.
_MARKS = "guessed"


def _lines(examined: Examination, *, verbose: bool) -> list[str]:
    """Return a line for each check, or for each of its findings; marked lines come last."""
    lines: list[str] = []
    marks: list[str] = []
    for outcome in examined.outcomes:
        name = outcome.step.name
        if outcome.findings is None:
            lines.append(f"  skipped  {name} (requires: {outcome.requires})")
        elif outcome.idle:
            lines.append(f"  {outcome.word:<8} {name}: {outcome.idle}")
        elif not outcome.findings:
            lines.append(f"  ok       {name}: {outcome.step.passed}")
        elif name == _MARKS and not verbose:
            marks = _marks(outcome.findings)
        else:
            shown = marks if name == _MARKS else lines
            shown += [f"  {each.weight.value:<8} {name}: {each}" for each in outcome.findings]
    return lines + marks


def _marks(findings: Sequence[Finding]) -> list[str]:
    """Return one line for each weight of marked lines, with their number and the first."""
    counts = Counter(finding.weight for finding in findings)
    lines: list[str] = []
    for weight, count in counts.items():
        first = next(finding for finding in findings if finding.weight is weight)
        marks = "line is" if count == 1 else "lines are"
        words = {
            finding.found.partition(":")[0] for finding in findings if finding.weight is weight
        }
        marked = " or ".join(sorted(words))
        where = f"first: {first.path}:{first.line}; all: --verbose"
        lines.append(f"  {weight.value:<8} {_MARKS}: {count} {marks} marked {marked} ({where})")
    return lines


def _confirmable(examined: Examination) -> Iterator[str]:
    """Yield the lines with which the file confirms the doubts."""
    doubts = dict.fromkeys(each.confirmation for each in examined.findings if each.confirmation)
    if doubts:
        yield "What the bank does on purpose, confirm in the file, each with the reason:"
        yield "confirmed:"
    for name in doubts:
        yield f"  {name if _PLAIN.fullmatch(name) else json.dumps(name)}: REASON"


def _next(option: str, examined: Examination) -> str:
    """Return the closing line: how many problems there are, and what to run next."""
    blocking = len(examined.blocking)
    if blocking:
        first = examined.blocking[0]
        where = f"{first.path}:{first.line}" if first.line else first.path
        problems = "1 problem" if blocking == 1 else f"{blocking} problems"
        first_at = where if blocking == 1 else f"first: {where}"
        return f"{problems} to fix ({first_at}). Then run: assay doctor{option}"
    unseen = sum(finding.weight.value == "not seen" for finding in examined.findings)
    things = "1 check was" if unseen == 1 else f"{unseen} checks were"
    incomplete = f", but {things} not possible" if unseen else ""
    return f"No problems found{incomplete}. Next: assay run{option}"


def _document(target: str | None, examined: Examination) -> dict[str, object]:
    return {
        "assay-doctor": 1,
        "target": target or "sandbox",
        "exit": examined.exit.value,
        "calls": examined.calls,
        "steps": [
            {
                "name": outcome.step.name,
                "reached": outcome.findings is not None,
                "result": outcome.word,
                "findings": [_finding(finding) for finding in outcome.findings or ()],
            }
            for outcome in examined.outcomes
        ],
    }


def _finding(finding: Finding) -> dict[str, object]:
    return {**asdict(finding), "weight": finding.weight.value}
