"""What nobody thought of: random journeys through a contract, judged by every rule."""

import pytest

from assay.fuzzing.findings import SearchResult, describe_findings


@pytest.mark.searches("journeys")
def test_journeys(searched: SearchResult) -> None:
    """Whatever customers, third parties and clocks do, no rule is broken on the way."""
    assert not searched.findings, describe_findings(searched)
