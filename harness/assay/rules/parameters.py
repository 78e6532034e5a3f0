"""Declaring the parameters of a rule kind: JSON Schema, reference checks and value in one place.

A field of a kind is declared with one of the functions below, for example
`limit: int = whole()`. Its name in a contract is the field's, with hyphens, unless `key`
says otherwise. From the declaration follow the schema of the clause, the check that what
it refers to exists, and how the checked JSON becomes the value of the field. A declaration has
the type of this value, as `dataclasses.field()` has that of its default.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Final, Literal, TypeAlias, TypeVar, cast, overload
from zoneinfo import ZoneInfo

from assay.contract.model import Clause, Contract, Json, Operation
from assay.errors import did_you_mean
from assay.files.document import Finding, Pointer, found

T = TypeVar("T")

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


def known(at: Pointer, name: str, names: Collection[str], noun: str) -> Iterator[Finding]:
    """Find a name that is not among the known names."""
    if name not in names:
        hint = did_you_mean(name, names) or f"the contract names no {noun}"
        yield at, f"there is no {noun} {found(name)}", hint


def all_known(
    at: Pointer, wanted: Sequence[str], names: Collection[str], noun: str
) -> Iterator[Finding]:
    """Find each name of a list that is not among the known names."""
    for index, name in enumerate(wanted):
        yield from known((*at, index), name, names, noun)


def ref(name: str) -> dict[str, Json]:
    """Return a reference to a definition in contract/schema/common.yaml."""
    return {"$ref": COMMON + name}


def parameter(
    schema: Mapping[str, Json],
    convert: Callable[[Any, Contract], T],
    *,
    key: str,
    references: Reference | None = None,
    required: bool = True,
    default: Any = None,
) -> T:
    """Declare a parameter by its schema and the function that converts its JSON.

    `default` is the value of the field where a contract leaves the parameter out. A clause has been compared with the schema before it is read: a
    `TypeError` while reading is a fault of Assay or of a guest kind, never of the contract's
    author.
    """

    def read(clause: Clause, contract: Contract, _known: Mapping[str, Any]) -> Any:
        if key in clause.params:
            try:
                return convert(clause.params[key], contract)
            except TypeError as error:
                raise TypeError(f"{clause.id}.{key} {error}") from None
        if required:
            raise TypeError(f"{clause.id}.{key} is missing")
        return default

    declared = Parameter(
        key=key,
        schema=schema,
        read=read,
        references=references,
        required=required,
    )
    return cast("T", field(metadata={"parameter": declared}))


def derived(make: Callable[[Contract, Mapping[str, Any]], T]) -> T:
    """Declare a field that follows from the contract and the fields declared before it."""

    def read(_clause: Clause, contract: Contract, known_fields: Mapping[str, Any]) -> Any:
        return make(contract, known_fields)

    declared = Parameter(key="", schema={}, read=read)
    return cast("T", field(metadata={"parameter": declared}))


def the_contract() -> Contract:
    """Declare the field that holds the contract itself."""
    return derived(lambda contract, _: contract)


def the_grant() -> Operation | None:
    """Declare the operation of the contract that transmits a consent, if it has one."""
    return derived(
        lambda contract, _: next(
            (operation for operation in contract.operations.values() if operation.grants), None
        )
    )


def the_zone() -> ZoneInfo | None:
    """Declare the field that holds the contract's time zone; None while it is unspecified."""
    return derived(lambda contract, _: contract.zone)


# -- plain values ---------------------------------------------------------------------
@overload
def whole(*, key: str, required: Literal[True] = True) -> int: ...
@overload
def whole(*, key: str, required: Literal[False], default: int) -> int: ...
@overload
def whole(*, key: str, required: Literal[False], default: None = None) -> int | None: ...
def whole(*, key: str, required: bool = True, default: int | None = None) -> int | None:
    """Declare a whole number of at least 1; `default` where it is left out."""
    return parameter(
        ref("whole"),
        lambda value, _: as_number(value),
        key=key,
        required=required,
        default=default,
    )


