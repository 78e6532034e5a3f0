"""Lines about a run in progress, for a standard error that is no terminal.

Many runners end a job whose log stands still, and a run that waits for a calendar day says nothing
for hours. So a line is printed every half minute.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass, field
from threading import Event, Thread
from types import TracebackType
from typing import Self

import click

from assay.running.session import Session

#: Seconds between two lines.
HEARTBEAT = 30.0


def duration(seconds: float) -> str:
    """Return seconds as `0:07` or `1:02:07`."""
    minutes, rest = divmod(round(seconds), 60)
    hours, minutes = divmod(minutes, 60)
    return f"{hours}:{minutes:02}:{rest:02}" if hours else f"{minutes}:{rest:02}"


def time_left(elapsed: float, done: float, planned: float) -> float | None:
    """Return how many seconds are left at the pace so far; None while it cannot be known."""
    return elapsed * (planned - done) / done if 0 < done < planned else None


def elapsed_text(elapsed: float, done: float, planned: float) -> str:
    """Return the time that has passed, and the time left if it can be known."""
    left = time_left(elapsed, done, planned)
    about = "" if left is None else f", about {duration(left)} left"
    return f"elapsed {duration(elapsed)}{about}"


@dataclass(slots=True, kw_only=True)
class Heartbeat:
    """Counts trials and calls of a session, and prints how far it has come.

    The calls of the plan are counted only once the run has lasted: that takes a dry run.
    """

    session: Session
    clock: Callable[[], float] = time.monotonic
    every: float = HEARTBEAT
    began: float = 0.0
    trials: int = 0
    calls: int = 0
    planned: int = 0
    _ended: Event = field(default_factory=Event)
    _thread: Thread | None = None

    def __enter__(self) -> Self:
        """Begin to print lines."""
        self.began = self.clock()
        self._thread = Thread(target=self._beat, name="heartbeat", daemon=True)
        self._thread.start()
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self._ended.set()

    def on_trial(self) -> None:
        """Count a trial that begins."""
        self.trials += 1

    def on_call(self) -> None:
        """Count a call."""
        self.calls += 1
        if not self.planned and self.clock() - self.began > self.every / 2:
            self.planned = self.session.plan.calls

    def line(self) -> str:
        """Return how far the run has come."""
        done = max(0, self.trials - 1)
        # Trials in parts of a context, and sequences of a search, are not planned.
        planned_trials = len(self.session.plan.all_trials)
        of_all = f" of {planned_trials:,}" if done <= planned_trials else ""
        trials = f"{done:,}{of_all} trials"
        whole = f" of about {self.planned:,}" if self.calls < self.planned else ""
        # A wait is no pace.
        planned = 0 if self.session.environment.waiting is not None else self.planned
        elapsed = elapsed_text(self.clock() - self.began, self.calls, planned)
        return f"run: {trials}, {self.calls:,}{whole} calls, {elapsed}"

    def _beat(self) -> None:
        while not self._ended.wait(self.every):
            click.echo(self.line(), err=True)
