"""Declaration of one parameter as a value, and the JSON Schema of a clause from its declarations.

`parameters` has the functions that declare parameters.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final, TypeAlias, cast

from assay.contract.model import Clause, Contract, Json
from assay.files.document import Finding, Pointer

#: The schema that all others refer to.
COMMON: Final = "common.yaml#/$defs/"

#: A part of a contract that has the right shape.
Raw: TypeAlias = Mapping[str, Any]

#: From the place of a value, the value, its clause and the whole contract to the problems.
Reference: TypeAlias = Callable[[Pointer, Any, Raw, Raw], Iterator[Finding]]
#: Converts the checked JSON of a value.
Convert: TypeAlias = Callable[[Any, Contract], Any]
#: Reads a value: the clause, the contract, and the fields that were read before it.
Read: TypeAlias = Callable[[Clause, Contract, Mapping[str, Any]], Any]
#: The schema of a parameter that lists the values of a field.
VALUES: Final[Mapping[str, Json]] = {
    "description": "a list of at least one text, number, true or false",
    "type": "array",
    "minItems": 1,
    "uniqueItems": True,
    "items": {
        "description": "a text, a number, true or false",
        "type": ["string", "number", "boolean"],
    },
}


@dataclass(frozen=True, slots=True)
class Parameter:
    """One declared parameter. `key` is its name in a contract; empty for a derived field."""

    key: str
    schema: Mapping[str, Json]
    read: Read
    references: Reference | None = None
    required: bool = True


def kind_schema(
    name: str,
    parameters: Sequence[Parameter],
    at_least_one_of: Sequence[str] = (),
    exactly_one_of: Sequence[str] = (),
) -> dict[str, Json]:
    """Return the JSON Schema of a clause whose kind has these parameters."""
    written = {each.key: each for each in parameters if each.key}
    schema: dict[str, Json] = {"title": name, "type": "object", "additionalProperties": False}
    schema["required"] = ["id", "kind", "says", "source"] + [
        key for key, each in written.items() if each.required
    ]
    for keyword, names, phrase in (
        ("anyOf", at_least_one_of, "at least one of"),
        ("oneOf", exactly_one_of, "exactly one of"),
    ):
        if names:
            schema["description"] = f"{phrase} {', '.join(names[:-1])} and {names[-1]}"
            schema[keyword] = [{"required": [name]} for name in names]
    schema["properties"] = {
        "id": {"$ref": COMMON + "id"},
        "kind": {"const": name},
        "says": {"$ref": COMMON + "sentence"},
        "source": {"$ref": COMMON + "source"},
        "level": {"$ref": COMMON + "level"},
    } | {key: dict(each.schema) for key, each in written.items()}
    return schema


def one_of_several(at: Pointer, clause: Raw, names: Sequence[str]) -> Iterator[Finding]:
    """Find each parameter beside another one, of which a clause can have one."""
    first, *others = [name for name in names if name in clause] or [""]
    for name in others:
        yield (*at, name), f"`{name}` beside `{first}`", "say one of them"


def as_number(value: Json) -> int:
    """Return a whole number, or raise `TypeError`."""
    if not isinstance(value, int) or isinstance(value, bool):
        raise TypeError("is no whole number")
    return value


def as_text(value: Json) -> str:
    """Return a text, or raise `TypeError`."""
    if not isinstance(value, str):
        raise TypeError("is no text")
    return value


def as_texts(value: Json) -> tuple[str, ...]:
    """Return a list of texts as a tuple, or raise `TypeError`."""
    if not isinstance(value, list | tuple):
        raise TypeError("is no list")
    return tuple(str(name) for name in cast("list[Json]", value))
