"""Operations of a document that match those of a contract.

The same method and path, or the contract's own name, is a certain match. Every other match is
a guess by the words of paths and names. A guess never has another effect than the operation of
the contract: nothing that changes, cancels or confirms is taken for a reading or a new request.
An operation that the contract calls unavailable is matched only by its own path.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from types import MappingProxyType

from assay.contract.model import Contract, Operation
from assay.init.name_matching import called
from assay.init.openapi_operations import OpenApiOperation
from assay.init.openapi_schemas import SchemaLeaf, distinctive_words, similarity, words

__all__ = [
    "OperationMatch",
    "filled_path",
    "has_evidence",
    "is_read_by_post",
    "matches",
    "plain_path",
]

#: The least score of a guess; of equal ones, the first in the document is taken.
ENOUGH = 0.5
SURE = 100.0
#: How many of the most similar operations are looked into.
MOST_CANDIDATES = 20
#: The least share of the arguments of a new request that a guessed body must have.
_EVIDENCE = 0.5
_SLOT = re.compile(r"[{][^{}]*[}]")
_PLAIN_VALUE = re.compile(r"[A-Za-z0-9._-]+")
#: Words of versions and base paths, which do not distinguish operations.
_BASE = re.compile(r"v|v[0-9]+|psd[0-9]*|api|open|banking|stet|[0-9]+")
#: Words for what an operation does, which names of the contract repeat.
_DOES = frozenset(["create", "modify", "update", "cancel", "delete", "confirm", "confirmation"])
#: Words that indicate another operation, unless the contract has them too.
_OTHER = frozenset(
    [
        *("authorisation", "authorization", "bulk", "card", "confirmation", "detail"),
        *("periodic", "status", "bundle", "cancelled", "file", "fund", "international"),
        *("multiple", "pending", "recurring", "rejected", "scheduled", "standing", "tax"),
        *("feed", "historical", "ledger", "report", "sheet"),
    ]
)
_CANCELS = frozenset(
    [
        *("cancel", "cancellation", "delete", "deletion", "remove", "revoke", "revocation"),
        *("terminate", "stop", "abort", "reject", "withdraw"),
    ]
)
_CHANGES = frozenset(["modify", "modification", "update", "change", "amend", "edit", "replace"])
_CONFIRMS = frozenset(
    [
        *("confirm", "confirmation", "submit", "submission", "execute", "approve", "sign"),
        *("authorise", "authorize", "authorisation", "authorization"),
    ]
)
#: Names that documents of any kind have.
_GENERAL = frozenset(["amount", "currency", "date", "name"])
_READS = frozenset(["get", "read", "retrieve", "retrieval", "list", "fetch", "query", "search"])


@dataclass(frozen=True, slots=True, kw_only=True)
class OperationMatch:
    """An operation of the document that matches one of the contract; `why` is empty if certain."""

    offered: OpenApiOperation
    why: str = ""


def matches(
    contract: Contract,
    offers: Sequence[OpenApiOperation],
    known: Mapping[str, OperationMatch] = MappingProxyType({}),
) -> dict[str, OperationMatch]:
    """Match a contract's operations to those of a document, each of which is used once.

    `known` are matches by the names of an inherited target file.
    """
    matched: dict[str, OperationMatch] = {**known}
    taken = {str(match.offered): _line(contract.operations[name]) for name, match in known.items()}
    # What makes and shows a request comes first: the others must be about the same.
    order = (
        [name for name, operation in contract.operations.items() if not _needs_others(operation)],
        [name for name, operation in contract.operations.items() if _needs_others(operation)],
    )
    for names in order:
        scores = [row for name in names for row in _candidates(name, contract, offers, matched)]
        for score, _, name, offer in sorted(scores, key=lambda row: (-row[0], -row[1])):
            operation = contract.operations[name]
            line = _line(operation)
            if name in matched or taken.get(str(offer), line) != line:
                continue
            if score < SURE and not _has_arguments(operation, offer):
                continue
            taken[str(offer)] = line
            alike = [row[3] for row in scores if (row[0], row[2]) == (score, name)]
            others = [str(each) for each in alike if each is not offer]
            why = "" if score >= SURE else _reason(offer, others)
            matched[name] = OperationMatch(offered=offer, why=why)
    return {name: matched[name] for name in contract.operations if name in matched}


def _candidates(
    name: str,
    contract: Contract,
    offers: Sequence[OpenApiOperation],
    matched: Mapping[str, OperationMatch],
) -> list[tuple[float, int, str, OpenApiOperation]]:
    """Return the best matches of an operation by their names; lists are required to be lists."""
    operation = contract.operations[name]
    scores = [
        (score, -number, name, offer)
        for number, offer in enumerate(offers)
        if (score := _score(operation, offer, contract, matched)) >= ENOUGH
    ]
    best = sorted(scores, key=lambda row: (-row[0], -row[1]))[:MOST_CANDIDATES]
    looked_into = [
        (score - 0.3 if _lacks_list(operation, offer, score) else score, number, each, offer)
        for score, number, each, offer in best
    ]
    return [row for row in looked_into if row[0] >= ENOUGH]


def _lacks_list(operation: Operation, offer: OpenApiOperation, score: float) -> bool:
    """Whether an operation that is only similar shows no list where the contract has one."""
    return bool(operation.lists) and score < SURE and not _has_list(offer)


def _line(operation: Operation) -> str:
    return f"{operation.method} {operation.path}"


def _reason(offer: OpenApiOperation, others: Sequence[str]) -> str:
    """Return why an operation was chosen, with those that are as similar."""
    if not others:
        return f"{offer} has a similar name"
    rest = f" and {len(others) - 2} more" if len(others) > 2 else ""  # noqa: PLR2004 -- two are named
    return f"a similar name; or {', '.join(others[:2])}{rest}"


def _needs_others(operation: Operation) -> bool:
    return bool(operation.changes or operation.ends)


def plain_path(path: str) -> str:
    """Return a path without the names of its parameters."""
    return _SLOT.sub("{}", path)


def filled_path(offer: OpenApiOperation, kept: Collection[str] = ()) -> tuple[str, str]:
    """Return the path with the first value of each parameter with a list, but those `kept`."""
    path, reasons = offer.path, list[str]()
    for name, parameter in offer.named("path").items() if "{" in path else ():
        values = parameter.leaf.values
        if (
            name not in kept
            and parameter.leaf.fixed
            and values
            and _PLAIN_VALUE.fullmatch(values[0])
        ):
            path = path.replace(f"{{{name}}}", values[0])
            reasons.append(f"{values[0]} is the first value of {name}")
    return path, "; ".join(reasons)


def is_read_by_post(operation: Operation, offer: OpenApiOperation) -> bool:
    """Whether an operation that reads is offered as a POST whose name says that it reads."""
    return operation.method == "GET" and offer.method == "POST" and bool(_verbs(offer) & _READS)


def _verbs(offer: OpenApiOperation) -> frozenset[str]:
    """Return the words of an operation's id and of the literal steps of its path."""
    return frozenset((*words(offer.id), *words(_SLOT.sub(" ", offer.path))))


