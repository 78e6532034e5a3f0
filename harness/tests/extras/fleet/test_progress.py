"""Progress of a fleet: bars on a terminal, lines elsewhere, nothing if quiet."""

import io
from types import SimpleNamespace

import pytest

from assay.cli import fleet
from assay.cli.fleet import FleetProgress
from assay.extras.fleet import cluster
from assay.extras.fleet.task import BankTasks, FleetTask, TaskProgress
from assay.report.fleet import CellState, FleetCell


def task(bank, contract, folder):
    return FleetTask(
        bank=bank, target=f"b.yaml#{bank}", digest="", contract=contract, shard="1/1", folder=folder
    )


@pytest.fixture
def banks(tmp_path):
    return tuple(
        BankTasks(bank=bank, tasks=(task(bank, "aisp", tmp_path), task(bank, "pis", tmp_path)))
        for bank in ("a", "b")
    )


def ended(task_, state=CellState.TESTED, reason=""):
    return FleetCell(bank=task_.bank, contract="c", state=state, reason=reason, seconds=1.5)


def test_without_a_terminal_each_bank_has_a_line(banks, capsys, monkeypatch):
    """A bank's line follows its last task; the heartbeat says what is running."""
    monkeypatch.setattr(fleet, "HEARTBEAT", 0.0)
    with FleetProgress(banks) as progress:
        calls = progress.callbacks()
        first, second = banks[0].tasks
        calls.on_progress(TaskProgress(task=first.key, done=3, planned=1500))
        calls.on_beat()
        assert capsys.readouterr().err.endswith(
            "0 of 2 banks done; running: a/aisp/1-of-1 3/1,500\n"
        )
        calls.on_cell(first, ended(first))
        assert "" == capsys.readouterr().err
        calls.on_progress(TaskProgress(task=first.key, done=4, planned=1500))
        calls.on_cell(second, ended(second))
        assert "fleet: a: 0 violations in 3.0 s\n" == capsys.readouterr().err
        for each in banks[1].tasks:
            calls.on_cell(each, ended(each, CellState.FAILED, "it cannot be reached"))
        assert "fleet: b: it cannot be reached\n" == capsys.readouterr().err
        calls.on_beat()
        assert capsys.readouterr().err.endswith("2 of 2 banks done; running: -\n")


def test_quiet_is_quiet(banks, capsys):
    """Nothing is printed."""
    with FleetProgress(banks, quiet=True) as progress:
        for each in banks[0].tasks:
            progress.callbacks().on_cell(each, ended(each))
        progress.callbacks().on_end()
    assert ("", "") == capsys.readouterr()


def test_a_terminal_has_bars(banks, monkeypatch):
    """A running task has a bar, which goes when the task has ended."""
    terminal = io.StringIO()
    terminal.isatty = lambda: True
    monkeypatch.setattr("sys.stderr", terminal)
    monkeypatch.setenv("TERM", "xterm")
    with FleetProgress(banks) as progress:
        calls = progress.callbacks()
        (first, second) = banks[0].tasks
        calls.on_progress(TaskProgress(task=first.key, done=7, planned=9))
        calls.on_cell(first, ended(first))
        calls.on_progress(TaskProgress(task=first.key, done=8, planned=9))
        assert {} == progress._bar
        calls.on_cell(second, ended(second))
    assert "a: 0 violations in 3.0 s" in terminal.getvalue()
    assert "a/aisp/1-of-1" in terminal.getvalue() or "tasks" in terminal.getvalue()


@pytest.mark.parametrize(
    ("status", "error", "reason"),
    [
        ("error", type("KilledWorker", (Exception,), {})(), "its worker was lost 4 times"),
        ("error", ValueError("s3cr3t"), "the cluster could not perform it: ValueError"),
        ("cancelled", None, "the cluster lost the task"),
        ("lost", None, "the cluster lost the task"),
    ],
)
def test_what_the_cluster_cannot_perform_has_failed(tmp_path, status, error, reason):
    """The reason names what happened, without the text of an error."""
    future = SimpleNamespace(status=status, exception=lambda: error)
    cell = cluster._result(task("a", "aisp", tmp_path), future)
    assert (CellState.FAILED, reason) == (cell.state, cell.reason)
