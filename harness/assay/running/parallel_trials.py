"""Parallel trials: lanes run them ahead, and the session judges them in the plan's order.

A trial on a fixture of its own depends on no other one, and most of it is waiting. So several
threads run trials ahead, and each is kept until the session takes it up. Journal, pseudonyms,
numbers and verdicts are then those of a run of one trial after another. A life depends on no trial
either, and runs beside them.

The longest trials start early, because a run cannot be shorter than the longest of them. What is
kept is bounded: no further trial starts while the session is far behind.

Trials that wait for a time of day, or for days, do so in lanes of their own, and take turns with all
others: no more act at a time than may run side by side. Trials of one listed customer never overlap.
"""

from __future__ import annotations

from collections.abc import Callable, Generator, Iterator, Mapping, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass, field
from importlib import import_module
from itertools import chain, takewhile
from threading import Condition, Semaphore, local
from threading import Event as Signal
from typing import Any, Protocol, TypeAlias

from assay.binding.model.security import ISSUING
from assay.binding.model.target import ScaKind, Target, TransportKind
from assay.binding.wire.encode import Access, HttpRequest
from assay.contract.model import Capability
from assay.fixtures.providers import Customers, customers_of
from assay.fixtures.waiting import Waiting
from assay.history import Event, Exchange
from assay.history.events import ProbeRun
from assay.planning.plan import Trial
from assay.running.environment import Environment
from assay.running.executor import Recorder
from assay.transport.protocol import Delivery, Transport, unanswered
from assay.transport.secrets import Secret

__all__ = [
    "DEFAULT_LANES",
    "LaneStopped",
    "LaneTask",
    "Lanes",
    "RecordedRun",
    "StoppableTransport",
    "Turns",
    "lanes_for",
    "most_lanes",
    "performed",
]

#: How many trials run side by side at a target in the network, unless the user says otherwise.
DEFAULT_LANES = 8
#: How many trials may run side by side at all: each has a thread and a connection.
MOST_LANES = 256
#: How many trials per lane may have started and not been taken up.
AHEAD = 8
#: Above this size of everything that waits to be taken up, in bytes, no further trial starts.
MOST_WAITING = 32 * 1024 * 1024
#: What trials import where they first need it. Two threads that import one library for the first
#: time can get in each other's way, so it is imported before there are threads.
IMPORTED_BY_TRIALS = ("stdnum.iban", "stdnum.luhn")


#: Something that a trial did, with the credentials with which it is recorded, or that it learned.
Entry: TypeAlias = Secret | tuple[Event, Access]


#: The run of the trial that a lane performs.
_THREAD = local()


class LaneStopped(Exception):  # noqa: N818 -- the end of a lane, no error
    """Ends a trial that runs ahead, at its next event."""


@dataclass(slots=True)
class RecordedRun:
    """What a trial did and learned, in order, and how it ended: with a run or an error.

    `size` is that of all bodies, in bytes. The first `learned` entries are known to the journal.
    It can be pickled.
    """

    entries: list[Entry] = field(default_factory=list["Entry"])
    run: ProbeRun | None = None
    error: Exception | None = None
    numbers: int = 0
    size: int = 0
    learned: int = 0

    def number(self) -> int:
        """Return the number of the next exchange or signature, within the trial."""
        self.numbers += 1
        return self.numbers

    def add(self, event: Event, access: Access) -> None:
        """Keep an event, and the credentials with which it is recorded."""
        self.entries.append((event, access))
        if isinstance(event, Exchange):
            self.size += len(event.wire.body)


class LaneTask(Protocol):
    """What a lane can do beside the trials, such as a life: it depends on none of them."""

    @property
    def id(self) -> str:
        """The name by which it is taken up."""
        ...

    @property
    def calls(self) -> int:
        """The number of its calls at a bank that keeps the contract."""
        ...

    def perform(
        self, environment: Environment, number: Callable[[], int], record: Recorder
    ) -> ProbeRun:
        """Perform it at a target; each exchange gets a number, and each event is recorded."""
        ...


def performed(task: LaneTask, environment: Environment) -> RecordedRun:
    """Perform a task, and return what it did."""
    run = RecordedRun()
    run.run = task.perform(environment, run.number, run.add)
    return run


@dataclass(slots=True, kw_only=True)
class LaneRun(RecordedRun):
    """What a trial does in a lane; `changed` is notified of each of its events and of its end.

    When it ended, the trials `beside` it were under way, each with this many events. One that is
    `resting` waits, and makes no call.
    """

    changed: Condition
    events: int = 0
    ended: bool = False
    resting: bool = False
    beside: list[tuple[LaneRun, int]] = field(
        default_factory=list["tuple[LaneRun, int]"], repr=False
    )

    def add(self, event: Event, access: Access) -> None:
        """Keep an event, and say that there is one more."""
        with self.changed:
            RecordedRun.add(self, event, access)
            self.events += 1
            self.changed.notify_all()

    def settled(self) -> bool:
        """Whether every call that was under way when this trial ended has been recorded."""
        return all(
            other.ended or other.resting or other.events > events for other, events in self.beside
        )

    def rest(self, *, begins: bool) -> None:
        """Say that the trial begins to wait, or goes on."""
        with self.changed:
            self.resting = begins
            self.changed.notify_all()


