"""The harness, tested by breaking the bank: the whole kill matrix, compared with the reference.

Takes about two minutes on two cores, and is an environment of its own in tox.ini.
"""

from pathlib import Path

import pytest

from assay.cli.prove import markdown_lines
from assay.kill_matrix import count, prove, run_on_bank
from assay.sandbox.mutants.bundles import blamed, bundles, together

REFERENCE = Path(__file__).parents[3] / "reports" / "reference" / "kill-matrix.md"


@pytest.fixture(scope="module")
def matrix():
    return prove()


def test_every_mutant_is_caught_by_its_own_facets_alone(matrix):
    """A run on a mutant finds exactly the violations of its fault."""
    assert [] == [(row.id, sorted(row.violated)) for row in matrix.wrong if not row.neutral]


def test_neutral_variants_have_no_violation(matrix):
    """A difference that the source document leaves open is no finding, and hides none."""
    assert [] == [
        (row.id, sorted(row.violated | row.unresolved)) for row in matrix.wrong if row.neutral
    ]


@pytest.mark.parametrize("variants", bundles(), ids=lambda variants: variants[0].id)
def test_neutral_variants_stay_green_together(variants):
    """Nor is anything found at, or hidden by, a bank that has all of them that fit in one."""
    undecidable = frozenset[str]().union(*(variant.leaves for variant in variants))

    def red(policies):
        violated, unresolved = run_on_bank(policies)
        return bool(violated or unresolved - undecidable)

    assert not red(together(variants)), blamed(variants, red)


def test_every_obligation_has_a_mutant(matrix):
    """No check has never been seen to fail."""
    assert () == matrix.unproved


def test_there_are_enough_of_both(matrix):
    """The matrix does not shrink unnoticed."""
    counts = count(matrix)
    assert counts["mutants"] >= 461
    assert counts["neutral variants"] >= 44


def test_the_reference_is_up_to_date(matrix):
    """The committed matrix is what the proof gives today (assay prove --out)."""
    assert REFERENCE.read_text(encoding="utf-8") == "\n".join(markdown_lines(matrix)) + "\n"