def word(*, key: str, references: Reference | None = None, required: bool = True) -> str:
    """Declare a name: text without blanks; "" where it is left out."""
    return parameter(
        ref("word"),
        lambda value, _: as_text(value),
        key=key,
        references=references,
        required=required,
        default="",
    )


@overload
def choice(
    *values: str,
    key: str,
    description: str,
    hint: str = "",
    required: bool = True,
    default: str | None = None,
) -> str: ...
@overload
def choice(
    *values: str,
    key: str,
    description: str,
    hint: str = "",
    required: bool = True,
    default: T | None = None,
    convert: Callable[[str], T],
) -> T: ...
def choice(
    *values: str,
    key: str,
    description: str,
    hint: str = "",
    required: bool = True,
    default: Any = None,
    convert: Callable[[str], Any] = str,
) -> Any:
    """Declare one of several words; `default` where it is left out."""
    schema: dict[str, Json] = {"description": description}
    if hint:
        schema["x-hint"] = hint
    schema["enum"] = list(values)
    return parameter(
        schema,
        lambda value, _: convert(value),
        key=key,
        required=required,
        default=default,
    )


def flag(*, key: str) -> bool:
    """Declare true or false; false where it is left out."""
    return parameter(
        {"description": "true or false", "type": "boolean"},
        lambda value, _: value is True,
        key=key,
        required=False,
        default=False,
    )


def names(
    schema: Mapping[str, Json],
    *,
    key: str,
    references: Reference | None = None,
    required: bool = True,
) -> tuple[str, ...]:
    """Declare a list of names; empty where it is left out."""
    return parameter(
        schema,
        lambda value, _: as_texts(value),
        key=key,
        references=references,
        required=required,
        default=(),
    )


def statement(*, key: str) -> str | None:
    """Declare the id of a statement of the contract's `scope`; None where it is left out."""

    def references(at: Pointer, name: str, _clause: Raw, raw: Raw) -> Iterator[Finding]:
        yield from known(at, name, [each["id"] for each in raw.get("scope", ())], "scope statement")

    return parameter(
        ref("word"),
        lambda value, _: as_text(value),
        key=key,
        references=references,
        required=False,
    )


# -- operations -----------------------------------------------------------------------
def operation(
    *,
    key: str = "operation",
    available: bool = True,
    lists: bool = False,
    required: bool = True,
) -> Operation:
    """Declare the operation that the clause is about, or its control; `lists`: it has lists."""

    def check(at: Pointer, name: str, _clause: Raw, raw: Raw) -> Iterator[Finding]:
        yield from known(at, name, raw["operations"], "operation")
        offered = raw["operations"].get(name, {}).get("available", True)
        if name in raw["operations"] and key == "operation":
            if offered and not available:
                hint = f"add `available: false` to operations.{name}"
                yield at, f"the operation {name!r} is available", hint
            elif available and not offered:
                yield at, f"the operation {name!r} is not available", _ONLY_UNAVAILABLE
        if lists and not raw["operations"].get(name, {"lists": [name]}).get("lists"):
            yield at, f"the operation {name!r} lists nothing", f"add `lists` to operations.{name}"

    return parameter(
        ref("operation"),
        lambda id_, contract: contract.operations[id_],
        key=key,
        references=check,
        required=required,
    )


#: What to do about a clause on an operation that the interface does not offer.
_ONLY_UNAVAILABLE: Final = "only a rule of kind unavailable can be about it"


def operations(*, also: Reference | None = None) -> tuple[Operation, ...]:
    """Declare the operations that the clause is about; `also` checks more than their names."""

    def check(at: Pointer, wanted: list[str], clause: Raw, raw: Raw) -> Iterator[Finding]:
        yield from all_known(at, wanted, raw["operations"], "operation")
        for index, name in enumerate(wanted):
            defined = raw["operations"].get(name)
            if defined is None:
                continue
            if not defined.get("available", True):
                where = (*at, index)
                yield where, f"the operation {name!r} is not available", _ONLY_UNAVAILABLE
            elif also is not None:
                yield from also((*at, index), name, clause, raw)

    return parameter(
        ref("operations"),
        lambda value, contract: tuple(contract.operations[name] for name in value),
        key="operations",
        references=check,
    )


