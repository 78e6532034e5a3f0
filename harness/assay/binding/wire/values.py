"""Values as they are sent: of arguments and modes, generated, or written in the target's own way.

`filled` fills in the placeholders of headers and templates; `sent` gives a value the target's
own ids, words, shapes and formats; `arguments` has the values of a call. No I/O here, and no places:
`binding.encode` puts the values where the target file says.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, date, datetime, timedelta, tzinfo
from decimal import Decimal
from fractions import Fraction
from typing import Any, Final, cast

from assay.binding.model.pointer import MISSING, rebuilt, texts
from assay.binding.model.spelling import OperationBinding, Place, Spelling, values_from_file
from assay.binding.wire.date_formats import written
from assay.binding.wire.links import RESERVED, OutputValues
from assay.contract.model import Json, Operation
from assay.contract.scalars import number_of, same, text_of, word_of
from assay.errors import CannotArrange
from assay.history import Call, Malformed
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

    def change(text: Json) -> Json:
        if not isinstance(text, str) or "{" not in text:
            return text
        for name in _NAMES:
            text = text.replace(f"{{{name}}}", getattr(made, name))
        return made.outputs.filled(_DAY.sub(lambda match: _day(match, made), text))

    return rebuilt(value, change)


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
    if spelling.format:
        value = written(value, spelling.format, made.zone, number=spelling.number)
    if spelling.each:
        shape = spelling.each.get(made.resources.get(key, ""), spelling.each.get(""))
        # An item that no customer owns still needs a shape.
        shape = shape or next(iter(spelling.each.values()))
        value = rebuilt(shape, lambda each: value if each == "{}" else each)
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


# -- Amounts of money as a target counts them: in euros, in cents, in any unit
# A contract and the values of a target file are in the main unit of the currency. What is no plain
# number stays as it is, so that a value that is wrong on purpose is sent wrong.
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


# -- Values of modes that repeat an argument of the same call: `"{NAME}"`, as a whole text
# A kind of access, for example, names the accounts of the consent once more. What is sent there is
# the argument as it is sent: its list, its words, its shape. A text with anything else beside the
# name is no such placeholder.
_WHOLE: Final = re.compile(r"\{([A-Za-z][A-Za-z0-9._-]*)\}")


def argument_in(text: Json, arguments: Collection[str]) -> str | None:
    """Return the argument that a text stands for; None where it is another value."""
    match = _WHOLE.fullmatch(text) if isinstance(text, str) else None
    named = match is not None and match[1] in arguments and match[1] not in RESERVED
    return match[1] if match is not None and named else None


def repeated_arguments(value: Json, arguments: Collection[str]) -> Iterator[str]:
    """Yield the arguments that the value of a mode repeats."""
    named = (argument_in(text, arguments) for _, text in texts(value))
    return (name for name in named if name is not None)


def repeats_argument(mode: Spelling, binding: OperationBinding) -> bool:
    """Whether the value of a mode repeats an argument, and so differs from call to call."""
    return next(repeated_arguments(mode.value, binding.arguments), None) is not None


def with_arguments(
    value: Json,
    binding: OperationBinding,
    of: Callable[[str], Json],
    rest: Callable[[Json], Json] = lambda value: value,
) -> Json:
    """Return the value of a mode with that of each argument that it repeats.

    `of` returns the value of an argument as it is sent, or `MISSING`; `rest` treats every other
    value. A member or an element whose argument is not sent is left out; so is the whole.
    """

    def change(text: Json) -> Json:
        name = argument_in(text, binding.arguments)
        return rest(text) if name is None else of(name)

    return rebuilt(value, change)


def sent_for_mode(
    mode: Spelling | None, binding: OperationBinding, sent: Mapping[str, Json], made: RequestValues
) -> Json:
    """Return what is sent for a mode; `MISSING` where it repeats an argument that is not `sent`."""
    if mode is None:
        return ""

    def of(name: str) -> Json:
        return sent.get(name, MISSING)

    return with_arguments(mode.value, binding, of, lambda value: filled(value, made))


def slot_of_plain_mode(
    call: Call, operation: Operation, binding: OperationBinding
) -> dict[str, str]:
    """Return what stands in the slot of the modes in the path, where a mode stands elsewhere.

    A request in a mode differs from one in the plain mode in nothing else.
    """
    plain = (
        binding.modes.get(operation.modes[0])
        if operation.makes and operation.modes and call.mode
        else None
    )
    in_path = plain is not None and plain.place is Place.PATH
    return {plain.name: text_of(plain.value)} if plain and in_path else {}


# -- Values of the arguments of a call: the probe's, the target file's, or malformed ones
#: A query that no bank can mean anything by.
JUNK = (("page", "minus one"), ("page", "\u2603"), ("\u0000", "\u0000"), ("limit", "9" * 400))
#: What stands in place of an identifier in a malformed read; a slash would end it in a path.
BAD_IDENTIFIERS: Mapping[Malformed, str] = {
    Malformed.BAD_IDENTIFIER: "not an identifier..%2f\u00e9'\"<>",
    Malformed.LONG_IDENTIFIER: "9" * 10_000,
    Malformed.CONTROL_IDENTIFIER: "FR76\x00\x01\r\n\x7f",
}

#: How the identifier of a malformed read is written, where it is the right one: an IBAN has capitals
#: and no spaces in an electronic format (ISO 13616).
RESPELLED: Mapping[Malformed, Callable[[str], str]] = {
    Malformed.LOWER_CASE_IDENTIFIER: str.lower,
    Malformed.GROUPED_IDENTIFIER: lambda key: " ".join(re.findall(".{1,4}", key)),
}
#: What stands in place of a day in a malformed read.
BAD_DATES: Mapping[Malformed, str] = {
    Malformed.BAD_SINCE: "2026-02-30",
    Malformed.BAD_UNTIL: "not a date",
}


def arguments(
    call: Call, operation: Operation, binding: OperationBinding, made: RequestValues
) -> Mapping[str, Json]:
    """Return the value of each argument: the probe's, or that of the target file."""
    chosen = _with_bad_value(call, operation, binding)
    given = {
        **_fixed(call, operation, binding, made),
        **{
            name: _ready(value, binding.arguments.get(name), made) for name, value in chosen.items()
        },
    }
    for name in call.varied:
        spelling = binding.arguments.get(name)
        if spelling is None or spelling.other is None:
            key = ("operations", operation.id, "arguments", name)
            what = f"a second value for {'.'.join(key)} (`other`) in the target file"
            raise CannotArrange(what, key=key)
        given[name] = filled(spelling.other, made)
    return {
        name: _number(value, binding.arguments.get(name))
        if isinstance(value, Decimal)
        else _in_contract_words(value, binding.arguments.get(name))
        for name, value in given.items()
        if name not in call.without
    }


