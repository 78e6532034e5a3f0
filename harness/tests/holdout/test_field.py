"""The reported faults: their table and their code tell the same, and the sound bank has none."""

import re
import sys
from importlib import import_module
from pathlib import Path

import pytest

BENCH = Path(__file__).resolve().parents[2] / "bench"
ROW = re.compile(r"(?m)^\| (\d+) \| (?:[^|]+\|){3} ([^|]+) \|")


@pytest.fixture
def bench(monkeypatch):
    """Return what imports a module of the bench: both lists call theirs `faults` and `measure`."""
    for folder in (BENCH, BENCH / "holdout", BENCH / "field"):
        monkeypatch.syspath_prepend(str(folder))
    for name in ("faults", "measuring", "probes", "situations"):
        monkeypatch.setitem(sys.modules, name, None)
        monkeypatch.delitem(sys.modules, name)
    return import_module


def test_the_table_and_the_faults_are_the_same_list(bench):
    """Each report has one fault of its number, with the same clauses."""
    text = (BENCH / "field" / "reports.md").read_text("utf-8")
    rows = [(int(number), clauses) for number, clauses in ROW.findall(text)]
    assert list(range(1, 51)) == [number for number, _ in rows]
    assert rows == [(one.number, ", ".join(one.clauses)) for one in bench("faults").FAULTS]


@pytest.mark.slow
def test_each_fault_changes_an_answer(bench):
    """A bank with a reported fault answers some probe in another way than the sound one."""
    probes = {**bench("situations").SITUATIONS, **bench("probes").PROBES}
    assert [] == bench("measuring").unseen(bench("faults").FAULTS, probes)


@pytest.mark.slow
def test_the_sound_bank_violates_nothing(bench):
    """What the measurement takes for found is not found where nothing is wrong, and little is left open.

    Its screens stand at one address, and its file lacks one argument of a change: a rule that
    withholds its judgement from such a bank is no better than one that blames it.
    """
    options = ("--no-doctor", "--journeys", "0", "--fields", "0")
    measuring = bench("measuring")
    run = measuring.run(measuring.Setting("target.yaml", "base", options, 600), None)
    assert ((), "") == (run.violated, run.trouble)
    assert (2, 2) == (run.counts["indeterminate"], run.counts["unverified"])
