"""The `operations` section of a target file: what the document says about each binding feature.

`GUESSES` has a function for each feature of `binding.features`, which yields the entries or
gaps at its key. A gap says what is missing: nothing is made up.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Final, TypeAlias

from assay.binding.features import BINDING_FEATURES
from assay.contract.model import Contract, Operation
from assay.init import body_templates, items, requests, responses
from assay.init.authentication import GuessedAuth
from assay.init.inherited import InheritedTarget
from assay.init.matched_operation import MatchedOperation
from assay.init.openapi_operations import OpenApiOperation
from assay.init.operation_effects import filled_path
from assay.init.operation_matching import OperationMatch, matches
from assay.init.path_modes import mode_slots
from assay.init.sent_outputs import SentOutputs, sent_outputs
from assay.init.submissions import submission
from assay.init.yaml_writer import YamlEntry, gap, nested
from assay.rules.clauses import clauses_of

#: The matched operations of each contract, by their ids.
Found: TypeAlias = Mapping[str, Mapping[str, OperationMatch]]
_Guess: TypeAlias = Callable[[MatchedOperation], Iterable[YamlEntry]]
_SLOT = re.compile(r"[{][^{}]*[}]")


def _method(shape: MatchedOperation) -> Iterator[YamlEntry]:
    if shape.offered.method != shape.operation.method:
        yield YamlEntry(key="method", value=shape.offered.method, why=shape.match.why)


def _path(shape: MatchedOperation) -> Iterator[YamlEntry]:
    path = shape.offered.path
    if path != shape.operation.path:
        reasons = "; ".join(filter(None, (shape.match.why, shape.path_why)))
        yield YamlEntry(key="path", value=path, why=reasons)
    elif shape.explicit:
        yield YamlEntry(key="path", value=path)
    if shape.operation.available:
        for slot in requests.unfilled_slots(shape):
            example = path.replace(f"{{{slot}}}", "…")
            yield shape.gap("path", what=f"a value for {slot} in the path", example=example)


def _aliases(shape: MatchedOperation) -> Iterator[YamlEntry]:
    """Yield which other paths of an operation the document has, if not all."""
    operation = shape.operation
    if not operation.aliases or not shape.offers:
        return
    others = {
        _SLOT.sub("{}", offer.path): offer.path
        for offer in shape.offers
        if offer.method == operation.method and _names_item(shape, offer)
    }
    others.pop(_SLOT.sub("{}", shape.match.offered.path), None)
    plain = [_SLOT.sub("{}", path) for path in operation.aliases]
    kept = [others[path] for path in plain if path in others]
    if kept != [*operation.aliases]:
        why = "the document has only these of the contract's other paths"
        why = why if kept else "the document has none of the contract's other paths"
        yield YamlEntry(key="aliases", value=kept, why=why)


def _names_item(shape: MatchedOperation, offer: OpenApiOperation) -> bool:
    """Whether another path takes the item that a call is about in the same place."""
    if not shape.operation.about:
        return True
    slot = requests.about_slot(shape)
    if slot:
        return f"{{{slot}}}" in offer.path
    return bool(shape.offered.named("query").keys() & offer.named("query").keys())


def _credentials(shape: MatchedOperation) -> Iterator[YamlEntry]:
    clauses = clauses_of(shape.contract)
    if any(clause.bars_credentials(shape.operation.id) for clause in clauses):
        yield shape.gap("credentials")


#: The guess of each feature, in the order in which the keys are written.
GUESSES: Final[Mapping[str, _Guess]] = {
    "method": _method,
    "path": _path,
    "aliases": _aliases,
    "argument": requests.arguments,
    "mode": requests.modes,
    "queries": requests.queries,
    "template": body_templates.template,
    "credentials": _credentials,
    "list": responses.list_of_items,
    "one": responses.single_item,
    "next": responses.next_page,
    "approval": responses.approval,
    "links": responses.links,
    "key": items.key,
    "id": items.bank_id,
    "on": items.date,
    "resource": items.resource,
    "state": items.state,
    "field": items.fields,
    "volatile": items.volatile,
    "value": responses.values,
}
#: The features that no function above guesses, each with the reason.
NOT_GUESSED: Final[Mapping[str, str]] = {
    "headers": "guessed for all operations together (`target_file`, `sent_outputs`)",
    "other": "written with its argument",
    "unlisted": "follows from the argument",
    "outcomes": "guessed for all operations together, at the top level (`outcomes`)",
    "whole": "documents do not say whether a change repeats the whole request",
    "given": "documents describe the scope of tokens only in prose",
    "submission": "documents describe only in prose which call customers sign (`submissions` names both)",
    "submitted": "follows from the submission",
    "output": "documents seldom specify which value a later call needs",
}
#: The features that matter where a call is refused in any case.
_OF_UNAVAILABLE: Final = frozenset({"method", "path", "aliases", "argument"})


def matched(
    contracts: Sequence[Contract],
    offers: Sequence[OpenApiOperation],
    inherited: InheritedTarget,
) -> Found:
    """Match the operations of a document to those of the contracts."""
    return {
        contract.id: matches(contract, offers, inherited.matches(contract, offers))
        for contract in contracts
    }


def operations(
    contracts: Sequence[Contract],
    offers: Sequence[OpenApiOperation] | None,
    matches: Found,
    inherited: InheritedTarget,
    auth: GuessedAuth,
) -> Iterator[YamlEntry]:
    """Yield an entry for each operation; without a document, everything in it is missing."""
    for contract in contracts:
        found = matches.get(contract.id, {})
        named = _by_own_names(contract, matches)
        sent = sent_outputs(contract, found)
        listers = {*_with_ids(contract, found), *inherited.with_ids()}
        unknown = offers is not None and any(
            not operation.available and name not in found
            for name, operation in contract.operations.items()
        )
        for operation in contract.operations.values():
            match = found.get(operation.id)
            if offers is None:
                match = OperationMatch(offered=_unknown(operation))
            if match is not None:
                shape = _shape(contract, operation, match, offers or (), named=named)
                member = auth.of(by_tpp=operation.by_tpp).member
                shape = replace(shape, has_ids=shape.lister in listers, token_member=member)
                # With paths of its own, a target is not asked at those of the contract.
                placed = _entries(replace(shape, explicit=unknown and not inherited.raw))
                below = nested(inherited.corrections(shape, placed))
                announced = submission(operation, match.offered, offers or ())
                below = (*announced, *_sent(sent, operation), *below)
                if below:
                    yield YamlEntry(key=operation.id, below=below)
            elif not inherited.operation(operation.id):
                yield _not_offered(operation)


def _sent(sent: SentOutputs, operation: Operation) -> Iterator[YamlEntry]:
    """Yield the values of answers that an operation gives or sends."""
    why = "an identifier and a header have the same name"
    for key, values in (("outputs", sent.outputs), ("headers", sent.headers)):
        if operation.id in values:
            yield YamlEntry(key=key, value={**values[operation.id]}, why=why)


def _not_offered(operation: Operation) -> YamlEntry:
    """Return the comment for an operation that the document does not have."""
    absent = f"`absent: {{operations: {{{operation.id}: …}}}}`"
    what = (
        f"no operation of the document matches; if the bank has none, give the reason with {absent}"
    )
    if operation.grants:
        # Such a bank has nothing to transmit: the customer consents where the token is given.
        what += f"; if a customer's token covers everything, write `{operation.id}: {{given: with-token}}`"
    if not operation.available:
        what = f"the path at which this bank would offer {operation.method} {operation.path}"
    return gap("operations", operation.id, what=what, example="{path: /…}")


def _entries(shape: MatchedOperation) -> Iterator[tuple[tuple[str, ...], YamlEntry]]:
    """Yield what is guessed or missing of each feature, with the keys that lead to it."""
    for feature, guess in GUESSES.items():
        if shape.operation.available or feature in _OF_UNAVAILABLE:
            for entry in guess(shape):
                yield BINDING_FEATURES[feature].section, entry


def _unknown(operation: Operation) -> OpenApiOperation:
    """Return an operation of which only the contract is known."""
    return OpenApiOperation(method=operation.method, path=operation.path)


def _shape(
    contract: Contract,
    operation: Operation,
    match: OperationMatch,
    offers: Sequence[OpenApiOperation] = (),
    *,
    named: bool = True,
) -> MatchedOperation:
    """Return a match; `named` says whether calls use the bank's own names of items."""
    matched = MatchedOperation(
        contract=contract,
        operation=operation,
        match=match,
        offered=match.offered,
        offers=offers,
        lister=_lister(contract, operation) if named or operation.about else None,
    )
    path, why = _filled(matched)
    filled = replace(matched, offered=replace(match.offered, path=path), path_why=why)
    return responses.with_items(filled)


