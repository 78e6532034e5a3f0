"""The pytest plugin: the same run as `assay run`, with all that pytest brings."""

import ast
import json
import re
import subprocess
import sys
import xml.etree.ElementTree as ET
from collections import Counter, defaultdict
from dataclasses import dataclass
from importlib.metadata import entry_points
from importlib.util import find_spec
from types import SimpleNamespace

import pytest
from suite_runs import run_suites

from assay._resources import suites_dir
from assay.preparation.prepare import load_target
from assay.proof.kill_matrix import reference
from assay.pytest_plugin.suites import check_relayed, trial_scheduler
from assay.report import read_journal
from assay.rules.kinds import KINDS, room_of
from assay.sandbox.app import make_app
from assay.sandbox.mutants import MUTANTS, PIS_MUTANTS
from assay.sandbox.mutants.contextual import make_contextual_app
from assay.sandbox.policies import SOUND
from assay.sandbox.serve import serving


def run(*args, cwd):
    """Run pytest with the plugins that it finds in a folder of its own."""
    installed = any(point.name == "assay" for point in entry_points(group="pytest11"))
    loaded = [] if installed else ["-p", "assay.pytest_plugin"]
    done = subprocess.run(
        [sys.executable, "-m", "pytest", "-p", "no:cacheprovider", *loaded, *map(str, args)],
        cwd=cwd,
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )
    assert "INTERNALERROR" not in done.stdout + done.stderr
    return done.returncode, done.stdout, done.stderr


@pytest.fixture
def faulty():
    """Serve a bank that counts its days in UTC."""
    (fault,) = (one for one in MUTANTS if one.id == "quota.accounts-utc-day")
    with serving(make_app(fault.change(SOUND))) as url:
        yield url


def test_the_suites_discharge_every_obligation(tmp_path):
    """Every obligation of the shipped contract is one item; the sandbox passes them all."""
    code, out, _ = run_suites("--contract", "aisp", "-q", cwd=tmp_path)
    assert code == 0
    # One suite is left out as a whole where Schemathesis is not installed.
    skipped = 23 + (find_spec("schemathesis") is None)
    assert f"153 passed, {skipped} skipped" in out
    assert "153 conforms" in out


def test_each_room_is_discharged_by_one_test():
    """A contract of any rule kind, also of a package's own, can be run by pytest."""
    found = Counter()
    for path in sorted(suites_dir().glob("test_*.py")):
        for node in ast.walk(ast.parse(path.read_text("utf-8"))):
            if isinstance(node, ast.Call) and ast.unparse(node.func) == "pytest.mark.discharges":
                found.update(room.value for room in node.args)
    assert Counter({*map(room_of, [*KINDS, "of-a-package", "unspecified"])}) == found


def test_suites_alone_mean_the_shipped_contracts(tmp_path):
    """Naming the suites is enough."""
    assert run(suites_dir(), "-q", "-m", "quota", cwd=tmp_path)[0] == 0


def test_over_several_workers(tmp_path, faulty):
    """Verdicts reach the summary and the exit code from all workers."""
    code, out, _ = run_suites("--target", faulty, "-n", "2", "-q", cwd=tmp_path)
    assert code == 1
    assert "1 violates" in out
    assert "314 conforms" in out


def test_a_trial_stays_on_one_worker(tmp_path):
    """The first item of a trial runs it; on two workers it would run twice."""
    args = ("--contract", "aisp", "-k", "accounts", "--assay-contexts", "base", "-n", "2", "-v")
    code, out, _ = run_suites(*args, cwd=tmp_path)
    assert code == 0
    planned, _ = reference(("aisp",))
    trials = {each.id: trial.id for trial in planned.trials for each in trial.settles}
    workers = defaultdict(set)
    for worker, name in re.findall(r"^\[(gw\d)\].*PASSED .*\[(aisp/\S+)\]", out, re.MULTILINE):
        workers[trials[name]].add(worker)
    assert {"gw0", "gw1"} == set().union(*workers.values())
    assert [1] * len(workers) == [len(names) for names in workers.values()]
    assert len(workers) < sum(name in out for name in trials)


def test_a_chosen_distribution_is_left_alone():
    """A user who names `--dist` gets the distribution of that name."""
    planned, _ = reference(("aisp",))
    assert trial_scheduler(Chosen(), None, planned) is None


class Chosen:
    """A configuration with `--dist worksteal`."""

    def getoption(self, name, default=None):
        return {"dist": "worksteal"}.get(name, default)


def test_the_journal_of_a_pytest_run_is_whole(tmp_path):
    """The record is the same as the command's: planned = the sum of the verdicts."""
    code, _, _ = run_suites("-m", "pagination", "--assay-journal", "j.jsonl", cwd=tmp_path)
    report = read_journal(tmp_path / "j.jsonl")
    assert code == 0
    assert (11, True) == (len(report.results), report.complete)


