"""Runs while a bank is corrected: violations printed at once, `-x`, `--lf` and `--watch`."""

import io
import os
import re
import socket
from contextlib import chdir
from functools import partial
from types import SimpleNamespace
from unittest.mock import patch

import pytest
from command_line import assay
from rich.console import Console
from shipped import VARIANTS, bank_of

from assay.cli import rerun
from assay.cli.progress import Progress
from assay.cli.rerun import Watch, watch
from assay.errors import InputError
from assay.report import read_journal
from assay.rules.verdict import Standing, Verdict
from assay.running.environment import set_up
from assay.sandbox.policies import SOUND

QUOTA, IBAN = "aisp/batch-quota/accounts-next-day", "aisp/iban/check-digits"
RUN = ("run", "-c", "aisp", "-k", "batch-quota or iban", "--contexts", "base", "--no-doctor")


def run(folder, *options, faults=("quota.accounts-utc-day", "iban.wrong-check-digits")):
    """Run on the sandbox with these faults; return the exit code, output and errors."""
    policies = SOUND
    for fault in faults:
        policies = VARIANTS[fault].change(policies)
    with patch("assay.cli.run.set_up", partial(set_up, bank=bank_of(policies))):
        return assay(*RUN, *options, cwd=folder)


def violated(journal):
    """Return the obligations that a journal has as violated, in the plan's order."""
    return [each.planned.id for each in read_journal(journal).of(Standing.VIOLATES)]


@pytest.fixture(scope="module")
def whole(tmp_path_factory):
    """Return a folder with a run that found two violations; what it printed, and meanwhile."""
    folder = tmp_path_factory.mktemp("whole")
    code, out, err = run(folder, "--out", "reports/local/whole")
    assert code == 1
    return folder, out, err


# -- violations at once ------------------------------------------------------------
def test_each_violation_is_printed_once_while_the_run_goes_on(whole):
    """A line each, in the order in which they are found, with what was expected and seen."""
    folder, out, err = whole
    names = violated(folder / "reports/local/whole/journal.jsonl")
    lines = [line for line in err.splitlines() if line.startswith("✗ ")]
    assert len(names) > 1
    assert sorted(names) == sorted(line.split()[1] for line in lines)
    assert all(re.search("expected .+; ", line) for line in lines)
    for name in names:  # and the card at the end says how it is explained
        assert f"\n    explain    assay explain {name} reports/local/whole\n" in out


def test_a_violation_is_printed_before_the_next_trial(tmp_path):
    """It does not wait for the end: the first one is there when one trial has ended."""
    journal = tmp_path / "out" / "journal.jsonl"
    seen = []

    def printed(text, **_):
        if text.startswith("✗ "):
            seen.append(journal.read_bytes().count(b'"type": "ended"'))

    with patch("assay.cli.progress.click.echo", printed):
        run(tmp_path, "--out", "out")
    assert seen[0] == 1


def test_quiet_prints_no_violation(tmp_path):
    """Only the closing line is printed."""
    assert "✗" not in run(tmp_path, "--quiet")[2]


def test_a_violation_that_is_taken_back_is_told_so(capsys):
    """What was printed as violated is not left standing; what the target wrote gives no commands."""
    progress = Progress(SimpleNamespace(plan=None))
    taken_back = Verdict(obligation="a/b/c", standing=Standing.INDETERMINATE, reason="static")
    progress.on_violation(
        Verdict(obligation="a/b/c", standing=Standing.VIOLATES, reason="\x1b[2J\n::error::no")
    )
    progress.on_violation(taken_back)
    first, second = capsys.readouterr().err.splitlines()
    assert first.isprintable()
    assert first.startswith("✗ a/b/c  ")
    assert second == "? a/b/c  taken back, indeterminate: static"


def test_on_a_terminal_it_stands_above_the_bar(monkeypatch):
    """The bar is drawn again below it, and markup in a text is shown as it is."""
    printed = io.StringIO()
    progress = Progress(SimpleNamespace(plan=None))
    progress._bar = SimpleNamespace(console=Console(file=printed, width=80))
    progress.on_violation(
        Verdict(obligation="a/b/c", standing=Standing.VIOLATES, reason="[red]no[/]")
    )
    assert printed.getvalue() == "✗ a/b/c  [red]no[/]\n"