def most_lanes(target: Target) -> tuple[int | None, str]:
    """Return how many trials may run side by side at a target, None for any number, and why."""
    safety, shared = target.safety, Capability.TPPS not in target.fixtures.offers
    serial = {
        "trials share customers or the clock (fixtures.kind)": (
            customers_of(target) is not Customers.CREATED
        ),
        f"one browser signs (sca.kind: {target.sca.kind.value})": (
            target.sca.kind in {ScaKind.MANUAL, ScaKind.BROWSER}
        ),
        "all trials share one client, whose token some of them renew (auth.tpp)": (
            shared and target.auth.of(by_tpp=True).kind in ISSUING
        ),
        "trials share a budget and spend it in order (budget.calls)": target.budget.calls
        is not None,
        "the bank is live (safety.concurrency)": target.is_live and safety.concurrency is None,
    }
    for reason, applies in serial.items():
        if applies:
            return 1, reason
    return safety.concurrency, "" if safety.concurrency is None else "safety.concurrency"


def lanes_for(target: Target, asked: int | None) -> int:
    """Return how many trials run side by side: as many as asked for, or the usual number.

    A bank in this process answers at once, and threads would only take turns.
    """
    most, _ = most_lanes(target)
    usual = 1 if target.transport is TransportKind.EMBEDDED else DEFAULT_LANES
    return max(1, min(asked or usual, most or MOST_LANES))


@dataclass(slots=True)
class StoppableTransport:
    """A transport that sends nothing more once the lanes are stopping.

    Fixtures can still be closed: calls of the control API are sent.
    """

    inner: Transport
    is_stopping: Callable[[], bool]

    @property
    def base_url(self) -> str:
        """The base URL of the target."""
        return self.inner.base_url

    @property
    def reached(self) -> bool:
        """Whether the target ever answered."""
        return self.inner.reached

    def send(self, request: HttpRequest) -> Delivery:
        """Send a request once, unless the run ends."""
        if self.is_stopping():
            return unanswered(request, "the run was interrupted", sent=False)
        return self.inner.send(request)

    def control(self, method: str, path: str, body: Mapping[str, Any] | None) -> tuple[int, Any]:
        """Call the target's control API."""
        return self.inner.control(method, path, body)

    def close(self) -> None:
        """Do nothing: the connections belong to the run."""


class Turns:
    """Turns of trials of which a `number` may act at a time: while one waits, others go on.

    Two trials of the same listed customer never overlap; those that run `ahead` begin in this order.
    `same` has the first name of each customer. The `waiting` of a run sleeps through it from now on.
    """

    def __init__(
        self, waiting: Waiting, ahead: Sequence[Trial], same: Mapping[str, str], number: int
    ) -> None:
        self._ahead, self._same = [*ahead], same
        self._busy: set[str] = set()
        self._changed = Condition()
        self._free = Semaphore(number)
        self._stopped = Signal()
        self._sleep = waiting.sleep or self._stopped.wait
        waiting.sleep = self._rest

    @contextmanager
    def acting(self, trial: Trial) -> Generator[None]:
        """Run the block when it is the trial's turn."""
        names = self._customers(trial)
        with _resting(), self._changed:
            self._changed.wait_for(lambda: self._stopped.is_set() or self._may_begin(trial))
            self._ahead = [each for each in self._ahead if each is not trial]
            self._busy |= names
        try:
            with self._free:
                if self._stopped.is_set():
                    raise LaneStopped
                yield
        finally:
            with self._changed:
                self._busy -= names
                self._changed.notify_all()

    def _may_begin(self, trial: Trial) -> bool:
        """Whether its customers are free, and no trial before it begins with one of them."""
        kept = {*self._busy}
        if any(each is trial for each in self._ahead):
            for earlier in takewhile(lambda each: each is not trial, self._ahead):
                kept |= self._customers(earlier)
        return kept.isdisjoint(self._customers(trial))

    def _customers(self, trial: Trial) -> set[str]:
        taken = trial.choice.taken if trial.choice else ()
        return {self._same.get(name, name) for name in taken}

    def _rest(self, seconds: float) -> None:
        with _resting():
            self._free.release()
            try:
                self._sleep(seconds)
            finally:
                self._free.acquire()
        if self._stopped.is_set():
            raise LaneStopped

    def stop(self) -> None:
        """End every wait."""
        with self._changed:
            self._stopped.set()
            self._changed.notify_all()


