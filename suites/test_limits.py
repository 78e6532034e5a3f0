"""How much, how far back, how often, and when."""

import pytest

from assay.judging.verdict import Standing, Verdict, explain


@pytest.mark.discharges(
    "pagination", "history-depth", "quota", "unmetered", "maintenance-window", "timeout"
)
def test_limit(verdict: Verdict) -> None:
    """Limits stand exactly where the contract puts them: not below, not above."""
    assert verdict.standing is Standing.CONFORMS, explain(verdict)
