"""What no schema can say, as `x-assay-` extensions: clauses, limits, what is left open.

Every clause of a contract stands with each operation that it is about, and one that is
about none at the root. Each extension is explained in contract/openapi.md.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

from assay.binding.join import BoundContract
from assay.binding.target import Target
from assay.contract.model import Clause, Contract, OpenPoint, Source
from assay.openapi.bound_operation import BoundOperation
from assay.openapi.kinds import concerned, limits, name
from assay.openapi.schemas import Schema, ready
from assay.planning.obligation import Obligation


def of_operation(use: BoundOperation, obligations: Sequence[Obligation]) -> Schema:
    """Return the extensions of an operation."""
    clauses = [
        one for one in use.contract.clauses if use.operation.id in concerned(one, use.contract)
    ]
    stated = [
        {"clause": name(one, use.contract), "kind": one.kind, **ready(limit)}
        for one in clauses
        if (limit := limits(one)) is not None
    ]
    out: Schema = {
        "x-assay-operations": [f"{use.contract.id}/{use.operation.id}"],
        "x-assay-clauses": [_clause(one, use.contract, obligations) for one in clauses],
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
    unbound = [one for one in use.arguments if not _bound(use, one)]
    if unbound:
        out["x-assay-unbound"] = unbound
    return out


def _bound(use: BoundOperation, argument: str) -> bool:
    return argument in use.binding.arguments or f"{{{argument}}}" in use.paths[0]


def _modes(use: BoundOperation) -> list[Schema]:
    """Return how each mode is asked for, and which are not to be asked for."""
    out: list[Schema] = []
    for mode in use.operation.modes:
        one: Schema = {"mode": mode}
        spelling = use.binding.modes.get(mode)
        if spelling is not None:
            one |= {"in": spelling.place.value, "name": spelling.name}
            one["value"] = ready(spelling.value)
        if mode in use.barred:
            one |= {"barred": use.barred[mode].word, "clause": use.barred[mode].clause}
        out.append(one)
    return out


def _clause(clause: Clause, contract: Contract, obligations: Iterable[Obligation]) -> Schema:
    return {
        "id": name(clause, contract),
        "kind": clause.kind,
        "level": clause.level.value,
        "says": clause.statement,
        "sources": _sources(clause.sources),
        "parameters": ready(clause.params),
        "obligations": {one.id: one.description for one in obligations if one.clause == clause.id},
    }


def _sources(sources: Iterable[Source]) -> list[Schema]:
    return [
        {"section": one.section, "line": one.line, **({"text": one.text} if one.text else {})}
        for one in sources
    ]


def of_document(bound: Sequence[BoundContract], target: Target) -> Schema:
    """Return the extensions of the whole document."""
    contracts = [each.contract for each in bound]
    return {
        "x-assay-contracts": [_contract(one) for one in contracts],
        "x-assay-target": {"target": target.name, "environment": target.environment},
        "x-assay-clauses": [one for each in bound for one in _of_no_operation(each)],
        "x-assay-open-points": [
            _point(point, one) for one in contracts for point in one.open_points
        ],
        "x-assay-scope": [_point(point, one) for one in contracts for point in one.scope],
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


def _of_no_operation(bound: BoundContract) -> Iterator[Schema]:
    for clause in bound.contract.clauses:
        if not concerned(clause, bound.contract):
            yield _clause(clause, bound.contract, bound.obligations)


def _point(point: OpenPoint, contract: Contract) -> Schema:
    return {
        "id": f"{contract.id}/{point.id}",
        "says": point.statement,
        "sources": _sources(point.sources),
    }
