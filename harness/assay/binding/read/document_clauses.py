"""Clauses that follow from the OpenAPI document of a bank, and what is wrong with the document.

One clause for each operation of a contract that the document has. It has only those aspects in which
a successful answer, which a plain call shows, can differ from the document.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from importlib import import_module
from importlib.util import find_spec
from itertools import chain
from pathlib import PurePath
from typing import Any, Final

from assay.binding.model.bank_document import (
    BankDocument,
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

#: The most parts of a document that are looked at.
_MOST: Final = 100_000


def document_of(document: Document, target: Target) -> BankDocument:
    """Return a loaded document of the bank of a target.

    Raises:
        InputError: it is not of OpenAPI 3.0 or 3.1, or has no paths; the library is not installed.

    """
    if find_spec("openapi_schema_validator") is None:
        what, hint = "openapi-schema-validator is not installed", "pip install 'assay[openapi]'"
        raise InputError.one("openapi", what, hint=hint)
    import_module("assay.binding.wire.document_remarks")  # the library, before any trial needs it
    version = str(document.data.get("openapi"))
    if not version.startswith(("3.0", "3.1")):
        what = f"unknown version {version[:20]!r}"
        raise InputError([problem(document, ("openapi",), what, "OpenAPI 3.0 or 3.1")])
    if not isinstance(document.data.get("paths"), Mapping):
        raise InputError([problem(document, ("paths",), "expected a mapping of paths")])
    others = (bank.base_url for bank in target.banks)
    return BankDocument.of(document, (target.base_url, *target.hosts, *others))


def _documented(target: Target, contract: Contract) -> Iterator[tuple[Operation, DocumentPart]]:
    """Yield each bound operation with what the document has for it, empty if nothing."""
    for operation in contract.operations.values():
        binding, document = target.operations.get(operation.id), target.document_of_bank
        if document is not None and binding is not None and operation.available:
            method, path = binding.method or operation.method, binding.path or operation.path
            found = document.bound(method, path, target.base_url)
            yield operation, found or DocumentPart(at=())


def with_document(answers: DecidedContract, target: Target) -> DecidedContract:
    """Return a contract with the clauses that follow from the bank's document."""
    document, clauses = target.document_of_bank, list[Clause]()
    if document is None:
        return answers
    origins: dict[str, BankAnswer] = {}
    for operation, part in _documented(target, answers.contract):
        aspects = [each.value for each in possible_aspects(document, part)]
        if not aspects:
            continue
        place = f"{OPENAPI}: {PurePath(document.document.path).name}#{part.pointer}"
        says = f"The answers of {operation.id} are as the bank's own OpenAPI document has them."
        clause = Clause(
            id=f"{OPENAPI}.{operation.id}",
            rule=kind_of(Documented.name),
            statement=says,
            sources=(Source(section=place, line=document.document.line(part.at)),),
            level=Level.MUST,
            params={"operation": operation.id, "aspects": aspects},
        )
        clauses.append(clause)
        origins[clause.id] = BankAnswer(point=OPENAPI, says=says, source=place)
    contract = replace(answers.contract, clauses=(*answers.contract.clauses, *clauses))
    return replace(answers, contract=contract, by_clause={**answers.by_clause, **origins})


def possible_aspects(document: BankDocument, operation: DocumentPart) -> Iterator[Aspect]:
    """Yield the aspects in which the answer to a plain call can differ from the document."""
    from assay.binding.wire.document_remarks import required_headers  # noqa: PLC0415 -- only with a document

    keys = [*mapping(operation.node.get("responses"))]
    ranges = {f"{n}XX" for n in range(1, 6)}
    if keys and "default" not in keys and not ranges <= {*map(str.upper, keys)}:
        yield Aspect.STATUS
    good = [key for key in keys if key.startswith("2") or key == "default"]
    shown = [document.below(operation, "responses", key) for key in good]
    contents = [document.below(each, "content") for each in shown]
    if any(each.node and "*/*" not in each.node for each in contents):
        yield Aspect.MEDIA_TYPE
    media = [(key, document.below(each, key).node) for each in contents for key in each.node]
    if any("schema" in node and is_json(key.partition(";")[0].strip()) for key, node in media):
        yield Aspect.STRUCTURE
    if any(name for each in shown for name in required_headers(document, each)):
        yield Aspect.HEADERS


