"""Values of modes that repeat an argument of the same call: `"{NAME}"`, as a whole text.

A kind of access, for example, names the accounts of the consent once more. What is sent there is
the argument as it is sent: its list, its words, its shape. A text with anything else beside the
name is no such placeholder.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Iterator, Mapping
from typing import Final, cast

from assay.binding.outputs import RESERVED
from assay.binding.pointer import MISSING
from assay.binding.spelling import OperationBinding, Place, Spelling
from assay.binding.values import RequestValues, filled
from assay.contract.model import Json, Operation
from assay.contract.scalars import text_of
from assay.history import Call

_WHOLE: Final = re.compile(r"\{([A-Za-z][A-Za-z0-9._-]*)\}")


def argument_in(text: Json, arguments: Collection[str]) -> str | None:
    """Return the argument that a text stands for; None where it is another value."""
    match = _WHOLE.fullmatch(text) if isinstance(text, str) else None
    named = match is not None and match[1] in arguments and match[1] not in RESERVED
    return match[1] if match is not None and named else None


def repeated_arguments(value: Json, arguments: Collection[str]) -> Iterator[str]:
    """Yield the arguments that the value of a mode repeats."""
    if isinstance(value, Mapping):
        for member in cast("Mapping[str, Json]", value).values():
            yield from repeated_arguments(member, arguments)
    elif isinstance(value, list | tuple):
        for member in cast("list[Json]", value):
            yield from repeated_arguments(member, arguments)
    elif (name := argument_in(value, arguments)) is not None:
        yield name


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
    if (name := argument_in(value, binding.arguments)) is not None:
        return of(name)
    if isinstance(value, Mapping):
        named = cast("Mapping[str, Json]", value)
        members = {key: with_arguments(each, binding, of, rest) for key, each in named.items()}
        return {key: each for key, each in members.items() if each is not MISSING}
    if isinstance(value, list | tuple):
        listed = cast("list[Json]", value)
        elements = [with_arguments(each, binding, of, rest) for each in listed]
        return [each for each in elements if each is not MISSING]
    return rest(value)


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
