"""`assay fleet`: test many banks with one template of a target file, on a Dask cluster."""

from __future__ import annotations

import sys
import time
from collections.abc import Sequence
from dataclasses import dataclass, replace
from importlib.util import find_spec
from pathlib import Path
from types import TracebackType
from typing import Any, Self

import click

from assay.cli import options
from assay.cli.crash_report import note_folder
from assay.cli.progress import HEARTBEAT, counting_bar
from assay.cli.publication import link_latest
from assay.cli.results import new_folder
from assay.cli.signals import INTERRUPTED, terminable
from assay.contexts.context import Depth
from assay.errors import Exit, InputError
from assay.extras.fleet.run import (
    FleetCallbacks,
    FleetSettings,
    read_policy,
    run_fleet,
    write_fleet,
)
from assay.extras.fleet.task import BankTasks, FleetOptions, FleetTask, TaskProgress, divide_fleet
from assay.preparation.banks import read_banks
from assay.report.fleet import CellState, FleetCell, headline, lines, read_before
from assay.report.wording import counted
from assay.rules.verdict import Standing

EPILOG = """\b
Examples:
  assay fleet banks.yaml
  assay fleet banks.yaml --workers 8 --out reports/local/monday --since reports/local/sunday
  assay fleet banks.yaml --bank first-bank --bank second-bank -k quota
  assay fleet banks.yaml --scheduler tls://cluster.example:8786 --out /shared/monday
  assay fleet banks.yaml --fail-on majority

\b
Exit codes:
  0  no violation, every `must` verified   3  something could not be tested or verified
  1  violations, according to --fail-on    4  an error in Assay itself
  2  a usage error                         130  interrupted
"""

SECTIONS = {
    "What is tested": ("banks", "keywords", "marks", "contexts", "seed"),
    "Cluster": ("workers", "scheduler"),
    "Safety and cost": ("dry_run", "no_doctor", "ledger"),
    "Result": ("out", "since", "fail_on", "allow_incomplete", "quiet"),
}


@dataclass(frozen=True, slots=True, kw_only=True)
class FleetCommand:
    """The options of `assay fleet`, as click parsed them."""

    file: Path
    banks: Sequence[str]
    keywords: str
    marks: str
    contexts: Depth | None
    seed: int
    workers: int
    scheduler: str | None
    dry_run: bool
    no_doctor: bool
    ledger: Path | None
    out: Path | None
    since: Path | None
    fail_on: str
    allow_incomplete: bool
    quiet: bool


@click.command(cls=options.SectionedCommand, sections=SECTIONS, epilog=EPILOG)
@click.argument("file", type=click.Path(path_type=Path))
@click.option(
    "--bank", "banks", multiple=True, metavar="NAME", help="Test only this bank. Repeatable."
)
@options.selection
@options.contexts
@options.seed
@click.option(
    "--workers",
    type=click.IntRange(1, 1000),
    default=2,
    show_default=True,
    metavar="N",
    help="Number of worker processes of the local cluster.",
)
@click.option(
    "--scheduler",
    metavar="URL",
    help="Use this Dask scheduler instead of a local cluster. Its workers must see the files"
    " under the same paths and have the secrets in their environment.",
)
@click.option("--dry-run", is_flag=True, help="Print the tasks without sending anything.")
@options.no_doctor
@options.ledger
@options.out
@click.option(
    "--since",
    type=click.Path(path_type=Path),
    metavar="DIR",
    help="Earlier fleet run to report changes against.",
)
@click.option(
    "--fail-on",
    default="any",
    show_default=True,
    metavar="any|majority|N|none",
    help="Exit with 1 if any bank has a violation, if more than half of the banks have one, if at"
    " least N have one, or never.",
)
@options.allow_incomplete
@options.quiet
def command(**given: Any) -> int:
    """Test many banks in parallel, with one target-file template.

    FILE lists the banks. The result is a report on the whole fleet, and the journal and reports
    of each bank.
    """
    with terminable():
        return run(FleetCommand(**given))


def run(given: FleetCommand) -> int:
    """Divide the fleet into tasks, perform them, and report; return the exit code.

    Raises:
        InputError: a file or an option cannot be used.

    """
    policy = read_policy(given.fail_on)
    before = read_before(given.since) if given.since else None
    file = read_banks(given.file)
    folder = (given.out or new_folder(f"fleet-{file.name[:40]}")).resolve()
    fleet_options = FleetOptions(
        folder=folder,
        ledger=given.ledger.resolve() if given.ledger else None,
        contexts=given.contexts.value if given.contexts else None,
        seed=given.seed,
        keywords=given.keywords,
        marks=given.marks,
        doctor=not given.no_doctor,
    )
    banks = divide_fleet(file, fleet_options, given.banks)
    if given.dry_run:
        for bank in banks:
            for task in bank.tasks:
                click.echo(task.key)
        return Exit.OK.value
    settings = FleetSettings(
        name=file.name,
        folder=folder,
        command="assay " + " ".join(sys.argv[1:]),
        policy=policy,
        allow_incomplete=given.allow_incomplete,
        before=before,
    )
    return _perform(given, banks, settings)