def generated(call: Call, given: Mapping[str, Json], binding: OperationBinding) -> tuple[str, ...]:
    """Return the arguments of a call with a value that no other call has (`{unique}`)."""
    return tuple(
        name
        for name in given
        if (spelling := binding.arguments.get(name)) is not None
        and is_unique(spelling.value)
        and call.arguments.get(name, spelling.value) == spelling.value
    )


def _ready(value: Json, spelling: Spelling | None, made: RequestValues) -> Json:
    """Return a value of a call, filled in where it is a value of the target file as it stands."""
    own = spelling is not None and value in (spelling.value, spelling.other)
    return filled(value, made) if own and isinstance(value, str) else value


def _in_contract_words(value: Json, spelling: Spelling | None) -> Json:
    """Return the contract's word for a truth value or a number that is the target's word for it.

    Such a value is no value of another type: the target file says that it is the right one.
    """
    spellings = spelling.words if spelling and isinstance(value, bool | int | float) else {}
    if text_of(value) in spellings:
        return value
    return next((word_of(key) for key, entry in spellings.items() if same(entry, value)), value)


def _number(value: Decimal, spelling: Spelling | None) -> Json:
    """Return a number in the type of the target file's own value: a number, or a text.

    Only decimals are converted; an integer or a text of a probe is sent as it is.
    """
    values = (spelling.value, spelling.other) if spelling else ()
    own = next((each for each in values if each is not None), None)
    if spelling is None or spelling.place is not Place.BODY or not isinstance(own, int | Decimal):
        return text_of(value)
    return int(value) if value == value.to_integral_value() else float(value)


def _fixed(
    call: Call, operation: Operation, binding: OperationBinding, made: RequestValues
) -> dict[str, Json]:
    """Return the arguments whose values stand in the target file.

    What the probe must choose (the item, a day) is never taken from the file.
    """
    fixed: dict[str, Json] = {}
    for name in values_from_file(operation, binding):
        if name in call.arguments or name in call.without or name in call.varied:
            continue
        spelling = binding.arguments.get(name)
        if spelling is not None and _has_slot_of_mode(spelling, call, binding):
            continue
        if spelling is None or spelling.value is None:
            key = ("operations", operation.id, "arguments", name)
            raise CannotArrange(f"a value for {'.'.join(key)} in the target file", key=key)
        fixed[name] = filled(spelling.value, made)
    return fixed


def _has_slot_of_mode(spelling: Spelling, call: Call, binding: OperationBinding) -> bool:
    """Whether the mode of a call stands in the slot of an argument."""
    mode = binding.modes.get(call.mode or "")
    in_path = spelling.place is Place.PATH and mode is not None and mode.place is Place.PATH
    return in_path and mode is not None and mode.name == spelling.name


def _with_bad_value(
    call: Call, operation: Operation, binding: OperationBinding
) -> Mapping[str, Json]:
    """Return the call's arguments, with a malformed identifier or date where it is to have one."""
    bad = BAD_IDENTIFIERS.get(call.malformed) if call.malformed else None
    if bad is not None and operation.about:
        return {**call.arguments, operation.about: bad}
    respelled = RESPELLED.get(call.malformed) if call.malformed else None
    if respelled is not None and operation.about and operation.about in call.arguments:
        key = text_of(call.arguments[operation.about])
        return {**call.arguments, operation.about: respelled(key)}
    named = {Malformed.BAD_SINCE: operation.since, Malformed.BAD_UNTIL: operation.until}
    name = named.get(call.malformed) if call.malformed else None
    if name is not None and call.malformed and name in binding.arguments:
        return {**call.arguments, name: BAD_DATES[call.malformed]}
    return call.arguments
