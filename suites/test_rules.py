"""Who may see what, what is signed, and what becomes of it; and the open points."""

import pytest

from assay.judging.verdict import Standing, Verdict, explain


@pytest.mark.discharges("consent-scope", "disclosed-when", "no-credentials")
def test_rule(verdict: Verdict) -> None:
    """What the rules refuse is refused, and what they allow is served."""
    assert verdict.standing is Standing.CONFORMS, explain(verdict)


@pytest.mark.discharges("notice", "factors", "return-address", "modification", "cancellation")
def test_lifecycle(verdict: Verdict) -> None:
    """Nothing is carried out that was not signed, was refused, or was cancelled."""
    assert verdict.standing is Standing.CONFORMS, explain(verdict)


@pytest.mark.discharges("decision", "duplicate")
def test_decision(verdict: Verdict) -> None:
    """What the rules reject is rejected, at once or later, and nothing else is."""
    assert verdict.standing is Standing.CONFORMS, explain(verdict)


@pytest.mark.discharges("consistent")
def test_consistency(verdict: Verdict) -> None:
    """Answers agree with one another, and reading changes nothing."""
    assert verdict.standing is Standing.CONFORMS, explain(verdict)


@pytest.mark.discharges("unspecified")
def test_open_point(verdict: Verdict) -> None:
    """An open point is counted and shown, and never passes or fails."""
    assert verdict.standing is Standing.UNSPECIFIED, explain(verdict)
