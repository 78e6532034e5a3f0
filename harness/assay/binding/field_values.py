"""Values of fields in the contract's words, and calendar days, from an answer of a target."""

from __future__ import annotations

from datetime import date, datetime, time, tzinfo
from typing import Final

from assay.binding.amounts import from_units
from assay.binding.outputs import in_body
from assay.binding.spelling import FieldAt
from assay.contract.model import Json
from assay.contract.scalars import same, word_of
from assay.rules.state.calendar import local_day

#: The number of characters of an ISO date.
_DATE: Final = 10


def field_of(shown: Json, where: FieldAt, zone: tzinfo | None = None) -> Json:
    """Return a field in the contract's word, as far as the target file maps it.

    The date of a time with an offset is that in `zone`.
    """
    value = in_body(shown, where.at)
    if where.first is not None and isinstance(value, str):
        day = day_of(value, zone) if zone and where.first == _DATE and "T" in value else None
        value = day.isoformat() if day else value[: where.first]
    if where.unit is not None:
        value = from_units(value, where.unit)
    return next((word_of(key) for key, sent in where.words.items() if same(sent, value)), value)


def day_of(value: object, zone: tzinfo | None) -> date | None:
    """Return the calendar day of an ISO date or time; of a time with an offset, that in `zone`.

    Midnight in UTC, and the second before, are how gateways write a day without a time: they are
    of that day in any zone.
    """
    if not isinstance(value, str):
        return None
    try:
        moment = datetime.fromisoformat(value)
    except ValueError:
        return _date(value[:_DATE])
    if zone is None or not moment.tzinfo or _is_written_for_a_day(moment):
        return moment.date()
    try:
        return local_day(moment, zone)
    except OverflowError:  # at the begin or the end of the calendar
        return moment.date()


def _is_written_for_a_day(moment: datetime) -> bool:
    ends = time.min, time(23, 59, 59)
    return not moment.utcoffset() and moment.time().replace(microsecond=0) in ends


def _date(text: str) -> date | None:
    try:
        return date.fromisoformat(text)
    except ValueError:
        return None
