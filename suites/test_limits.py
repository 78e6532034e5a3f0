"""Obligations on amounts, history, frequency and times."""

from collections.abc import Callable

import pytest

from assay.rules.verdict import Standing


@pytest.mark.discharges(
    "pagination", "history-depth", "quota", "unmetered", "maintenance-window", "timeout"
)
def test_limit(expect: Callable[[Standing], None]) -> None:
    """Every limit is exactly where the contract puts it."""
    expect(Standing.CONFORMS)
