"""Performance of a fleet's tasks on a Dask cluster: a local one, or one that is running already.

The banks run side by side. The first task of a bank runs by itself: if it fails, as with a bank
that cannot be reached, the others of this bank are not begun. Tasks of a bank with real customers
run one after another, because they share these customers.

A task whose worker is lost is given to another worker by Dask. Dask is imported here alone.
"""

from __future__ import annotations

import logging
import queue
import signal
import threading
from collections import deque
from collections.abc import Callable, Generator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any, cast

import dask.config
from distributed import Client, LocalCluster, WorkerPlugin, get_worker

from assay.errors import InputError
from assay.extras.fleet.task import BankTasks, FleetTask, TaskProgress, run_task
from assay.report.fleet import CellState, FleetCell

#: The topic of the events with which tasks report their progress.
TOPIC = "assay-fleet"
#: How long a cluster may take to answer, and to have a worker.
PATIENCE = 30
#: How many workers a task may lose before it fails.
LOSSES = 3
#: Seconds between two looks at what the cluster did.
BEAT = 0.5

OnCell = Callable[[FleetTask, FleetCell], None]


class UninterruptedWorker(WorkerPlugin):  # type: ignore[misc] # Dask is not typed
    """A worker process that Ctrl-C does not end: the fleet asks its tasks to end."""

    name = "assay-uninterrupted"

    def setup(self, worker: Any) -> None:
        """Ignore SIGINT in a process of its own."""
        if threading.current_thread() is threading.main_thread():
            signal.signal(signal.SIGINT, signal.SIG_IGN)


@contextmanager
def open_cluster(
    scheduler: str | None, workers: int, *, processes: bool = True
) -> Generator[Client]:
    """Provide a client of a running scheduler, or of a local cluster of this many workers.

    A local cluster is encrypted and closed to other users, because its workers know the secrets.

    Raises:
        InputError: the scheduler cannot be reached, or has no worker.

    """
    logging.getLogger("distributed").setLevel(logging.CRITICAL)
    settings = {
        "distributed.scheduler.allowed-failures": LOSSES,
        "distributed.scheduler.http.routes": [],
        "distributed.worker.http.routes": [],
        "distributed.admin.tick.limit": "1h",
    }
    with dask.config.set(settings):
        if scheduler is None:
            with _local(workers, processes=processes) as client:
                yield client
            return
        try:
            client = Client(scheduler, timeout=PATIENCE)
            client.wait_for_workers(1, timeout=PATIENCE)
        except (OSError, TimeoutError, ValueError) as error:
            what = f"cannot use the scheduler {scheduler}: {type(error).__name__}"
            hint = "is it running, with a worker, and is its address such as tcp://host:8786?"
            raise InputError.one("--scheduler", what, hint=hint) from None
        with client:
            yield client


@contextmanager
def _local(workers: int, *, processes: bool) -> Generator[Client]:
    settings: dict[str, Any] = {
        "n_workers": workers,
        "threads_per_worker": 1,
        "processes": processes,
        "security": True if processes else None,
        # Dask serves HTTP in any case: on loopback, at any free port, with nothing to see.
        "dashboard_address": "127.0.0.1:0",
        "scheduler_kwargs": {"dashboard": False},
        "memory_limit": 0,
        "silence_logs": logging.CRITICAL,
    }
    with (
        LocalCluster(**settings) as cluster,
        Client(cluster) as client,
    ):
        if processes:
            client.register_plugin(UninterruptedWorker())
        yield client


def perform(task: FleetTask) -> FleetCell:
    """Perform a task on a worker, and report its progress to the fleet."""
    worker = get_worker()

    def report(progress: TaskProgress) -> None:
        event = {"task": progress.task, "done": progress.done, "planned": progress.planned}
        worker.log_event(TOPIC, event)

    return run_task(task, report)


