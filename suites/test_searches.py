"""Lives and random searches through a contract, judged by every rule; each is asked for by an option."""

import pytest

from assay.fuzzing.findings import SearchResult, describe_findings


@pytest.mark.searches("lives")
def test_lives(searched: SearchResult) -> None:
    """No order of events violates a rule."""
    if searched.findings:
        pytest.fail(describe_findings(searched), pytrace=False)


@pytest.mark.searches("journeys")
def test_journeys(searched: SearchResult) -> None:
    """No random sequence of customers, TPPs and clock changes violates a rule."""
    if searched.findings:
        pytest.fail(describe_findings(searched), pytrace=False)


@pytest.mark.searches("fields")
def test_field_variations(searched: SearchResult) -> None:
    """Requests with one mutated field are accepted or rejected as the contract says."""
    if searched.findings:
        pytest.fail(describe_findings(searched), pytrace=False)
