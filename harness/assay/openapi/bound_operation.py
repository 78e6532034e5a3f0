"""One operation of a contract, with its binding, its security, and what clauses say of it."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

from assay.binding.model.security import BEARER, Auth, AuthKind, TokenPlace, authorizes, places_for
from assay.binding.model.spelling import MODES_ONLY, SLOT
from assay.binding.model.submission import SUBMISSION
from assay.binding.model.target import OperationBinding, Place, Spelling, Target
from assay.binding.read.join import BoundContract
from assay.binding.wire.values import argument_in
from assay.contract.model import Clause, Contract, Json, OpenPoint, Operation, Source
from assay.openapi.schemas import Schema, any_of, in_request, ready
from assay.rules.facets import ArgumentSchema, BarredMode, FieldSchema, SchemaPiece
from assay.rules.kinds import kind_of
from assay.rules.obligation import Obligation
from assay.rules.rule import clauses_of


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


# -- What the clauses of a contract say, in the document: schemas, and `x-assay-` extensions
# Every clause stands with each operation that it is about, and one that is about none at the
# root. Each extension is explained in contract/openapi.md.
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
