"""Tasks of a fleet: whatever happens is their result, and no attempt touches another one."""

import json
import pickle
from dataclasses import replace

import pytest

from assay.errors import Exit
from assay.extras.fleet.task import STOP, FleetOptions, divide_fleet, run_task
from assay.preparation.banks import read_banks
from assay.report import read_journal
from assay.report.fleet import CellState
from assay.rules.verdict import Standing

SOME = "listing or psu-identity"


def tasks(path, folder, **options):
    """Return the tasks of the banks of a file."""
    settings = {"keywords": SOME, "doctor": False, **options}
    banks = divide_fleet(read_banks(path), FleetOptions(folder=folder, **settings))
    return [task for bank in banks for task in bank.tasks]


def test_a_task_runs_one_contract_at_one_bank(write, tmp_path):
    """Its result has the verdicts, and its folder the journal and the reports."""
    progress = []
    (task,) = tasks(write({"first": {}}), tmp_path / "out")
    cell = run_task(task, progress.append)
    assert (CellState.TESTED, Exit.OK, "") == (cell.state, cell.exit, cell.reason)
    assert {Standing.CONFORMS} == {verdict.standing for verdict in cell.verdicts}
    journal = tmp_path / "out" / cell.journal
    assert "banks/first/aisp/attempt-1/journal.jsonl" == cell.journal
    assert cell.exchanges == read_journal(journal).footer.exchanges > 0
    names = {path.name for path in journal.parent.iterdir()}
    assert {"journal.jsonl", "report.html", "report.json", "junit.xml"} == names
    assert progress[0].planned > 0
    lines = map(json.loads, journal.read_text("utf-8").splitlines())
    commands = [line["reproduce"] for line in lines if line["type"] == "verdict"]
    assert all(f"--target {task.target}" in each.replace("'", "") for each in commands)


def test_each_attempt_has_a_folder_of_its_own(write, tmp_path):
    """The same task again writes elsewhere; nothing is overwritten."""
    (task,) = tasks(write({"first": {}}), tmp_path / "out")
    first = (tmp_path / "out" / run_task(task).journal).read_bytes()
    second = run_task(task)
    assert "attempt-2" in second.journal
    assert first == (tmp_path / "out/banks/first/aisp/attempt-1/journal.jsonl").read_bytes()


def test_the_budget_is_shared_by_tasks_and_attempts(write, tmp_path):
    """Contracts and shards share the calls of a bank; what an attempt used is gone."""
    path = write(
        {"first": {}}, "assay: 1\ntarget: g\nextends: sandbox\nbudget: {calls: 100}\n", shards=3
    )
    parts = tasks(path, tmp_path / "out")
    assert [33, 33, 34] == [task.calls for task in parts]
    path = write({"first": {}}, "assay: 1\ntarget: g\nextends: sandbox\nbudget: {calls: 10}\n")
    (task,) = tasks(path, tmp_path / "out", keywords="listing")
    first, second = run_task(task), run_task(task)
    assert first.exchanges + second.exchanges <= 10
    report = read_journal(tmp_path / "out" / second.journal)
    assert any("budget.calls" in result.reason for result in report.of(Standing.UNVERIFIED))


def test_an_earlier_verdict_stays_where_no_call_is_left(write, tmp_path):
    """What an attempt showed is not lost because another one could not test it again."""
    path = write({"first": {}}, "assay: 1\ntarget: g\nextends: sandbox\nbudget: {calls: 10}\n")
    (task,) = tasks(path, tmp_path / "out", keywords="listing")
    first, second = run_task(task), run_task(task)
    shown = {each.planned.id: each.standing for each in first.verdicts}
    assert Standing.CONFORMS in shown.values()
    assert shown == {each.planned.id: each.standing for each in second.verdicts}
    assert "recorded by attempt-1, which ended early" in {each.reason for each in second.verdicts}


