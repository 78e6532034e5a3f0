"""`assay run`: the main job."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from datetime import UTC, datetime, timedelta
from itertools import product
from pathlib import Path
from typing import TYPE_CHECKING

import click

from assay.binding.target import Target
from assay.cli import doctor, options
from assay.cli.progress import Progress
from assay.contract.files.document import file_name
from assay.errors import InputError, TargetError
from assay.estimate.estimate import announce
from assay.execution.environment import Environment, set_up
from assay.execution.session import Options, RunResult, Session, run_session
from assay.fuzzing.examples import DEFAULT, open_examples
from assay.fuzzing.sequences.sequence_file import RecordedSequence
from assay.fuzzing.sequences.sequence_file import read as read_story
from assay.journal.writer import Journal
from assay.judging.verdict import Exit
from assay.planning.plan import Plan
from assay.planning.prepare import Prepared, prepare

if TYPE_CHECKING:
    from assay.report import Report

#: What is written beside the journal when the run is over.
VIEWS = {
    "html": "report.html",
    "json": "report.json",
    "junit": "junit.xml",
    "markdown": "report.md",
}

EPILOG = """\b
Examples:
  assay run
  assay run --target http://127.0.0.1:8080
  assay run --target bank.yaml --out reports/local/before-go-live
  assay run -m quota -k "next-day or midnight"
  assay run --seed 7
  assay run --journeys 200 --fields 200
  assay run --replay reports/local/before-go-live/stories
