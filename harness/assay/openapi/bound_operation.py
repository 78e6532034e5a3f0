"""One operation of a contract, with its binding and the schemas that clauses define for it."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from assay.binding.target import OperationBinding, Target
from assay.contract.model import Contract, Operation
from assay.openapi.schemas import Schema, any_of
from assay.rules.schema_pieces import ArgumentSchema, BarredMode, FieldSchema, SchemaPiece


@dataclass(frozen=True, slots=True, kw_only=True)
class BoundOperation:
    """An operation with its binding; `name` is unique among the operations of all contracts.

    `part` is the key of the binding below that of the operation, if it is not that.
    """

    name: str
    contract: Contract
    operation: Operation
    binding: OperationBinding
    target: Target
    pieces: tuple[SchemaPiece, ...]
    part: str = ""

    @property
    def method(self) -> str:
        """The method of the call, in lower case as in OpenAPI."""
        return (self.binding.method or self.operation.method).lower()

    @property
    def paths(self) -> tuple[str, ...]:
        """The path of the operation, and its aliases."""
        own = self.binding.path or self.operation.path
        return (own, *self.binding.names(self.operation))

    @property
    def arguments(self) -> tuple[str, ...]:
        """Every argument that the contract names, once."""
        operation = self.operation
        named = (
            operation.about,
            operation.since,
            operation.until,
            operation.grants,
            *operation.arguments,
        )
        return tuple(dict.fromkeys(name for name in named if name))

    def argument_schemas(self, argument: str) -> Iterator[ArgumentSchema]:
        """Yield the schemas that clauses define for an argument."""
        meant = (self.operation.id, argument)
        for piece in self.pieces:
            if isinstance(piece, ArgumentSchema) and (piece.operation, piece.argument) == meant:
                yield piece

    def field_schemas(self, resource: str) -> Iterator[FieldSchema]:
        """Yield the schemas that clauses define for the fields of a resource."""
        for piece in self.pieces:
            if isinstance(piece, FieldSchema) and piece.resource == resource:
                yield piece

    @property
    def barred_modes(self) -> Mapping[str, BarredMode]:
        """The modes in which the operation must not be requested."""
        return {
            piece.mode: piece
            for piece in self.pieces
            if isinstance(piece, BarredMode) and piece.operation == self.operation.id
        }

    @property
    def date_arguments(self) -> frozenset[str]:
        """The arguments that are dates."""
        operation, operations = self.operation, self.contract.operations.values()
        same = (
            candidate
            for candidate in operations
            if candidate.request and candidate.request == operation.request
        )
        due = (candidate.due.argument for candidate in same if candidate.due)
        return frozenset(name for name in (operation.since, operation.until, *due) if name)

    def key_schema(self) -> Schema:
        """Return the schema of the key that identifies what a customer owns."""
        resources, operation = self.contract.resources, self.operation
        owners = [resources[child].of for child in operation.lists]
        if operation.request or operation.grants:
            owners = [name for name, resource in resources.items() if resource.of is None]
        names = dict.fromkeys(name for name in owners if name and name != operation.request)
        return any_of(map(self._key_of, names)) if names else {"type": "string"}

    def _key_of(self, resource: str) -> Schema:
        """Return the schema of the key of a resource: its format, if a clause defines one."""
        field = self.contract.resources[resource].key
        schemas = (piece.schema for piece in self.field_schemas(resource) if piece.field == field)
        schema = next(schemas, {})
        return schema if "format" in schema else {"type": "string"}
