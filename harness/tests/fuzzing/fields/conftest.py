"""Import paths and fixtures of these tests, among them a laboratory that is no bank."""

import sys
from pathlib import Path

import pytest
from hypothesis.internal.conjecture import providers

HERE = Path(__file__).parent
sys.path[:0] = [str(HERE), str(HERE.parents[1] / "elsewhere")]


@pytest.fixture(autouse=True)
def only_hypothesis_draws(monkeypatch):
    """Keep the constants of whatever modules are loaded out of the draws.

    With them, the draws of a seed would depend on the tests that ran before, and so
    would whether a fault is found within a number of sequences.
    """
    none = providers.Constants()
    monkeypatch.setattr(providers, "_get_local_constants", lambda: none)
    providers.CONSTANTS_CACHE.cache.clear()
    yield
    providers.CONSTANTS_CACHE.cache.clear()
