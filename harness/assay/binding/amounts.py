"""Amounts of money as a target counts them: in euros, in cents, in any unit.

A contract and the values of a target file are in the main unit of the currency. What is no plain
number stays as it is, so that a value that is wrong on purpose is sent wrong.
"""

from __future__ import annotations

from decimal import Decimal
from fractions import Fraction

from assay.contract.model import Json
from assay.contract.scalars import number_of, text_of


def in_units(amount: Json, unit: Decimal) -> Json:
    """Return how many units an amount is: 4000 for 40.00 and the unit 0.01."""
    number = number_of(amount)
    if number is None:
        return amount
    count = Fraction(number) / Fraction(unit)
    return count.numerator if count.denominator == 1 else float(count)


def from_units(count: Json, unit: Decimal) -> Json:
    """Return the amount of a number of units, as a text: "40.00" for 4000 and the unit 0.01."""
    number = number_of(count)
    return count if number is None else text_of(number * unit)
