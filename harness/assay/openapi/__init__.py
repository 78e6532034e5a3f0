"""Export of a contract and a target as an OpenAPI 3.1 document, for other tools.

The document contains what the contract says, at the places that the target file names, and
nothing else: what neither defines stays open, so that no tool takes a guess for a rule. What a
schema cannot express (how often, how many, who may see what) is in `x-assay-` extensions.

`document` does no I/O, and its output is deterministic.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import replace

from assay.binding.model.submission import SUBMISSION, SUBMITTED
from assay.binding.model.target import OperationBinding, Target
from assay.binding.read.join import EMPTY, BoundContract
from assay.contract.model import Operation
from assay.openapi.bound_operation import BoundOperation, of_document, pieces, security_schemes
from assay.openapi.paths import SharedSchemas, paths, schemas
from assay.openapi.schemas import Schema, unique

__all__ = ["document"]


def document(bound: Sequence[BoundContract], target: Target) -> Schema:
    """Return the OpenAPI document of contracts for a target, ready to be written as JSON.

    Raises:
        InputError: the target file has a path that no path of OpenAPI can be.

    """
    obligations = {each.contract.id: each.obligations for each in bound}
    known = SharedSchemas(operations=tuple(_uses(bound, target)), obligations=obligations)
    return {
        "openapi": "3.1.0",
        "info": _info(bound, target),
        "servers": [{"url": url} for url in (target.base_url, *target.hosts)],
        "tags": [{"name": each.contract.id, "description": each.contract.title} for each in bound],
        "paths": paths(known),
        "components": {"schemas": schemas(known), **security_schemes(known.operations, target)},
        **of_document(bound, target),
    }


def _uses(bound: Sequence[BoundContract], target: Target) -> Iterator[BoundOperation]:
    """Yield every operation; a name that two contracts have is prefixed with the contract's."""
    ids = [name for each in bound for name in each.contract.operations]
    names: list[str] = []
    for each in bound:
        contract, said = each.contract, pieces(each.contract)
        for id_, operation in contract.operations.items():
            name = id_ if ids.count(id_) == 1 else f"{contract.id}.{id_}"
            for part, called, binding in _bindings(operation, target.operations.get(id_, EMPTY)):
                named = f"{name}.{part}" if part else name
                names.append(unique(re.sub(r"[^A-Za-z0-9._-]", "-", named), names))
                yield BoundOperation(
                    name=names[-1],
                    contract=contract,
                    operation=called,
                    binding=binding,
                    target=target,
                    pieces=said,
                    part=part,
                )


def _bindings(
    operation: Operation, binding: OperationBinding
) -> Iterator[tuple[str, Operation, OperationBinding]]:
    """Yield the bindings of an operation: its own, and those of a submission and since then."""
    yield "", operation, binding
    if binding.submission is not None:
        by = binding.submission.by
        caller = operation if by is None else replace(operation, by_tpp=by == "tpp")
        yield SUBMISSION, caller, binding.submission
    if binding.submitted is not None:
        yield SUBMITTED, operation, binding.submitted


def _info(bound: Sequence[BoundContract], target: Target) -> Schema:
    contracts = [each.contract for each in bound]
    versions = dict.fromkeys(contract.version for contract in contracts)
    documents = dict.fromkeys(contract.document for contract in contracts)
    return {
        "title": ", ".join(contract.title for contract in contracts) + f" ({target.name})",
        "version": ", ".join(versions),
        "description": "; ".join(documents),
    }