def _perform(given: FleetCommand, banks: Sequence[BankTasks], settings: FleetSettings) -> int:
    """Run a fleet on a cluster, and write its reports.

    Raises:
        InputError: there is no Dask, or no cluster, or the folder is in use.

    """
    if find_spec("distributed") is None:
        hint = "pip install 'assay[fleet]'"
        raise InputError.one("assay fleet", "Dask is not installed", hint=hint)
    from assay.extras.fleet.cluster import open_cluster  # noqa: PLC0415 -- Dask

    folder = settings.folder
    if (folder / "banks").exists():
        hint = "choose another --out; journals are never overwritten"
        raise InputError.one(str(folder), "this folder already contains a fleet run", hint=hint)
    folder.mkdir(parents=True, exist_ok=True)
    note_folder(folder)
    with (
        open_cluster(given.scheduler, given.workers) as client,
        FleetProgress(banks, quiet=given.quiet) as progress,
    ):
        report = run_fleet(client, banks, settings, progress.callbacks())
    if report.interrupted:
        report = replace(report, exit=INTERRUPTED)
    write_fleet(report, folder)
    for line in [headline(report)] if given.quiet else lines(report):
        click.echo(line)
    click.echo(f"report: {folder / 'fleet.html'}")
    link_latest()
    return report.exit


# -- Progress: bars on a terminal, elsewhere a line for each bank and a heartbeat ----------------
class FleetProgress:
    """The progress of all banks on standard error; nothing if `quiet`."""

    def __init__(self, banks: Sequence[BankTasks], *, quiet: bool = False) -> None:
        self._tasks = {task.key: task for bank in banks for task in bank.tasks}
        self._left = {bank.bank: len(bank.tasks) for bank in banks}
        self._cells: dict[str, list[FleetCell]] = {bank.bank: [] for bank in banks}
        self._shares: dict[str, TaskProgress] = {}
        self._ended: set[str] = set()
        self._quiet = quiet
        self._bars: Any = None
        self._total: Any = None
        self._bar: dict[str, Any] = {}
        self._began = self._spoke = time.monotonic()

    def __enter__(self) -> Self:
        if sys.stderr.isatty() and not self._quiet:
            self._bars = counting_bar(40)
            self._bars.start()
            self._total = self._bars.add_task("tasks", total=len(self._tasks))
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        if self._bars is not None:
            self._bars.stop()

    def callbacks(self) -> FleetCallbacks:
        """Return what the fleet calls."""
        return FleetCallbacks(
            on_cell=self._on_cell,
            on_progress=self._on_progress,
            on_beat=self._on_beat,
            on_end=self._on_end,
        )

    def _on_progress(self, progress: TaskProgress) -> None:
        # An event may come after the result of its task.
        if progress.task not in self._tasks or progress.task in self._ended:
            return
        self._shares[progress.task] = progress
        if self._bars is None:
            return
        if progress.task not in self._bar:
            self._bar[progress.task] = self._bars.add_task(progress.task, total=progress.planned)
        # Trials in parts of a context are not planned: the bar does not pass its end.
        done = min(progress.done, progress.planned)
        self._bars.update(self._bar[progress.task], completed=done, total=progress.planned)

    def _on_cell(self, task: FleetTask, cell: FleetCell) -> None:
        self._ended.add(task.key)
        self._shares.pop(task.key, None)
        self._left[task.bank] -= 1
        self._cells[task.bank].append(cell)
        if self._bars is not None:
            self._bars.advance(self._total)
            if task.key in self._bar:
                self._bars.remove_task(self._bar.pop(task.key))
        if not self._left[task.bank]:
            self._show(f"{task.bank}: {self._result(task.bank)}")

    def _result(self, bank: str) -> str:
        cells = self._cells[bank]
        reasons = dict.fromkeys(cell.reason for cell in cells if cell.state is not CellState.TESTED)
        if reasons:
            return "; ".join(reasons)
        violated = sum(
            verdict.standing is Standing.VIOLATES for cell in cells for verdict in cell.verdicts
        )
        return f"{counted(violated, 'violation')} in {sum(cell.seconds for cell in cells):.1f} s"

    def _on_beat(self) -> None:
        if self._bars is None and time.monotonic() - self._spoke >= HEARTBEAT:
            done = sum(not left for left in self._left.values())
            running = ", ".join(
                f"{share.task} {share.done:,}/{share.planned:,}"
                for share in sorted([*self._shares.values()], key=lambda share: share.task)[:5]
            )
            seconds = time.monotonic() - self._began
            total = counted(len(self._left), "bank")
            self._show(f"after {seconds:.0f} s: {done} of {total} done; running: {running or '-'}")

    def _on_end(self) -> None:
        self._show("interrupted: waiting for the running tasks to close their journals")

    def _show(self, line: str) -> None:
        self._spoke = time.monotonic()
        if self._quiet:
            return
        if self._bars is not None:
            self._bars.console.print(line, markup=False, highlight=False, soft_wrap=True)
        else:
            click.echo(f"fleet: {line}", err=True)
