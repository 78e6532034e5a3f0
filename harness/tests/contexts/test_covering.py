"""Covering arrays: every value with `each`, every two values with `pairs`, no more rows than needed."""

from dataclasses import replace
from itertools import combinations, product

from hypothesis import given
from hypothesis import strategies as st
from rows import for_each

from assay.contexts.context import Depth, DimensionValue, StepMapper, contexts


def columns(*sizes):
    """Return as many values of each dimension."""
    return [
        [
            DimensionValue(
                dimension=f"d{number}",
                name=str(place),
                description="",
                reason=lambda _: "",
                mapper=StepMapper,
            )
            for place in range(size)
        ]
        for number, size in enumerate(sizes)
    ]


def ids(rows):
    return [{value.id for value in row} for row in rows]


SIZES = st.lists(st.integers(1, 4), min_size=1, max_size=6)


@given(SIZES)
def test_each_covers_every_value_in_as_few_rows_as_the_longest_dimension(sizes):
    """A value is in exactly one row, and no row has two values of one dimension."""
    values = columns(*sizes)
    rows = contexts(values, Depth.EACH)
    assert max(sizes) == len(rows)
    placed = [value.id for row in rows for value in row]
    assert sorted(placed) == sorted(value.id for column in values for value in column)
    assert all(len({value.dimension for value in row}) == len(row) for row in rows)


@given(SIZES)
def test_pairs_meet_each_other_and_the_base_values(sizes):
    """Every two values of two dimensions stand in one row; so does each without the other."""
    values = columns(*sizes)
    rows = ids(contexts(values, Depth.PAIRS))
    for first, second in combinations(values, 2):
        for first_value, second_value in product([None, *first], [None, *second]):
            if first_value is None and second_value is None:
                continue
            assert any(
                (first_value.id in row if first_value else not row & {v.id for v in first})
                and (second_value.id in row if second_value else not row & {v.id for v in second})
                for row in rows
            ), (first_value, second_value)


@given(SIZES, st.data())
def test_all_pairs_meet_that_do_not_contradict_each_other(sizes, data):
    """Whatever excludes what: no value is left out for the sake of others."""
    names = [f"d{number}" for number in range(len(sizes))]
    hides = st.sampled_from([(), (), *((name,) for name in names)])
    values = [
        [replace(value, hides=data.draw(hides)) for value in column] for column in columns(*sizes)
    ]
    rows = ids(contexts(values, Depth.PAIRS))
    for first, second in combinations(values, 2):
        for left, right in product(first, second):
            excluded = left.excludes(right) or right.excludes(left)
            assert excluded is not any({left.id, right.id} <= row for row in rows)
            assert any(left.id in row for row in rows)


@for_each("depth", Depth)
def test_without_values_there_are_no_contexts(depth):
    """What nothing can vary is tested in the base context alone."""
    assert () == contexts([], depth)


def test_the_base_depth_has_no_further_contexts():
    """`base` is the plan as it is."""
    assert () == contexts(columns(2, 2), Depth.BASE)


def test_values_of_short_dimensions_are_spread():
    """Two dimensions with one value each do not stand in one row."""
    rows = ids(contexts(columns(2, 1, 1), Depth.EACH))
    assert [{"d0=0", "d1=0"}, {"d0=1", "d2=0"}] == rows


def test_values_that_contradict_each_other_never_stand_in_one_row():
    """A value that brings along another mode stands beside that mode, or beside none."""
    values = [[*columns(2)[0]], [replace(columns(1, 1)[1][0], implies="d0=1")]]
    for depth in (Depth.EACH, Depth.PAIRS):
        rows = ids(contexts(values, depth))
        assert not any({"d0=0", "d1=0"} <= row for row in rows)
        assert any("d1=0" in row for row in rows)


def test_a_value_that_fits_nowhere_has_a_row_of_its_own():
    """One more trial is cheaper than a value that is never tested."""
    values = [[*columns(1)[0]], [replace(columns(1, 1)[1][0], implies="d0=other")]]
    assert [{"d0=0"}, {"d1=0"}] == ids(contexts(values, Depth.EACH))


@for_each("depth", [Depth.EACH, Depth.PAIRS])
def test_a_value_that_hides_a_dimension_stands_beside_none_of_it(depth):
    """What has no effect there would count as tested."""
    values = [[*columns(2)[0]], [replace(columns(1, 1)[1][0], hides=("d0",))]]
    rows = ids(contexts(values, depth))
    hiding = [row for row in rows if "d1=0" in row]
    assert hiding
    assert all(row == {"d1=0"} for row in hiding)
