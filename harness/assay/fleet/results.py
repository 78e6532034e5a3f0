"""Results of a fleet: cells as they come in, shards merged, and the report of all banks."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path

from assay.errors import AssayError
from assay.fleet.division import BankTasks
from assay.fleet.task import REPORTS, FleetTask
from assay.judging.verdict import Exit
from assay.report import read_journal, render
from assay.report.fleet.values import BankRow, CellState, FleetCell, cell_verdicts
from assay.report.merge import merge


@dataclass(slots=True, kw_only=True)
class FleetResults:
    """The cells of the tasks that have ended, by the key of the task."""

    folder: Path
    banks: Sequence[BankTasks]
    cells: dict[str, FleetCell] = field(default_factory=dict[str, FleetCell])

    def take(self, task: FleetTask, cell: FleetCell) -> None:
        """Take in the result of a task."""
        self.cells[task.key] = cell

    def ended(self, bank: str) -> bool:
        """Whether all tasks of a bank have ended."""
        return all(task.key in self.cells for task in self._tasks(bank))

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
        exchanges=report.footer.exchanges if report.footer else 0,
        journal=str(place / run.journal.name),
        verdicts=cell_verdicts(report),
        waivers=report.waivers,
    )