def _by_own_names(contract: Contract, matches: Found) -> bool:
    """Whether calls use the bank's own names of items, which then must be looked up."""
    operations = contract.operations
    entries = (
        entry
        for name, match in matches.get(contract.id, {}).items()
        for shape in [replace(_shape(contract, operations[name], match), has_ids=True)]
        for entry in requests.arguments(shape)
    )
    return any(isinstance(entry.value, dict) and "found" in entry.value for entry in entries)


def _with_ids(contract: Contract, found: Mapping[str, OperationMatch]) -> Iterator[str]:
    """Yield the operations that show the bank's own names of items."""
    for name, match in found.items():
        shape = _shape(contract, contract.operations[name], match)
        if shape.operation.available and any(not entry.missing for entry in items.bank_id(shape)):
            yield name


def _lister(contract: Contract, operation: Operation) -> str | None:
    """Return the operation that lists the items that an operation is about, if there is one."""
    resources = contract.resources
    if not operation.about:
        owners = {resource.of for resource in resources.values()}
        return operation.id if owners & set(operation.lists) else None
    about = {resources[name].of for name in operation.lists}
    candidates = (candidate for candidate in contract.operations.values() if not candidate.about)
    return next((candidate.id for candidate in candidates if about & set(candidate.lists)), None)


def _filled(shape: MatchedOperation) -> tuple[str, str]:
    """Return the path, with the document's value for parameters that the contract does not have."""
    kept = requests.about_slot(shape)
    path, why = filled_path(
        shape.offered, mode_slots(shape.contract, shape.operation, shape.offered)
    )
    return (shape.offered.path, "") if kept and f"{{{kept}}}" not in path else (path, why)


def outcomes(paired: Found, inherited: InheritedTarget) -> Iterator[YamlEntry]:
    """Yield the statuses of success, where the document lists them."""
    offers = [match.offered for matches in paired.values() for match in matches.values()]
    statuses = sorted({status for offered in offers for status in offered.statuses})
    if statuses and all(status.isdigit() for status in statuses):
        if inherited.raw and inherited.accepts(map(int, statuses)):
            return
        accepted = [{"statuses": [int(status) for status in statuses]}]
        why = "the success statuses in the document"
        inner = YamlEntry(key="accepted", value=accepted, why=why)
        yield YamlEntry(key="outcomes", below=(inner,))