def _may_be(operation: Operation, offer: OpenApiOperation) -> bool:
    """Whether an operation of the document has the effect of one of the contract."""
    mine = frozenset((*words(operation.id), *words(operation.path)))
    does = _verbs(offer) - mine
    cancels, changes, confirms = does & _CANCELS, does & _CHANGES, does & _CONFIRMS
    reads = bool(does & _READS)
    method = offer.method
    if operation.method == "GET":
        return not (cancels or changes or confirms) and (
            method == "GET" or (method == "POST" and reads)
        )
    if confirms or method == "GET":
        return False
    if operation.ends:
        return method == "DELETE" or bool(_verbs(offer) & _CANCELS)
    if cancels or method == "DELETE":
        return False
    if operation.changes:
        return method in {"PUT", "PATCH"} or bool(_verbs(offer) & _CHANGES)
    return not changes and (method == operation.method or not (reads and method == "POST"))


def _score(
    operation: Operation,
    offer: OpenApiOperation,
    contract: Contract,
    matched: Mapping[str, OperationMatch],
) -> float:
    if operation.id in {offer.id, *offer.id.split("-or-")} and operation.method == offer.method:
        return SURE + 1
    if (operation.method, plain_path(operation.path)) == (offer.method, plain_path(offer.path)):
        return SURE
    # The distinctive words of the contract's name are required.
    if not (distinctive_words([operation.id]) - _DOES) & frozenset(
        (*words(offer.id), *words(offer.path))
    ):
        return 0.0
    path, about = _literal(operation.path), _literal(filled_path(offer)[0])
    if not operation.available:
        same = operation.method == offer.method and path == about
        return 1.0 if same and _last(operation.path) == _last(offer.path) else 0.0
    others = _needs_others(operation) and not _is_of_request(offer, contract, matched)
    return 0.0 if others or not _may_be(operation, offer) else _similarity(operation, offer)


def _similarity(operation: Operation, offer: OpenApiOperation) -> float:
    """Return how similar the names of two operations are."""
    mine = distinctive_words([operation.id]) - _DOES
    path, about = _literal(operation.path), _literal(filled_path(offer)[0])
    said = distinctive_words([offer.id, offer.description.partition(".")[0][:100]])
    score = 2 * similarity(mine | path, about) + similarity(mine, said & (mine | _OTHER | about))
    score += 0.5 * (_last(operation.path) == _last(offer.path))
    score -= 0.5 * len((_OTHER & (about | said)) - mine - path - frozenset(words(operation.id)))
    if not _is_named_by_verb(offer):
        score -= 0.7 * (filled_path(offer)[0].endswith("}") is not operation.path.endswith("}"))
    if operation.method != offer.method:
        score -= _penalty(operation, offer)
    return score if mine & (about | distinctive_words([offer.id])) else 0.0


