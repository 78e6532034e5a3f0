"""One item for each obligation of the contracts, by the room of its rule kind."""

from collections.abc import Callable

import pytest

from assay.rules.verdict import Standing


@pytest.mark.discharges("reading")
def test_reading(expect: Callable[[Standing], None]) -> None:
    """Operations answer, list, page and show fields as the contract says."""
    expect(Standing.CONFORMS)


@pytest.mark.discharges("access")
def test_access(expect: Callable[[Standing], None]) -> None:
    """Who calls, how often, when and at which host decides whether a call is served."""
    expect(Standing.CONFORMS)


@pytest.mark.discharges("consents")
def test_consents(expect: Callable[[Standing], None]) -> None:
    """Data is returned under a consent for it, and only while the consent is valid."""
    expect(Standing.CONFORMS)


@pytest.mark.discharges("requests")
def test_requests(expect: Callable[[Standing], None]) -> None:
    """Requests are accepted, rejected, changed and carried out as the contract says."""
    expect(Standing.CONFORMS)


@pytest.mark.discharges("packages")
def test_kinds_of_packages(expect: Callable[[Standing], None]) -> None:
    """The demands of rule kinds from installed packages are met."""
    expect(Standing.CONFORMS)


@pytest.mark.discharges("unspecified")
def test_open_points(expect: Callable[[Standing], None]) -> None:
    """An open point is counted and reported, and neither passes nor fails."""
    expect(Standing.UNSPECIFIED)
