"""Every operation, tested with cases generated from its exported OpenAPI document."""

from importlib.util import find_spec

import pytest

from assay.fuzzing.findings import SearchResult, describe_findings

if find_spec("schemathesis") is None:
    reason = "Schemathesis is not installed (pip install 'assay[schema]')"
    pytest.skip(reason, allow_module_level=True)


@pytest.mark.searches("schema")
def test_schema(searched: SearchResult) -> None:
    """The responses violate no clause, and are valid by the document."""
    found = [*searched.findings, *searched.documented]
    if found:
        pytest.fail(describe_findings(searched), pytrace=False)
    if not searched.sequences:
        pytest.skip(f"unverified: {', '.join(searched.notes) or 'there is nothing to test'}")
