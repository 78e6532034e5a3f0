"""Parameters: what the schema has let through is read, and nothing else."""

import pytest
from building import AISP

from assay.contract.model import Clause, Level
from assay.rules import parameters


def clause(**given):
    return Clause(id="c", kind="k", statement="It is so.", sources=(), level=Level.MUST, params=given)


@pytest.mark.parametrize(
    ("read", "value", "words"),
    [
        (parameters.text, 7, "c.x is no text"),
        (parameters.maybe, 7, "c.x is no text"),
        (parameters.whole, "7", "c.x is no whole number"),
        (parameters.texts, "x", "c.x is no list"),
        (parameters.mapping, ["x"], "c.x is no mapping"),
    ],
)
def test_what_the_schema_should_have_refused_is_a_fault(read, value, words):
    """The message names the clause and the parameter."""
    with pytest.raises(TypeError, match=words):
        read(clause(x=value), "x")


def test_what_is_there_is_read():
    """Each in its own type."""
    given = clause(
        x="a", n=4, list=["a", "b"], map={"a": 1}, operation="accounts", grant="consents"
    )

    assert "a" == parameters.text(given, "x") == parameters.maybe(given, "x")
    assert 4 == parameters.whole(given, "n")
    assert ("a", "b") == parameters.texts(given, "list")
    assert {"a": 1} == parameters.mapping(given, "map")
    assert AISP.operations["accounts"] is parameters.operation(given, AISP)
    assert AISP.operations["consents"] is parameters.granting(given, AISP)


def test_what_may_be_absent_is_nothing():
    """No text, no list, no mapping, no grant, no operations."""
    empty = clause()

    assert parameters.maybe(empty, "x") is None
    assert () == parameters.texts(empty, "x") == parameters.operations(empty, AISP)
    assert {} == parameters.mapping(empty, "x")
    assert parameters.granting(empty, AISP) is None
