"""Dates and times as a target writes them: by a pattern such as `YYYYMMDD`, or as a Unix time.

A contract has ISO dates and times. What is neither stays as it is, so that a value that is wrong on
purpose is sent wrong, and a value of a hostile answer is read as it stands.
"""

from __future__ import annotations

import re
from datetime import UTC, date, datetime, time, timedelta, tzinfo
from decimal import Decimal
from typing import Final

from assay.contract.model import Json
from assay.contract.scalars import number_of, text_of
from assay.rules.state.calendar import as_written, at, local

#: The units of Unix times, by the names of their formats: how many make a second.
EPOCHS: Final = {"epoch-seconds": 1, "epoch-milliseconds": 1000}
#: The parts of a pattern, each in place of as many digits.
_PARTS: Final = re.compile("YYYY|MM|DD|hh|mm|ss")
#: An ISO date, whether a calendar has it or not.
_ISO_DATE: Final = re.compile("([0-9]{4})-([0-9]{2})-([0-9]{2})")
_EPOCH: Final = datetime(1970, 1, 1, tzinfo=UTC)


def is_numeric(pattern: str) -> bool:
    """Whether what a format writes is a number."""
    return pattern in EPOCHS or not _PARTS.sub("", pattern)


def has_time(pattern: str) -> bool:
    """Whether a format writes a time of day, and not only a date."""
    return pattern in EPOCHS or "hh" in pattern


def written(value: Json, pattern: str, zone: tzinfo | None, *, number: bool = False) -> Json:
    """Return an ISO date or time in the format of a target; a date has the time of its midnight.

    A Unix time is a number, and so is what a pattern writes with `number`. `zone` is that of the
    target's days; None is read as UTC. `Z` in a pattern is UTC.
    """
    if not isinstance(value, str):
        return value
    day = _ISO_DATE.fullmatch(value)
    if day is not None and not has_time(pattern):
        text = pattern.replace("YYYY", day[1]).replace("MM", day[2]).replace("DD", day[3])
        return int(text) if number and text.isascii() and text.isdecimal() else text
    try:
        moment = _moment(value, zone or UTC)
    except (ValueError, OverflowError):
        return value
    if pattern in EPOCHS:
        return (moment - _EPOCH) * EPOCHS[pattern] // timedelta(seconds=1)
    shown = moment.astimezone(UTC) if "Z" in pattern else local(moment, zone or UTC)
    values = (shown.year, shown.month, shown.day, shown.hour, shown.minute, shown.second)
    parts = dict(zip(_PARTS.findall("YYYYMMDDhhmmss"), values, strict=True))
    text = _PARTS.sub(lambda match: f"{parts[match[0]]:0{len(match[0])}d}", pattern)
    return int(text) if number and text.isdecimal() else text


def read(value: Json, pattern: str, zone: tzinfo | None) -> Json:
    """Return what a target wrote as an ISO date, or as an ISO time with its offset.

    A Unix time is in UTC. The time of a pattern is in `zone`, and without an offset if that is None.
    """
    try:
        if pattern in EPOCHS:
            count = number_of(value)
            return value if count is None else _since_epoch(count / EPOCHS[pattern]).isoformat()
        parts = _parts(value, pattern)
        if parts is None:
            return value
        day = date(parts["YYYY"], parts["MM"], parts["DD"])
        if not has_time(pattern):
            return day.isoformat()
        shown = time(parts["hh"], parts.get("mm", 0), parts.get("ss", 0))
        wall = datetime.combine(day, shown)
        zone = UTC if "Z" in pattern else zone
        return (as_written(wall, zone) if zone else wall).isoformat()
    except (ValueError, OverflowError):
        return value


def _parts(value: Json, pattern: str) -> dict[str, int] | None:
    """Return the numbers in place of the parts of a pattern; None if all else is not as in it."""
    is_text = isinstance(value, str) or (isinstance(value, int) and not isinstance(value, bool))
    text = text_of(value) if is_text else ""
    if len(text) != len(pattern) or not text.isascii():
        return None
    digits = {each[0]: text[each.start() : each.end()] for each in _PARTS.finditer(pattern)}
    known = _PARTS.sub(lambda match: digits[match[0]], pattern)
    whole = known == text and all(map(str.isdecimal, digits.values()))
    return {name: int(each) for name, each in digits.items()} if whole else None


def day_if_midnight(value: Json, zone: tzinfo | None) -> Json:
    """Return the date of a time that is the midnight of `zone`; anything else as it is."""
    try:
        moment = datetime.fromisoformat(value) if isinstance(value, str) else None
    except ValueError:
        return value
    if moment is None or moment.tzinfo is None:
        return value
    shown = local(moment, zone or UTC)
    return shown.date().isoformat() if shown.time() == time.min else value


def _moment(value: str, zone: tzinfo) -> datetime:
    """Return the instant of an ISO date or time; a date begins at midnight, as its clocks show."""
    if _ISO_DATE.fullmatch(value):
        return at(date.fromisoformat(value), time.min, zone)
    moment = datetime.fromisoformat(value)
    return moment if moment.tzinfo else as_written(moment, zone)


def _since_epoch(seconds: Decimal) -> datetime:
    return _EPOCH + timedelta(microseconds=int(seconds * 1_000_000))
