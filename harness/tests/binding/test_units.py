"""Amounts of a gateway that counts in another unit than the contract."""

from decimal import Decimal

import pytest

from assay.binding.spelling import Place, Spelling
from assay.binding.values import RequestValues, from_unit, sent, to_unit

CENTS = Spelling(place=Place.BODY, name="/cents", unit="0.01")


@pytest.mark.parametrize(
    ("value", "expected"),
    [
        ("12.30", 1230),
        (Decimal("0.01"), 1),
        (9, 900),
        ("0.005", 0.5),
        ("-1", -100),
        (True, True),
        (None, None),
        ("", ""),
        ("a text", "a text"),
        ("NaN", "NaN"),
        ("1e99999", "1e99999"),
        ([1, "2"], [100, 200]),
    ],
)
def test_a_number_is_sent_in_the_unit_of_the_gateway(value, expected):
    """Numbers and their texts are counted in cents, exactly; anything else stays as it is."""
    told = sent(value, CENTS, RequestValues())
    assert expected == told
    assert type(expected) is type(told)


@pytest.mark.parametrize(
    ("value", "expected"),
    [(1230, "12.30"), (1, "0.01"), ("900", "9.00"), (True, True), (None, None), ("x", "x")],
)
def test_a_number_is_read_in_the_unit_of_the_contract(value, expected):
    """What is read is exact to the last digit of the unit."""
    assert expected == from_unit(value, "0.01")


@pytest.mark.parametrize("value", ["12.30", 9, 1.5, True, None])
def test_without_a_unit_nothing_changes(value):
    """A value of the contract's own unit keeps its type."""
    assert value is to_unit(value, "1")
    assert value is from_unit(value, "1")
