"""`assay run`: test a target, write its journal and reports, print the summary."""

from __future__ import annotations

import sys
from collections.abc import Generator, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from assay.cli import doctor, options
from assay.cli.plan import print_dry_run
from assay.cli.progress import Progress
from assay.cli.searches import check_extras, print_prices, read_sequences, replay, run_searches
from assay.cli.termination import terminable
from assay.contexts.covering import Depth
from assay.contract.files.document import file_name
from assay.errors import InputError, JournalError, TargetError
from assay.estimate.estimate import announce
from assay.execution.environment import Environment, set_up
from assay.execution.session import Options, RunResult, Session, run_session
from assay.fuzzing.findings import requested_searches
from assay.fuzzing.sequences.sequence_file import DEFAULT, RecordedSequence, open_examples
from assay.journal.writer import Journal
from assay.judging.verdict import Exit
from assay.planning.plan import Plan
from assay.planning.prepare import Prepared, prepare
from assay.report import read_journal

if TYPE_CHECKING:
    from assay.report import Report

#: The name of the journal in the folder of a run.
JOURNAL = "journal.jsonl"
#: The reports that are written next to the journal, by format.
REPORTS = {
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
  assay run --journeys 200 --fields 200 --schema 20
  assay run --replay reports/local/before-go-live/sequences
"""

#: The options of `run` by section of its help.
SECTIONS = {
    "What is tested": ("contracts", "target", "keywords", "marks", "contexts", "seed"),
    "Random search": ("journeys", "fields", "schema", "examples", "replays"),
    "Safety and cost": ("dry_run", "no_doctor", "wait", "ledger"),
    "Result": ("out", "allow_incomplete", "quiet"),
}


@dataclass(frozen=True, slots=True, kw_only=True)
class RunOptions:
    """The options of `assay run`, as click parsed them."""

    contracts: Sequence[str]
    target: str | None
    keywords: str
    marks: str
    seed: int
    out: Path | None
    allow_incomplete: bool
    journeys: int
    fields: int
    schema: int
    replays: Sequence[Path]
    examples: str
    wait: timedelta | None
    ledger: Path | None
    contexts: Depth | None
    dry_run: bool
    no_doctor: bool
    quiet: bool


@click.command(cls=options.SectionedCommand, sections=SECTIONS, epilog=EPILOG)
@options.contracts
@options.target
@options.selection
@click.option(
    "--seed",
    type=click.IntRange(0),
    default=0,
    show_default=True,
    help="Seed for generated customers and dates; the same seed reproduces a run.",
)
@options.out
@options.allow_incomplete
@click.option(
    "--journeys",
    type=click.IntRange(0, 1_000_000),
    default=0,
    metavar="N",
    help="Also run N random sequences of calls through each contract, judged by every rule.",
)
@click.option(
    "--fields",
    type=click.IntRange(0, 1_000_000),
    default=0,
    metavar="N",
    help="Also send N requests with one mutated field, each next to a valid control request.",
)
@click.option(
    "--schema",
    type=click.IntRange(0, 1_000_000),
    default=0,
    metavar="N",
    help="Also send the requests that Schemathesis makes from the exported OpenAPI document: its "
    "fixed cases, and N random ones for each operation (needs assay[schema]).",
)
@click.option(
    "--replay",
    "replays",
    type=click.Path(path_type=Path, exists=True),
    multiple=True,
    metavar="FILE|DIR",
    help="Replay only this recorded sequence, or all in this folder, and judge the obligations "
    "that it violated. Repeatable.",
)
@click.option(
    "--examples",
    default=DEFAULT,
    show_default=True,
    metavar="DIR|URL|none",
    help="Keep sequences that showed a violation here and try them first next time: "
    "a folder, or a redis:// URL shared by a team.",
)
@options.wait
@options.ledger
@options.contexts
@options.dry_run
@doctor.no_doctor
@options.quiet
def command(**given: Any) -> int:
    """Test a target against its contracts and write a conformance report.

    Without options: the shipped contracts against the embedded sandbox.
    """
    with terminable():
        return run(RunOptions(**given))


def run(given: RunOptions) -> int:
    """Plan, check the target file, test and report; return the exit code.

    Raises:
        InputError: a file or an option cannot be used, or the target cannot be reached.

    """
    sequences = read_sequences(given.replays)
    check_extras(given.schema)
    searches = {"journeys": given.journeys, "fields": given.fields, "schema": given.schema}
    times = {} if sequences else searches
    prepared = prepare(
        given.contracts or [*dict.fromkeys(sequence.contract for sequence in sequences)],
        given.target,
        keywords=given.keywords,
        marks=given.marks,
        wait=given.wait,
        ledger=given.ledger,
        contexts=Depth.BASE if sequences else given.contexts,
    )
    if given.dry_run:
        print_prices(prepared, times)
        return print_dry_run(prepared)
    if not given.no_doctor and not doctor.fit(
        prepared, given.target, given.ledger, quiet=given.quiet
    ):
        return Exit.USAGE.value
    examples = open_examples(given.examples) if any(times.values()) else None
    session, folder = _open(given, prepared, sequences)
    with _named_if_cut_short(folder, quiet=given.quiet):
        result = _perform(session, given, prepared, sequences, times, folder, examples)
        return finish(folder, result, quiet=given.quiet)


@contextmanager
def _named_if_cut_short(folder: Path, *, quiet: bool) -> Generator[None]:
    """Print where the record of a run is if the run ends early, and what it has."""
    try:
        yield
    except KeyboardInterrupt:
        click.echo(f"assay: the run ended early; its journal is {folder / JOURNAL}", err=True)
        raise
    except JournalError as error:
        with suppress(JournalError):
            _print_summary(read_journal(folder / JOURNAL, partial=True), quiet=quiet)
        raise JournalError(f"{error}; what was recorded is in {folder / JOURNAL}") from None


def _perform(
    session: Session,
    given: RunOptions,
    prepared: Prepared,
    sequences: Sequence[RecordedSequence],
    times: Mapping[str, int],
    folder: Path,
    examples: Any,
) -> RunResult:
    """Run the trials and the searches of a session.

    Raises:
        InputError: the target cannot be reached.

    """
    try:
        with Progress(session, quiet=given.quiet) as progress:

            def search() -> None:
                replay(session, prepared, sequences)
                requests = requested_searches(prepared.plan, times)
                run_searches(session, prepared, requests, progress, folder, examples)

            return run_session(session, progress.on_trial, search)
    except TargetError as error:
        hint = f"no obligation is reported as violated; the journal is in {folder}"
        raise InputError.one(given.target or prepared.target.name, str(error), hint=hint) from None
    finally:
        _close(session)


def _open(
    given: RunOptions, prepared: Prepared, sequences: Sequence[RecordedSequence]
) -> tuple[Session, Path]:
    """Make the target ready and open the journal; return the session and its folder."""
    plan = _plan(prepared, sequences)
    environment = _set_up(given, prepared, plan)
    folder = given.out or _new_folder(prepared)
    session = Session(
        plan=plan,
        environment=environment,
        journal=Journal.at(folder / JOURNAL),
        options=Options(
            seed=given.seed,
            allow_incomplete=given.allow_incomplete,
            selection={"k": given.keywords, "m": given.marks},
            command="assay " + " ".join(sys.argv[1:]),
            reproduce=prepared.reproduce,
        ),
    )
    return session, folder


def _close(session: Session) -> None:
    """Close the target and the journal, which a full disk may have left open."""
    session.environment.close()
    if session.journal.out is not None:
        with suppress(OSError):
            session.journal.out.close()


def _set_up(given: RunOptions, prepared: Prepared, plan: Plan) -> Environment:
    """Make the target ready, and announce how long the run will wait."""
    environment = set_up(prepared.target, seed=given.seed, wait=given.wait, ledger=given.ledger)

    def show(text: str) -> None:
        environment.person.show(text)  # looked up late: the progress bar replaces it

    announce(None if given.quiet else environment.waiting, plan, prepared.target, show)
    return environment


def _plan(prepared: Prepared, sequences: Sequence[RecordedSequence]) -> Plan:
    """Return the part of a plan that recorded sequences test; the whole if there are none."""
    if not sequences:
        return prepared.plan
    from assay.fuzzing.session import replayed  # noqa: PLC0415 -- Hypothesis only for a search

    return replayed(prepared.plan, sequences, prepared.target)


def _new_folder(prepared: Prepared) -> Path:
    stamp = datetime.now(UTC).strftime("%Y-%m-%dT%H-%M-%S-%fZ")
    return Path("reports") / "local" / f"{stamp}-{file_name(prepared.target.name, 40)}"


def _print_summary(read: Report, *, quiet: bool) -> None:
    """Print the summary, coloured on a terminal."""
    from assay.report import terminal, wording  # noqa: PLC0415 -- not before the run is over

    if quiet:
        click.echo(wording.closing(read))
    elif sys.stdout.isatty():
        from rich.console import Console  # noqa: PLC0415 -- only on a terminal

        terminal.show(read, Console(highlight=False))
    else:
        terminal.render(read, sys.stdout)


def write_reports(read: Report, folder: Path) -> bool:
    """Write every report next to the journal; print which cannot be, and return whether all can."""
    from assay import report  # noqa: PLC0415 -- not before the run is over

    written = True
    for name, file in REPORTS.items():
        try:
            report.render(read, name, folder / file)
        except InputError as error:
            click.echo(f"assay: {error}", err=True)
            written = False
    if not written:
        click.echo(f"assay: `assay report {folder / JOURNAL}` renders the journal", err=True)
    return written


def finish(folder: Path, result: RunResult, *, quiet: bool) -> int:
    """Print the summary and write the reports; return the exit code."""
    read = read_journal(folder / JOURNAL)
    _print_summary(read, quiet=quiet)
    written = write_reports(read, folder)
    if written:
        click.echo(f"report: {folder / REPORTS['html']}")
    for line in _shortage_lines(result):
        click.echo(line)
    for fault in result.faults:
        click.echo(f"assay: harness fault: {fault}", err=True)
    return result.exit.value if written else Exit.FAULT.value


def _shortage_lines(result: RunResult) -> Iterator[str]:
    """Yield how many obligations the budgets left out of a run, and what stopped the run."""
    from assay.execution.guard import is_held_back  # noqa: PLC0415 -- only after a run

    number = sum(map(is_held_back, result.verdicts))
    if number:
        skipped = "1 obligation was" if number == 1 else f"{number} obligations were"
        yield (
            f'{skipped} skipped: today\'s call budget is used up (see "Not verified");'
            " run again tomorrow"
        )
    if result.stopped:
        yield result.stopped