@contextmanager
def _resting() -> Generator[None]:
    """Run the block, in which the trial of this thread makes no call."""
    run: LaneRun | None = getattr(_THREAD, "run", None)
    if run is not None:
        run.rest(begins=True)
    try:
        yield
    finally:
        if run is not None:
            run.rest(begins=False)


class Lanes:
    """Threads that run trials ahead of the session.

    `perform` runs one trial, or another task, into the record that it is given, and raises nothing.
    """

    def __init__(
        self, number: int, perform: Callable[[Trial | LaneTask, RecordedRun], None]
    ) -> None:
        for name in IMPORTED_BY_TRIALS:
            import_module(name)
        self.stopping = False
        self._perform = perform
        self._threads = ThreadPoolExecutor(number, thread_name_prefix="lane")
        self._number = number
        self._queue: Iterator[Trial | LaneTask] = iter(())
        self._queued: set[str] = set()
        self._ahead: dict[str, tuple[Trial | LaneTask, LaneRun, Future[bool]]] = {}
        self._under_way: dict[int, LaneRun] = {}
        self._changed = Condition()
        self._waiting = 0

    def start(self, *phases: Sequence[Trial | LaneTask]) -> None:
        """Run trials ahead: those of each phase before those of the next, the longest first.

        What did not start of earlier phases comes after them.
        """
        self._queued |= {task.id for tasks in phases for task in tasks}
        self._queue = chain(self._in_order(phases), self._queue)
        self._fill()

    def _in_order(self, phases: Sequence[Sequence[Trial | LaneTask]]) -> Iterator[Trial | LaneTask]:
        """Yield trials in the order in which they start.

        A dry run counts the calls of each. So that the first call does not wait for that, the
        first trials of a phase start as they come.
        """
        for trials in phases:
            yield from trials[: self._number]
            rest = trials[self._number :]
            longest = sorted(rest, key=lambda trial: -trial.calls)[: 2 * self._number]
            yield from longest
            chosen = {trial.id for trial in longest}
            yield from (trial for trial in rest if trial.id not in chosen)

    def started(self, trial: Trial) -> bool:
        """Whether a trial runs ahead, or did and was not taken up."""
        return trial.id in self._ahead

    def take(self, trial: Trial | LaneTask) -> RecordedRun:
        """Return what a trial did, waiting for its end; one that did not start runs now.

        Its answers may repeat a secret of a call that another lane was making: the target knows a
        token before that lane does. So the record is returned once those calls are recorded, too.
        """
        while True:
            if trial.id not in self._ahead:
                self._submit(trial, wanted=True)
            _, record, done = self._ahead[trial.id]
            performed = done.result()
            del self._ahead[trial.id]
            if performed:
                with self._changed:
                    self._changed.wait_for(record.settled)
                record.beside.clear()
                self._waiting -= record.size
                self._fill()
                return record

    def learned(self) -> Iterator[Entry]:
        """Yield what trials under way did or learned since the last time."""
        for _, record, _ in self._ahead.values():
            entries = record.entries[record.learned :]
            record.learned += len(entries)
            yield from entries

    def stop(self) -> Iterator[tuple[Trial | LaneTask, RecordedRun]]:
        """End every trial at its next event; yield what those did that were not taken up."""
        self.stopping = True
        for _, _, done in self._ahead.values():
            done.cancel()
        self._threads.shutdown()
        while self._ahead:
            trial, record, done = self._ahead.pop(next(iter(self._ahead)))
            if not done.cancelled():
                yield trial, record

    def _fill(self) -> None:
        """Start the next trials, as far as there is room."""
        while len(self._ahead) < self._number * AHEAD:
            trial = next((each for each in self._queue if each.id in self._queued), None)
            if trial is None:
                return
            self._submit(trial)

    def _submit(self, trial: Trial | LaneTask, *, wanted: bool = False) -> None:
        self._queued.discard(trial.id)
        record = LaneRun(changed=self._changed)
        done = self._threads.submit(self._run, trial, record, wanted=wanted)
        self._ahead[trial.id] = trial, record, done

    def _run(self, trial: Trial | LaneTask, record: LaneRun, *, wanted: bool) -> bool:
        """Run one trial, unless too much waits to be taken up; return whether it ran."""
        if self.stopping or (self._waiting > MOST_WAITING and not wanted):
            return False
        _THREAD.run = record
        with self._changed:
            self._under_way[id(record)] = record
        try:
            self._perform(trial, record)
        finally:
            with self._changed:
                del self._under_way[id(record)]
                record.ended = True
                record.beside += [(other, other.events) for other in self._under_way.values()]
                self._changed.notify_all()
        self._waiting += record.size
        return True
