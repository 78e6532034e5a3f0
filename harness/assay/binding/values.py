"""Values as they are sent: generated ones, and those that a target writes in its own way.

`filled` fills in the placeholders of headers and templates; `sent` gives a value the target's
own ids, words, shapes and formats. No I/O here.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, date, datetime, timedelta, tzinfo
from typing import Any, Final, cast

from assay.binding.amounts import in_units
from assay.binding.outputs import OutputValues
from assay.binding.spelling import Spelling
from assay.contract.model import Json
from assay.contract.scalars import text_of
from assay.rules.state.calendar import as_written


@dataclass(frozen=True, slots=True, kw_only=True)
class RequestValues:
    """What belongs to one request and to no other.

    `now` is the moment (ISO 8601), `today` the bank's calendar day, `unique` a UUID that is never
    the same twice, `alike` is the same for requests that ask for the same, and `trial` for all
    requests of a trial. `zone` is that of the bank's days, None if unknown. `ids` are the target's
    own names, and `resources` what kind of thing it is, by key. `outputs` are values of earlier answers, `slots`
    values in the path that no argument has, and `body` is what a change repeats of its request.
    """

    now: str = ""
    today: date | None = None
    unique: str = ""
    alike: str = ""
    trial: str = ""
    zone: tzinfo | None = None
    ids: Mapping[str, str] = field(default_factory=dict[str, str])
    resources: Mapping[str, str] = field(default_factory=dict[str, str])
    outputs: OutputValues = field(default_factory=OutputValues)
    slots: Mapping[str, str] = field(default_factory=dict[str, str])
    body: Mapping[str, Any] = field(default_factory=dict[str, Any])


#: An example of what belongs to one request.
EXAMPLE: Final = RequestValues(
    now="2026-09-16T10:00:00+00:00",
    today=date(2026, 9, 16),
    unique="6c1f8a52-7f0b-4c55-9a0c-1e6d3b2f90a0",
    alike="a" * 30,
    trial="a" * 12,
)
#: A day relative to the bank's today: `{today}`, `{today+90}`, `{today-1}`.
_DAY = re.compile(r"\{today(?:([+-][0-9]{1,5}))?\}", re.ASCII)
#: The other placeholders.
_NAMES: Final = ("now", "unique", "alike", "trial")


#: What stands for the offset of the bank's zone in the text of an argument.
OFFSET: Final = "{offset}"


def has_placeholder(value: Json) -> bool:
    """Whether a value is a text with something that each request fills in."""
    named = isinstance(value, str) and any(f"{{{name}}}" in value for name in _NAMES)
    return named or has_day(value)


def is_unique(value: Json) -> bool:
    """Whether a value is a text that is never the same twice."""
    return isinstance(value, str) and "{unique}" in value


def has_day(value: object) -> bool:
    """Whether the text of a value has a day relative to today."""
    return "{today" in str(value)


def wrong_days(text: str) -> Sequence[str]:
    """Return what is meant as a day relative to today, and is none."""
    return re.findall(r"\{today[^}]*\}?", _DAY.sub("", text))


def filled(value: Json, made: RequestValues) -> Json:
    """Return a copy of a value in whose texts the placeholders are filled in.

    Raises:
        CannotArrange: there is no value of an output.

    """
    if isinstance(value, str):
        if "{" not in value:
            return value
        for name in _NAMES:
            value = value.replace(f"{{{name}}}", getattr(made, name))
        return made.outputs.filled(_DAY.sub(lambda match: _day(match, made), value))
    if isinstance(value, Mapping):
        named = cast("Mapping[str, Json]", value)
        return {name: filled(member, made) for name, member in named.items()}
    if isinstance(value, list | tuple):
        return [filled(member, made) for member in cast("list[Json]", value)]
    return value


def _day(match: re.Match[str], made: RequestValues) -> str:
    if made.today is None:
        return match[0]
    return (made.today + timedelta(days=int(match[1] or 0))).isoformat()


def sent(value: Json, spelling: Spelling | None, made: RequestValues) -> Json:
    """Return what is sent for a value, or for each of a list of them."""
    if spelling is None:
        return value
    if isinstance(value, list | tuple):
        return [_sent_value(member, spelling, made) for member in cast("list[Json]", value)]
    if spelling.each and value in (None, "") and (empty := empty_shape(spelling)) is not None:
        return None if value is None else empty
    return _sent_value(value, spelling, made)


def empty_shape(spelling: Spelling) -> Json:
    """Return the empty form of a shape that has the value and nothing else: null and {} stand for it."""
    shape = next(iter(spelling.each.values()))
    if isinstance(shape, Mapping):
        return {} if len(cast("Mapping[str, Any]", shape)) == 1 else None
    return [] if isinstance(shape, list) and len(shape) == 1 else None


def _sent_value(value: Json, spelling: Spelling, made: RequestValues) -> Json:
    key = value if isinstance(value, str) else ""
    if spelling.found is not None:
        value = made.ids.get(key, value)
    value = spelling.words.get(text_of(value), value)
    if spelling.exclusive:
        value = _day_after(value)
    if spelling.unit is not None:
        value = in_units(value, spelling.unit)
    if spelling.each:
        shape = spelling.each.get(made.resources.get(key, ""), spelling.each.get(""))
        # An item that no customer owns still needs a shape.
        value = _shaped(shape or next(iter(spelling.each.values())), value)
    if spelling.text == "{}":
        return value
    return _with_offset(spelling.text.replace("{}", text_of(value)), made.zone)


def _with_offset(text: str, zone: tzinfo | None) -> str:
    """Return a text with the offset from UTC that the time before it has in a zone."""
    before, place, after = text.partition(OFFSET)
    if not place:
        return text
    try:
        moment = as_written(datetime.fromisoformat(before), zone or UTC)
    except ValueError:
        return f"{before}Z{after}"  # what is no time is sent as it is
    hours = moment.strftime("%z")
    offset = f"{hours[:3]}:{hours[3:5]}" if moment.utcoffset() else "Z"
    return f"{before}{offset}{after}"


def _day_after(value: Json) -> Json:
    try:
        return (date.fromisoformat(str(value)) + timedelta(days=1)).isoformat()
    except (ValueError, OverflowError):
        return value  # what is no date is sent as it is


def _shaped(shape: Any, value: Json) -> Json:
    """Return a copy of a shape with the value where `{}` stands."""
    if isinstance(shape, Mapping):
        named = cast("Mapping[str, Any]", shape)
        return {name: _shaped(member, value) for name, member in named.items()}
    if isinstance(shape, list):
        listed: list[Any] = shape
        return [_shaped(member, value) for member in listed]
    return value if shape == "{}" else shape
