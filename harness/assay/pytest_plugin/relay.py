"""Relay of trials from the workers of pytest-xdist to the controller, which writes one journal.

A worker runs trials and judges its items. With each report of an item it sends what its trials did.
The controller takes the trials up in the order of the items, as a session takes up trials that ran
ahead: journal, numbers, pseudonyms and verdicts are those of one process. A trial that no
worker ran, because it follows from what several found together, runs in the controller; one that
only a worker needed, which knew less, is written at the end, because it was sent.
"""

from __future__ import annotations

import pickle
from collections.abc import Callable, Collection, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from typing import Any

import pytest

from assay.binding.wire.encode import Access
from assay.history import Event, History
from assay.history.events import ProbeRun
from assay.journal.writer import Journal
from assay.planning.plan import Trial
from assay.running.parallel_trials import Entry, RecordedRun
from assay.running.session import Session
from assay.running.trial_recorder import TrialRecorder

#: The attribute of a report that carries trials.
ATTRIBUTE = "assay_trials"


@dataclass(slots=True, kw_only=True)
class SendingRecorder(TrialRecorder):
    """Runs trials in a worker, and keeps what they did until it is sent."""

    events: TrialJournal
    runs: dict[str, RecordedRun] = field(default_factory=dict[str, RecordedRun])

    def perform(self, trial: Trial) -> ProbeRun:
        """Run the probe of a trial, and keep what it does."""
        record = RecordedRun()
        try:
            run = TrialRecorder.perform(self, trial)
            record.run = replace(run, history=History())
        except Exception as error:
            record.error = _portable(error)
            raise
        finally:
            record.entries = self.events.entries_of(trial.id)
            self.runs[trial.id] = record
        return run

    def send(self, report: pytest.TestReport) -> None:
        """Add the trials that have run since the last time to a report."""
        if self.runs:
            vars(report)[ATTRIBUTE] = pickle.dumps(self.runs)
            self.runs.clear()


def _portable(error: Exception) -> Exception:
    """Return an error that can be sent to another process, with the same message."""
    try:
        copy = pickle.loads(pickle.dumps(error))  # noqa: S301 -- our own
    except Exception:  # noqa: BLE001 -- any error can come from a kind of another package
        copy = None
    same = type(copy) is type(error) and str(copy) == str(error)
    return error if same else RuntimeError(f"{type(error).__name__}: {error}")


@dataclass(slots=True, kw_only=True)
class RelayedRecorder(TrialRecorder):
    """Takes up the trials of all workers in the controller."""

    runs: dict[str, RecordedRun] = field(default_factory=dict[str, RecordedRun])

    def receive(self, report: pytest.TestReport) -> None:
        """Take in the trials that a report carries."""
        packed = vars(report).pop(ATTRIBUTE, None)
        if packed is not None:
            self.runs |= pickle.loads(packed)  # noqa: S301 -- from our own worker

    def perform(self, trial: Trial) -> ProbeRun:
        """Write what a trial did in a worker, or run it if none did."""
        recorded = self.runs.pop(trial.id, None)
        if recorded is None:
            return TrialRecorder.perform(self, trial)
        return self.write(trial.id, recorded)

    def stop(self) -> None:
        """Write what workers did that was not taken up: it was sent, and belongs to the record."""
        TrialRecorder.stop(self)
        runs, self.runs = self.runs, {}
        for name, recorded in runs.items():
            with suppress(Exception):
                self.write(name, recorded)


def sending(session: Session, journal: TrialJournal) -> SendingRecorder:
    """Let the session of a worker keep its trials for the controller."""
    recorder = SendingRecorder(**_fields(session.recorder), events=journal)
    session.recorder = recorder
    return recorder


def relayed(session: Session) -> RelayedRecorder:
    """Let the session of the controller take up the trials of the workers."""
    recorder = RelayedRecorder(**_fields(session.recorder))
    session.recorder = recorder
    return recorder


def _fields(recorder: TrialRecorder) -> dict[str, Any]:
    names = ("plan", "environment", "journal", "on_event", "concurrency")
    return {name: getattr(recorder, name) for name in names}


@dataclass(slots=True, kw_only=True)
class Relay:
    """The items of a run in order, judged as far as their reports have come in.

    `judge` judges one obligation in the session of the controller.
    """

    names: Sequence[str]
    recorder: RelayedRecorder
    judge: Callable[[str], object]
    reported: set[str] = field(default_factory=set[str])
    turn: int = 0

    def take(self, report: pytest.TestReport, obligation: str) -> None:
        """Take in the report of an item that has ended, and judge those whose turn has come."""
        self.recorder.receive(report)
        self.reported.add(obligation)
        while self.turn < len(self.names) and self.names[self.turn] in self.reported:
            self.turn += 1
            self.judge(self.names[self.turn - 1])

    def finish(self) -> None:
        """Judge the items after one that was never reported."""
        for name in self.names[self.turn :]:
            if name in self.reported:
                self.judge(name)
        self.turn = len(self.names)


# -- the journal that keeps what trials did --------------------------------------------
@dataclass(slots=True, kw_only=True)
class TrialJournal(Journal):
    """A journal that also keeps the events of trials, and the secrets that they learned in between."""

    entries: dict[str, list[Entry]] = field(default_factory=dict[str, "list[Entry]"])
    _learned: int = 0

    def event(self, trial: str, event: Event, access: Access) -> None:
        """Write an event of a trial, and keep it."""
        entries = self.entries.setdefault(trial, [])
        secrets = self.redactor.secrets
        entries += secrets.after(self._learned)
        self._learned = secrets.count
        entries.append((event, access))
        Journal.event(self, trial, event, access)

    def entries_of(self, trial: str) -> list[Entry]:
        """Return what a trial did and learned, in order."""
        return [*self.entries.get(trial, ())]

    def events_of(self, trial: str) -> list[tuple[Event, Access]]:
        """Return the events of a trial, each with the credentials with which it is recorded."""
        return [entry for entry in self.entries_of(trial) if isinstance(entry, tuple)]

    def keep_only(self, trials: Collection[str]) -> None:
        """Forget all other trials."""
        for trial in self.entries.keys() - {*trials}:
            del self.entries[trial]


def trials_of_violations(session: Session) -> frozenset[str]:
    """Return the trials that show the violations found so far."""
    violated = session.violated()
    if not violated:
        return frozenset()
    planned = {item.obligation.id: item.obligation.trial for item in session.plan.items}
    return frozenset(session.sources.get(name) or planned.get(name, "") for name in violated)