# -- -x, --maxfail -----------------------------------------------------------------
@pytest.mark.parametrize("option", ["-x", "--maxfail=1"])
def test_a_run_ends_at_the_first_violation(whole, tmp_path, option):
    """What was not run says why; the exit code is that of a violation; --resume finds the rest."""
    all_of_them = violated(whole[0] / "reports/local/whole/journal.jsonl")
    code, out, err = run(tmp_path, option, "--out", "out")
    journal = tmp_path / "out" / "journal.jsonl"
    assert code == 1
    assert len(violated(journal)) < len(all_of_them)
    assert "the run was stopped because 1 obligation was violated (--maxfail)" in out
    assert "1 obligation is violated" in out
    told = [line.split()[1] for line in err.splitlines() if line.startswith("✗")]
    for _ in range(len(all_of_them)):
        with patch("assay.cli.run.set_up", partial(set_up, bank=_bank())):
            code, out, err = assay("run", "--resume", "out", "--no-doctor", option, cwd=tmp_path)
        assert code == 1
        told += [line.split()[1] for line in err.splitlines() if line.startswith("✗")]
        if violated(journal) == all_of_them and "was stopped" not in out:
            break
    assert sorted(told) == sorted(all_of_them)  # each in the run that found it, and once


def _bank():
    policies = VARIANTS["iban.wrong-check-digits"].change(
        VARIANTS["quota.accounts-utc-day"].change(SOUND)
    )
    return bank_of(policies)


def test_more_violations_than_are_there_end_nothing(whole, tmp_path):
    """The whole run is made."""
    all_of_them = violated(whole[0] / "reports/local/whole/journal.jsonl")
    _, out, _ = run(tmp_path, f"--maxfail={len(all_of_them) + 1}", "--out", "out")
    assert violated(tmp_path / "out" / "journal.jsonl") == all_of_them
    assert "was stopped" not in out


# -- --lf --------------------------------------------------------------------------
def test_only_what_failed_is_run_again(whole, tmp_path):
    """As by `-k` with the ids, of which one may begin another; a further -k selects among it."""
    folder, *_ = whole
    earlier = folder / "reports/local/whole"
    names = violated(earlier / "journal.jsonl")
    code, _, err = run(tmp_path, "--lf", str(earlier), "--out", "again")
    planned = [each.planned.id for each in read_journal(tmp_path / "again/journal.jsonl").results]
    assert code == 1
    assert f"testing {len(names)} obligations that failed in {earlier}" in err
    assert {name for name in planned if not name.startswith(tuple(names))} == set()
    assert {*names} <= {*planned}
    _, out, _ = assay(*RUN, "-k", "iban", "--lf", earlier / "journal.jsonl", cwd=tmp_path)
    assert QUOTA not in out
    assert f"{sum('iban' in name for name in planned)} planned" in out


def test_the_newest_run_is_found(tmp_path, monkeypatch):
    """Without a name it is the one that was written last."""
    for name, time in (("b", 1), ("a", 2), ("c", 0)):
        journal = tmp_path / "reports/local" / name / "journal.jsonl"
        journal.parent.mkdir(parents=True)
        journal.touch()
        os.utime(journal, (time, time))
    monkeypatch.chdir(tmp_path)
    assert rerun._newest().name == "a"


def test_where_nothing_failed_everything_is_run(tmp_path):
    """The same command can be repeated until the bank is sound, and then sees everything again."""
    few = ("run", "-k", "psu-identity", "--no-doctor", "--quiet")
    assert assay(*few, cwd=tmp_path)[0] == 0
    code, out, err = assay(*few[:-1], "--lf", cwd=tmp_path)
    assert code == 0
    assert "testing all: nothing failed in reports/local/" in err
    assert "psu-identity" not in err
    assert re.search("[1-9] planned", out)


