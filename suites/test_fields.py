"""What an answer holds."""

import pytest

from assay.verdict import Standing, Verdict, explain


@pytest.mark.discharges("field")
def test_field(verdict: Verdict) -> None:
    """Every item of every page holds what the contract says."""
    assert verdict.standing is Standing.CONFORMS, explain(verdict)
