"""Clauses that follow from the OpenAPI document of a bank, and what is wrong with the document.

One clause for each operation of a contract that the document has. Only those aspects are part of it
in which a successful answer, which a plain call shows, can differ from the document.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from importlib import import_module
from typing import Any, Final
from urllib.parse import urlsplit

from assay.binding.model.bank_document import (
    BankDocument,
    Node,
    DocumentPart,
    is_json,
    mapping,
    sequence,
)
from assay.binding.model.target import Place, Target
from assay.binding.read.decisions import DecidedContract
from assay.contract.model import OPENAPI, BankAnswer, Clause, Contract, Level, Operation, Source
from assay.errors import InputError, Problem
from assay.files.document import Document, Pointer, problem
from assay.history import Aspect
from assay.rules.kinds import kind_of
from assay.rules.kinds.reading.documented import Documented

#: Keywords that some value does not fit, if they have any of these values at all.
_STRICT: Final = frozenset(
    {
        *("type", "enum", "const", "required", "pattern", "multipleOf", "not", "uniqueItems"),
        *("minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum", "minLength", "maxLength"),
        *("minItems", "maxItems", "minProperties", "maxProperties", "contains"),
    }
)
#: Keywords with schemas: one, a list of them, or several by name.
_NESTED: Final = ("items", "additionalProperties", "unevaluatedProperties")
_LISTS: Final = ("allOf", "anyOf", "oneOf", "prefixItems")
#: The most parts of a document that are looked at.
_MOST: Final = 100_000


def document_of(document: Document, bases: Sequence[str]) -> BankDocument:
    """Return the value of a loaded document.

    Raises:
        InputError: it is not of OpenAPI 3.0 or 3.1, or has no paths.

    """
    import_module("assay.binding.wire.documented")  # the library, before any trial needs it

    version, paths = document.data.get("openapi"), document.data.get("paths")
    if not str(version).startswith(("3.0", "3.1")):
        hint = "OpenAPI 3.0 or 3.1"
        raise InputError([problem(document, ("openapi",), f"unknown version {version}", hint)])
    if not isinstance(paths, Mapping):
        raise InputError([problem(document, ("paths",), "expected a mapping of paths")])
    return BankDocument.of(document, bases)


def bases_of(target: Target) -> tuple[str, ...]:
    """Return the paths of the URLs under which a target answers."""
    urls = (target.base_url, *target.hosts, *(bank.base_url for bank in target.banks))
    return tuple(dict.fromkeys(urlsplit(url).path for url in urls))


def operation_of(target: Target, operation: Operation) -> DocumentPart | None:
    """Return what the bank's document has for an operation that is bound; None if nothing."""
    binding = target.operations.get(operation.id)
    if target.document_of_bank is None or binding is None or not operation.available:
        return None
    path = urlsplit(target.base_url).path.rstrip("/") + (binding.path or operation.path)
    method = binding.method or operation.method
    return target.document_of_bank.operation(method, path.partition("?")[0])


def with_document(answers: DecidedContract, target: Target) -> DecidedContract:
    """Return a contract with the clauses that follow from the bank's document."""
    document, contract = target.document_of_bank, answers.contract
    if document is None:
        return answers
    clauses: list[Clause] = []
    origins: dict[str, BankAnswer] = {}
    for operation in contract.operations.values():
        part = operation_of(target, operation)
        aspects = [] if part is None else [*possible_aspects(document, part)]
        if part is None or not aspects:
            continue
        line = document.document.line(part.at)
        place = f"{OPENAPI}: {document.document.path.rpartition('/')[2]}{part.reference}"
        says = f"The answers of {operation.id} are as the bank's own OpenAPI document has them."
        clauses.append(
            Clause(
                id=f"{OPENAPI}.{operation.id}",
                rule=kind_of(Documented.name),
                statement=says,
                sources=(Source(section=place, line=line),),
                level=Level.MUST,
                params={"operation": operation.id, "aspects": [each.value for each in aspects]},
                line=line,
            )
        )
        origins[clauses[-1].id] = BankAnswer(point=OPENAPI, says=says, source=place)
    return replace(
        answers,
        contract=replace(contract, clauses=(*contract.clauses, *clauses)),
        by_clause={**answers.by_clause, **origins},
    )


def possible_aspects(document: BankDocument, operation: DocumentPart) -> Iterator[Aspect]:
    """Yield the aspects in which the answer to a plain call can differ from the document."""
    responses = mapping(operation.node.get("responses"))
    ranges = {f"{n}XX" for n in range(1, 6)}
    if responses and "default" not in responses and not ranges <= {*map(str.upper, responses)}:
        yield Aspect.STATUS
    good = [key for key in responses if key.startswith("2") or key == "default"]
    shown = [document.below(operation, "responses", key) for key in good]
    contents = [document.below(each, "content") for each in shown]
    if any(each.node and "*/*" not in each.node for each in contents):
        yield Aspect.MEDIA_TYPE
    schemas = [
        document.below(each, key, "schema")
        for each in contents
        for key in each.node
        if is_json(key.partition(";")[0].strip().lower()) or "*" in key
    ]
    if any(_can_differ(document, each, set()) for each in schemas):
        yield Aspect.STRUCTURE
    for each in shown:
        if any(
            document.below(each, "headers", name).node.get("required") is True
            and name.lower() != "content-type"
            for name in mapping(each.node.get("headers"))
        ):
            yield Aspect.HEADERS
            return


