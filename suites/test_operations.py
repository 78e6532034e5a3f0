"""Obligations on operations: which are offered, where, and what they list."""

from collections.abc import Callable

import pytest

from assay.rules.verdict import Standing


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
    "required",
    "echo",
    "error-body",
    "filter",
)
def test_operation(expect: Callable[[Standing], None]) -> None:
    """Offered operations answer and list as the contract says; the others refuse."""
    expect(Standing.CONFORMS)
