"""Progress without a terminal: a line every half minute."""

import io
import sys
from dataclasses import dataclass
from types import SimpleNamespace

import pytest

from assay.cli.progress import (
    BASE,
    CONTEXTS,
    Expectation,
    Heartbeat,
    Progress,
    duration,
    elapsed_text,
    time_left,
)
from assay.cli.run import expected
from assay.contexts.context import Depth
from assay.journal.writer import Journal
from assay.preparation.prepare import prepare
from assay.running.environment import set_up
from assay.running.session import Session


@dataclass
class Clock:
    """A clock that is set."""

    now: float = 100.0

    def __call__(self):
        return self.now


@dataclass
class Beats:
    """Ends the waits for a heartbeat: so many at once, and then for good."""

    left: int

    def wait(self, _):
        self.left -= 1
        return self.left < 0

    def set(self):
        """Do nothing."""


def session_of(trials, waiting=None):
    plan = SimpleNamespace(all_trials=[0] * trials)
    return SimpleNamespace(plan=plan, environment=SimpleNamespace(waiting=waiting))


@pytest.mark.parametrize(
    ("seconds", "text"), [(0, "0:00"), (7.4, "0:07"), (61, "1:01"), (3_599.6, "1:00:00")]
)
def test_durations(seconds, text):
    """Minutes and seconds, and hours where there are any."""
    assert text == duration(seconds)


@pytest.mark.parametrize(
    ("done", "planned", "left"), [(0, 10, None), (5, 10, 8.0), (10, 10, None), (11, 10, None)]
)
def test_time_left_needs_a_pace(done, planned, left):
    """It is known between the first call and the last one that was planned."""
    assert left == time_left(8.0, done, planned)
    assert ("left" in elapsed_text(8.0, done, planned)) == (left is not None)


def test_the_lines_of_a_run(capsys):
    """Trials, calls, the time that has passed and the time left; the dry run comes late."""
    clock = Clock()
    beat = Heartbeat(
        session=session_of(40), expect=lambda: {BASE: 100}, clock=clock, _ended=Beats(0)
    )
    with beat:
        beat._thread.join(5)
        assert "" == capsys.readouterr().err
        beat.on_trial()
        beat.on_call()
        assert "run: 0 of 40 trials, 1 calls, elapsed 0:00" == beat.line()
        clock.now += 20
        beat.on_trial()
        for _ in range(19):
            beat.on_call()
        assert "run: 1 of 40 trials, 20 of about 100 calls, elapsed 0:20, about 1:20 left" == (
            beat.line()
        )
        beat.expected.calls = 130
        assert "run: 1 of 40 trials, 130 calls, elapsed 0:20" == beat.line()
        beat.trials = 42
        assert "run: 41 trials, 130 calls, elapsed 0:20" == beat.line()


def test_what_is_expected_is_corrected_part_by_part():
    """What a part made fewer or more is known when the next begins; the total is never passed."""
    expected = Expectation({BASE: 100, CONTEXTS: 50, "aisp: journeys": 30})
    totals = []
    for part, calls in ((BASE, 80), (CONTEXTS, 60), ("aisp: journeys", 10)):
        expected.begin(part)
        expected.calls += calls
        totals.append(expected.total)
    assert totals == [180, 170, 170]
    assert Expectation(calls=7).total == 0


def test_searches_are_expected():
    """The parts of a run are its trials, further contexts and each search, in the order of the run."""
    prepared = prepare(contexts=Depth.EACH, keywords="listing or duplicate")
    parts = expected(prepared, {"lives": 2, "journeys": 10, "fields": 0, "schema": 1})
    searches = [
        f"{each}: {how}" for each in ("aisp", "pis") for how in ("lives", "journeys", "schema")
    ]
    assert [*parts] == [BASE, CONTEXTS, *searches]
    assert all(parts.values())
    assert parts[BASE] == sum(trial.calls for trial in prepared.plan.trials)


def test_a_wait_is_no_pace():
    """A run that waits does not say how long it takes."""
    clock = Clock()
    beat = Heartbeat(
        session=session_of(2, waiting=object()), expect=lambda: {BASE: 100}, clock=clock, began=0.0
    )
    beat.on_call()
    assert "left" not in beat.line()
    assert "1 of about 100 calls" in beat.line()


def test_a_line_comes_with_every_beat(capsys):
    """Whatever the run does meanwhile."""
    session = session_of(2)
    with Heartbeat(session=session, expect=dict, clock=Clock(), _ended=Beats(2)) as beat:
        beat._thread.join(5)
    lines = capsys.readouterr().err.splitlines()
    assert ["run: 0 of 2 trials, 0 calls, elapsed 0:00"] * 2 == lines


def test_a_session_is_counted():
    """Trials and calls of a real session reach the line; quiet is quiet."""
    prepared = prepare(["aisp"], marks="pagination")
    environment = set_up(prepared.target)
    session = Session(plan=prepared.plan, environment=environment, journal=Journal(out=None))
    with Progress(session) as progress:
        session.open()
        for trial in prepared.plan.trials:
            progress.on_trial(trial)
            session.run_trial(trial)
        assert progress._expected.calls == session.exchanges > 0
        assert progress._heartbeat.trials == len(prepared.plan.trials)
    with Progress(session, quiet=True) as progress:
        assert progress._heartbeat is None
    environment.close()


def test_the_bar_has_labels(monkeypatch):
    """On a terminal the bar says what its times are."""
    screen = io.StringIO()
    monkeypatch.setattr(screen, "isatty", lambda: True)
    monkeypatch.setattr(sys, "stderr", screen)
    monkeypatch.setenv("TERM", "xterm")
    monkeypatch.setenv("COLUMNS", "160")
    session = SimpleNamespace(plan=None, environment=SimpleNamespace(), on_exchange=None)
    with Progress(session, lambda: {BASE: 10}) as progress:
        task = progress._bar.tasks[0]
        task.start_time = task.get_time() - 10
        for _ in range(5):
            session.on_exchange()
        assert "5/10 calls elapsed 0:10, about 0:10 left" in " ".join(
            str(progress._bar.columns[n].render(task)) for n in (2, 3, 4)
        )
