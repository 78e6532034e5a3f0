"""Names in listed customers that must be those of a contract: segments, resources, states, arguments.

A customer of a misspelt segment would never be used, and one who owns a misspelt resource would own
nothing. Each finding has the pointer of its own key. What the roles need without a contract is
checked in `fixtures.role_checks`.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Mapping
from typing import Any, TypeAlias, cast

from assay.binding.contract_names import ContractNames
from assay.binding.target import Target
from assay.binding.unusable_values import not_allowed
from assay.contract.files.document import Finding, Pointer, found
from assay.contract.model import Json
from assay.errors import did_you_mean
from assay.rules.steps import roots

__all__ = ["unknown_in_roles"]

_Raw: TypeAlias = Mapping[str, Any]
#: A name in the file, its pointer, the names that a contract has, and the noun for them.
_Use: TypeAlias = tuple[str, Pointer, Callable[[ContractNames], Collection[str]], str]


def unknown_in_roles(
    target: Target, names: ContractNames, others: Callable[[], ContractNames | None]
) -> Iterator[Finding]:
    """Yield each name in the roles of a target file that no contract has.

    `others` returns the names of further contracts that the file binds.
    """
    raw = cast("_Raw", target.document.data) if target.document else {}
    for role, content in ((raw.get("fixtures") or {}).get("roles") or {}).items():
        at: Pointer = ("fixtures", "roles", role)
        for name, where, known_in, noun in _uses(content, at):
            known = known_in(names)
            if name not in known and (more := others()):
                known = {*known, *known_in(more)}
            if known and name not in known:
                yield where, f"no contract has the {noun} {found(name)}", did_you_mean(name, known)
        for argument, value, where in _sent(content, names, at):
            for operation in names.operations.values():
                if operation.makes and argument in {operation.owned, *operation.arguments}:
                    yield from not_allowed(operation, argument, value, names.expected, where)


def _sent(role: _Raw, names: ContractNames, at: Pointer) -> Iterator[tuple[str, Json, Pointer]]:
    """Yield the values of a customer that requests are sent with, each with its argument."""
    for index, registration in enumerate(role.get("registrations") or ()):
        where = (*at, "registrations", index, "value")
        yield registration["argument"], registration["value"], where
    for contract in names.contracts:
        arguments = {each.owned for each in contract.operations.values() if each.makes}
        for index, holding in enumerate(role.get("owns") or ()):
            if holding["resource"] in [owner.id for owner in roots(contract)[:1]]:
                for argument in filter(None, arguments):
                    yield argument, holding["key"], (*at, "owns", index, "key")


def _uses(role: _Raw, at: Pointer) -> Iterator[_Use]:
    if "segment" in role:
        yield role["segment"], (*at, "segment"), lambda names: names.segments, "segment"
    for index, registration in enumerate(role.get("registrations") or ()):
        where = (*at, "registrations", index, "argument")
        yield registration["argument"], where, lambda names: names.arguments, "argument"
    for index, holding in enumerate(role.get("owns") or ()):
        where = (*at, "owns", index)
        resource = cast("str", holding["resource"])
        yield resource, (*where, "resource"), lambda names: names.resources, "resource"
        for trait in cast("_Raw", holding.get("traits") or {}):
            noun = f"{resource} state"
            yield trait, (*where, "traits", trait), _traits_of(resource), noun


def _traits_of(resource: str) -> Callable[[ContractNames], Collection[str]]:
    return lambda names: names.traits.get(resource, ())
