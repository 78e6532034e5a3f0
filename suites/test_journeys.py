"""Random sequences of calls through a contract, judged by every rule."""

import pytest

from assay.fuzzing.findings import SearchResult, describe_findings


@pytest.mark.searches("journeys")
def test_journeys(searched: SearchResult) -> None:
    """No random sequence of customers, TPPs and clock changes violates a rule."""
    if searched.findings:
        pytest.fail(describe_findings(searched), pytrace=False)