@dataclass(slots=True)
class FleetRun:
    """Tasks on their way: those that wait for others of their bank, and those in the cluster."""

    client: Client
    on_cell: OnCell
    on_progress: Callable[[TaskProgress], None]
    on_beat: Callable[[], None] = lambda: None
    waiting: dict[str, deque[FleetTask]] = field(default_factory=dict[str, "deque[FleetTask]"])
    in_turn: set[str] = field(default_factory=set[str])
    running: dict[str, tuple[FleetTask, Any]] = field(
        default_factory=dict[str, tuple[FleetTask, Any]]
    )
    done: queue.SimpleQueue[str] = field(default_factory=queue.SimpleQueue[str])

    def perform(self, banks: Sequence[BankTasks]) -> None:
        """Perform the tasks of all banks; results are passed on as they come in."""
        self.client.subscribe_topic(TOPIC, self._see)
        try:
            for bank in banks:
                self.waiting[bank.bank] = deque(bank.tasks)
                self.in_turn |= {bank.bank} if bank.in_turn else set()
                self._submit(bank.bank, 1)
            self._collect(lambda: None)
        finally:
            self.client.unsubscribe_topic(TOPIC)

    def end(self, seconds: float) -> None:
        """Wait for the tasks that were asked to end; what has not ended then is given up.

        A second interruption ends the wait.
        """
        beats = seconds / BEAT
        for tasks in self.waiting.values():
            for task in tasks:
                self.on_cell(task, task.cell(CellState.INTERRUPTED, "interrupted"))
            tasks.clear()

        def count_down() -> None:
            nonlocal beats
            beats -= 1
            if beats <= 0:
                raise TimeoutError

        try:
            self._collect(count_down)
        except (TimeoutError, KeyboardInterrupt):
            for task, _ in self.running.values():
                self.on_cell(task, task.cell(CellState.INTERRUPTED, "interrupted"))

    def _collect(self, on_beat: Callable[[], None]) -> None:
        while self.running:
            try:
                key = self.done.get(timeout=BEAT)
            except queue.Empty:
                self.on_beat()
                on_beat()
                continue
            task, future = self.running.pop(key)
            cell = _result(task, future)
            self.on_cell(task, cell)
            self._go_on(task, cell)

    def _go_on(self, task: FleetTask, cell: FleetCell) -> None:
        """Submit the next tasks of a bank; if its first one failed, the others fail as well."""
        waiting = self.waiting[task.bank]
        if cell.state is CellState.TESTED:
            self._submit(task.bank, 1 if task.bank in self.in_turn else len(waiting))
            return
        while waiting:
            rest = waiting.popleft()
            self.on_cell(rest, rest.cell(cell.state, cell.reason))

    def _submit(self, bank: str, most: int) -> None:
        waiting = self.waiting[bank]
        for _ in range(min(most, len(waiting))):
            task = waiting.popleft()
            future = self.client.submit(perform, task, key=task.key, pure=False)
            self.running[task.key] = (task, future)
            future.add_done_callback(self._note)

    def _note(self, future: Any) -> None:
        self.done.put(str(future.key))

    def _see(self, event: tuple[float, Mapping[str, Any]]) -> None:
        _, values = event
        self.on_progress(
            TaskProgress(
                task=str(values["task"]), done=int(values["done"]), planned=int(values["planned"])
            )
        )


def _result(task: FleetTask, future: Any) -> FleetCell:
    """Return the result of a task; one that the cluster could not perform has failed."""
    if future.status == "finished":
        return cast("FleetCell", future.result())
    error = future.exception() if future.status == "error" else None
    name = type(error).__name__ if error is not None else str(future.status)
    reason = {
        "KilledWorker": f"its worker was lost {LOSSES + 1} times",
        "cancelled": "the cluster lost the task",
        "lost": "the cluster lost the task",
    }.get(name, f"the cluster could not perform it: {name}")
    return task.cell(CellState.FAILED, reason)