def test_without_an_earlier_run_it_says_so(tmp_path):
    """There is no guess."""
    code, _, err = assay("run", "--lf", cwd=tmp_path)
    assert code == 2
    assert err == (
        "assay: --lf: there is no earlier run in reports/local (name its folder: `--lf DIR`)\n"
    )
    code, _, err = assay("run", "--lf", "nowhere", cwd=tmp_path)
    assert code == 2
    assert err.startswith("assay: nowhere")


def test_what_another_trial_showed_is_found_again():
    """The obligation whose trial showed a violation is run, too: alone the other shows nothing."""
    planned = [SimpleNamespace(id=f"c/k/{name}", trial=f"c/k/{name}") for name in "abc"]
    results = [
        SimpleNamespace(planned=each, standing=Standing.CONFORMS, trial="") for each in planned
    ]
    results[0] = SimpleNamespace(
        planned=planned[0], standing=Standing.VIOLATES, trial="c/k/c [after=day]"
    )
    earlier = SimpleNamespace(results=results)
    assert rerun.failed_in(earlier) == ("c/k/a", "c/k/c")


# -- --watch -----------------------------------------------------------------------
def options(**given):
    """Return options of a run that `Watch` reads."""
    return SimpleNamespace(**{"contracts": (), "target": None, "waivers": None, **given})


def test_a_changed_file_and_a_bank_that_is_back(tmp_path, unused_tcp_port_of):
    """Files beside those that were named count, others do not; so does a port that opens again."""
    target = tmp_path / "bank.yaml"
    port = unused_tcp_port_of()
    target.write_text(
        f"assay: 1\ntarget: bank\nextends: sandbox\ntransport: http\nbase_url: http://127.0.0.1:{port}\n"
    )
    watched = Watch.of(options(target=str(target)))
    assert str(watched) == f"{tmp_path}/*.yaml, {tmp_path}/*.py, 127.0.0.1:{port}"
    steps = [
        lambda: (tmp_path / "adapter.py").write_text("x = 1\n"),
        lambda: (tmp_path / "notes.txt").write_text("no matter"),
    ]
    assert watched.wait(watched.files(), lambda: steps.pop()())  # noqa: PLW0108 -- the next step at each call.endswith("adapter.py changed")
    assert not steps
    with socket.socket() as server:
        server.bind(("127.0.0.1", port))
        steps = [server.listen, lambda: None]
        back = watched.wait(watched.files(), lambda: steps.pop()())  # noqa: PLW0108 -- the next step at each call
    assert back == "the bank can be reached again"


def test_runs_follow_each_other(tmp_path, capfd):
    """Each is a process of its own, with the options of the first; the last exit code counts."""
    contract = tmp_path / "bank.yaml"
    contract.write_text("assay: 1\ntarget: bank\nextends: sandbox\n")
    given = options(target=str(contract), out=None, resume=None)
    arguments = ["run", "-t", str(contract), "-k", "psu-identity", "--quiet", "--watch"]

    def spoil():
        contract.write_text("assay: 1\ntarget: bank\nextends: sandbox\nnothing: 1\n")

    with chdir(tmp_path):
        code = watch(given, arguments, runs=range(2), pause=spoil)
    captured = capfd.readouterr()
    assert code == 2  # of the second run
    assert captured.out.count("planned") == 1
    assert "bank.yaml changed: testing again" in captured.err


@pytest.mark.parametrize(
    ("given", "what"),
    [
        ({"out": "x", "resume": None}, "cannot be combined with --out"),
        ({"out": None, "resume": "x"}, "cannot be combined with --resume"),
        ({"out": None, "resume": None}, "there is nothing that could change"),
    ],
)
def test_what_cannot_be_watched(given, what):
    """Options that make one run of it, and a target that is in Assay itself."""
    with pytest.raises(InputError, match=what):
        watch(options(**given), [])


@pytest.fixture
def unused_tcp_port_of():
    """Return a function that finds a free port."""

    def find():
        with socket.socket() as one:
            one.bind(("127.0.0.1", 0))
            return one.getsockname()[1]

    return find
