"""The matrix of the source document says of each line what covers it."""

import pytest

from assay.report.source_matrix import Coverage, source_matrices
from assay.rules.verdict import Standing

OUTLINE = {
    "sections": [
        {"title": "Endpoints", "lines": [52, 53]},
        {"title": "Limits", "lines": [160, 161, 162, 163, 164, 165]},
    ],
    "not_requirements": [{"section": "Limits", "lines": [160, 163], "reason": "an introduction"}],
    "scope": [
        {
            "id": "all",
            "statement": "All customers.",
            "sources": [{"section": "Limits", "line": 161, "text": "for all customers"}],
        }
    ],
    "cited": [{"title": "Limits", "lines": [162, 163, 164]}],
}


@pytest.fixture
def outlined(journal):
    """Return a journal whose contract has an outline of its document."""
    contract = journal.lines[0]["contracts"][0] | {"outline": OUTLINE}
    journal.lines[0] = journal.lines[0] | {"contracts": [contract]}
    return journal


def coverage(matrix):
    """Return how each line is covered."""
    return {line.line: line.coverage for line in matrix.lines}


def test_every_form(outlined):
    """A clause outweighs an open point, that a scope statement, that another run, that a reason."""
    outlined.plan()
    open_source = [{"section": "Limits", "line": 162, "text": "a day"}]
    outlined.plan("aisp/open/point", kind="unspecified", sources=open_source)
    outlined.verdict(verdict="violates").verdict("aisp/open/point", "unspecified")
    (matrix,) = source_matrices(outlined.footer().read())
    assert {
        52: Coverage.UNCOVERED,
        53: Coverage.UNCOVERED,
        160: Coverage.EXCLUDED,
        161: Coverage.SCOPE,
        162: Coverage.OPEN,
        163: Coverage.TESTED,
        164: Coverage.NOT_IN_RUN,
        165: Coverage.UNCOVERED,
    } == coverage(matrix)
    assert matrix.outlined
    assert [52, 53, 165] == [line.line for line in matrix.uncovered]
    limits = matrix.sections[1]
    assert ((Standing.VIOLATES, 1), (Standing.UNSPECIFIED, 1)) == limits.counts
    assert 1 == limits.covered(Coverage.TESTED)


def test_quotes_and_results(outlined):
    """A line has the words quoted of it, none twice, and each clause with its results."""
    places = [
        {"section": "Limits", "line": 163, "text": "Up to 4"},
        {"section": "Limits", "line": 163, "text": "Up to 4 per calendar day"},
    ]
    outlined.plan(sources=places).plan("aisp/batch-quota/midnight", sources=places)
    outlined.verdict().verdict("aisp/batch-quota/midnight", "unverified")
    (matrix,) = source_matrices(outlined.footer().read())
    line = next(line for line in matrix.lines if line.line == 163)
    assert ("Up to 4 per calendar day",) == line.quotes
    (entry,) = line.entries
    assert "batch-quota" == entry.clause
    assert ((Standing.CONFORMS, 1), (Standing.UNVERIFIED, 1)) == entry.counts


def test_no_outline(journal):
    """Without an outline only the named lines are known, and none is called uncovered."""
    (matrix,) = source_matrices(journal.plan().verdict().footer().read())
    assert not matrix.outlined
    assert {163: Coverage.TESTED} == coverage(matrix)
    assert () == matrix.uncovered


def test_one_document(outlined):
    """Contracts of one document share a matrix: what one covers the other need not."""
    first = outlined.lines[0]["contracts"][0]
    outlined.lines[0] = outlined.lines[0] | {"contracts": [first, first | {"id": "pis"}]}
    outlined.plan("pis/a/b", sources=[{"section": "Limits", "line": 160, "text": ""}])
    (matrix,) = source_matrices(outlined.verdict("pis/a/b").footer().read())
    assert ("aisp", "pis") == matrix.contracts
    assert Coverage.TESTED is coverage(matrix)[160]


def test_general_rules(journal):
    """A general rule has no line, and counts for none."""
    source = {"section": "General, not the document", "line": 0, "text": ""}
    (matrix,) = source_matrices(journal.plan(sources=[source]).verdict().footer().read())
    assert () == matrix.lines
    assert [0] == [line.line for section in matrix.sections for line in section.lines]
