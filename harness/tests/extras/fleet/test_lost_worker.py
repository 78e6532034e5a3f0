"""A worker process that is killed half-way: nothing is lost, and no quota is spent twice."""

import json
import os
import signal
from contextlib import ExitStack
from threading import Thread

import pytest
from kills import Bank, ledger_counts, target_file, with_customers

from assay.extras.fleet.cluster import open_cluster
from assay.extras.fleet.run import FleetCallbacks, FleetSettings, read_policy, run_fleet
from assay.extras.fleet.task import FleetOptions, divide_fleet
from assay.preparation.banks import read_banks
from assay.report import read_journal
from assay.report.fleet import CellState
from assay.rules.verdict import Standing
from assay.sandbox.app import make_app
from assay.sandbox.serve import serving

pytestmark = pytest.mark.slow

#: The daily quota of the contract for each customer and operation.
QUOTA = 4


def run(folder, banks, *, workers=1, kill_at=(), bank=None, **options):
    """Run a fleet on worker processes; kill the worker when the bank has got this number of requests."""
    file = read_banks(banks)
    tasks = divide_fleet(file, FleetOptions(folder=folder, doctor=False, **options))
    settings = FleetSettings(
        name=file.name, folder=folder, command="assay fleet", policy=read_policy("any")
    )
    folder.mkdir()
    with open_cluster(None, workers) as client:

        def kill():
            for number in kill_at:
                bank.alarm.clear()
                bank.alarm_at = number
                # A worker that is asked for its number only then may end its task before it answers.
                client.wait_for_workers(workers)
                pids = client.run(os.getpid).values()
                assert bank.alarm.wait(60)
                for pid in pids:
                    os.kill(pid, signal.SIGKILL)

        killer = Thread(target=kill, daemon=True)
        killer.start()
        report = run_fleet(client, tasks, settings, FleetCallbacks())
        killer.join(10)
        assert not killer.is_alive()
    return report


def standings(report, bank="first"):
    return {obligation.id: obligation.verdicts[bank].standing for obligation in report.obligations}


def fresh_bank(folder, url):
    """Write a file of one bank, whose customers are made for each trial."""
    (folder / "template.yaml").write_text(
        "assay: 1\ntarget: bank\nextends: sandbox\ntransport: http\nbase_url: ${url}\n"
        "fixtures: {kind: control, url: '${url}'}\n"
    )
    path = folder / "banks.yaml"
    entry = {"variables": {"url": url}, "contracts": ["aisp"]}
    path.write_text(
        json.dumps(
            {"assay": 1, "fleet": "f", "template": "template.yaml", "banks": {"first": entry}}
        )
    )
    return path


def test_on_fresh_customers_a_lost_task_is_simply_run_again(tmp_path):
    """All verdicts are those of a run without a loss; the half-done attempt keeps its journal."""
    bank = Bank(make_app())
    with serving(bank) as url:
        path = fresh_bank(tmp_path, url)
        options = {"keywords": "quota or listing or own-data", "contexts": "base"}
        whole = run(tmp_path / "whole", path, **options)
        at = bank.requests + bank.requests // 2
        report = run(tmp_path / "lost", path, bank=bank, kill_at=[at], **options)
    (row,) = report.banks
    assert CellState.TESTED is row.cells[0].state
    assert standings(whole) == standings(report)
    first = tmp_path / "lost" / "banks" / "first" / "aisp" / "attempt-1" / "journal.jsonl"
    assert not read_journal(first, partial=True).complete
    assert "attempt-2" in row.cells[0].journal


def real_bank(folder, stack):
    """Serve a bank with two customers that exist; return it and a file of banks."""
    bank = Bank(make_app())
    url = stack.enter_context(serving(bank))
    made = with_customers(bank, url)
    (folder / "template.yaml").write_text(target_file("${url}", made))
    entry = {"variables": {"url": url}, "contracts": ["aisp"]}
    path = folder / "banks.yaml"
    path.write_text(
        json.dumps(
            {"assay": 1, "fleet": "f", "template": "template.yaml", "banks": {"first": entry}}
        )
    )
    for name, customer in made.items():
        stack.enter_context(pytest.MonkeyPatch.context()).setenv(
            f"KILLS_{name.upper()}", customer["token"]
        )
    return bank, path


def test_on_real_customers_no_quota_is_spent_twice(tmp_path):
    """The bank's own count stays within the quota; no verdict of the lost attempt is lost."""
    with ExitStack() as stack:
        bank, path = real_bank(tmp_path, stack)
        whole = run(tmp_path / "whole", path, ledger=tmp_path / "whole.sqlite")
    folder = tmp_path / "part"
    folder.mkdir()
    assert_nothing_is_lost(folder, whole, bank.requests // 2)


def assert_nothing_is_lost(folder, whole, at):
    """Lose the worker at this request, and compare with the whole run."""
    with ExitStack() as stack:
        bank, path = real_bank(folder, stack)
        ledger = folder / "lost.sqlite"
        report = run(folder / "lost", path, bank=bank, kill_at=[at], ledger=ledger)
    assert bank.accesses
    assert max(bank.accesses.values()) <= QUOTA, bank.accesses
    counted = ledger_counts(ledger)
    for operation, _ in bank.accesses:
        seen = sorted((n for (o, _), n in bank.accesses.items() if o == operation), reverse=True)
        assert all(map(int.__le__, seen, counted[operation]))
    before, after = standings(whole), standings(report)
    attempt = folder / "lost" / "banks" / "first" / "aisp" / "attempt-1" / "journal.jsonl"
    settled = {
        result.planned.id: result.standing
        for result in read_journal(attempt, partial=True).results
        if result.standing in {Standing.CONFORMS, Standing.VIOLATES}
    }
    assert settled
    for name, standing in settled.items():
        assert standing is after[name] is before[name], name
    for name, standing in after.items():
        assert standing in {before[name], Standing.UNVERIFIED}, name
