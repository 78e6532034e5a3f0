"""The command `assay fleet`: its output, its exit code, and what it refuses."""

import json
import os
import signal
import subprocess
from functools import partial

import pytest
from command_line import COMMAND, assay
from kills import Bank

from assay.extras.fleet import cluster
from assay.sandbox.app import make_app
from assay.sandbox.serve import serving

LOST = "listing.last-item-lost-with-consent"
FEW = ("-k", "listing", "--no-doctor")


@pytest.fixture
def in_process(monkeypatch):
    """Let the workers be threads, which start faster than processes."""
    monkeypatch.setattr(cluster, "open_cluster", partial(cluster.open_cluster, processes=False))


def test_a_fleet_is_run_and_reported(in_process, write, served, tmp_path):
    """The summary ends with the most important lines; the second run says what changed."""
    path = write({"sound": {}, "lost": served(LOST)})
    code, out, err = assay("fleet", path, *FEW, "--out", "one", cwd=tmp_path)
    assert 1 == code
    assert ["fleet: lost: 1 violation", "fleet: sound: 0 violations"] == sorted(
        line.partition(" in ")[0] for line in err.splitlines()
    )
    assert "Violated by one bank only (1)" in out
    *_, headline, _ = out.splitlines()
    assert "1 of 2 banks violates 1 obligation." == headline
    options = ("--since", "one", "--fail-on", "majority", "--out", "two")
    code, out, _ = assay("fleet", path, *FEW, *options, cwd=tmp_path)
    assert 0 == code
    assert "nothing changed" in out
    code, out, err = assay("fleet", path, *FEW, "--bank", "sound", "-q", "--out", "q", cwd=tmp_path)
    assert (0, "") == (code, err)
    assert "The bank meets every obligation that was tested.\n" == out.partition("report:")[0]


def test_the_reproducing_command_works(in_process, write, served, tmp_path):
    """A verdict's command names the bank's target, and shows the verdict again."""
    path = write({"lost": served(LOST)})
    assay("fleet", path, *FEW, "--out", "out", cwd=tmp_path)
    (report,) = (tmp_path / "out").rglob("report.json")
    values = json.loads(report.read_text("utf-8"))
    (command,) = (
        each["reproduce"] for each in values["obligations"] if each["verdict"] == "violates"
    )
    words = command.replace("'", "").split()
    assert "assay" == words[0]
    code, out, _ = assay(*words[1:], "--no-doctor", "--out", "again", cwd=tmp_path)
    assert 1 == code
    assert "The gateway violates" in out


def test_a_dry_run_lists_the_tasks(write, tmp_path):
    """Nothing is sent, and nothing is written."""
    path = write({"a": {}, "b": {"shards": 2}}, contracts=["aisp", "pis"])
    code, out, _ = assay("fleet", path, "--dry-run", "-k", "listing", cwd=tmp_path)
    assert 0 == code
    assert ["a/aisp/1-of-1", "b/aisp/1-of-2", "b/aisp/2-of-2"] == out.split()
    assert not (tmp_path / "reports").exists()


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (("--bank", "c"), "no such bank 'c'"),
        (("--fail-on", "some"), "--fail-on: expected any, majority, none or a number"),
        (("--since", "nowhere"), "nowhere: cannot be read"),
        (("-k", "no-such-thing"), "nothing is selected at any bank"),
    ],
)
def test_a_wrong_option_is_refused(write, tmp_path, options, message):
    """It is one line, and nothing has begun."""
    code, _, err = assay("fleet", write({"a": {}, "b": {}}), *options, cwd=tmp_path)
    assert 2 == code
    assert message in err
    assert 1 == len(err.splitlines())


def test_a_run_is_never_overwritten(in_process, write, tmp_path):
    """A folder with a fleet run is refused."""
    path = write({"a": {}})
    assert 0 == assay("fleet", path, *FEW, "--out", "out", cwd=tmp_path)[0]
    code, _, err = assay("fleet", path, *FEW, "--out", "out", cwd=tmp_path)
    assert 2 == code
    assert "this folder already contains a fleet run (choose another --out" in err


def test_without_dask_the_extra_is_named(write, tmp_path, monkeypatch):
    """The message says what to install."""
    monkeypatch.setattr("assay.cli.fleet.find_spec", lambda _name: None)
    code, _, err = assay("fleet", write({"a": {}}), "--out", "out", cwd=tmp_path)
    assert 2 == code
    assert "Dask is not installed (pip install 'assay[fleet]')" in err


def test_a_scheduler_that_is_not_there_is_refused(write, tmp_path, monkeypatch):
    """The address is named, with what to check."""
    monkeypatch.setattr(cluster, "PATIENCE", 0.3)
    options = ("--scheduler", "tcp://127.0.0.1:1", "--out", "out")
    code, _, err = assay("fleet", write({"a": {}}), *options, cwd=tmp_path)
    assert 2 == code
    assert "--scheduler: cannot use the scheduler tcp://127.0.0.1:1" in err


@pytest.mark.slow
def test_ctrl_c_ends_a_fleet_cleanly(write, tmp_path):
    """A whole command with worker processes: 130, a report, closed journals, no process left."""
    bank = Bank(make_app(), alarm_at=40)
    with serving(bank) as url:
        overrides = {"transport": "http", "base_url": url, "fixtures": {"url": url}}
        path = write({f"bank-{number}": {"overrides": overrides} for number in range(6)})
        process = subprocess.Popen(
            [*COMMAND, "fleet", str(path), "--no-doctor", "--out", str(tmp_path / "out")],
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
            start_new_session=True,
        )
        assert bank.alarm.wait(60)
        os.killpg(process.pid, signal.SIGINT)
        # Every process of the group has these pipes, so this waits for all of them.
        out, err = process.communicate(timeout=60)
    assert 130 == process.returncode, err
    assert "Traceback" not in out + err
    assert "The fleet run was interrupted: this report is incomplete." in out
    journals = [*(tmp_path / "out").rglob("journal.jsonl")]
    assert journals
    for journal in journals:
        last = json.loads(journal.read_text("utf-8").splitlines()[-1])
        assert "footer" == last["type"]
