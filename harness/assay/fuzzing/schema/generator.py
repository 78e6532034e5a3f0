"""Adapter to Schemathesis: generated cases, and remarks on the status and headers of answers.

`iter_coverage_cases` and the metadata of a case are not its documented API: the version
is pinned, and a test of this module covers what is used. Only checks that depend on the
answer alone are used; how a request should have been answered is for the contract's
checks, and what its body contains for `binding.wire.document_remarks`.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from importlib import import_module
from typing import Any, Final, cast

from assay.binding.model.bank_document import BankDocument, DocumentPart, is_json
from assay.binding.model.pointer import MISSING, is_too_deep
from assay.binding.model.spelling import SLOT
from assay.binding.model.target import Place
from assay.binding.wire.decode import body_of
from assay.binding.wire.document_remarks import errors
from assay.contract.model import Json
from assay.files.document import Document, Spot
from assay.fuzzing.findings import Remark
from assay.fuzzing.schema.cases import SchemaCase
from assay.history import Wire

#: The checks that depend on an answer alone, by Schemathesis' names.
CHECKS = (
    "not_a_server_error",
    "status_code_conformance",
    "content_type_conformance",
)
JSON = "application/json"
NO_CONTENT = 204
#: Schemathesis' title of a remark of the first of them.
FAILED = "ServerError"
#: The most characters of a value that are quoted in a description.
QUOTED = 60


def _drawn(strategy: Any, most: int, *, seed: str) -> list[Any]:
    """Return values of a strategy, the same for the same seed and installation."""
    library: Any = import_module("hypothesis")
    values: list[Any] = []
    settings = library.settings(
        max_examples=most,
        phases=[library.Phase.generate],
        database=None,
        deadline=None,
        suppress_health_check=[*library.HealthCheck],
        verbosity=library.Verbosity.quiet,
    )

    def draw(value: Any) -> None:
        values.append(value)

    library.seed(seed)(settings(library.given(strategy)(draw)))()
    return values


@dataclass(slots=True)
class Generator:
    """Generates cases from a document, and validates answers against it.

    Schemathesis is imported when one is created.
    """

    document: Mapping[str, Any]
    _made: dict[tuple[str, str, int, int], tuple[SchemaCase, ...]] = field(
        default_factory=dict[tuple[str, str, int, int], tuple[SchemaCase, ...]]
    )
    _answers: BankDocument = field(init=False)
    _library: Any = field(init=False)
    _schema: Any = field(init=False)
    _checks: list[Any] = field(init=False)

    def __post_init__(self) -> None:
        self._library = import_module("schemathesis")
        checks: Any = import_module("schemathesis.checks")
        checks.load_all_checks()
        self._checks = [checks.CHECKS.get_one(name) for name in CHECKS]
        self._schema = self._library.openapi.from_dict(dict(self.document))
        given = Document(data=self.document, path="", digest="", spots=Spot("", 0))
        self._answers = BankDocument.of(given, ())

    def cases(self, method: str, path: str, *, fuzz: int, seed: int) -> tuple[SchemaCase, ...]:
        """Return the cases of an operation: always the same ones, then `fuzz` random ones."""
        key = method, path, fuzz, seed
        if key not in self._made:
            operation = self._schema[path][method]
            random = self._fuzzed(operation, fuzz, seed) if fuzz else ()
            self._made[key] = (*self._cases(operation, method), *random)
        return self._made[key]

    def _cases(self, operation: Any, method: str) -> Iterator[SchemaCase]:
        usual: dict[Place, Mapping[str, Json]] | None = None
        for made in self._covered(operation):
            if made.method != method.upper():
                continue  # not a call of this operation: outside the contract
            if usual is None:
                usual = {place: _members(made, place) for place in Place}
            about = made.meta.phase.data
            if about.parameter_location is not None:
                yield _case(made, about, usual)

    def _covered(self, operation: Any) -> Iterator[Any]:
        modes = self._library.GenerationMode
        yield from self._schema.iter_coverage_cases(
            operation,
            generation_modes=[modes.POSITIVE, modes.NEGATIVE],
            generation_config=self._schema.config.generation,
        )

    def _fuzzed(self, operation: Any, most: int, seed: int) -> Iterator[SchemaCase]:
        """Yield cases that each take over one member of a random valid request, in turn."""
        requests = _drawn(operation.as_strategy(), most, seed=repr((seed, operation.label)))
        for n, request in enumerate(requests):
            members = [(place, name) for place in Place for name in _members(request, place)]
            if members:
                place, name = members[n % len(members)]
                value = _members(request, place)[name]
                says = f"{name} in the {place.value} is {_quoted(value)}"
                yield SchemaCase(
                    says=says, valid=True, place=place, name=name, made={name: value}, random=True
                )

    def judge(self, method: str, path: str, wire: Wire) -> tuple[Remark, ...]:
        """Return the remarks on an answer, by the document alone."""
        requests: Any = import_module("requests")  # it comes with Schemathesis
        headers: dict[str, list[str]] = {}
        for name, value in wire.headers:
            headers.setdefault(name.lower(), []).append(value)
        # The body is decoded already.
        headers.pop("content-encoding", None)
        # What has no content has no media type (RFC 9110, section 15.3.5).
        nothing = wire.status == NO_CONTENT and not wire.body
        if nothing or self._media(method, path, wire) is not None:
            headers["content-type"] = [JSON]
        answer = self._library.Response(
            status_code=wire.status,
            headers=headers,
            content=wire.body,
            # These checks ignore the request, and secrets stay here.
            request=requests.Request(method.upper(), "http://localhost" + path).prepare(),
            elapsed=0.0,
            verify=True,
        )
        case = self._schema[path][method].Case(
            path_parameters=dict.fromkeys(SLOT.findall(path), "-")
        )
        remarks: list[Remark] = []
        try:
            case.validate_response(answer, checks=self._checks)
        except BaseExceptionGroup as failures:
            documented = str(wire.status) in self.document["paths"][path][method]["responses"]
            # A documented 501 means "not offered", and is no failure.
            made = map(_remark, failures.exceptions)
            remarks += (each for each in made if each.check != FAILED or not documented)
        return (*remarks, *self._on_body(method, path, wire))

    def _media(self, method: str, path: str, wire: Wire) -> DocumentPart | None:
        """Return what the document has for the body of an answer, if that is JSON."""
        bank = self._answers
        response = bank.response(bank.below(bank.part(("paths", path)), method), wire.status)
        content = bank.below(response, "content") if response else DocumentPart(at=())
        key = bank.media_key(content.node, wire.media_type)
        return bank.below(content, key) if key and is_json(wire.media_type) else None

    def _on_body(self, method: str, path: str, wire: Wire) -> Iterator[Remark]:
        """Yield the remarks on the body of an answer; one that is too large to read gets none.

        Not left to Schemathesis, because it cannot read `prefixItems` in a response, and because it
        names a schema behind a reference by a name of its own, under which no clause is found.
        """
        media = self._media(method, path, wire)
        if media is None or wire.truncated or is_too_deep(wire.body):
            return
        body = body_of(wire)
        if body is MISSING:
            yield Remark(check=NOT_JSON, says="JSON deserialization error: the body is not JSON")
            return
        for error in errors(self._answers, media, body)[:MOST]:
            where = "".join(f"/{step}" for step in error.absolute_path)
            says = error.message
            if len(says) > LONGEST:
                says = f"the value at {where or 'the top'} fails {error.validator}"
            yield Remark(
                check=WRONG,
                says="Response violates schema: " + ", ".join(says.splitlines()),
                at=tuple(map(str, error.absolute_schema_path)),
            )


def _members(made: Any, place: Place) -> Mapping[str, Json]:
    """Return the members of a part of a generated request, by their names."""
    part = {
        Place.PATH: made.path_parameters,
        Place.QUERY: made.query,
        Place.HEADER: made.headers,
        Place.BODY: made.body,
    }.get(place)  # a scope, or another bank, is no part of a request
    return dict(cast("Mapping[str, Json]", part)) if isinstance(part, Mapping) else {}


def _case(made: Any, about: Any, usual: Mapping[Place, Mapping[str, Json]]) -> SchemaCase:
    place = Place(about.parameter_location.value)
    name = about.parameter or ""
    part: Json = _members(made, place)
    if place is Place.BODY:
        name = _member(about.location or "")
        part = made.body if isinstance(made.body, _JSON) else MISSING
    where = f"{name} in the {place.value}" if name else f"the {place.value}"
    return SchemaCase(
        says=f"{where}: {about.description}",
        valid=made.meta.generation.mode.value == "positive",
        place=place,
        name=name,
        made=part,
        usual=usual[place],
    )


#: The JSON types of a body; Schemathesis has its own value for no body.
_JSON = (dict, list, str, int, float, bool, type(None))


def _member(location: str) -> str:
    """Return the member of a body that a place in its schema is about, or ""."""
    steps = location.split("/")
    return steps[steps.index("properties") + 1] if "properties" in steps[:-1] else ""


def _quoted(value: Json) -> str:
    text = repr(value)
    return text if len(text) <= QUOTED else text[:QUOTED] + "…"


def _remark(failure: Any) -> Remark:
    says = ": ".join(filter(None, (failure.title, ", ".join(str(failure.message).splitlines()))))
    return Remark(check=type(failure).__name__, says=says)


#: Remarks of this module, by the names that Schemathesis has for them.
NOT_JSON: Final = "MalformedJson"
WRONG: Final = "JsonSchemaError"
#: A longer message quotes a whole answer, and is replaced.
LONGEST: Final = 200
#: The most remarks on one answer.
MOST: Final = 5
