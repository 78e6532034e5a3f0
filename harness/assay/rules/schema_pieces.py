"""What a clause says of the shape of a request or an answer, as parts of a JSON Schema."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, TypeAlias

#: A part of a JSON Schema.
Schema: TypeAlias = dict[str, Any]


@dataclass(frozen=True, slots=True, kw_only=True)
class FieldSchema:
    """What stands in a field of a listed resource; `mandatory` if the field must be there.

    `clause` is filled in where the pieces of a contract are gathered.
    """

    resource: str
    field: str
    schema: Schema
    mandatory: bool
    clause: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class ArgumentSchema:
    """What must stand in an argument of an operation; `mandatory` if it must be there."""

    operation: str
    argument: str
    schema: Schema = field(default_factory=dict[str, Any])
    mandatory: bool = False
    clause: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class BarredMode:
    """A mode in which an operation must not be called; `word` says why."""

    operation: str
    mode: str
    word: str
    clause: str = ""


SchemaPiece: TypeAlias = FieldSchema | ArgumentSchema | BarredMode
