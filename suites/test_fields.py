"""What an answer holds, and what a request must."""

import pytest

from assay.fuzzing.findings import SearchResult, describe_findings
from assay.judging.verdict import Standing, Verdict, explain


@pytest.mark.discharges("field", "gives-back", "mandatory", "fixed")
def test_field(verdict: Verdict) -> None:
    """Every item of every page, and every request, holds what the contract says."""
    assert verdict.standing is Standing.CONFORMS, explain(verdict)


@pytest.mark.searches("fields")
def test_bent_fields(searched: SearchResult) -> None:
    """Whatever stands in a request: what the contract accepts is accepted, and nothing else."""
    assert not searched.findings, describe_findings(searched)
