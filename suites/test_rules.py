"""Obligations on consents, signatures, lifecycles and decisions; and the open points."""

from collections.abc import Callable

import pytest

from assay.rules.verdict import Standing


@pytest.mark.discharges(
    "consent-scope",
    "consent-effect",
    "consent-authorisation",
    "consent-validity",
    "consent-revocation",
    "consent-replacement",
    "consent-history",
    "consent-mode",
    "consent-field",
    "disclosed-when",
    "no-credentials",
    "token-required",
)
def test_rule(expect: Callable[[Standing], None]) -> None:
    """Data and calls that the contract allows are served, all others refused."""
    expect(Standing.CONFORMS)


@pytest.mark.discharges(
    "notice", "factors", "return-address", "modification", "cancellation", "states"
)
def test_lifecycle(expect: Callable[[Standing], None]) -> None:
    """A request is carried out only if it is signed and neither refused nor cancelled."""
    expect(Standing.CONFORMS)


@pytest.mark.discharges("decision", "duplicate", "execution", "idempotency")
def test_decision(expect: Callable[[Standing], None]) -> None:
    """Exactly the requests that the contract rejects are rejected, at once or later."""
    expect(Standing.CONFORMS)


@pytest.mark.discharges("consistent")
def test_consistency(expect: Callable[[Standing], None]) -> None:
    """Responses agree with one another, and reading changes nothing."""
    expect(Standing.CONFORMS)


@pytest.mark.discharges(packages=True)
def test_rule_of_a_package(expect: Callable[[Standing], None]) -> None:
    """What a rule kind of an installed package demands is met."""
    expect(Standing.CONFORMS)


@pytest.mark.discharges("unspecified")
def test_open_point(expect: Callable[[Standing], None]) -> None:
    """An open point is counted and reported, and neither passes nor fails."""
    expect(Standing.UNSPECIFIED)
