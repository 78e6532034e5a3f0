"""Runs that end early, and reports that cannot be written: what there is, is named and shown."""

import json
import os
import signal
import sys
import threading

import pytest
from command_line import assay, files_up_to

from assay.cli import results
from assay.cli import run as run_command
from assay.cli.signals import terminable

SOME = "psu-identity or listing or trusted or consent.scope"
RUN = ("run", "-k", SOME, "--out", "out")


def test_reports_that_cannot_be_written(tmp_path):
    """The summary is printed, the journal is whole and can be rendered, and the exit code is 2."""
    (tmp_path / "out" / "report.html").mkdir(parents=True)
    code, out, err = assay(*RUN, cwd=tmp_path)
    assert 2 == code
    assert "The gateway meets all" in out
    assert "report: " not in out
    assert "assay: out/report.html: cannot be written: Is a directory" in err.splitlines()
    assert "assay: `assay report out/journal.jsonl` renders the journal" in err.splitlines()
    assert (tmp_path / "out" / "junit.xml").is_file()
    assert 0 == assay("report", "out/journal.jsonl", cwd=tmp_path)[0]


def test_a_disk_that_is_full_when_the_reports_are_made(tmp_path, monkeypatch):
    """Every report is missing; the verdicts are not."""
    written = results.write_reports

    def full(read, folder):
        with files_up_to(100):
            return written(read, folder)

    monkeypatch.setattr(results, "write_reports", full)
    code, out, err = assay(*RUN, "--quiet", cwd=tmp_path)
    assert 2 == code
    assert out.startswith("28 planned: 28 conform")
    assert 4 == err.count("cannot be written: File too large")
    assert {"journal.jsonl"} == {path.name for path in (tmp_path / "out").iterdir()}


def test_the_same_when_a_journal_is_judged(tmp_path, monkeypatch):
    """The reports of judged traffic are no different."""
    assay(*RUN, cwd=tmp_path)
    (tmp_path / "judged" / "report.md").mkdir(parents=True)
    options = ("-k", SOME, "--out", "judged")
    code, out, _ = assay("judge", "out/journal.jsonl", "--json", *options, cwd=tmp_path)
    assert (2, 28) == (code, json.loads(out)["counts"]["conforms"])


def test_a_disk_that_is_full_during_the_run(tmp_path):
    """What was settled until then is shown, and the journal is named."""
    with files_up_to(80_000):
        code, out, err = assay(*RUN, "--quiet", cwd=tmp_path)
    assert 2 == code
    assert "INCOMPLETE" in out
    assert "0 violate" in out
    assert err.splitlines() == [
        "assay: cannot write the journal: File too large; what was recorded is in out/journal.jsonl"
    ]
    assert 80_000 == (tmp_path / "out" / "journal.jsonl").stat().st_size


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT])
def test_a_signal_names_the_folder(tmp_path, monkeypatch, number):
    """An interrupted run says where its journal is; it has the verdicts until then."""
    count = iter(range(100))

    def interrupt(self, *given):
        if next(count) == 6:
            os.kill(os.getpid(), number)
        return real(self, *given)

    real = run_command.Session.run_trial
    monkeypatch.setattr(run_command.Session, "run_trial", interrupt)
    code, out, err = assay(*RUN, cwd=tmp_path)
    assert (130, "") == (code, out)
    assert "assay: the run ended early; its journal is out/journal.jsonl" in err.splitlines()
    lines = [*map(json.loads, (tmp_path / "out" / "journal.jsonl").read_text().splitlines())]
    assert "interrupted" == lines[-1]["aborted"]
    assert sum(line["type"] == "verdict" for line in lines) >= 10
    code, out, _ = assay("report", "out/journal.jsonl", "--partial", cwd=tmp_path)
    assert 0 == code
    assert "the run ended before this obligation was tested" in out


def test_a_signal_that_gets_lost(tmp_path, monkeypatch):
    """A run ends at the next trial if the signal came where Python ignores exceptions."""
    number = iter(range(100))

    class Finalized:
        def __del__(self):
            os.kill(os.getpid(), signal.SIGTERM)

    def lose(self, *given):
        if next(number) == 6:
            Finalized()
        return real(self, *given)

    real = run_command.Session.run_trial
    monkeypatch.setattr(run_command.Session, "run_trial", lose)
    monkeypatch.setattr(sys, "unraisablehook", lambda _: None)
    code, _, err = assay(*RUN, cwd=tmp_path)
    assert 130 == code
    assert 7 == next(number)
    assert "assay: the run ended early; its journal is out/journal.jsonl" in err.splitlines()


def test_the_signal_handler_is_restored():
    """After a run, SIGTERM does what it did before; in another thread nothing is changed."""
    before = signal.getsignal(signal.SIGTERM)
    handlers = []

    def note():
        with terminable():
            handlers.append(signal.getsignal(signal.SIGTERM))

    thread = threading.Thread(target=note)
    thread.start()
    thread.join()
    note()
    assert before is handlers[0] is signal.getsignal(signal.SIGTERM)
    assert before is not handlers[1]


def test_a_journal_that_ends_early_is_judged(tmp_path):
    """The summary says that it did; the exit code is 3, also with --allow-incomplete."""
    assay(*RUN, cwd=tmp_path)
    path = tmp_path / "out" / "journal.jsonl"
    path.write_bytes(path.read_bytes()[:-20_000])
    options = ("-k", SOME, "--allow-incomplete")
    code, out, _ = assay("judge", "out/journal.jsonl", *options, "--out", "judged", cwd=tmp_path)
    assert 3 == code
    assert "the recorded run ended early; obligations that it did not reach are unverified" in out
    assert "✗      0  violate" in out
