"""Progress of a fleet: bars on a terminal, elsewhere a line for each bank and a heartbeat."""

from __future__ import annotations

import sys
import time
from collections.abc import Sequence
from types import TracebackType
from typing import Any, Self

import click

from assay.cli.progress import HEARTBEAT, counting_bar
from assay.extras.fleet.division import BankTasks
from assay.extras.fleet.run import FleetCallbacks
from assay.extras.fleet.task import FleetTask, TaskProgress
from assay.report.fleet.values import CellState, FleetCell
from assay.report.wording import counted
from assay.rules.verdict import Standing


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
