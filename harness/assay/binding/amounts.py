"""Amounts of money as a target counts them: in euros, in cents, in any unit.

A contract and the values of a target file are in the main unit of the currency. What is no plain
number stays as it is, so that a value that is wrong on purpose is sent wrong.
"""

from __future__ import annotations

import re
from decimal import Decimal
from fractions import Fraction

from assay.contract.model import Json

#: A number without an exponent, which a fuzzed amount may have.
_PLAIN = re.compile(r"-?[0-9]{1,30}(\.[0-9]{1,30})?", re.ASCII)
#: Decimals with this exponent or a greater one are not written out.
_HUGE = 30


def in_units(amount: Json, unit: Decimal) -> Json:
    """Return how many units an amount is: 4000 for 40.00 and the unit 0.01."""
    number = _number(amount)
    if number is None:
        return amount
    count = Fraction(number) / Fraction(unit)
    return count.numerator if count.denominator == 1 else float(count)


def from_units(count: Json, unit: Decimal) -> Json:
    """Return the amount of a number of units, as a text: "40.00" for 4000 and the unit 0.01."""
    number = _number(count)
    return count if number is None else f"{number * unit:f}"


def _number(value: Json) -> Decimal | None:
    """Return the number that a value is, or None; one beyond any amount counts as none."""
    if isinstance(value, bool) or not isinstance(value, int | float | Decimal | str):
        return None
    is_short = isinstance(value, Decimal) and abs(value.adjusted()) < _HUGE
    text = f"{value:f}" if is_short else str(value)
    return Decimal(text) if _PLAIN.fullmatch(text) else None
