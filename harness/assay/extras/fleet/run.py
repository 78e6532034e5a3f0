"""The run of a fleet: its tasks performed, its report written, its exit code decided."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from assay import __version__
from assay.errors import AssayError, Exit, InputError
from assay.extras.fleet.task import REPORTS, STOP, BankTasks, FleetTask, TaskProgress
from assay.journal.writer import now
from assay.report import read_journal, render, write_file
from assay.report.fleet import (
    FILE,
    BankRow,
    Before,
    CellState,
    FleetCell,
    FleetReport,
    by_obligation,
    changes,
    render_html,
    render_json,
    render_text,
)
from assay.report.merge import merge

if TYPE_CHECKING:
    from distributed import Client


#: The reports of a fleet, by the name of the file.
FILES = {FILE: render_json, "fleet.html": render_html, "fleet.txt": render_text}
#: Seconds that tasks have to end after an interruption.
GRACE = 20.0


@dataclass(frozen=True, slots=True, kw_only=True)
class FailPolicy:
    """How many banks must violate something for the fleet to fail; `name` is as the user has it."""

    name: str

    def fails(self, violating: int, banks: int) -> bool:
        """Whether a fleet fails in which this many of its banks violate something."""
        match self.name:
            case "none":
                return False
            case "any":
                return violating > 0
            case "majority":
                return violating * 2 > banks
            case number:
                return violating >= int(number)


def read_policy(text_: str) -> FailPolicy:
    """Read a policy: any, majority, none or a number of banks.

    Raises:
        InputError: it is none of these.

    """
    number = text_.isascii() and text_.isdigit() and len(text_) <= 6 and int(text_) > 0  # noqa: PLR2004
    if text_ not in {"any", "majority", "none"} and not number:
        what = f"expected any, majority, none or a number of banks, found {text_[:40]!r}"
        raise InputError.one("--fail-on", what, hint="for example --fail-on 3")
    return FailPolicy(name=text_)


def exit_of_fleet(
    banks: Sequence[BankRow], policy: FailPolicy, *, allow_incomplete: bool = False
) -> Exit:
    """Return the exit code of a fleet: a fault, a violation by policy, a waiver to edit, what is open.

    A bank that could not be tested is open, whatever is allowed.
    """
    if any(bank.faulty for bank in banks):
        return Exit.FAULT
    if policy.fails(sum(bank.violates for bank in banks), len(banks)):
        return Exit.VIOLATION
    if any(bank.invalid_waivers for bank in banks):
        return Exit.USAGE
    failed = any(not all(cell.verdicts for cell in bank.cells) for bank in banks)
    if failed or (not allow_incomplete and any(bank.incomplete for bank in banks)):
        return Exit.INCOMPLETE
    return Exit.OK


@dataclass(slots=True, kw_only=True)
class FleetCallbacks:
    """What is called while a fleet runs, in the thread of the fleet but for `on_progress`."""

    on_cell: Callable[[FleetTask, FleetCell], None] = lambda _task, _cell: None
    on_progress: Callable[[TaskProgress], None] = lambda _: None
    on_beat: Callable[[], None] = lambda: None
    on_end: Callable[[], None] = lambda: None


@dataclass(frozen=True, slots=True, kw_only=True)
class FleetSettings:
    """What shapes the report of a fleet and its exit code."""

    name: str
    folder: Path
    command: str
    policy: FailPolicy
    allow_incomplete: bool = False
    before: Before | None = None


def run_fleet(
    client: Client,
    banks: Sequence[BankTasks],
    settings: FleetSettings,
    callbacks: FleetCallbacks,
) -> FleetReport:
    """Perform the tasks of a fleet and return its report; an interruption ends it early."""
    from assay.extras.fleet.cluster import FleetRun  # noqa: PLC0415 -- Dask

    started = now()
    results = FleetResults(folder=settings.folder, banks=banks)

    def take(task: FleetTask, cell: FleetCell) -> None:
        results.take(task, cell)
        callbacks.on_cell(task, cell)

    run = FleetRun(client, take, callbacks.on_progress, callbacks.on_beat)
    interrupted = False
    try:
        run.perform(banks)
    except KeyboardInterrupt:
        interrupted = True
        callbacks.on_end()
        (settings.folder / STOP).touch()
        run.end(GRACE)
        with suppress(OSError):
            (settings.folder / STOP).unlink()
    rows = tuple(results.row(bank.bank) for bank in banks)
    exit_ = exit_of_fleet(rows, settings.policy, allow_incomplete=settings.allow_incomplete)
    return FleetReport(
        name=settings.name,
        version=__version__,
        started=started,
        finished=now(),
        command=settings.command,
        fail_on=settings.policy.name,
        exit=exit_.value,
        banks=rows,
        interrupted=interrupted,
        changes=changes(rows, settings.before) if settings.before else None,
        obligations=by_obligation(rows),
    )


def write_fleet(report: FleetReport, folder: Path) -> None:
    """Write the reports of a fleet into its folder.

    Raises:
        InputError: one cannot be written.

    """
    for name, write in FILES.items():
        write_file(folder / name, partial(write, report))


# -- Results of a fleet: cells as they come in, shards merged, and the report of all banks -------
@dataclass(slots=True, kw_only=True)
class FleetResults:
    """The cells of the tasks that have ended, by the key of the task."""

    folder: Path
    banks: Sequence[BankTasks]
    cells: dict[str, FleetCell] = field(default_factory=dict[str, FleetCell])

    def take(self, task: FleetTask, cell: FleetCell) -> None:
        """Take in the result of a task."""
        self.cells[task.key] = cell

    def _tasks(self, bank: str) -> tuple[FleetTask, ...]:
        return next(each.tasks for each in self.banks if each.bank == bank)

    def row(self, bank: str) -> BankRow:
        """Return the row of a bank with what it has so far, its shards merged."""
        contracts = dict.fromkeys(task.contract for task in self._tasks(bank))
        return BankRow(name=bank, cells=tuple(self._cell(bank, name) for name in contracts))

    def _cell(self, bank: str, contract: str) -> FleetCell:
        tasks = [task for task in self._tasks(bank) if task.contract == contract]
        cells = [self.cells[task.key] for task in tasks if task.key in self.cells]
        if len(tasks) == 1 and cells:
            return replace(cells[0], contract=Path(contract).stem)
        return _merged(self.folder, tasks, cells)


def _merged(folder: Path, tasks: Sequence[FleetTask], cells: Sequence[FleetCell]) -> FleetCell:
    """Return the cell of a contract that was tested in shards."""
    task = tasks[0]
    reasons = dict.fromkeys(cell.reason for cell in cells if cell.reason)
    states = {cell.state for cell in cells}
    whole = states == {CellState.TESTED} and len(cells) == len(tasks)
    state = CellState.FAILED if CellState.FAILED in states else CellState.INTERRUPTED
    merged = FleetCell(
        bank=task.bank,
        contract=Path(task.contract).stem,
        state=CellState.TESTED if whole else state,
        reason="; ".join(reasons),
        seconds=sum(cell.seconds for cell in cells),
    )
    journals = [folder / cell.journal for cell in cells if cell.journal]
    if not journals:
        return merged
    place = task.place.parent / "merged"
    try:
        run = merge(journals, folder / place, command="assay fleet", partial=True)
        report = read_journal(run.journal)
        for name, file in REPORTS.items():
            render(report, name, folder / place / file)
    except AssayError as error:
        why = f"its shards cannot be merged: {error}"
        return replace(merged, state=CellState.FAILED, exit=Exit.FAULT, reason=why)
    return replace(
        merged,
        exit=run.exit,
        exchanges=report.exchanges,
        journal=str(place / run.journal.name),
        verdicts=report.bare_results,
        waivers=report.waivers,
    )
