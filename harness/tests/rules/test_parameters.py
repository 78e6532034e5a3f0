"""Parameters of kinds: schema, checks of references and values from one declaration."""

from dataclasses import dataclass

import pytest
from account_information import AISP
from rows import for_each

from assay.contract.model import Clause, Level, Operation
from assay.rules import parameters
from assay.rules.rule import Kind


@dataclass(frozen=True, slots=True, kw_only=True)
class Sample(Kind):
    """One parameter of each sort."""

    name = "sample"

    operation: Operation = parameters.operation()
    word: str = parameters.word(key="word")
    limit: int = parameters.whole(key="limit")
    words: tuple[str, ...] = parameters.names(
        parameters.ref("words"), key="some-words", required=False
    )
    exact: bool = parameters.flag(key="exact")
    grant: Operation | None = parameters.grant()
    title: str = parameters.derived(lambda contract, known: f"{contract.id} {known['limit']}")


GIVEN = {"operation": "accounts", "word": "a", "limit": 4}


def clause(**given):
    return Clause(
        id="c", rule=Sample, statement="It is so.", sources=(), level=Level.MUST, params=given
    )


@for_each(
    ("name", "value", "said"),
    [
        ("word", 7, "c.word is no text"),
        ("limit", "7", "c.limit is no whole number"),
        ("limit", True, "c.limit is no whole number"),
        ("some-words", "x", "c.some-words is no list"),
    ],
)
def test_what_the_schema_should_have_refused_is_a_fault(name, value, said):
    """The message names the clause and the parameter."""
    with pytest.raises(TypeError, match=said):
        Sample.parse(clause(**{**GIVEN, name: value}), AISP)


@for_each("name", GIVEN)
def test_what_must_be_there_is_missed(name):
    """A required parameter that is not there is a fault, too."""
    with pytest.raises(TypeError, match=f"c.{name} is missing"):
        Sample.parse(clause(**{key: GIVEN[key] for key in GIVEN if key != name}), AISP)


def test_what_is_there_is_read():
    """Each in its own type, by the name that contracts use."""
    more = {"some-words": ["a", "b"], "exact": True, "grant": "consents"}
    sample = Sample.parse(clause(**GIVEN, **more), AISP)

    assert ("a", 4, ("a", "b"), True) == (sample.word, sample.limit, sample.words, sample.exact)
    assert AISP.operations["accounts"] is sample.operation
    assert AISP.operations["consents"] is sample.grant
    assert "aisp 4" == sample.title


def test_what_may_be_absent_is_nothing():
    """No list, no flag, no grant."""
    found = Sample.parse(clause(**GIVEN), AISP)

    assert ((), False, None) == (found.words, found.exact, found.grant)


def test_the_schema_follows_from_the_declaration():
    """Required keys, in the order of the fields; a derived field is no parameter."""
    schema = Sample.schema()

    assert ["id", "kind", "says", "source", *GIVEN] == schema["required"]
    assert {"some-words", "exact", "grant", *GIVEN} < set(schema["properties"])
    assert "title" not in schema["properties"]


def test_a_reference_to_nothing_is_found():
    """With the place in the contract, and the names that there are."""
    raw = {"operations": {"accounts": {}, "consents": {"grants": "accounts"}}}
    sound = {**GIVEN, "kind": "sample", "grant": "consents"}

    assert [] == list(Sample.references(("rules", 0), sound, raw))
    (found,) = Sample.references(("rules", 0), {**sound, "operation": "acounts"}, raw)
    assert (("rules", 0, "operation"), "there is no operation 'acounts'") == found[:2]
    assert "accounts" in found[2]
