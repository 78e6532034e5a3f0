"""What each rule kind says that a schema can hold, and where a clause belongs.

A table from kind to function: each reads a clause and yields pieces, by the contract's
own names. A kind that is not here, and whatever a kind says beyond the shape of one
request or one answer, stands in the document all the same, as the clause that it is.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import TypeAlias

from assay.contract.model import Clause, Contract, Json
from assay.openapi.schemas import Schema, ready
from assay.rules import parameters


@dataclass(frozen=True, slots=True, kw_only=True)
class FieldSchema:
    """What stands in a field of a resource that is listed; `mandatory` if it must be there."""

    clause: str
    resource: str
    field: str
    schema: Schema
    mandatory: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class ArgumentSchema:
    """What must stand in an argument of a request; `mandatory` if it must be there."""

    clause: str
    operation: str
    argument: str
    schema: Schema = field(default_factory=dict[str, object])
    mandatory: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class BarredMode:
    """A mode in which an operation is not to be asked; `word` says why."""

    clause: str
    operation: str
    mode: str
    word: str


Piece: TypeAlias = FieldSchema | ArgumentSchema | BarredMode


def name(clause: Clause, contract: Contract) -> str:
    """Return the name that a clause has among those of all contracts."""
    return f"{contract.id}/{clause.id}"


def pieces(contract: Contract) -> tuple[Piece, ...]:
    """Return all that the clauses of a contract say of the shapes of requests and answers."""
    return tuple(
        piece
        for clause in contract.clauses
        if clause.kind in KINDS
        for piece in KINDS[clause.kind](clause, contract)
    )


def _field(clause: Clause, contract: Contract) -> Iterator[Piece]:
    mandatory = clause.params.get("mandatory") is True
    formats = parameters.mapping(clause, "format")
    for resource in parameters.texts(clause, "resources"):
        if "const" in clause.params:
            schema = _values([clause.params["const"]], mandatory)
        elif "enum" in clause.params:
            schema = _values(list(parameters.texts(clause, "enum")), mandatory)
        else:
            schema = _format(str(formats[resource]), mandatory)
        yield FieldSchema(
            clause=name(clause, contract),
            resource=resource,
            field=parameters.text(clause, "field"),
            schema=schema,
            mandatory=mandatory,
        )


#: What counts as if the field were not there, as the rule reads it.
_NOTHING: tuple[Json, ...] = (None, "")


def _values(values: list[Json], mandatory: bool) -> Schema:
    if mandatory and len(values) == 1:
        return {"const": ready(values[0])}
    return {"enum": ready([*values, *(() if mandatory else _NOTHING)])}


def _format(form: str, mandatory: bool) -> Schema:
    schema: Schema = {"type": "string", "minLength": 1, "format": form}
    return schema if mandatory else {"anyOf": [schema, {"enum": list(_NOTHING)}]}


def _made_by(clause: Clause, contract: Contract) -> Iterator[str]:
    """Yield the operation that makes the request which a clause names."""
    request = parameters.text(clause, "request")
    for operation in contract.operations.values():
        if operation.makes == request and operation.available:
            yield operation.id


def _mandatory(clause: Clause, contract: Contract) -> Iterator[Piece]:
    for operation in _made_by(clause, contract):
        for argument in parameters.texts(clause, "fields"):
            yield ArgumentSchema(
                clause=name(clause, contract),
                operation=operation,
                argument=argument,
                mandatory=True,
            )


def _fixed(clause: Clause, contract: Contract) -> Iterator[Piece]:
    for operation in _made_by(clause, contract):
        yield ArgumentSchema(
            clause=name(clause, contract),
            operation=operation,
            argument=parameters.text(clause, "field"),
            schema={"const": parameters.text(clause, "const")},
        )


def _modes(clause: Clause, contract: Contract) -> Iterator[Piece]:
    for operation in _made_by(clause, contract):
        for mode in parameters.texts(clause, "refused"):
            yield BarredMode(
                clause=name(clause, contract), operation=operation, mode=mode, word="refused"
            )


def _unsupported(clause: Clause, contract: Contract) -> Iterator[Piece]:
    yield BarredMode(
        clause=name(clause, contract),
        operation=parameters.text(clause, "operation"),
        mode=parameters.text(clause, "mode"),
        word="unsupported",
    )


#: The kinds that say something of the shape of one request or one answer.
KINDS: Mapping[str, Callable[[Clause, Contract], Iterator[Piece]]] = {
    "field": _field,
    "mandatory": _mandatory,
    "fixed": _fixed,
    "modes": _modes,
    "unsupported-mode": _unsupported,
}

#: The kinds that set a limit, with the parameters that say it.
LIMITS: Mapping[str, tuple[str, ...]] = {
    "quota": ("limit", "per", "counts", "refused-calls", "page-turns"),
    "unmetered": (),
    "pagination": ("size",),
    "history-depth": ("days", "edge"),
    "unsupported-mode": ("mode", "days"),
    "eligibility": ("recent",),
    "timeout": ("measure", "minutes", "edge"),
    "maintenance-window": ("weekday", "from", "to"),
}

#: The kinds whose operation is only the one that is asked: they hold for the interface.
EVERYWHERE = frozenset({"maintenance-window"})

#: What the operations do with a request that a clause about requests speaks of; a kind
#: that is not here speaks of all of them.
DOING: Mapping[str, tuple[str, ...]] = {
    "modes": ("makes",),
    "segments": ("makes",),
    "eligible-for": ("makes",),
    "mandatory": ("makes",),
    "fixed": ("makes",),
    "notice": ("makes",),
    "factors": ("makes",),
    "timeout": ("makes",),
    "return-address": ("makes",),
    "duplicate": ("makes",),
    "decision": ("makes",),
    "gives-back": ("makes", "shows"),
    "modification": ("changes",),
    "cancellation": ("ends",),
}


def limits(clause: Clause) -> bool:
    """Whether a clause sets a limit."""
    names = LIMITS.get(clause.kind)
    return names is not None and (not names or any(one in clause.params for one in names))


def concerned(clause: Clause, contract: Contract) -> tuple[str, ...]:
    """Return the operations that a clause is about, by what its parameters name."""
    every = contract.operations.values()
    if clause.kind in EVERYWHERE:
        return tuple(one.id for one in every if one.available)
    if "operation" in clause.params:
        return (parameters.text(clause, "operation"),)
    if "operations" in clause.params:
        return parameters.texts(clause, "operations")
    if "resources" in clause.params:
        named = set(parameters.texts(clause, "resources"))
        return tuple(one.id for one in every if named & set(one.lists))
    if "request" in clause.params:
        request = parameters.text(clause, "request")
        around = tuple(one for one in every if one.request == request)
        does = DOING.get(clause.kind, ())
        meant = tuple(one for one in around if any(getattr(one, word) for word in does))
        return tuple(one.id for one in meant or around)
    return ()
