"""What the document leaves open: listed, answered, and proposed from what a bank does."""

import pytest
import yaml

from assay.cli.open_points import open_point_lines, proposal_lines, proposals
from assay.errors import InputError
from assay.preparation.prepare import prepare
from assay.sandbox.mutants.decisions import QUESTIONS

FIRST = "contracts: [aisp, pis]\nextends: sandbox\n"


@pytest.fixture
def prepared(tmp_path):
    """Give a function from the rest of a target file to what is prepared for it."""

    def of(rest: str = ""):
        path = tmp_path / "t.yaml"
        path.write_text(f"assay: 1\ntarget: t\n{FIRST}{rest}")
        return prepare((), str(path))

    return of


def test_a_bank_is_proposed_what_it_does_and_nothing_else(prepared):
    """The sandbox does one of two things: that answer is kept, and the other one is not."""
    found = [*proposals(prepared())]
    done = {(each.contract, each.point, each.done) for each in QUESTIONS if each.done}
    assert done == {(each.contract.id, each.point.id, each.answer.id) for each in found}
    _, text = "\n".join(proposal_lines(found)).split("\n", 1)
    names = {f"{each.contract}/{each.point}" for each in QUESTIONS if each.done}
    assert names == yaml.safe_load(text)["decided"].keys()


def test_what_is_answered_is_not_asked(prepared):
    """The file has the answer already."""
    found = proposals(prepared("decided: {card-edge: {value: excluded, source: manual}}\n"))
    assert "card-edge" not in {each.point.id for each in found}


def test_nobody_pays_for_what_was_not_asked(prepared):
    """Real customers' accesses are spent on what the contract asks."""
    with pytest.raises(InputError, match="fixture provider creates"):
        next(proposals(prepared("environment: live\n")))


def test_the_points_are_listed_with_what_an_answer_adds(prepared):
    """Each answer stands there as it is written in a target file."""
    lines = [*open_point_lines(prepared("decided: {events: {says: None., source: page 3}}\n"))]
    at = lines.index("aisp/card-edge")
    assert '    decided: {card-edge: {value: included, source: "..."}}' in lines[at : at + 4]
    assert "    adds 1 obligation, 0 calls" == lines[at + 4]
    assert "  answered: None. (page 3)" in lines
    assert lines[-1].startswith("41 open points: 7 answered")


def test_the_sandbox_answers_all_that_it_does():
    """Its shipped file has each answer that the proof knows it to keep."""
    decided = prepare((), "sandbox-decided").target.decided
    answered = {
        (each.contract, each.point, each.done)
        for each in QUESTIONS
        if each.done in decided[f"{each.contract}/{each.point}"].value
    }
    assert {(each.contract, each.point, each.done) for each in QUESTIONS if each.done} == answered
