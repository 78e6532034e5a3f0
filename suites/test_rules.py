"""Obligations on consents, signatures, lifecycles and decisions; and the open points."""

import pytest

from assay.judging.verdict import Standing, Verdict, explain


@pytest.mark.discharges(
    "consent-scope", "consent-effect", "disclosed-when", "no-credentials", "token-required"
)
def test_rule(verdict: Verdict) -> None:
    """Data and calls that the contract allows are served, all others refused."""
    assert verdict.standing is Standing.CONFORMS, explain(verdict)


@pytest.mark.discharges("notice", "factors", "return-address", "modification", "cancellation")
def test_lifecycle(verdict: Verdict) -> None:
    """A request is carried out only if it is signed and neither refused nor cancelled."""
    assert verdict.standing is Standing.CONFORMS, explain(verdict)


@pytest.mark.discharges("decision", "duplicate", "execution")
def test_decision(verdict: Verdict) -> None:
    """Exactly the requests that the contract rejects are rejected, at once or later."""
    assert verdict.standing is Standing.CONFORMS, explain(verdict)


@pytest.mark.discharges("consistent")
def test_consistency(verdict: Verdict) -> None:
    """Responses agree with one another, and reading changes nothing."""
    assert verdict.standing is Standing.CONFORMS, explain(verdict)


@pytest.mark.discharges("unspecified")
def test_open_point(verdict: Verdict) -> None:
    """An open point is counted and reported, and neither passes nor fails."""
    assert verdict.standing is Standing.UNSPECIFIED, explain(verdict)
