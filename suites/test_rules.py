"""Who may see what; and the points on which the document is silent."""

import pytest

from assay.verdict import Standing, Verdict, explain


@pytest.mark.discharges("consent-scope", "disclosed-when", "no-credentials")
def test_rule(verdict: Verdict) -> None:
    """What the rules refuse is refused, and what they allow is served."""
    assert verdict.standing is Standing.CONFORMS, explain(verdict)


@pytest.mark.discharges("unspecified")
def test_open_point(verdict: Verdict) -> None:
    """An open point is counted and shown, and never passes or fails."""
    assert verdict.standing is Standing.UNSPECIFIED, explain(verdict)
