"""Runs that are killed, and resumed: nothing is lost. `support/kills.py` kills fifty and more."""

import pytest
from kills import SIGNALS, kill_one, whole
from resumed_kills import resume_one

#: Kills of runs on a bank with one fault, which shows early; each signal once.
SEEDS = (1, 4, 7)


@pytest.mark.slow
@pytest.mark.parametrize("seed", SEEDS)
def test_a_killed_run_loses_nothing(seed, tmp_path):
    """Verdicts of ended trials are in the journal, which renders; every access is in the ledger."""
    number, at, done = kill_one(tmp_path / "run", seed)
    assert number in SIGNALS
    assert done or at < 20


def test_what_is_killed_is_worth_it():
    """The run that is killed violates something, and spends the quota of a customer."""
    complete = whole("unavailable.end-user-identity-full-without-consent")
    assert {"violates", "conforms", "unverified"} <= {
        each.value for each in complete.standings.values()
    }
    assert complete.accesses >= 16


@pytest.mark.slow
@pytest.mark.parametrize("seed", [0, 1, 2])
def test_a_killed_run_is_resumed(seed, tmp_path):
    """Real customers, trials in turn, trials side by side: the verdicts of a run that was not killed."""
    assert resume_one(tmp_path / "run", seed).endswith("the same verdicts")
