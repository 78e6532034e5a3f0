"""Obligations on the fields of responses and requests."""

from collections.abc import Callable

import pytest

from assay.fuzzing.findings import SearchResult, describe_findings
from assay.rules.verdict import Standing


@pytest.mark.discharges("field", "gives-back", "mandatory", "fixed", "request-field")
def test_field(expect: Callable[[Standing], None]) -> None:
    """Every item of every page, and every request, has the fields that the contract says."""
    expect(Standing.CONFORMS)


@pytest.mark.searches("fields")
def test_field_variations(searched: SearchResult) -> None:
    """Requests with one mutated field are accepted or rejected as the contract says."""
    if searched.findings:
        pytest.fail(describe_findings(searched), pytrace=False)
