"""The order of values in a list: which of them can be compared, and which are in the wrong order.

Days, instants and numbers are compared, each with its like; of a time without an offset, the day is, since
clocks are set back. Equal values are in any order.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from decimal import Decimal
from typing import NamedTuple

from assay.contract.model import Json
from assay.contract.scalars import moment_of, number_of
from assay.history.events import Masked
from assay.rules.state.calendar import day_of
from assay.rules.verdict import AGREES, DISAGREES, UNCLEAR, Agreement

#: The lengths of dates in digits (DDMMYYYY, DDMMYY, with a time), which are no numbers.
DATES = (6, 8, 12, 14)


class Value(NamedTuple):
    """A value of a field: its sort, and its rank among values of this sort."""

    sort: str
    rank: Decimal


def value_of(shown: Json) -> Value | None:
    """Return the value of a field; None for a masked one, and for what is no date or number."""
    text = shown if isinstance(shown, str) else ""
    moment = moment_of(text)
    day, number = day_of(text, whole=moment is None), number_of(shown)
    if moment is not None and moment.tzinfo is not None:
        return Value("instant", Decimal(moment.timestamp()))
    if day is not None:
        return Value("day", Decimal(day.toordinal()))
    unknown = isinstance(shown, Masked) or (text.isdecimal() and len(text) in DATES)
    return None if number is None or unknown else Value("number", number)


def extremes(values: Sequence[Value]) -> list[Value]:
    """Return the least and the greatest of some values; none where they are of several sorts."""
    alike = len({value.sort for value in values}) == 1
    return [min(values), max(values)] if alike else []


def agreement_of(
    pairs: Iterable[tuple[Value, Value]], *, descending: bool, sure: bool
) -> Agreement | None:
    """Return whether the first of each pair may stand first; None if any order would do.

    Without `sure`, there are other values, which are unknown.
    """
    apart = [pair[::-1] if descending else pair for pair in pairs if pair[0] != pair[1]]
    if any(low.sort == high.sort and low.rank > high.rank for low, high in apart):
        return DISAGREES
    if not sure or any(low.sort != high.sort for low, high in apart):
        return UNCLEAR
    return AGREES if apart else None
