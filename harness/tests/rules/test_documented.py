"""`documented` judges what the bank's own document said of each answer when it came."""

from dataclasses import replace

import pytest
from rows import for_each

from assay.history import Aspect, Call, DocumentRemark, Submitted
from assay.testing import (
    accepted,
    evidence,
    exchange,
    failed,
    history,
    judge,
    kind_in,
    play,
    refused,
    violated,
)

CONTRACT = """
assay: 1
contract: cabin
version: "1"
document: The cabins
interface: cabins
zone: Europe/Paris
title: Cabins
operations:
  cabins: {method: GET, path: /cabins, lists: [cabin]}
resources:
  cabin: {says: A cabin., key: number, fields: [number]}
rules:
  - id: openapi
    kind: documented
    says: Answers are as documented.
    source: {section: S, line: 1}
    operation: cabins
    aspects: [status, media-type, structure, headers]
"""
CALL = Call(operation="cabins", subject="psu")
GOOD = tuple(DocumentRemark(aspect=each, fits=True) for each in Aspect)


@pytest.fixture
def clause(tmp_path):
    """Return the clause with all aspects."""
    path = tmp_path / "cabin.yaml"
    path.write_text(CONTRACT)
    return kind_in(path, "openapi")


def remarked(answer, *remarks, call=CALL):
    """Return a call with its answer, and what the document says of that."""
    return replace(exchange(call, answer), documented=remarks)


def wrong(aspect, fits=False):
    """Return remarks of which one differs."""
    return tuple(
        replace(each, fits=fits, says="it differs") if each.aspect is aspect else each
        for each in GOOD
    )


def test_what_is_documented_agrees(clause):
    """There is evidence for each aspect that the document describes, and none for others."""
    few = history(remarked(accepted("C-1"), *GOOD), remarked(refused(), GOOD[0]))
    agreed = [f"{each.value} agrees 1" for each in Aspect]
    assert [*agreed, "status agrees 2"] == evidence(clause, few)


@for_each("aspect", Aspect)
def test_a_difference_is_of_its_own_facet(clause, aspect):
    """Whatever else the answer has right."""
    found = evidence(clause, history(remarked(accepted("C-1"), *wrong(aspect))))
    assert [f"{aspect.value} disagrees 1"] == [
        each for each in found if "agrees 1" not in each[-9:]
    ] or (f"{aspect.value} disagrees 1" in found)
    assert 1 == sum("disagrees" in each for each in found)


def test_what_is_open_is_unclear(clause):
    """A hidden text, or a request that the document lacks."""
    found = evidence(clause, history(remarked(accepted("C-1"), *wrong(Aspect.STRUCTURE, None))))
    assert "structure unclear 1" in found


@for_each("status", [502, 503, 504])
def test_a_gateway_in_front_is_not_the_bank(clause, status):
    """Nor is what may come from before the application."""
    found = evidence(clause, history(remarked(failed(status=status), *wrong(Aspect.STATUS)[:1])))
    assert ["status unclear 1"] == found
    early = remarked(refused(), *wrong(Aspect.STATUS)[:1])
    early = replace(early, outcome=replace(early.outcome, early=True))
    assert ["status unclear 1"] == evidence(clause, history(early))


def test_other_operations_and_answers_without_a_remark_are_not_judged(clause):
    """A target without a document has none."""
    other = remarked(accepted("C-1"), *wrong(Aspect.STATUS), call=replace(CALL, operation="other"))
    assert [] == evidence(clause, history(other, remarked(accepted("C-1"))))


def test_a_submission_is_judged_as_its_operation(clause):
    """It is a second call of what makes the request."""
    made = remarked(accepted("C-1"), *wrong(Aspect.STATUS)[:1])
    names = ("n", "at", "call", "outcome", "wire", "documented")
    sent = Submitted(request="C-1", **{name: getattr(made, name) for name in names})
    assert ["status disagrees 1"] == evidence(clause, history(sent))


def bank(*remarks):
    """Return a bank of whose answers the document says this."""

    def remarking(step, reply):
        return replace(reply, documented=remarks) if isinstance(step, Call) else reply

    return remarking


def test_the_probe_makes_one_plain_call(clause):
    """Nothing is varied."""
    played = play(clause, "plain", lambda _: accepted("C-1"), reply=bank(*GOOD))
    assert ["cabins"] == [each.operation for each in played.calls]
    assert "" == played.calls[0].variation


def test_a_scripted_bank_without_a_document_shows_nothing(clause):
    """No facet conforms, and none is violated."""
    assert set() == violated(clause, lambda: lambda _: accepted("C-1"))
    assert {"indeterminate"} == {
        each.value for each in judge(clause, lambda: lambda _: accepted("C-1")).values()
    }