def test_an_incomplete_run_exits_with_3(tmp_path):
    """Skips do not look green."""
    (tmp_path / "t.yaml").write_text(
        "assay: 1\ntarget: t\nextends: sandbox\npresence: null\n", encoding="utf-8"
    )
    code, out, _ = run_suites("--target", "t.yaml", "-m", "quota", cwd=tmp_path)
    assert code == 3
    assert "incomplete: 17 `must` obligations could not be verified" in out
    allowed = ("--assay-target", "t.yaml", "--assay-allow-incomplete", "-m")
    assert run_suites(*allowed, "quota", cwd=tmp_path)[0] == 3  # nothing was verified
    assert run_suites(*allowed, "quota or pagination", cwd=tmp_path)[0] == 0


def test_waivers_decide_the_exit_code_as_in_a_run_suites(tmp_path, faulty):
    """One that has expired is on the card, and one that is not needed fails the run with 2."""
    (tmp_path / "t.yaml").write_text(
        f"assay: 1\ntarget: t\nextends: sandbox\ntransport: http\nbase_url: {faulty}\nhosts: null\n"
        "waivers:\n"
        "  - {obligation: aisp/batch-quota/accounts-next-day, owner: ops, reason: known,"
        " expires: 2026-01-31}\n"
        "  - {obligation: aisp/batch-quota/balances-next-day, owner: ops, reason: known,"
        " expires: 2099-01-31}\n",
        encoding="utf-8",
    )
    target = ("--contract", "aisp", "--target", "t.yaml", "-k")
    code, out, _ = run_suites(*target, "accounts-next-day", cwd=tmp_path)
    assert code == 1
    assert "waiver     expired on 2026-01-31 (ops: known)" in out.partition("= conformance of")[0]
    code, out, _ = run_suites(*target, "balances-next-day", cwd=tmp_path)
    assert code == 2
    assert "1 waiver to remove (no longer needed): aisp/batch-quota/balances-next-day" in out


def test_an_unreachable_target_ends_the_run_suites(tmp_path):
    """Nobody is blamed: exit 2, and an unfinished journal."""
    code, out, _ = run_suites(
        "--target", "http://127.0.0.1:9", "--assay-journal", "j.jsonl", cwd=tmp_path
    )
    assert code == 2
    assert "no obligation is reported as violated" in out
    last = (tmp_path / "j.jsonl").read_text(encoding="utf-8").splitlines()[-1]
    assert "cannot connect" in json.loads(last)["aborted"]


@pytest.mark.slow
def test_an_unreachable_target_ends_the_workers(tmp_path):
    """No worker crashes: exit 2, the reason, and an unfinished journal."""
    chosen = ("--target", "http://127.0.0.1:9", "-m", "pagination", "-n", "2")
    code, out, _ = run_suites(*chosen, "--assay-journal", "j.jsonl", cwd=tmp_path)
    assert code == 2
    assert "cannot connect" in out
    assert "no obligation is reported as violated" in out
    assert "crashed" not in out
    last = (tmp_path / "j.jsonl").read_text(encoding="utf-8").splitlines()[-1]
    assert json.loads(last)["aborted"]


@pytest.mark.parametrize(
    ("args", "said"),
    [
        (("--contract", "aips"), "did you mean 'aisp'"),
        (("--target", "sandbx"), "did you mean 'sandbox'"),
        (("--target", "remote"), "REMOTE_ALICE_TOKEN is not set"),
    ],
)
def test_usage_errors_are_pytest_s_own(tmp_path, args, said):
    """A mistake is a usage error, in one line, with a hint."""
    code, _, err = run_suites(*args, cwd=tmp_path)
    assert code == 4
    assert said in err


def test_an_unrelated_run_is_left_alone(tmp_path):
    """Without our options the plugin adds no marker, no section, no item."""
    (tmp_path / "test_own.py").write_text(
        "def test_own(pytestconfig):\n"
        "    assert not pytestconfig.pluginmanager.has_plugin('assay-suites')\n",
        encoding="utf-8",
    )
    code, out, _ = run("-q", cwd=tmp_path)
    assert code == 0
    assert "conformance" not in out


@pytest.fixture
def confined():
    """Serve a bank that accepts payments from savings accounts, if they are instant."""
    (fault,) = (mutant for mutant in PIS_MUTANTS if mutant.id == "pis.debtor.savings")
    with serving(make_contextual_app(fault.change(SOUND), SOUND, "mode=instant")) as url:
        yield url


def test_an_item_is_tested_in_all_contexts(tmp_path, confined):
    """The item of an obligation fails for a fault in one context, and names the context."""
    selected = ("--target", confined, "-q", "-k", "eligible-accounts")
    assert run_suites(*selected, "--assay-contexts", "base", cwd=tmp_path)[0] == 0
    code, out, _ = run_suites(*selected, "--assay-contexts", "each", cwd=tmp_path)
    assert code == 1
    assert "refuses-savings  violates" in out
    assert "    reason     only for instant requests: " in out
    assert "violates: only for instant requests: " in out
    assert "1 failed" in out


SHOWN_ELSEWHERE = "carried-out-as-changed or as-asked"


@pytest.fixture(scope="module")
def keeps_amount():
    """Serve a bank that executes a modified payment with its former amount."""
    (fault,) = (one for one in PIS_MUTANTS if one.id == "pis.modify.keeps-amount")
    with serving(make_app(fault.change(SOUND))) as url:
        yield url


