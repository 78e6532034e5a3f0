"""Declaring parameters that follow from the operations that a clause is about.

They go with a field `operation` or `operations` of `parameters`, declared before them.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from assay.contract.model import Contract, Operation
from assay.files.document import Finding, Pointer
from assay.rules import steps
from assay.rules.parameters import Raw, derived, known, one_of_several, word


def argument(*, key: str = "argument") -> str:
    """Declare the name of an argument of the clause's operation."""
    return word(key=key, references=check_argument)


def check_argument(at: Pointer, name: str, clause: Raw, raw: Raw) -> Iterator[Finding]:
    """Find an argument that the clause's operation does not have."""
    defined = raw["operations"].get(clause.get("operation"))
    if defined is not None:
        paths = ("about", "since", "until", "grants")
        own = [defined[role] for role in paths if role in defined]
        yield from known(at, name, [*own, *defined.get("arguments", ())], "argument")


def listed_field(*, key: str, beside: str) -> str:
    """Declare a field of what the operation lists, not `beside` another one; "" if it is left out."""

    def check(at: Pointer, name: str, clause: Raw, raw: Raw) -> Iterator[Finding]:
        listed = raw["operations"].get(clause.get("operation"), {}).get("lists", ())
        has = [each for one in listed for each in raw["resources"].get(one, {}).get("fields", ())]
        yield from known(at, name, has if listed else [name], "field")
        yield from one_of_several(at[:-1], clause, (beside, key))

    return word(key=key, references=check, required=False)


def lacks_argument(at: Pointer, name: str, clause: Raw, raw: Raw) -> Iterator[Finding]:
    """Find an operation that lacks the clause's argument."""
    one = {**clause, "operation": name}
    yield from check_argument(at, str(clause.get("argument")), one, raw)


def about_something_owned(at: Pointer, name: str, _clause: Raw, raw: Raw) -> Iterator[Finding]:
    """Find an operation about something that no customer owns, such as a request."""
    defined, resources = raw["operations"][name], raw["resources"]
    roles = ("makes", "shows", "changes", "ends")
    made = {each.get(role) for each in raw["operations"].values() for role in roles}
    listed = (resources.get(resource, {}) for resource in defined.get("lists", ()))
    if all("of" in each or owned in made for owned, each in resources.items()):
        hint = "add a resource without `of` that no operation `makes`"
        yield (
            at,
            "nothing in the contract is what a customer owns, and a limit is tested with it",
            hint,
        )
    elif "about" in defined and not any("of" in resource for resource in listed):
        what = f"{name!r} lists nothing that belongs to what it is about"
        yield at, what, "leave it out here: such calls are not tested for a limit"


def owner() -> str:
    """Derive the resource that a customer must own so that the operation can be called."""
    return derived(lambda contract, fields: steps.owners(contract, fields["operation"])[0])


def owner_of_operations() -> str:
    """Derive what a customer must own so that the clause's operations can be called."""

    def make(contract: Contract, fields: Mapping[str, Any]) -> str:
        operations: tuple[Operation, ...] = fields["operations"]
        about = next((operation for operation in operations if operation.about), operations[0])
        return steps.owners(contract, about)[0]

    return derived(make)
