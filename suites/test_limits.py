"""Obligations on amounts, history, frequency and times."""

import pytest

from assay.judging.verdict import Standing, Verdict, explain


@pytest.mark.discharges(
    "pagination", "history-depth", "quota", "unmetered", "maintenance-window", "timeout"
)
def test_limit(verdict: Verdict) -> None:
    """Every limit is exactly where the contract puts it."""
    assert verdict.standing is Standing.CONFORMS, explain(verdict)
