"""JSON pointers, on documents that were not made for them."""

from __future__ import annotations

import pytest
from rows import for_each

from assay.binding.model.pointer import MISSING, find, own_conditions, put, steps

DOCUMENT = {
    "a": {"b": [10, {"c": None}], "": 1, "x/y": 2, "m~n": 3, "0": "zero"},
    "list": [["deep"]],
    "text": "word",
}


@for_each(
    ("pointer", "found"),
    [
        ("", DOCUMENT),
        ("/a/b/0", 10),
        ("/a/b/1/c", None),
        ("/a/", 1),
        ("/a/x~1y", 2),
        ("/a/m~0n", 3),
        ("/a/0", "zero"),
        ("/list/0/0", "deep"),
        ("/a/b/2", MISSING),
        ("/a/b/-1", MISSING),
        ("/a/b/-", MISSING),
        ("/a/b/\u00b2", MISSING),
        ("/a/b/c", MISSING),
        ("/text/0", MISSING),
        ("/text/length", MISSING),
        ("/absent/b", MISSING),
        ("/a/b/1/c/d", MISSING),
    ],
)
def test_find(pointer: str, found: object) -> None:
    """A pointer finds what stands there, or says that nothing does; null is something."""
    assert found == find(DOCUMENT, pointer)


@for_each("document", [None, True, 1, "text", [], {}])
def test_nothing_there(document: object) -> None:
    """On whatever document, a pointer to nothing fails in no other way."""
    assert MISSING is find(document, "/a/0")


def test_escapes() -> None:
    """`~01` is `~1` and no slash."""
    assert ("~1", "a/b", "") == steps("/~01/a~1b/")


def test_put() -> None:
    """Values find their place, beside what is there already."""
    document: dict[str, object] = {}
    put(document, "/a/b", 1)
    put(document, "/a/c~1d", [2])
    put(document, "/e", None)
    assert {"a": {"b": 1, "c/d": [2]}, "e": None} == document
    put(document, "", {"a": {"b": 3, "f": {}}, "e": {"g": 4}})
    assert {"a": {"b": 3, "c/d": [2], "f": {}}, "e": {"g": 4}} == document


@pytest.mark.parametrize(("at", "wrong"), [("/scheme", True), ("/value", False), ("/kind", True)])
def test_an_element_is_not_read_at_its_own_condition(at: str, wrong: bool) -> None:
    """What `where` asks for is the same in every item, so it is no key and no field."""
    element = {"in": "/ids", "where": {"/scheme": "IBAN", "/kind": 1}, "at": at}
    found = [*own_conditions({"fields": {"iban": element}}, ("item",))]
    assert wrong == bool(found)
    assert [("item", "fields", "iban", "at")] * wrong == [place for place, *_ in found]
