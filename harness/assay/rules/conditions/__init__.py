"""Conditions of decisions: atoms in all, any and not, their table, and what bears on it.

The kinds of atoms are one file each, gathered in a table that anybody can see. To add
one: write a file with a `read`, put it into the table below under the key by which a
contract names it, and add that key to `condition` in contract/schema/common.yaml and, if
what it refers to could be misspelt, to assay/references/conditions.py.
"""

from __future__ import annotations

from collections.abc import Mapping

from assay.contract.model import Json
from assay.rules.conditions import expression, factor, fields, registered, table
from assay.rules.conditions.atom import Atom, ReadAtom
from assay.rules.lifecycle.tracker import Lifecycle

ATOMS: Mapping[str, ReadAtom] = {
    "is": fields.read_is,
    "above": fields.read_above,
    "factor": factor.read,
    "registered": registered.read,
}


def parse(raw: Json, lifecycle: Lifecycle) -> table.Table:
    """Read a condition about a request, and derive its table; equal atoms are one."""
    atoms: list[Atom] = []

    def number(node: Mapping[str, Json]) -> int:
        key = next(one for one in ATOMS if one in node)
        atom = ATOMS[key](node, lifecycle)
        if atom not in atoms:
            atoms.append(atom)
        return atoms.index(atom)

    return table.derive(expression.parse(raw, number), atoms)
