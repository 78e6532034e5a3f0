"""One operation of a contract, with all that says how a target spells it."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from assay.binding.target import OperationBinding, Target
from assay.contract.model import Contract, Operation
from assay.openapi.schemas import Schema, either
from assay.rules.schema_pieces import ArgumentSchema, BarredMode, FieldSchema, SchemaPiece


@dataclass(frozen=True, slots=True, kw_only=True)
class BoundOperation:
    """An operation in use; `name` is its own among those of all contracts."""

    name: str
    contract: Contract
    operation: Operation
    binding: OperationBinding
    target: Target
    pieces: tuple[SchemaPiece, ...]

    @property
    def method(self) -> str:
        """The method of the call, in small letters as OpenAPI has it."""
        return (self.binding.method or self.operation.method).lower()

    @property
    def paths(self) -> tuple[str, ...]:
        """The path, and the other names that it has."""
        own = self.binding.path or self.operation.path
        return (own, *self.binding.names(self.operation))

    @property
    def arguments(self) -> tuple[str, ...]:
        """Every argument that the contract names, once."""
        one = self.operation
        named = (one.about, one.since, one.until, one.grants, *one.arguments)
        return tuple(dict.fromkeys(name for name in named if name))

    def asked(self, argument: str) -> Iterator[ArgumentSchema]:
        """Yield what clauses say of an argument."""
        meant = (self.operation.id, argument)
        for piece in self.pieces:
            if isinstance(piece, ArgumentSchema) and (piece.operation, piece.argument) == meant:
                yield piece

    def shown(self, resource: str) -> Iterator[FieldSchema]:
        """Yield what clauses say of the fields of a resource."""
        for piece in self.pieces:
            if isinstance(piece, FieldSchema) and piece.resource == resource:
                yield piece

    @property
    def barred(self) -> Mapping[str, BarredMode]:
        """The modes in which it is not to be asked."""
        return {
            piece.mode: piece
            for piece in self.pieces
            if isinstance(piece, BarredMode) and piece.operation == self.operation.id
        }

    @property
    def days(self) -> frozenset[str]:
        """The arguments that are days."""
        one = self.operation
        makers = (
            each.due
            for each in self.contract.operations.values()
            if each.due and each.request and each.request == one.request
        )
        named = (one.since, one.until, *(due.argument for due in makers))
        return frozenset(name for name in named if name)

    def key(self) -> Schema:
        """Return the schema of a key by which something of a customer's is named."""
        contract, one = self.contract, self.operation
        owners = [contract.resources[child].of for child in one.lists]
        if one.request or one.grants:
            owners = [each.id for each in contract.resources.values() if each.of is None]
            owners = [each for each in owners if each != one.request]
        known: list[Schema] = []
        for owner in dict.fromkeys(each for each in owners if each):
            field = contract.resources[owner].key
            said = [piece.schema for piece in self.shown(owner) if piece.field == field]
            known.append(said[0] if said and "format" in said[0] else {"type": "string"})
        return either(known) if known else {"type": "string"}
