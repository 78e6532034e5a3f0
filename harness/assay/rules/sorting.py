"""The order of values in a list: which of them can be compared, and which are in the wrong order.

Days, instants and numbers are compared, each with its like; of a time without an offset, the day is, since
clocks are set back. Equal values are in any order.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from decimal import Decimal
from typing import TypeAlias

from assay.contract.model import Json
from assay.contract.scalars import moment_of, number_of
from assay.history.events import Masked
from assay.rules.state.calendar import day_of
from assay.rules.verdict import AGREES, DISAGREES, UNCLEAR, Agreement

#: The lengths of dates in digits (DDMMYYYY, DDMMYY, with a time), which are no numbers.
DATES = (6, 8, 12, 14)


#: A value of a field: its sort, and its rank among values of this sort.
Value: TypeAlias = tuple[str, Decimal]


def value_of(shown: Json) -> Value | None:
    """Return the value of a field; None for a masked one, and for what is no date or number."""
    text = shown if isinstance(shown, str) else ""
    moment = moment_of(text)
    day = day_of(text, whole=moment is None)
    if moment is not None and moment.tzinfo is not None:
        sort, number = "instant", number_of(moment.timestamp())
    elif day is not None:
        sort, number = "day", number_of(day.toordinal())
    elif isinstance(shown, Masked) or (text.isdecimal() and len(text) in DATES):
        return None
    else:
        sort, number = "number", number_of(shown)
    return None if number is None else (sort, number)


def extremes(values: Sequence[Value]) -> list[Value]:
    """Return the least and the greatest of some values; none where they are of several sorts."""
    alike = len({sort for sort, _ in values}) == 1
    return [min(values), max(values)] if alike else []


def agreement_of(
    pairs: Iterable[tuple[Value, Value]], *, descending: bool, sure: bool
) -> Agreement | None:
    """Return whether pairs are in order, `sure` if they are all; None if any order would do."""
    apart = [pair[::-1] if descending else pair for pair in pairs if pair[0] != pair[1]]
    if any(low[0] == high[0] and low[1] > high[1] for low, high in apart):
        return DISAGREES
    if not sure or any(low[0] != high[0] for low, high in apart):
        return UNCLEAR
    return AGREES if apart else None
