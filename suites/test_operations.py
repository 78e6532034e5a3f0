"""What is offered, where, and what is listed."""

import pytest

from assay.judging.verdict import Standing, Verdict, explain


@pytest.mark.discharges(
    "available",
    "unavailable",
    "unsupported-mode",
    "listing",
    "eligibility",
    "host-affinity",
    "well-formed",
    "addressed",
    "modes",
    "segments",
    "eligible-for",
)
def test_operation(verdict: Verdict) -> None:
    """Methods that are offered answer properly and list what they should; others refuse."""
    assert verdict.standing is Standing.CONFORMS, explain(verdict)
