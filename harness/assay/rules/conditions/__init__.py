"""Conditions of decisions: atoms combined by all, any and not, and their decision table.

Each kind of atom is a class in `atoms`, listed in the table below. To add one: write its class and
how it is read, add it to the table under the key by which a contract names it, and add that key to `condition` in contract/schema/common.yaml and, if it refers to names that
could be misspelt, to the reference check below.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import cast

from assay.contract.model import Json
from assay.contract.scalars import is_word
from assay.files.document import Finding, Pointer
from assay.rules.conditions.atoms import is_above, read_above, read_factor, read_is, read_registered
from assay.rules.conditions.table import Atom, ReadAtom, Table, derive, holds, parse_expression
from assay.rules.lifecycle.tracker import Lifecycle
from assay.rules.parameters import Raw, known

ATOMS: Mapping[str, ReadAtom] = {
    "is": read_is,
    "above": read_above,
    "factor": read_factor,
    "registered": read_registered,
}


def parse(raw: Json, lifecycle: Lifecycle) -> Table:
    """Parse a condition about a request, and derive its decision table; equal atoms are merged."""
    atoms: list[Atom] = []

    def number(node: Mapping[str, Json]) -> int:
        key = next(name for name in ATOMS if name in node)
        atom = ATOMS[key](node, lifecycle)
        if atom not in atoms:
            atoms.append(atom)
        return atoms.index(atom)

    return derive(parse_expression(raw, number), atoms)


#: The keys that contain further conditions, and the keys whose values are arguments.
_PARTS = ("all", "any")
_ARGUMENTS = ("field", "registered")
#: The table of a condition doubles with each atom.
_MOST = 8


def references(at: Pointer, value: Raw, rule: Raw, raw: Raw) -> Iterator[Finding]:
    """Find unknown arguments and factors in a condition, and conditions with too many atoms."""
    operations: Mapping[str, Raw] = raw["operations"]
    request = rule.get("request")
    makes = next(
        (operation for operation in operations.values() if operation.get("makes") == request), None
    )
    factors = {
        name
        for rule in raw["rules"]
        if rule["kind"] == "factors" and rule.get("request") == request
        for names in rule["offered"].values()
        for name in names
    }
    atoms = list(_atoms(at, value))
    for where, atom in atoms:
        for key in _ARGUMENTS:
            if key in atom and makes is not None:
                yield from known((*where, key), atom[key], makes.get("arguments", ()), "argument")
        if "factor" in atom and makes is not None and not makes.get("signed", True):
            what = f"{request!r} is not signed, and the condition is about its signature"
            yield (*where, "factor"), what, "remove it, or `signed: false` from the operation"
        elif "factor" in atom and factors:
            yield from known((*where, "factor"), atom["factor"], factors, "factor")
    if len({tuple(sorted(atom.items())) for _, atom in atoms}) > _MOST:
        yield at, f"there are more than {_MOST} atoms", "write several rules"


def _atoms(at: Pointer, node: Raw) -> Iterator[tuple[Pointer, Raw]]:
    parts = [(key, n, part) for key in _PARTS for n, part in enumerate(node.get(key, ()))]
    if parts:
        for key, n, part in parts:
            yield from _atoms((*at, key, n), part)
    elif "not" in node:
        yield from _atoms((*at, "not"), node["not"])
    else:
        yield at, node


def atoms_of(condition: Json) -> Iterator[Mapping[str, Json]]:
    """Yield the atoms of a condition as the contract has them."""
    yield from (atom for _, atom in _atoms((), cast("Raw", condition)))


def registered_arguments(condition: Json) -> tuple[str, ...]:
    """Return the arguments whose registration a condition is about."""
    named = (str(atom["registered"]) for atom in atoms_of(condition) if "registered" in atom)
    return tuple(dict.fromkeys(named))


def may_hold(condition: Json, arguments: Mapping[str, Json]) -> bool:
    """Whether a condition can be true of a request with these arguments, whoever signs it."""
    truths: list[bool | None] = []

    def number(atom: Mapping[str, Json]) -> int:
        truths.append(_truth(atom, arguments))
        return len(truths) - 1

    return holds(parse_expression(condition, number), truths) is not False


def _truth(atom: Mapping[str, Json], arguments: Mapping[str, Json]) -> bool | None:
    """Return whether an atom is true of a request; None where its arguments alone do not say."""
    value = arguments.get(str(atom.get("field")))
    if "is" in atom:
        return value is not None and is_word(atom["is"], value)
    return is_above(value, atom["above"]) if "above" in atom else None