# -- mistakes of the document, and of the target file beside it --------------------------------
def document_problems(target: Target, contracts: Sequence[Contract]) -> Iterator[Problem]:
    """Yield what is wrong with those parts of the document that concern a contract, with lines."""
    every = chain.from_iterable(_documented(target, each) for each in contracts)
    left: list[tuple[Pointer, Any]] = [(part.at, part.node) for _, part in every if part.node]
    document, seen = target.document_of_bank, set[Pointer]()
    while document is not None and left and len(seen) < _MOST:
        at, node = left.pop()
        if at not in seen:
            seen.add(at)
            items = mapping(node).items() or enumerate(sequence(node))
            left += [
                ((*at, key), each) for key, each in items if key not in {"example", "examples"}
            ]
            if isinstance(mapping(node).get("$ref"), str):
                led = document.part(at)
                left.append((led.at, led.node))
            yield from _mistakes(document, at, node)


def _mistakes(document: BankDocument, at: Pointer, node: Any) -> Iterator[Problem]:
    """Yield what is wrong with one part."""
    from assay.binding.wire.document_remarks import schema_fault  # noqa: PLC0415 -- only with a document

    where = mapping(node).get("$ref")
    if isinstance(where, str) and not document.part(at).node:
        inside = where.startswith("#/")
        what = "leads nowhere" if inside else "leads to another document, which is not read"
        hint = "correct the document" if inside else "put what it refers to into the document"
        yield problem(document.document, at, f"the reference {where[:200]!r} {what}", hint)
    is_schema = at[-1:] == ("schema",) or at[:-1] == ("components", "schemas")
    if is_schema and (fault := schema_fault(document, mapping(node))):
        what = f"this is no schema: {fault[1]}"
        yield problem(document.document, (*at, *fault[0]), what, "correct the document")


def document_notes(target: Target, contracts: Sequence[Contract]) -> Iterator[tuple[Pointer, str]]:
    """Yield what is not held against the document, or not sent as it has it, at keys of the target file."""
    document = target.document_of_bank
    for operation, part in chain.from_iterable(_documented(target, each) for each in contracts):
        at = "operations", operation.id
        if document is not None and not part.node:
            what = f"{document.document.path} does not have this operation"
            yield at, f"{what}, so its answers are not held against it"
        for parameter in () if document is None else document.parameters(part):
            name, place = str(parameter.node.get("name")), Place(parameter.node.get("in"))
            if parameter.node.get("required") is True and not _sends(
                target, operation, place, name
            ):
                what = f"the bank's document requires the {place.value} parameter {name}"
                yield at, f"{what} (#{part.pointer}), and nothing here sends it"


def _sends(target: Target, operation: Operation, place: Place, name: str) -> bool:
    """Whether a target file has a value for a header or a query parameter of an operation."""
    binding, auth = target.operations[operation.id], target.auth.of(by_tpp=operation.by_tpp)
    names = {each.name for each in auth.token_places if each.place is place}
    spelt = (*binding.arguments.values(), *binding.modes.values())
    names |= {each.name for each in spelt if each.place is place}
    if target.presence and target.presence.place is place:
        names.add(target.presence.name)
    if place is Place.QUERY:
        return name in {*names, *target.queries, *binding.queries}
    names |= {*target.headers, *binding.headers}
    signed = (
        {"signature", "signature-input", "digest", "content-digest"} if target.signature else ()
    )
    return name.lower() in {*map(str.lower, names), *signed}
