"""Obligations on operations: which are offered, where, and what they list."""

import pytest

from assay.judging.verdict import Standing, Verdict, explain


@pytest.mark.discharges(
    "available",
    "own-data",
    "withstands",
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
    """Offered operations answer and list as the contract says; the others refuse."""
    assert verdict.standing is Standing.CONFORMS, explain(verdict)
