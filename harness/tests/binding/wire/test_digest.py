"""A digest is the same for the same JSON, and another one for another, whatever it is."""

import json
from decimal import Decimal

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from rows import for_each

from assay.binding.model.pointer import digests
from assay.binding.model.target import ItemBinding, OperationBinding, Target, TransportKind
from assay.binding.wire.decode import body_of, decode
from assay.contract.model import Operation
from assay.history import Accepted, Wire


def of(text, *volatile):
    return digests(json.loads(text, parse_float=Decimal), volatile)[0]


@pytest.mark.parametrize(
    ("text", "other_text"),
    [
        ('{"a": 1, "b": [2]}', '{"b": [2], "a": 1}'),
        ('{"a": 12.50}', '{"a": 12.5}'),
        ('{"a": 12.0}', '{"a": 12}'),
        ('"\\u00e9"', '"é"'),
    ],
)
def test_the_same_written_in_another_way(text, other_text):
    """The order of members and zeros behind the point make no difference."""
    assert of(text) == of(other_text)


@for_each(
    ("text", "other_text"),
    [
        ('{"a": 1}', '{"a": 2}'),
        ('{"a": 1}', '{"a": "1"}'),
        ('{"a": 1.5}', '{"a": "1.5"}'),
        ('{"a": 1}', '{"a": true}'),
        ('{"a": null}', "{}"),
        ("[1, 2]", "[2, 1]"),
        ("1.05", "1.5"),
        ("-1.5", "1.5"),
        ("1E+999999999", "1E+999999998"),
        ("0.1000000000000000000000000000000001", "0.1"),
    ],
)
def test_what_differs(text, other_text):
    """Another value, another type, another order of a list: another digest."""
    assert of(text) != of(other_text)


@for_each(
    ("text", "other_text", "pointer"),
    [
        ('{"a": 1, "t": 1}', '{"a": 1, "t": 2}', "/t"),
        ('{"a": 1, "t": 1}', '{"a": 1}', "/t"),
        ('{"x": {"t": 1, "u": 3}}', '{"x": {"t": 2, "u": 3}}', "/x/t"),
        ('{"x": [{"t": 1}, 5]}', '{"x": [{"t": 2}, 5]}', "/x/0/t"),
        ("[1, 5]", "[2, 5]", "/0"),
        ("1", "2", ""),
    ],
)
def test_what_is_volatile_is_left_out(text, other_text, pointer):
    """What stands at a pointer makes no difference, and only that."""
    assert of(text, pointer) == of(other_text, pointer)
    assert of(text) != of(other_text)


@pytest.mark.parametrize("pointer", ["/none", "/a/b/c", "/x/7", "/x/y", "/-1"])
def test_a_pointer_to_nothing_leaves_nothing_out(pointer):
    """It points into items that may have it and items that have not."""
    assert of('{"a": 1, "x": [1]}') == of('{"a": 1, "x": [1]}', pointer)


def test_nothing_that_a_target_sends_makes_it_fail():
    """Half a character, a number of 10,000 digits, 900 levels."""
    for text in ('"\\ud800"', f"0.{'1' * 10_000}", "-0.0", "[" * 900 + "]" * 900):
        assert isinstance(of(text, "/0/0"), str)
    deep = []
    for _ in range(100_000):
        deep = [deep]
    assert digests(deep) == ("", "")


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text() | st.decimals(allow_nan=False),
    lambda below: st.lists(below, max_size=3) | st.dictionaries(st.text(), below, max_size=3),
    max_leaves=6,
)


@settings(max_examples=100, deadline=None)
@given(JSON, st.lists(st.sampled_from(["", "/0", "/a", "/0/0", "/a/0"]), max_size=2))
def test_an_item_is_left_as_it_is(item, volatile):
    """A digest changes nothing, and is the same again."""
    before = repr(item)
    assert digests(item, volatile) == digests(item, volatile)
    assert before == repr(item)


@pytest.mark.parametrize(("volatile", "made"), [(None, 0), ((), 2), (("/at",), 1)])
def test_items_have_one_where_the_profile_says_what_is_volatile(volatile, made):
    """Without that nobody knows what of an item may be compared."""
    item = ItemBinding(key=("/id",), volatile=volatile)
    target = Target(
        name="t",
        transport=TransportKind.HTTP,
        base_url="https://bank.example",
        operations={"x": OperationBinding(list=("",), item=item)},
    )
    body = b'[{"id": "A", "at": 1}, {"id": "A", "at": 2}]'
    wire = Wire(method="GET", url="https://bank.example/x", status=200, body=body)
    outcome = decode(wire, body_of(wire), Operation(id="x", method="GET", path="/x"), target)
    assert isinstance(outcome, Accepted)
    assert made == len({one.digest for one in outcome.items} - {""})
    assert outcome.items[0] == outcome.items[1]


@pytest.mark.parametrize(
    ("one", "other", "same"),
    [
        ({"a": 1, "self": "/x"}, {"a": 1, "self": "/y"}, True),
        ({"a": 1, "l": {"href": "https://b/x"}}, {"a": 1, "l": {"href": "https://b/y"}}, True),
        ({"a": 1, "self": "/x"}, {"a": 2, "self": "/x"}, False),
        ({"a": ["x", "/1"]}, {"a": ["y", "/1"]}, False),
        ({"self": "/x"}, {"self": 1}, False),
    ],
)
def test_what_may_be_a_link_has_a_digest_of_its_own(one, other, same):
    """The second digest is the same whatever the links are."""
    first, second = digests(one), digests(other)

    assert first[0] != second[0]
    assert (first[1] == second[1]) is same
    assert digests({"a": "no link: x"})[1] == ""
