"""What the clauses of a contract say, in the document: schemas, and `x-assay-` extensions.

Every clause stands with each operation that it is about, and one that is about none at the
root. Each extension is explained in contract/openapi.md.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace

from assay.binding.join import BoundContract
from assay.binding.spelling import MODES_ONLY, SLOT
from assay.binding.submission import SUBMISSION
from assay.binding.target import Target
from assay.binding.values import argument_in
from assay.contract.model import Clause, Contract, Json, OpenPoint, Source
from assay.openapi.bound_operation import BoundOperation
from assay.openapi.schemas import Schema, ready
from assay.rules.kinds import kind_of
from assay.rules.obligation import Obligation
from assay.rules.rule import clauses_of
from assay.rules.schema_pieces import BarredMode, SchemaPiece

__all__ = ["concerned", "of_document", "of_operation", "pieces"]


def _name(clause: Clause, contract: Contract) -> str:
    """Return the name of a clause that is unique among all contracts."""
    return f"{contract.id}/{clause.id}"


def pieces(contract: Contract) -> tuple[SchemaPiece, ...]:
    """Return the schemas that the clauses of a contract define for requests and responses."""
    stated: list[SchemaPiece] = []
    for clause, parsed in zip(contract.clauses, clauses_of(contract), strict=True):
        for piece in parsed.schema_pieces():
            named = _name(clause, contract)
            if isinstance(piece, BarredMode):
                stated.append(replace(piece, clause=named))
            else:
                stated.append(replace(piece, clause=named, schema=ready(piece.schema)))
    return tuple(stated)


def _limits(clause: Clause) -> Mapping[str, Json] | None:
    """Return the parameters with which a clause sets a limit; None where it sets none."""
    names = kind_of(clause.kind).limits
    if names is None:
        return None
    stated = {name: clause.params[name] for name in names if name in clause.params}
    return stated if stated or not names else None


def concerned(clause: Clause, contract: Contract) -> tuple[str, ...]:
    """Return the operations that a clause is about, by what its parameters name."""
    bound, kind = contract.operations.values(), kind_of(clause.kind)
    if kind.whole_interface:
        return tuple(operation.id for operation in bound if operation.available)
    match clause.params:
        case {"operation": str(operation)}:
            return (operation,)
        case {"operations": [*operations]}:
            return tuple(str(operation) for operation in operations)
        case {"resources": [*resources]}:
            return tuple(operation.id for operation in bound if {*resources} & {*operation.lists})
        case {"request": str(request)}:
            return _about_request(request, kind.applies_to, contract)
        case _:
            return ()


def _about_request(request: str, roles: Iterable[str], contract: Contract) -> tuple[str, ...]:
    """Return the operations with a request that have one of some roles; if none has, all."""
    around = [
        operation for operation in contract.operations.values() if operation.request == request
    ]
    meant = [operation for operation in around if any(getattr(operation, role) for role in roles)]
    return tuple(operation.id for operation in meant or around)


def of_operation(use: BoundOperation, obligations: Sequence[Obligation]) -> Schema:
    """Return the extensions of an operation."""
    clauses = [
        clause
        for clause in use.contract.clauses
        if use.operation.id in concerned(clause, use.contract) and use.part != SUBMISSION
    ]
    stated = [
        {"clause": _name(clause, use.contract), "kind": clause.kind, **ready(limit)}
        for clause in clauses
        if (limit := _limits(clause)) is not None
    ]
    out: Schema = {
        "x-assay-operations": [f"{use.contract.id}/{use.operation.id}"],
        "x-assay-clauses": [_clause(clause, use.contract, obligations) for clause in clauses],
    }
    if stated:
        out["x-assay-limits"] = stated
    if not use.operation.available:
        out["x-assay-available"] = False
    modes = _modes(use)
    if modes:
        out["x-assay-modes"] = modes
    due = use.operation.due
    if due is not None:
        out["x-assay-due"] = [{"argument": due.argument, "modes": list(due.modes)}]
    bound = {*use.binding.arguments, *SLOT.findall(use.paths[0])}
    unbound = [argument for argument in use.arguments if argument not in bound]
    if unbound:
        out["x-assay-unbound"] = unbound
    return out


def _modes(use: BoundOperation) -> list[Schema]:
    """Return how each mode is requested, and which modes must not be requested."""
    out: list[Schema] = []
    for mode in use.operation.modes:
        entry: Schema = {"mode": mode}
        spelling = use.binding.modes.get(mode)
        if spelling is not None:
            entry["in"] = spelling.place.value
            if spelling.place not in MODES_ONLY:
                entry["name"] = spelling.name
            argument = argument_in(spelling.value, use.binding.arguments)
            entry |= {"argument": argument} if argument else {"value": ready(spelling.value)}
        if mode in use.barred_modes:
            entry |= {
                "barred": use.barred_modes[mode].word,
                "clause": use.barred_modes[mode].clause,
            }
        out.append(entry)
    return out


def _clause(clause: Clause, contract: Contract, obligations: Iterable[Obligation]) -> Schema:
    return {
        "id": _name(clause, contract),
        "kind": clause.kind,
        "level": clause.level.value,
        "says": clause.statement,
        "sources": _sources(clause.sources),
        "parameters": ready(clause.params),
        "obligations": {
            obligation.id: obligation.description
            for obligation in obligations
            if obligation.clause == clause.id
        },
    }


def _sources(sources: Iterable[Source]) -> list[Schema]:
    return [
        {
            "section": source.section,
            "line": source.line,
            **({"text": source.text} if source.text else {}),
        }
        for source in sources
    ]


def of_document(bound: Sequence[BoundContract], target: Target) -> Schema:
    """Return the extensions of the whole document."""
    contracts = [each.contract for each in bound]
    return {
        "x-assay-contracts": [_contract(contract) for contract in contracts],
        "x-assay-target": {"target": target.name, "environment": target.environment},
        "x-assay-clauses": [
            _clause(clause, each.contract, each.obligations)
            for each in bound
            for clause in each.contract.clauses
            if not concerned(clause, each.contract)
        ],
        "x-assay-open-points": [
            _point(point, contract) for contract in contracts for point in contract.open_points
        ],
        "x-assay-scope": [
            _point(point, contract) for contract in contracts for point in contract.scope
        ],
    }


def _contract(contract: Contract) -> Schema:
    out: Schema = {
        "contract": contract.id,
        "title": contract.title,
        "version": contract.version,
        "interface": contract.interface,
        "document": contract.document,
    }
    if contract.zone is not None:
        out["zone"] = contract.zone.key
    if contract.hosts:
        out["hosts"] = ready(contract.hosts)
    return out


def _point(point: OpenPoint, contract: Contract) -> Schema:
    return {
        "id": f"{contract.id}/{point.id}",
        "says": point.statement,
        "sources": _sources(point.sources),
    }
