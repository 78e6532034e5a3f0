"""What the clauses of a contract say of shapes and limits, and which operations they concern."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

from assay.contract.model import Clause, Contract, Json
from assay.openapi.schemas import ready
from assay.rules.clauses import clauses_of
from assay.rules.kinds import kind_of
from assay.rules.schema_pieces import BarredMode, SchemaPiece


def name(clause: Clause, contract: Contract) -> str:
    """Return the name that a clause has among those of all contracts."""
    return f"{contract.id}/{clause.id}"


def pieces(contract: Contract) -> tuple[SchemaPiece, ...]:
    """Return all that the clauses of a contract say of the shapes of requests and answers."""
    found: list[SchemaPiece] = []
    for clause, parsed in zip(contract.clauses, clauses_of(contract), strict=True):
        for piece in parsed.schema_pieces():
            named = name(clause, contract)
            if isinstance(piece, BarredMode):
                found.append(replace(piece, clause=named))
            else:
                found.append(replace(piece, clause=named, schema=ready(piece.schema)))
    return tuple(found)


def limits(clause: Clause) -> Mapping[str, Json] | None:
    """Return the parameters with which a clause sets a limit; None where it sets none."""
    names = kind_of(clause.kind).limits
    if names is None:
        return None
    stated = {one: clause.params[one] for one in names if one in clause.params}
    return stated if stated or not names else None


def concerned(clause: Clause, contract: Contract) -> tuple[str, ...]:
    """Return the operations that a clause is about, by what its parameters name."""
    every = contract.operations.values()
    kind = kind_of(clause.kind)
    if kind.whole_interface:
        return tuple(one.id for one in every if one.available)
    match clause.params:
        case {"operation": str(operation)}:
            return (operation,)
        case {"operations": [*operations]}:
            return tuple(str(one) for one in operations)
        case {"resources": [*resources]}:
            return tuple(one.id for one in every if set(resources) & set(one.lists))
        case {"request": str(request)}:
            around = tuple(one for one in every if one.request == request)
            meant = tuple(
                one for one in around if any(getattr(one, word) for word in kind.applies_to)
            )
            return tuple(one.id for one in meant or around)
        case _:
            return ()
