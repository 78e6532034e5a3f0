"""The growth of a plan with its contract, in calls of functions, and of a record, in bytes."""

import cProfile
import json
import pstats
from importlib.util import module_from_spec, spec_from_file_location
from pathlib import Path

import pytest
from command_line import assay

from assay.contexts.context import Depth
from assay.preparation.prepare import prepare

#: The most that the calls may grow for four times the rules. A quadratic part shows early.
MOST = 4.2


@pytest.fixture(scope="module")
def growth():
    """Return the script that makes contracts of many operations."""
    path = Path(__file__).parents[2] / "bench" / "growth.py"
    spec = spec_from_file_location("growth", path)
    module = module_from_spec(spec)
    # A dataclass looks its module up.
    with pytest.MonkeyPatch.context() as patch:
        patch.setitem(__import__("sys").modules, "growth", module)
        spec.loader.exec_module(module)
        yield module


def calls(growth, folder, number):
    """Return how many functions are called to plan this many copies of the operations."""
    growth.write(folder, number)
    profile = cProfile.Profile()
    profile.enable()
    prepared = prepare(
        [str(folder / "contract.yaml")], str(folder / "target.yaml"), contexts=Depth.EACH
    )
    assert prepared.plan.calls
    assert prepared.contexts.coverage
    profile.disable()
    return pstats.Stats(profile).total_calls, prepared


@pytest.mark.slow
def test_a_plan_takes_time_in_proportion_to_its_rules(growth, tmp_path):
    """Four times the rules and operations are four times the work, prices and coverage included."""
    calls(growth, tmp_path, 1)  # what is loaded once
    few, small = calls(growth, tmp_path, 3)
    many, large = calls(growth, tmp_path, 12)
    assert 4 == len(large.plan.trials) / len(small.plan.trials)
    assert 4 == len(large.plan.contextual) / len(small.plan.contextual)
    assert many / few < MOST


def bytes_of_a_trial(growth, folder, number):
    """Return how long the line is with which a trial of a run ends, on average."""
    folder.mkdir()
    growth.write(folder, number)
    files = ("--contract", "contract.yaml", "--target", "target.yaml")
    run = ("run", *files, "-k", "listing", "--contexts", "base", "--quiet", "--out", "out")
    assert 0 == assay(*run, cwd=folder)[0]
    lines = (folder / "out" / "journal.jsonl").read_bytes().splitlines(keepends=True)
    ended = [len(line) for line in lines if json.loads(line)["type"] == "ended"]
    assert 3 * number == len(ended)
    return sum(ended) / len(ended)


def test_the_record_of_a_trial_does_not_grow_with_their_number(growth, tmp_path):
    """What a resumed run needs of a trial is what that trial showed, not what all before it did."""
    few = bytes_of_a_trial(growth, tmp_path / "few", 2)
    assert bytes_of_a_trial(growth, tmp_path / "many", 8) < 1.1 * few
