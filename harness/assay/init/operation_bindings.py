"""The `operations` section: what was found for each operation of the contracts, in order."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from typing import cast

from assay.contract.model import Contract, Json, Operation
from assay.init.openapi_operations import OpenApiOperation
from assay.init.operation_match import MatchedOperation, OperationMatch, matches
from assay.init.requests import about_slot, arguments, modes, template, unfilled
from assay.init.responses import responses
from assay.init.yaml_writer import YamlEntry, gap
from assay.rules.clauses import clauses_of

__all__ = ["matched", "operations", "outcomes"]

#: The matched operations of each contract, by their ids.
Found = Mapping[str, Mapping[str, OperationMatch]]
_SLOT = re.compile(r"[{][^{}]*[}]")


def matched(contracts: Sequence[Contract], offers: Sequence[OpenApiOperation]) -> Found:
    """Match the operations of a document to those of the contracts."""
    return {one.id: matches(one, offers) for one in contracts}


def operations(
    contracts: Sequence[Contract], offers: Sequence[OpenApiOperation] | None, found: Found
) -> Iterator[YamlEntry]:
    """Yield an entry for each operation; without a document, everything in it is missing."""
    for contract in contracts:
        named = _by_own_names(contract, found)
        for operation in contract.operations.values():
            if offers is None:
                match = OperationMatch(offered=_unknown(operation))
            elif operation.id in found[contract.id]:
                match = found[contract.id][operation.id]
            elif operation.available:
                yield gap(operation.id, "no matching operation in the document", "{path: /…}")
                continue
            else:
                continue
            below = tuple(_operation(contract, operation, match, offers or (), named=named))
            if below:
                yield YamlEntry(key=operation.id, below=below)


def _unknown(operation: Operation) -> OpenApiOperation:
    """Return an operation of which only the contract is known."""
    return OpenApiOperation(
        method=operation.method,
        path=operation.path,
        id="",
        description="",
        parameters=(),
        request=(),
        answer=(),
        statuses=(),
        headers=(),
    )


def _operation(
    contract: Contract,
    operation: Operation,
    match: OperationMatch,
    offers: Sequence[OpenApiOperation],
    *,
    named: bool,
) -> Iterator[YamlEntry]:
    shape = _shape(contract, operation, match)
    if not named and not operation.about:
        shape = replace(shape, lister=None)
    path, why = _filled(shape)
    shape = replace(shape, offered=replace(match.offered, path=path))
    if match.offered.method != operation.method:
        yield YamlEntry(key="method", value=match.offered.method, why=match.why)
    if path != operation.path:
        reasons = "; ".join(filter(None, (match.why, why)))
        yield YamlEntry(key="path", value=path, why=reasons)
    if operation.aliases and offers:
        yield from _aliases(operation, match.offered.path, offers)
    if not operation.available:
        about = tuple(arguments(shape))
        if about:
            yield YamlEntry(key="arguments", below=about)
        return
    asked = tuple(arguments(shape))
    if asked:
        yield YamlEntry(key="arguments", below=asked)
    ways = tuple(modes(shape))
    if ways:
        yield YamlEntry(key="modes", below=ways)
    yield from unfilled(shape, (*asked, *ways))
    yield from template(shape, _pointers((*asked, *ways)))
    if any(clause.bars_credentials(operation.id) for clause in clauses_of(contract)):
        what = "where a client would send a customer's credentials"
        yield gap("credentials", what, "{basic: true}")
    yield from responses(shape)


def _shape(contract: Contract, operation: Operation, match: OperationMatch) -> MatchedOperation:
    return MatchedOperation(
        contract=contract,
        operation=operation,
        offered=match.offered,
        lister=_lister(contract, operation),
    )


def _by_own_names(contract: Contract, found: Found) -> bool:
    """Whether calls use the bank's own names of items, which then must be looked up."""
    shapes = (
        _shape(contract, contract.operations[name], match)
        for name, match in found.get(contract.id, {}).items()
    )
    values = (one.value for each in shapes for one in arguments(each))
    return any(isinstance(value, dict) and "found" in value for value in values)


def _lister(contract: Contract, operation: Operation) -> str | None:
    """Return the operation that lists the items that an operation is about, if there is one."""
    resources = contract.resources
    if not operation.about:
        owned = {one.of for one in resources.values()}
        return operation.id if owned & set(operation.lists) else None
    about = {resources[one].of for one in operation.lists}
    for one in contract.operations.values():
        if not one.about and about & set(one.lists):
            return one.id
    return None


def _filled(shape: MatchedOperation) -> tuple[str, str]:
    """Return the path, with the document's value for parameters that the contract does not have."""
    path, why = shape.offered.path, ""
    kept = about_slot(shape)
    parameters = shape.offered.named("path")
    for slot in shape.slots:
        values = parameters[slot].leaf.values if slot in parameters else ()
        if slot != kept and values and re.fullmatch(r"[A-Za-z0-9._-]+", values[0]):
            path = path.replace(f"{{{slot}}}", values[0])
            why = f"{values[0]} is the first value of {slot}"
    return path, why


def _aliases(
    operation: Operation, path: str, offers: Sequence[OpenApiOperation]
) -> Iterator[YamlEntry]:
    """Yield which other paths of an operation the document has, if not all."""
    taken = _SLOT.sub("{}", path)
    known = {_SLOT.sub("{}", one.path) for one in offers if one.method == operation.method} - {
        taken
    }
    kept = [one for one in operation.aliases if _SLOT.sub("{}", one) in known]
    if len(kept) < len(operation.aliases):
        yield YamlEntry(key="aliases", value=kept, why="the document has no other paths")


def _pointers(entries: Sequence[YamlEntry]) -> Iterator[str]:
    """Yield the pointers into the body that are bound already."""
    for one in entries:
        if isinstance(one.value, dict):
            at = cast("dict[str, Json]", one.value).get("body")
            yield from (str(each) for each in (at if isinstance(at, list) else [at]) if each)


def outcomes(found: Found) -> Iterator[YamlEntry]:
    """Yield the statuses of success, where the document lists them."""
    offers = [one.offered for each in found.values() for one in each.values()]
    statuses = sorted({status for one in offers for status in one.statuses})
    if statuses and all(one.isdigit() for one in statuses):
        accepted = [{"statuses": [int(one) for one in statuses]}]
        inner = YamlEntry(
            key="accepted", value=accepted, why="the success statuses in the document"
        )
        yield YamlEntry(key="outcomes", below=(inner,))