def about_one_thing(at: Pointer, name: str, _clause: Raw, raw: Raw) -> Iterator[Finding]:
    """Find an operation that does not name what it is about."""
    if "about" not in raw["operations"][name]:
        hint = f"add `about` to operations.{name}, or leave it out here"
        yield at, f"{name!r} is not about a single item", hint


@overload
def grant(*, required: Literal[True]) -> Operation: ...
@overload
def grant(*, required: Literal[False] = False) -> Operation | None: ...
def grant(*, required: bool = False) -> Operation | None:
    """Declare the operation that transmits a consent; None where it is left out."""

    def check(at: Pointer, name: str, _clause: Raw, raw: Raw) -> Iterator[Finding]:
        yield from known(at, name, raw["operations"], "operation")
        if name in raw["operations"] and "grants" not in raw["operations"][name]:
            hint = f"add `grants`, the argument with the consented items, to operations.{name}"
            yield at, f"the operation {name!r} transmits no consent", hint

    return parameter(
        ref("grant"),
        lambda value, contract: contract.operations.get(value) or contract.given[value],
        key="grant",
        references=check,
        required=required,
    )


# -- resources ------------------------------------------------------------------------
def resource() -> str:
    """Declare a resource that the clause's operation lists."""

    def check(at: Pointer, name: str, clause: Raw, raw: Raw) -> Iterator[Finding]:
        yield from known(at, name, raw["resources"], "resource")
        lists = raw["operations"].get(clause.get("operation"), {}).get("lists", [name])
        if name in raw["resources"] and name not in lists:
            hint = did_you_mean(name, lists)
            yield at, f"{clause['operation']!r} does not list {name!r}", hint

    return parameter(
        ref("resource"),
        lambda value, _: str(value),
        key="resource",
        references=check,
    )


def resources() -> tuple[str, ...]:
    """Declare the resources that have the field named by the parameter `field`."""

    def check(at: Pointer, wanted: list[str], clause: Raw, raw: Raw) -> Iterator[Finding]:
        yield from all_known(at, wanted, raw["resources"], "resource")
        named = str(clause.get("field"))
        ways = [(*each.get("lists", ()), each.get("shows")) for each in raw["operations"].values()]
        for index, name in enumerate(wanted):
            has = raw["resources"].get(name, {"fields": [named]}).get("fields", ())
            if named not in has:
                hint = did_you_mean(named, has) or f"resources.{name}.fields is empty"
                yield (*at, index), f"{name!r} has no field {named!r}", hint
            elif name in raw["resources"] and not any(name in names for names in ways):
                yield (*at, index), f"no operation lists {name!r}", "add it to `lists` of one"

    return names(
        ref("resources"),
        key="resources",
        references=check,
    )


def mode(*, also: Reference | None = None) -> str:
    """Declare a mode of the clause's operation, or of the one that makes its request."""

    def check(at: Pointer, name: str, clause: Raw, raw: Raw) -> Iterator[Finding]:
        defined = raw["operations"].get(clause.get("operation")) or maker(clause, raw)
        if defined:
            yield from known(at, name, defined.get("modes", ()), "mode")
            if also is not None:
                yield from also(at, name, clause, raw)

    return word(key="mode", references=check)


# -- requests: resources that a TPP makes ----------------------------------------------
def maker(clause: Raw, raw: Raw) -> Raw:
    """Return the operation that makes the clause's request, as written in the file; or an empty one."""
    operations: Mapping[str, Raw] = raw["operations"]
    wanted = clause.get("request", "")
    return next((each for each in operations.values() if each.get("makes") == wanted), {})
