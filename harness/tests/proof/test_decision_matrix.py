"""Each answer to an open point is kept by one bank, and broken by another."""

import pytest

from assay.proof.decision_matrix import decisions, row_of


@pytest.mark.parametrize("decision", [*decisions()], ids=lambda decision: decision.id)
def test_a_bank_is_held_to_its_answer(decision):
    """Nothing is found where it is kept; where it is broken, exactly what follows from it."""
    row = row_of(decision)
    assert row.as_expected, (sorted(row.violated ^ row.expected), sorted(row.unresolved))
    assert decision.keeps or row.expected, "an answer from which nothing follows judges nothing"
