"""What nobody thought of: random journeys through a contract, judged by every rule."""

import pytest

from assay.fuzzing.findings import Searched, recount


@pytest.mark.searches("journeys")
def test_journeys(searched: Searched) -> None:
    """Whatever customers, third parties and clocks do, no rule is broken on the way."""
    assert not searched.findings, recount(searched)
