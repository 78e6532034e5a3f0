"""One operation of a contract, with its binding and the schemas that clauses define for it."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass

from assay.binding.security import BEARER, Auth, AuthKind, TokenPlace, authorizes, places_for
from assay.binding.target import OperationBinding, Place, Spelling, Target
from assay.contract.model import Contract, Operation
from assay.openapi.schemas import Schema, any_of, in_request
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

    def modes(self, *places: Place) -> Iterator[tuple[str, Spelling]]:
        """Yield the modes that are selected in some places, of those that may be requested."""
        for name in self.operation.modes:
            mode = self.binding.modes.get(name)
            if mode is not None and mode.place in places and name not in self.barred_modes:
                yield name, mode

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


# -- Security schemes of the document: how the calls of each party are authorised, and with which scopes
# A token that is requested by OAuth has its scopes, those of modes included. A token that the target
# takes in several places needs several schemes together; in a body it is no scheme of OpenAPI but a
# member, which `token_members` describes.

_CONSENT = "A token for what one customer authorised: one consent, or one request."
_SAYS = {False: "A token for one customer.", True: "A token of the TPP."}


def security_schemes(operations: Sequence[BoundOperation], target: Target) -> Schema:
    """Return the security schemes of the parties that call: the customer, the TPP, or both."""
    schemes: dict[str, Schema] = {}
    for by_tpp in sorted({use.operation.by_tpp for use in operations}):
        auth = target.auth.of(by_tpp=by_tpp)
        own = [use for use in operations if use.operation.by_tpp is by_tpp]
        scopes = [auth.oauth.scope if auth.oauth else "", *(_mode_scopes(own))]
        for name, place in _named(auth, by_tpp=by_tpp):
            scheme = _scheme(auth, place, scopes)
            of_consent = not by_tpp and authorizes(target.operations)
            schemes[name] = {**scheme, "description": _CONSENT if of_consent else _SAYS[by_tpp]}
    return {"securitySchemes": schemes} if schemes else {}


def required_security(use: BoundOperation) -> list[Mapping[str, list[str]]]:
    """Return the alternatives by which an operation is authorised: plainly, and in each mode."""
    auth = use.target.auth.of(by_tpp=use.operation.by_tpp)
    own = auth.oauth.scope if auth.oauth else ""
    alternatives: list[Mapping[str, list[str]]] = []
    for scope in dict.fromkeys((own, *_mode_scopes([use]))):
        required = {
            name: scope.split() if _has_scopes(auth, place) else []
            for name, place in _named(auth, by_tpp=use.operation.by_tpp)
            if place in [*places_for(auth, use.method)]
        }
        if required:
            alternatives.append(required)
    return alternatives


def token_members(use: BoundOperation) -> Iterator[Schema]:
    """Yield the schema of each member of a body that is a token."""
    auth = use.target.auth.of(by_tpp=use.operation.by_tpp)
    for at in places_for(auth, use.method):
        if at.place is Place.BODY:
            says = _SAYS[use.operation.by_tpp]
            member = {"type": "string", "minLength": 1, "writeOnly": True, "description": says}
            yield in_request(at.name, member, required=True)


def _named(auth: Auth, *, by_tpp: bool) -> Iterator[tuple[str, TokenPlace]]:
    """Yield the places of a token that are security schemes, with the names of these."""
    name = "tpp" if by_tpp else "customer"
    schemes = [at for at in auth.token_places if at.place is not Place.BODY]
    for number, at in enumerate(schemes, 1):
        yield (name if number == 1 else f"{name}-{number}"), at


def _mode_scopes(operations: Iterable[BoundOperation]) -> Iterator[str]:
    """Yield the scopes of the modes that may be asked for."""
    for use in operations:
        yield from (str(mode.value) for _, mode in use.modes(Place.SCOPE))


def _has_scopes(auth: Auth, place: TokenPlace) -> bool:
    """Whether a place of a token is a scheme with scopes: the usual one of OAuth."""
    return auth.oauth is not None and place == BEARER


def _scheme(auth: Auth, place: TokenPlace, scopes: Iterable[str]) -> Schema:
    """Return the security scheme of a token in a place."""
    if auth.oauth is not None and _has_scopes(auth, place):
        words = {word: "" for scope in scopes for word in scope.split()}
        flow: Schema = {"tokenUrl": auth.oauth.token_url, "scopes": words}
        if auth.kind is AuthKind.CLIENT:
            return {"type": "oauth2", "flows": {"clientCredentials": flow}}
        flow = {"authorizationUrl": auth.oauth.authorize_url, **flow}
        return {"type": "oauth2", "flows": {"authorizationCode": flow}}
    if place == BEARER:
        return {"type": "http", "scheme": "bearer"}
    where = "header" if place.place is Place.HEADER else "query"
    return {"type": "apiKey", "in": where, "name": place.name}
