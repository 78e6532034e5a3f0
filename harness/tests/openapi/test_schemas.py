"""Combined schemas accept exactly what their parts accept together."""

from decimal import Decimal

from hypothesis import example, given, settings
from hypothesis import strategies as st
from jsonschema import Draft202012Validator
from rows import for_each

from assay.binding.model.pointer import MISSING, find, put
from assay.openapi.schemas import (
    all_of,
    any_of,
    filled,
    in_request,
    in_response,
    ready,
    typed,
    unique,
)

NAMES = st.sampled_from(["a", "b", "0", "1", "01", "~/"])
LEAVES = st.sampled_from([None, True, False, 0, 1, "", "x", [], {}])
VALUES = st.recursive(
    LEAVES,
    lambda one: st.lists(one, max_size=3) | st.dictionaries(NAMES, one, max_size=3),
    max_leaves=6,
)
POINTERS = st.lists(NAMES, max_size=3).map(
    lambda steps: "".join("/" + one.replace("~", "~0").replace("/", "~1") for one in steps)
)
PARTS = st.sampled_from(
    [
        {}, {"const": 1}, {"const": True}, {"enum": [1, "x"]}, {"enum": [True, ""]},
        {"type": "string"}, {"type": ["string", "null"]}, {"minLength": 1}, {"not": {"const": 0}},
        {"type": "array", "items": {"const": 1}}, {"anyOf": [{"const": 1}, {"const": "x"}]},
    ]
)  # fmt: skip
SCHEMAS = PARTS | st.builds(
    lambda pointer, part, required: in_response(pointer, part, required=required),
    POINTERS, PARTS, st.booleans(),
)  # fmt: skip
settings.register_profile(
    "shapes", max_examples=120, deadline=None, database=None, derandomize=True
)
MANY = settings(settings.get_profile("shapes"))


def fits(value, schema):
    return Draft202012Validator(schema).is_valid(value)


@MANY
@given(VALUES, st.lists(SCHEMAS, min_size=1, max_size=3))
@example(1, [{"const": 1}, {"const": True}])
def test_what_is_laid_over_one_another_is_all_of_them(value, schemas):
    """A value fits `all_of` if, and only if, it fits each schema."""
    assert all(fits(value, one) for one in schemas) == fits(value, all_of(*schemas))


@MANY
@given(VALUES, st.lists(SCHEMAS, min_size=1, max_size=3))
@example(True, [{"const": 1}, {"const": True}])
def test_either_is_one_of_them(value, schemas):
    """A value fits `any_of` if, and only if, it fits one schema."""
    assert any(fits(value, one) for one in schemas) == fits(value, any_of(schemas))


@MANY
@given(VALUES, POINTERS, PARTS, st.booleans())
@example([0, 1], "/01", {"const": 1}, True)
@example({"1": 1}, "/1", {"const": 1}, True)
def test_found_is_what_the_pointer_finds(value, pointer, part, required):
    """What a pointer finds must fit; it may find nothing unless the value is required."""
    there = find(value, pointer)
    right = not required if there is MISSING else fits(there, part)
    assert right == fits(value, in_response(pointer, part, required=required))


@MANY
@given(LEAVES, POINTERS, PARTS, st.booleans())
def test_within_is_what_is_put_there(value, pointer, part, required):
    """A body with the value at the pointer fits, and one without it unless it is required."""
    if not pointer:
        return
    body = {}
    put(body, pointer, value)
    schema = in_request(pointer, part, required=required)
    assert fits(value, part) == fits(body, schema)
    assert (not required) == fits({}, schema)


def test_a_place_far_down_a_list_is_not_described():
    """A pointer with a huge index makes no huge schema."""
    assert {"properties": {"7000000000": {"const": 1}}} == in_response("/7000000000", {"const": 1})


@for_each("value", [True, 1, 2.5, Decimal("1.5"), "x", [1], {"a": 1}])
def test_a_value_has_its_type_and_is_filled(value):
    """A value fits its type; `filled` excludes null and the empty value of the type."""
    schema = filled(typed(value))
    assert fits(ready(value), schema)
    assert not fits(None, schema)
    assert not fits({str: "", list: [], dict: {}}.get(type(value)), schema)


def test_what_has_no_type_is_filled_if_it_is_something():
    """Without a known type, `filled` excludes null and the empty text."""
    assert {} == typed(None)
    assert [False, False, True] == [fits(one, filled({})) for one in (None, "", 0)]


def test_numbers_are_written_as_numbers():
    """`ready` turns decimals into plain numbers of the same value."""
    assert {"a": [1, 1.5, {"b": "1.0"}]} == ready(
        {"a": (Decimal("1.0"), Decimal("1.5"), {"b": "1.0"})}
    )


def test_a_name_that_is_taken_gets_a_number():
    """`unique` returns the first free name."""
    assert "a" == unique("a", ["b"])
    assert "a.3" == unique("a", ["a", "a.2"])
