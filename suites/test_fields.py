"""Obligations on the fields of responses and requests."""

import pytest

from assay.fuzzing.findings import SearchResult, describe_findings
from assay.judging.verdict import Standing, Verdict, explain


@pytest.mark.discharges("field", "gives-back", "mandatory", "fixed")
def test_field(verdict: Verdict) -> None:
    """Every item of every page, and every request, has the fields that the contract says."""
    assert verdict.standing is Standing.CONFORMS, explain(verdict)


@pytest.mark.searches("fields")
def test_field_variations(searched: SearchResult) -> None:
    """Requests with one mutated field are accepted or rejected as the contract says."""
    assert not searched.findings, describe_findings(searched)
