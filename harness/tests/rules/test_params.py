"""Parameters: what the schema has let through is read, and nothing else."""

import pytest
from building import AISP

from assay.model import Clause, Level
from assay.rules import params


def clause(**given):
    return Clause(id="c", kind="k", says="It is so.", sources=(), level=Level.MUST, params=given)


@pytest.mark.parametrize(
    ("read", "value", "words"),
    [
        (params.text, 7, "c.x is no text"),
        (params.maybe, 7, "c.x is no text"),
        (params.whole, "7", "c.x is no whole number"),
        (params.texts, "x", "c.x is no list"),
        (params.mapping, ["x"], "c.x is no mapping"),
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

    assert "a" == params.text(given, "x") == params.maybe(given, "x")
    assert 4 == params.whole(given, "n")
    assert ("a", "b") == params.texts(given, "list")
    assert {"a": 1} == params.mapping(given, "map")
    assert AISP.operations["accounts"] is params.operation(given, AISP)
    assert AISP.operations["consents"] is params.granting(given, AISP)


def test_what_may_be_absent_is_nothing():
    """No text, no list, no mapping, no grant, no operations."""
    empty = clause()

    assert params.maybe(empty, "x") is None
    assert () == params.texts(empty, "x") == params.operations(empty, AISP)
    assert {} == params.mapping(empty, "x")
    assert params.granting(empty, AISP) is None