def _can_differ(document: BankDocument, schema: DocumentPart, seen: set[Pointer]) -> bool:
    """Whether some value does not fit a schema."""
    if schema.at in seen or len(seen) > _MOST:
        return False
    seen.add(schema.at)
    node = schema.node
    if _STRICT & node.keys() or node.get("additionalProperties") is False:
        return True
    return any(_can_differ(document, document.part(at), seen) for at in _nested(schema.at, node))


def _nested(at: Pointer, node: Node) -> Iterator[Pointer]:
    yield from ((*at, key) for key in _NESTED if key in node)
    yield from ((*at, "properties", name) for name in mapping(node.get("properties")))
    yield from ((*at, key, n) for key in _LISTS for n, _ in enumerate(sequence(node.get(key))))


# -- mistakes of the document, and of the target file beside it --------------------------------
def document_problems(target: Target, contracts: Sequence[Contract]) -> Iterator[Problem]:
    """Yield what is wrong with those parts of the document that concern a contract, with lines."""
    document = target.document_of_bank
    if document is None:
        return
    seen: set[Pointer] = set()
    for contract in contracts:
        for operation in contract.operations.values():
            part = operation_of(target, operation)
            if part is not None:
                if not mapping(part.node.get("responses")):
                    yield problem(document.document, part.at, "the operation has no responses")
                yield from _broken(document, part.at, seen)


def _broken(document: BankDocument, start: Pointer, seen: set[Pointer]) -> Iterator[Problem]:
    """Yield the references that lead nowhere, and the schemas that are none."""
    left: list[tuple[Pointer, Any]] = [(start, document.part(start).node)]
    while left and len(seen) < _MOST:
        at, node = left.pop()
        if at in seen:
            continue
        seen.add(at)
        if isinstance(node, list):
            left += [((*at, index), each) for index, each in enumerate(sequence(node))]
        elif isinstance(node, Mapping):
            where = mapping(node).get("$ref")
            if isinstance(where, str) and at[-1:] != ("properties",):
                yield from _reference(document, at, where)
                target = document.part(at)
                left.append((target.at, target.node))
            named = mapping(node)
            left += [((*at, name), each) for name, each in named.items() if "example" not in name]
            if at[-1:] == ("schema",) or at[:-1] == ("components", "schemas"):
                yield from _schema(document, at, named)


def _reference(document: BankDocument, at: Pointer, where: str) -> Iterator[Problem]:
    shown = f"the reference {where[:200]!r}"
    if not where.startswith("#/"):
        hint = "put what it refers to into the document: no other file is read"
        yield problem(document.document, at, f"{shown} leads to another document", hint)
    elif not document.part(at).node:
        yield problem(document.document, at, f"{shown} leads nowhere", "correct the document")


def _schema(document: BankDocument, at: Pointer, node: Node) -> Iterator[Problem]:
    from assay.binding.wire.documented import schema_faults  # noqa: PLC0415 -- it imports the library

    for path, says in schema_faults(document, node):
        yield problem(document.document, (*at, *path), says, "correct the document")


def document_notes(target: Target, contracts: Sequence[Contract]) -> Iterator[tuple[Pointer, str]]:
    """Yield what is not held against the document, or not sent as it has it, at keys of the target file."""
    document = target.document_of_bank
    if document is None:
        return
    for contract in contracts:
        for operation in contract.operations.values():
            part, at = operation_of(target, operation), ("operations", operation.id)
            if part is not None:
                for place, name in _unsent(document, part, target, operation):
                    what = f"the bank's document requires the {place} parameter {name} ({part.reference})"
                    yield at, f"{what}, and nothing here sends it"
            elif operation.available and operation.id in target.operations:
                what = f"{document.document.path} does not have this operation"
                yield at, f"{what}, so its answers are not held against it"


def _unsent(
    document: BankDocument, part: DocumentPart, target: Target, operation: Operation
) -> Iterator[tuple[str, str]]:
    """Yield the place and the name of each parameter that is required and never sent."""
    binding = target.operations[operation.id]
    auth = target.auth.of(by_tpp=operation.by_tpp)
    spelt = [*binding.arguments.values(), *binding.modes.values()]
    headers = {*target.headers, *binding.headers, "accept", "content-type", "authorization"}
    headers |= {target.presence.header} if target.presence else set[str]()
    headers |= (
        {"signature", "signature-input", "digest", "content-digest"} if target.signature else set()
    )
    queries = {*target.queries, *binding.queries}
    for place, names in ((Place.HEADER, headers), (Place.QUERY, queries)):
        names |= {each.name for each in spelt if each.place is place}
        names |= {each.name for each in auth.token_places if each.place is place}
    known = {"header": {name.lower() for name in headers}, "query": queries}
    for parameter in document.parameters(part):
        where, name = str(parameter.node.get("in")), str(parameter.node.get("name"))
        sent = name.lower() if where == "header" else name
        if parameter.node.get("required") is True and sent not in known.get(where, {sent}):
            yield where, name