"""


@click.command(epilog=EPILOG)
@options.contracts
@options.target
@options.selection
@click.option(
    "--seed",
    type=click.IntRange(0),
    default=0,
    show_default=True,
    help="Makes other customers, on another day; the same seed, the same run.",
)
@click.option(
    "--out",
    type=click.Path(path_type=Path, file_okay=False),
    metavar="DIR",
    help="Where to write. Default: a new folder below reports/local.",
)
@click.option(
    "--allow-incomplete", is_flag=True, help="Exit 0 although something could not be verified."
)
@click.option(
    "--journeys",
    type=click.IntRange(0, 1_000_000),
    default=0,
    metavar="N",
    help="Also make N random journeys through each contract, every rule judging each.",
)
@click.option(
    "--fields",
    type=click.IntRange(0, 1_000_000),
    default=0,
    metavar="N",
    help="Also tell N stories of requests bent at some field, each beside its control.",
)
@click.option(
    "--replay",
    "replays",
    type=click.Path(path_type=Path, exists=True),
    multiple=True,
    metavar="FILE|DIR",
    help="Only tell this story again, and judge what it broke; may be given again.",
)
@click.option(
    "--examples",
    default=DEFAULT,
    show_default=True,
    metavar="DIR|URL|none",
    help="Where stories that broke something are kept, to be tried first next time: "
    "a directory, or a redis:// URL that a team shares.",
)
@options.wait
@options.ledger
@options.dry_run
@doctor.no_doctor
@click.option("-q", "--quiet", is_flag=True, help="Print the closing line only.")
def command(
    contracts: Sequence[str],
    target: str | None,
    keywords: str,
    marks: str,
    seed: int,
    out: Path | None,
    allow_incomplete: bool,
    journeys: int,
    fields: int,
    replays: Sequence[Path],
    examples: str,
    wait: timedelta | None,
    ledger: Path | None,
    dry_run: bool,
    no_doctor: bool,
    quiet: bool,
) -> int:
    """Test a target against its contracts and write a conformance report.

    Without options: the shipped contracts against the sandbox that Assay brings along.
    """
    told = stories(replays)
    prepared = prepare(
        contracts or [*dict.fromkeys(one.contract for one in told)],
        target,
        keywords=keywords,
        marks=marks,
        wait=wait,
        ledger=ledger,
    )
    if dry_run or not (no_doctor or doctor.fit(prepared, target, ledger, quiet=quiet)):
        return options.tell_dry(prepared) if dry_run else Exit.USAGE.value
    plan = _about(prepared.plan, told)
    ways = {} if told else {"journeys": journeys, "fields": fields}
    kept = open_examples(examples) if any(ways.values()) else None
    environment = _stage(prepared.target, plan, seed, wait, ledger, quiet=quiet)
    folder = out or _folder(prepared)
    session = Session(
        plan=plan,
        environment=environment,
        journal=Journal.at(folder / "journal.jsonl"),
        options=Options(
            seed=seed,
            allow_incomplete=allow_incomplete,
            selection={"k": keywords, "m": marks},
            command="assay " + " ".join(sys.argv[1:]),
            reproduce=prepared.reproduce,
        ),
    )

    def more() -> None:
        if not (told or any(ways.values())):
            return
        from assay.fuzzing import session as fuzzing_session  # noqa: PLC0415 -- Hypothesis only for a search

        for one in told:
            fuzzing_session.replay(session, prepared.plan, one)
        if ways:
            search = fuzzing_session.SearchSession(
                session=session,
                plan=prepared.plan,
                whole=prepared.whole(),
                folder=folder,
                examples=kept,
            )
            asked = dict.fromkeys(trial.contract for trial in prepared.plan.trials)
            for contract, (how, times) in product(asked, ways.items()):
                if times and not environment.guard.stopped:
                    progress.on_search(contract, how)
                    limits = fuzzing_session.limits_of(prepared.target, times)
                    search.search(contract, how, limits, fuzzing_session.MAKERS[how])

    try:
        with Progress(session, quiet=quiet) as progress:
            result = run_session(session, progress.on_trial, more)
    except TargetError as error:
        hint = f"no obligation is blamed on the bank; the record is in {folder}"
        raise InputError.one(target or prepared.target.name, str(error), hint=hint) from None
    finally:
        environment.close()
    return finish(folder, result, quiet=quiet)


def _stage(
    target: Target,
    plan: Plan,
    seed: int,
    wait: timedelta | None,
    ledger: Path | None,
    *,
    quiet: bool,
) -> Environment:
    """Make the target ready, and say how long the run will wait there."""
    environment = set_up(target, seed=seed, wait=wait, ledger=ledger)
    # Who speaks then is not there yet.
    announce(
        None if quiet else environment.waiting, plan, target, lambda text: _tell(environment, text)
    )
    return environment


def _tell(environment: Environment, text: str) -> None:
    environment.person.tell(text)


def _about(plan: Plan, told: Sequence[RecordedSequence]) -> Plan:
    """Return the part of a plan that stories are about, the whole if there are none."""
    if not told:
        return plan
    from assay.fuzzing.session import replayed  # noqa: PLC0415 -- Hypothesis, as above

    return replayed(plan, told)


def stories(paths: Sequence[Path]) -> list[RecordedSequence]:
    """Read the stories in some files and directories.

    Raises:
        InputError: one is no story, or a directory has none.

    """
    found: list[RecordedSequence] = []
    for path in paths:
        files = sorted(path.glob("*.json")) if path.is_dir() else [path]
        if not files:
            raise InputError.one(str(path), "there is no story in this directory (*.json)")
        found += map(read_story, files)
    return found


def _folder(prepared: Prepared) -> Path:
    stamp = datetime.now(UTC).strftime("%Y-%m-%dT%H-%M-%S-%fZ")
    return Path("reports") / "local" / f"{stamp}-{file_name(prepared.target.name, 40)}"


def _summarise(read: Report, *, quiet: bool) -> None:
    """Print the summary, in colour where a person looks at a terminal."""
    from assay.report import terminal, wording  # noqa: PLC0415 -- see above

    if quiet:
        click.echo(wording.closing(read))
    elif sys.stdout.isatty():
        from rich.console import Console  # noqa: PLC0415 -- only for eyes

        terminal.show(read, Console(highlight=False))
    else:
        terminal.render(read, sys.stdout)


def finish(folder: Path, result: RunResult, *, quiet: bool) -> int:
    """Render every view of the journal and print the summary; return the exit code."""
    from assay import report  # noqa: PLC0415 -- not needed before the first exchange

    read = report.read_journal(folder / "journal.jsonl")
    for name, file in VIEWS.items():
        report.render(read, name, folder / file)
    _summarise(read, quiet=quiet)
    click.echo(f"report: {folder / VIEWS['html']}")
    for line in options.held_back(result):
        click.echo(line)
    for fault in result.faults:
        click.echo(f"assay: harness fault: {fault}", err=True)
    return result.exit.value