def _is_named_by_verb(offer: OpenApiOperation) -> bool:
    """Whether the path ends with what is done, so that the item is named in the body."""
    acts = _READS | _CANCELS | _CHANGES
    return offer.method == "POST" and bool(acts & set(_last(offer.path)))


def _penalty(operation: Operation, offer: OpenApiOperation) -> float:
    """Return what another method costs."""
    if operation.ends and (offer.method == "DELETE" or _is_named_by_verb(offer)):
        return 0.3
    return 0.0 if is_read_by_post(operation, offer) else 0.8


def _has_list(offer: OpenApiOperation) -> bool:
    return not offer.answer or any(leaf.kind == "array" for leaf in offer.answer)


def _is_of_request(
    offer: OpenApiOperation, contract: Contract, matched: Mapping[str, OperationMatch]
) -> bool:
    """Whether an operation is about the same resource as the one that shows or makes a request."""
    known = [
        match.offered
        for name, match in matched.items()
        if contract.operations[name].shows or contract.operations[name].makes
    ]
    resources = {_resource(shown) for shown in known}
    resources |= {(*_resource(made), "{}") for made in known}
    return not known or _resource(offer) in resources


def _resource(offer: OpenApiOperation) -> tuple[str, ...]:
    """Return the steps of a path without a last one that says what is done."""
    steps = [step for step in filled_path(offer)[0].split("/") if step]
    acts = _READS | _CANCELS | _CHANGES
    if steps and not _SLOT.search(steps[-1]) and acts & set(words(steps[-1])):
        steps = steps[:-1]
    return tuple("{}" if _SLOT.search(step) else step for step in steps)


def _has_arguments(operation: Operation, offer: OpenApiOperation) -> bool:
    """Whether the body of a guessed new request has most of the contract's arguments."""
    if not (operation.makes and operation.available and operation.arguments):
        return True
    places = [*offer.request, *(each.leaf for each in offer.parameters)]
    named = [name for name in operation.arguments if called(name, places)]
    return len(named) >= _EVIDENCE * len(operation.arguments)


def has_evidence(contract: Contract, found: Mapping[str, OperationMatch]) -> bool:
    """Whether matched operations are those of the contract, by more than the words of a path.

    A contract whose requests are made needs the operation that makes one. Otherwise, there are
    several operations, one of them certain, or one of the contract's own names in a message.
    """
    operations = contract.operations
    used = [
        (operations[name], match) for name, match in found.items() if operations[name].available
    ]
    if any(operation.makes and operation.available for operation in operations.values()):
        return any(operation.makes for operation, _ in used)
    named = any(any(_names_in(contract, operation, match.offered)) for operation, match in used)
    certain = any(not match.why for _, match in used)
    return (len(used) > 1 and (named or certain)) or (named and certain)


def _names_in(contract: Contract, operation: Operation, offer: OpenApiOperation) -> Iterator[str]:
    """Yield the names of the contract that the messages of an operation have."""
    resources = [*operation.lists, operation.request or ""]
    names = [
        *operation.arguments,
        *filter(None, (operation.about, operation.since, operation.until)),
        *(
            field
            for name in resources
            if name in contract.resources
            for field in contract.resources[name].fields
        ),
    ]
    places = [*offer.request, *map(_in_item, offer.answer), *_queries(offer)]
    yield from (name for name in names if name not in _GENERAL and called(name, places))


def _in_item(leaf: SchemaLeaf) -> SchemaLeaf:
    """Return a leaf as it is in one item, if it is in a list."""
    while "*" in leaf.steps:
        leaf = replace(leaf, steps=leaf.steps[leaf.steps.index("*") + 1 :])
    return leaf


def _queries(offer: OpenApiOperation) -> Iterable[SchemaLeaf]:
    return (SchemaLeaf(steps=(name,)) for place in ("query", "path") for name in offer.named(place))


def _literal(path: str) -> frozenset[str]:
    """Return the words of a path, without its parameters and base path."""
    return frozenset(
        word for word in distinctive_words([_SLOT.sub("", path)]) if not _BASE.fullmatch(word)
    )


def _last(path: str) -> tuple[str, ...]:
    """Return the words of the last step of a path that is no parameter."""
    steps = [step for step in path.split("/") if step and not _SLOT.search(step)]
    return words(steps[-1]) if steps else ()
