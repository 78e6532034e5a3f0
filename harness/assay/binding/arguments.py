"""Values of the arguments of a call: the probe's, the target file's, or malformed ones.

Sends nothing, and knows no places: `binding.encode` puts the values where the target file says.
"""

from __future__ import annotations

from collections.abc import Mapping
from decimal import Decimal

from assay.binding.spelling import OperationBinding, Place, Spelling, values_from_file
from assay.binding.values import RequestValues, filled, is_unique
from assay.contract.model import Json, Operation
from assay.contract.scalars import same, text_of, word_of
from assay.errors import CannotArrange
from assay.history import Call, Malformed

#: A query that no bank can mean anything by.
JUNK = (("page", "minus one"), ("page", "\u2603"), ("\u0000", "\u0000"), ("limit", "9" * 400))
#: What stands in place of an identifier in a malformed read; a slash would end it in a path.
BAD_IDENTIFIERS: Mapping[Malformed, str] = {
    Malformed.BAD_IDENTIFIER: "not an identifier..%2f\u00e9'\"<>",
    Malformed.LONG_IDENTIFIER: "9" * 10_000,
    Malformed.CONTROL_IDENTIFIER: "FR76\x00\x01\r\n\x7f",
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
    own = spelling.value if spelling else None
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
    named = {Malformed.BAD_SINCE: operation.since, Malformed.BAD_UNTIL: operation.until}
    name = named.get(call.malformed) if call.malformed else None
    if name is not None and call.malformed and name in binding.arguments:
        return {**call.arguments, name: BAD_DATES[call.malformed]}
    return call.arguments
