"""Reading a clause's parameters, which `parse` has already checked by schema.

Accessors raise `TypeError` on what the schema should have refused: reaching one
is a fault of the harness, never of the contract's author.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import cast

from assay.contract.model import Clause, Contract, Json, Operation


def text(clause: Clause, name: str) -> str:
    """Return a parameter that is text."""
    value = clause.params[name]
    if not isinstance(value, str):
        raise TypeError(f"{clause.id}.{name} is no text")
    return value


def maybe(clause: Clause, name: str) -> str | None:
    """Return a parameter that is text, or None where it is absent."""
    return text(clause, name) if name in clause.params else None


def whole(clause: Clause, name: str) -> int:
    """Return a parameter that is a whole number."""
    value = clause.params[name]
    if not isinstance(value, int):
        raise TypeError(f"{clause.id}.{name} is no whole number")
    return value


def texts(clause: Clause, name: str) -> tuple[str, ...]:
    """Return a parameter that is a list of texts; empty where it is absent."""
    value = clause.params.get(name, ())
    if not isinstance(value, list | tuple):
        raise TypeError(f"{clause.id}.{name} is no list")
    return tuple(str(one) for one in cast("list[Json]", value))


def mapping(clause: Clause, name: str) -> Mapping[str, Json]:
    """Return a parameter that is a mapping; empty where it is absent."""
    value = clause.params.get(name, {})
    if not isinstance(value, dict):
        raise TypeError(f"{clause.id}.{name} is no mapping")
    return cast("dict[str, Json]", value)


def operation(clause: Clause, contract: Contract, name: str = "operation") -> Operation:
    """Return the operation that a parameter names."""
    return contract.operations[text(clause, name)]


def operations(clause: Clause, contract: Contract) -> tuple[Operation, ...]:
    """Return the operations that the clause names."""
    return tuple(contract.operations[name] for name in texts(clause, "operations"))


def granting(clause: Clause, contract: Contract) -> Operation | None:
    """Return the operation that transmits consent, where the clause names one."""
    name = maybe(clause, "grant")
    return contract.operations[name] if name else None
