"""Decision tables: derived from a condition, and compared with brute force."""

from itertools import product

from visits import FIVE, params, table

from assay.contract.model import Capability
from assay.rules.conditions import table as conditions_table


def five(world):
    """Say what the five atoms lead to, in plain Python."""
    gas, card, known, dear, north = world
    return (gas and not card and known) or (dear and not north)


def differ(row, neighbour):
    """Return the atoms in which two rows differ."""
    both = zip(row.assignment, neighbour.assignment, strict=True)
    return [n for n, (mine, its) in enumerate(both) if mine is not its]


def shown(table_):
    """Return the atoms that some pair of rows shows: they differ in it alone, and flip."""
    return {
        differ(row, neighbour)[0]
        for row in table_.rows
        for neighbour in table_.rows
        if len(differ(row, neighbour)) == 1 and row.result is not neighbour.result
    }


def test_a_condition_of_five_atoms():
    """All 32 assignments are compared; the rows are right, cover all, and are few."""
    built = table(FIVE)
    assignments = list(product([False, True], repeat=5))
    showable = {
        atom
        for one in assignments
        for atom in range(5)
        if five(one) != five((*one[:atom], not one[atom], *one[atom + 1 :]))
    }

    assert [five(one.assignment) for one in built.rows] == [one.result for one in built.rows]
    assert {0, 1, 2, 3, 4} == showable == shown(built)
    assert 6 <= len({one.assignment for one in built.rows}) <= 10
    assert {} == built.hidden


def test_every_row_is_there_for_an_atom_that_decides_in_it():
    """Turned over, it would turn the result over: also at each threshold."""
    found = table(FIVE)
    for row in found.rows:
        assert row.decides
        for atom in row.decides:
            other = (*row.assignment[:atom], not row.assignment[atom], *row.assignment[atom + 1 :])
            assert five(other) != row.result


def test_every_point_of_every_atom_has_a_row():
    """Just below, at and just above; every factor; every sort of registration."""
    built = table(FIVE)
    for n, atom in enumerate(built.atoms):
        (input_,) = (one for one in built.inputs if n in one.atoms)
        place = built.inputs.index(input_)
        tried = {row.points[place].name for row in built.rows if n in row.decides}
        assert {one.name for one in atom.points} == tried


def test_ids_are_made_of_atom_and_point():
    """A row that comes up for several atoms is one, named after the first."""
    assert [
        *("work-gas", "work-not-gas", "work-not-gas-other"),
        *("factor-stamp", "factor-card"),
        *("work-unregistered", "work-by-another", "work-just-under-48h", "work-at-48h"),
        *("work-long", "price-just-above-500.00", "price-just-below-500.00"),
        *("region-north", "region-not-north-other"),
    ] == [one.id for one in table(FIVE).rows]


def test_coupled_thresholds_are_both_shown():
    """Above 500 is above 100 as well; each decides where the other allows it."""
    built = table(
        "{any: [{field: price, above: 500}, {all: [{field: price, above: 100},"
        " {field: work, is: gas}]}]}"
    )

    assert {0, 1, 2} == shown(built)
    worlds = {one.assignment[:2] for one in built.rows}
    assert (True, False) not in worlds
    assert {"price-at-100", "price-just-above-100", "price-just-below-100"} <= {
        one.id for one in built.rows if 1 in one.decides
    }


def test_two_values_of_one_field_exclude_each_other():
    """Both true cannot be; each is shown against a third value."""
    built = table("{any: [{field: work, is: gas}, {field: work, is: water}]}")

    assert {0, 1} == shown(built)
    assert (True, True) not in {one.assignment for one in built.rows}


def test_the_same_atom_twice_is_one():
    """It is turned over in both places at once."""
    built = table(
        "{any: [{all: [{factor: card}, {field: work, is: gas}]},"
        " {all: [{factor: card}, {field: region, is: north}]}]}"
    )

    assert ["signed with card", "work is gas", "region is north"] == [
        one.label for one in built.atoms
    ]
    assert {0, 1, 2} == shown(built)


MASKED = (
    "{all: [{field: region, is: north}, {any: [{registered: work, more-than-hours: 900},"
    " {registered: work, more-than-hours: 24}]}]}"
)


def test_what_cannot_be_shown_is_listed():
    """More than 900 hours is more than 24: it never decides, and is not dropped."""
    built = table(MASKED)

    assert {0, 2} == shown(built)
    why = "work registered > 900 h: it never decides alone, whatever the other atoms are"
    facets = params(MASKED).facets()
    assert {"work-hidden": why} == {
        one.id: one.not_applicable_because for one in facets if one.not_applicable_because
    }
    assert f"not tested: {why}" in conditions_table.render(built, "rejected", "accepted")


def test_a_point_that_cannot_be_shown_is_listed():
    """What the profile has in a field is above a limit or not: nobody knows beforehand."""
    built = table("{all: [{field: price, is: '700'}, {field: price, above: 500}]}")

    assert {
        "price-not-700": "price is 700: other atoms with the same input are unknown there",
        "price-not-700-other": "price is 700: other atoms with the same input are unknown there",
        "price-hidden": "price above 500: it never decides alone, whatever the other atoms are",
    } == built.hidden
    assert {0} == shown(built)


def test_a_point_where_it_does_not_decide_is_listed():
    """Just below 11, 10 is not above 10 either."""
    built = table("{all: [{field: price, above: 10}, {field: price, above: 11}, {factor: card}]}")

    assert {1, 2} == shown(built)
    assert {
        "price-hidden": "price above 10: it never decides alone, whatever the other atoms are",
        "price-just-below-11": "price above 11: it does not decide alone there",
    } == built.hidden


def test_a_condition_that_never_holds_has_no_rows():
    """All of it is hidden."""
    when = "{all: [{factor: card}, {not: {factor: card}}]}"

    assert () == table(when).rows
    assert ["factor-hidden"] == [one.id for one in params(when).facets()]


def test_ids_have_no_odd_letters_and_are_different():
    """An id stands in waivers and on command lines."""
    found = table("{any: [{field: work, is: gas / heat}, {field: work, is: gas + heat}]}")
    ids = [one.id for one in found.rows]

    assert ["work-gas-heat", "work-gas-heat-2"] == [one for one in ids if "not" not in one]
    assert len(ids) == len(set(ids))


def test_a_row_needs_what_its_points_do():
    """And what its control does."""
    facets = {one.id: one for one in params(FIVE).facets()}

    assert Capability.REGISTRATIONS in facets["work-at-48h"].needs
    assert Capability.TWO_PSU in facets["work-by-another"].needs
    assert Capability.REGISTRATIONS not in facets["work-unregistered"].needs
