"""Conditions of decisions: atoms combined by all, any and not, and their decision table.

Each kind of atom has a module, listed in the table below. To add one: write a module
with a `read`, add it to the table under the key by which a contract names it, and add
that key to `condition` in contract/schema/common.yaml and, if it refers to names that
could be misspelt, to the reference check below.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import cast

from assay.contract.files.document import Finding, Pointer
from assay.contract.model import Json
from assay.contract.scalars import is_word
from assay.rules.conditions import expression, factor, fields, registered, table
from assay.rules.conditions.expression import Atom, ReadAtom
from assay.rules.lifecycle.tracker import Lifecycle
from assay.rules.parameters import Raw, known

ATOMS: Mapping[str, ReadAtom] = {
    "is": fields.read_is,
    "above": fields.read_above,
    "factor": factor.read,
    "registered": registered.read,
}


def parse(raw: Json, lifecycle: Lifecycle) -> table.Table:
    """Parse a condition about a request, and derive its decision table; equal atoms are merged."""
    atoms: list[Atom] = []

    def number(node: Mapping[str, Json]) -> int:
        key = next(name for name in ATOMS if name in node)
        atom = ATOMS[key](node, lifecycle)
        if atom not in atoms:
            atoms.append(atom)
        return atoms.index(atom)

    return table.derive(expression.parse(raw, number), atoms)


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
        if "factor" in atom and factors:
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


def may_hold(condition: Json, arguments: Mapping[str, Json]) -> bool:
    """Whether a condition can be true of a request with these arguments, whoever signs it."""
    return True in _possible(cast("Raw", condition), arguments)


def _possible(node: Raw, arguments: Mapping[str, Json]) -> frozenset[bool]:
    """Return the values that a condition can have, as far as the arguments alone say."""
    if "not" in node:
        return frozenset(not value for value in _possible(node["not"], arguments))
    for key, decides in (("all", False), ("any", True)):
        if key in node:
            parts = [_possible(part, arguments) for part in node[key]]
            both = frozenset().union(*parts) if parts else frozenset({not decides})
            if any(part == {decides} for part in parts):
                return frozenset({decides})
            return both if any(decides in part for part in parts) else frozenset({not decides})
    value = arguments.get(str(node.get("field")))
    if "is" in node:
        return frozenset({value is not None and is_word(node["is"], value)})
    if "above" in node:
        return fields.possibly_above(value, node["above"])
    return frozenset({True, False})