@pytest.mark.parametrize(
    ("change", "reason"),
    [
        ({"version": "0.0"}, "the fleet 0.0 (install the same version on both)"),
        ({"digest": "sha256:0"}, "the worker has another content of this target"),
        ({"target": "/no/banks.yaml#first"}, "/no/banks.yaml: there is no such file"),
        ({"contract": "oisp"}, "oisp"),
        ({"keywords": "nothing-has-this-name"}, "nothing is selected"),
    ],
)
def test_a_task_that_cannot_begin_has_failed(write, tmp_path, change, reason):
    """The reason is its result; nothing is raised in the cluster."""
    (task,) = tasks(write({"first": {}}), tmp_path / "out")
    cell = run_task(replace(task, **change))
    assert CellState.FAILED is cell.state
    assert reason in cell.reason
    assert not cell.verdicts


def test_an_unreachable_bank_and_a_missing_secret_are_its_result(write, tmp_path):
    """Neither ends the fleet."""
    away = {
        "transport": "http",
        "base_url": "http://127.0.0.1:1",
        "fixtures": {"url": "http://127.0.0.1:1"},
    }
    bare = {"auth": {"kind": "bearer", "token_env": "NO_SUCH_TOKEN"}}
    path = write({"away": {"overrides": away}, "bare": {"overrides": bare}})
    unreachable, unset = map(run_task, tasks(path, tmp_path / "out"))
    assert "127.0.0.1" in unreachable.reason
    assert "the environment variable NO_SUCH_TOKEN is not set" in unset.reason
    assert {CellState.FAILED} == {unreachable.state, unset.state}


def test_a_fault_of_the_harness_quotes_nothing(write, tmp_path, monkeypatch):
    """An unexpected error is named by its type and place, since its message may hold anything."""

    def fail(*_args, **_options):
        raise RuntimeError("s3cr3t")

    monkeypatch.setattr("assay.extras.fleet.task.set_up", fail)
    (task,) = tasks(write({"first": {}}), tmp_path / "out")
    cell = run_task(task)
    assert Exit.FAULT is cell.exit
    assert cell.reason.startswith("an error in Assay itself: RuntimeError at test_task.py:")


def test_a_task_that_is_asked_to_end_closes_its_journal(write, tmp_path):
    """It ends between two exchanges, or does not begin; what it recorded renders."""
    (task,) = tasks(write({"first": {}}), tmp_path / "out", keywords="")
    stop = tmp_path / "out" / STOP

    cell = run_task(task, lambda _: stop.touch())
    assert CellState.INTERRUPTED is cell.state
    report = read_journal(tmp_path / "out" / cell.journal, partial=True)
    assert "interrupted" == report.footer.aborted
    again = run_task(task)
    assert (CellState.INTERRUPTED, "") == (again.state, again.journal)


def test_no_secret_is_part_of_a_task_or_its_result(write, tmp_path, monkeypatch):
    """A task has the name of the variable at most; the value stays with the worker."""
    secret = "s3cr3t-0123456789"
    monkeypatch.setenv("FIRST_TOKEN", secret)
    template = "assay: 1\ntarget: g\nextends: sandbox\nauth: {kind: bearer, token_env: TOKEN}\n"
    path = write({"first": {"secrets": {"TOKEN": "FIRST_TOKEN"}}}, template)
    (task,) = tasks(path, tmp_path / "out")
    cell = run_task(task)
    assert CellState.TESTED is cell.state
    for value in (task, cell):
        assert secret.encode() not in pickle.dumps(value)
    for written in (tmp_path / "out").rglob("*.*"):
        assert not written.is_file() or secret.encode() not in written.read_bytes()


def test_customers_that_exist_are_not_shared_by_tasks(write, tmp_path):
    """Tasks of a bank with real customers run in turn, and its contracts are not divided."""
    roles = {"psu": {"token_env": "T", "owns": [{"resource": "account", "key": "1"}]}}
    real = {"overrides": {"fixtures": {"kind": "roles", "offers": ["psu"], "roles": roles}}}
    file = read_banks(write({"real": real, "fresh": {}}, contracts=["aisp", "pis"]))
    banks = divide_fleet(file, FleetOptions(folder=tmp_path))
    assert {"real": True, "fresh": False} == {bank.bank: bank.in_turn for bank in banks}
    assert [2, 2] == [len(bank.tasks) for bank in banks]
    divided = read_banks(write({"real": {**real, "shards": 2}}))
    with pytest.raises(Exception, match=r"banks.real: its customers are real.*shards: 1"):
        divide_fleet(divided, FleetOptions(folder=tmp_path))
