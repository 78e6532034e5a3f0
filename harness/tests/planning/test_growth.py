"""The growth of a plan with its contract: in proportion to the rules, counted in calls of functions."""

import cProfile
import pstats
from importlib.util import module_from_spec, spec_from_file_location
from pathlib import Path

import pytest

from assay.contexts.covering import Depth
from assay.planning.prepare import prepare

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