@pytest.fixture(scope="module")
def alone(tmp_path_factory, keeps_amount):
    """Run two items on it in one process, and record them."""
    return _recorded(tmp_path_factory.mktemp("alone"), keeps_amount)


@pytest.fixture(scope="module")
def spread(tmp_path_factory, keeps_amount):
    """Run the two items by two workers, and record them in one journal."""
    return _recorded(tmp_path_factory.mktemp("spread"), keeps_amount, "-n", "2")


def _recorded(folder, url, *args):
    selected = ("--contract", "pis", "--target", url, "-k", SHOWN_ELSEWHERE, "-rfE")
    written = ("--assay-journal", "j.jsonl", "--junitxml=j.xml")
    code, out, err = run_suites(*selected, *written, *args, "--assay-contexts", "base", cwd=folder)
    assert code == 1, out + err
    return folder, out


def test_an_obligation_of_every_trial_is_settled_last(alone):
    """What another trial shows of it fails its own item."""
    _, out = alone
    assert "2 violates" in out
    assert "2 failed" in out
    assert "[pis/execution/as-asked]" in out.partition("short test summary")[2]


def test_a_violation_found_by_another_worker_is_an_error(spread):
    """The item has passed where it ran; the run fails all the same, and names the obligation."""
    folder, out = spread
    assert "2 violates" in out
    assert "1 failed, 1 passed, 1 error" in out
    (error,) = [line for line in out.splitlines() if line.startswith("ERROR ")]
    assert "[pis/execution/as-asked]" in error
    assert "found in the trial of another obligation" in out
    assert "✗ pis/execution/as-asked  violates" in out
    assert [1] == [
        len(case.findall("error"))
        for case in ET.parse(folder / "j.xml").iter()
        if case.find("error") is not None
    ]


def test_the_journal_of_several_workers_is_that_of_one_process(alone, spread):
    """It has the same lines, in the same order, but for times and the ids that the bank gave."""
    one, two = ([*_lines(folder / "j.jsonl")] for folder, _ in (alone, spread))
    assert len(one) > 20
    assert one == two
    assert read_journal(spread[0] / "j.jsonl").complete


def _lines(path):
    """Yield the lines of a journal without what differs from run to run."""
    given, trial = {}, ""
    for line in path.read_text(encoding="utf-8").splitlines():
        record = json.loads(line)
        for key in ("started", "finished", "digest", "command", "chain"):
            record.pop(key, None)
        if record.get("trial", trial) != trial:
            trial = record["trial"]
            given.clear()
        text = re.sub(
            r'"ms": [0-9.]+|\["(?:date|content-length)", "[^"]*"\]', "", json.dumps(record)
        )
        yield re.sub(
            r"(?<![0-9a-f])[0-9a-f]{16,40}(?![0-9a-f])",
            lambda found: given.setdefault(found[0], f"#{len(given)}"),
            text,
        )


def test_what_several_workers_cannot_record_is_refused(tmp_path):
    """A target whose trials have an order, and searches, are refused before anything is sent."""
    path = tmp_path / "t.yaml"
    path.write_text(
        "assay: 1\ntarget: t\nextends: sandbox\nbudget: {calls: 5000}\n", encoding="utf-8"
    )
    refused = {
        "trials share a budget and spend it in order (budget.calls): do not use -n": (path, {}),
        "searches are recorded in one process: do not use -n": (None, {"assay_fields": 5}),
    }
    for said, (name, options) in refused.items():
        target = load_target(str(name) if name else None)
        with pytest.raises(pytest.UsageError) as error:
            check_relayed(Options(options), SimpleNamespace(target=target))
        assert str(error.value) == f"--assay-journal: {said}"
    check_relayed(Options({}), SimpleNamespace(target=load_target(None)))


@dataclass
class Options:
    """A configuration with these options."""

    values: dict

    def getoption(self, name):
        return self.values.get(name)


@pytest.mark.slow
def test_shards_run_in_pytest_and_are_merged(tmp_path):
    """`--assay-shard` runs a part of the plan; the journals of all parts make one report."""
    from assay.report.merge import merge  # noqa: PLC0415 -- only here

    selected = ("--contract", "aisp", "-q")
    numbers = []
    for number in (1, 2):
        journal = tmp_path / f"s{number}" / "journal.jsonl"
        shard = ("--assay-shard", f"{number}/2", "--assay-journal", journal)
        code, out, _ = run_suites(*selected, *shard, cwd=tmp_path)
        assert code == 0, out
        numbers.append(len(read_journal(journal).results))
    merged = merge([tmp_path / "s1", tmp_path / "s2"], tmp_path / "all", command="assay")
    assert sum(numbers) == sum(merged.counts.values())
    assert merged.counts["conforms"] == 153
    assert merged.exit.value == 0
    code, out, err = run_suites(
        *selected, "--assay-shard", "1/2", "--assay-fields", "5", cwd=tmp_path
    )
    assert code == 4
    assert "--assay-fields: cannot be divided into shards" in out + err
