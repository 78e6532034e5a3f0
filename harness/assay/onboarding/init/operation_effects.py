"""What an operation of a document does and is about, by its method and the words of its names.

A guess never has another effect than the operation of the contract: nothing that changes,
cancels or confirms is taken for a reading or a new request. What lists things is not taken for
what is about one of them, nor the other way round.
"""

from __future__ import annotations

import re
from collections.abc import Collection
from itertools import pairwise

from assay.contract.model import Contract, Operation
from assay.onboarding.init.name_matching import names_item
from assay.onboarding.init.openapi_operations import OpenApiOperation
from assay.onboarding.init.openapi_schemas import distinctive_words, words

__all__ = [
    "ends_with_slot",
    "filled_path",
    "has_scope",
    "is_named_by_verb",
    "is_read_by_post",
    "last_words",
    "may_be",
    "path_words",
    "plain_path",
    "resource_steps",
]

_SLOT = re.compile(r"[{][^{}]*[}]")
_PLAIN_VALUE = re.compile(r"[A-Za-z0-9._-]+")
#: Words of versions and base paths, which do not distinguish operations.
_BASE = re.compile(r"v|v[0-9]+|psd[0-9]*|api|open|banking|stet|[0-9]+")
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
_READS = frozenset(["get", "read", "retrieve", "retrieval", "list", "fetch", "query", "search"])
_ACTS = _READS | _CANCELS | _CHANGES


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


def ends_with_slot(path: str) -> bool:
    """Whether the last step of a path is a parameter."""
    return path.rstrip("/").endswith("}")


def path_words(path: str) -> frozenset[str]:
    """Return the words of a path, without its parameters and base path."""
    return frozenset(
        word for word in distinctive_words([_SLOT.sub("", path)]) if not _BASE.fullmatch(word)
    )


def last_words(path: str) -> tuple[str, ...]:
    """Return the words of the last step of a path that is no parameter."""
    steps = [step for step in path.split("/") if step and not _SLOT.search(step)]
    return words(steps[-1]) if steps else ()


def is_read_by_post(operation: Operation, offer: OpenApiOperation) -> bool:
    """Whether an operation that reads is offered as a POST whose name says that it reads."""
    return operation.method == "GET" and offer.method == "POST" and bool(_verbs(offer) & _READS)


def is_named_by_verb(offer: OpenApiOperation) -> bool:
    """Whether the path ends with what is done, so that the item is named in the body."""
    return offer.method == "POST" and bool(_ACTS & set(last_words(offer.path)))


def _verbs(offer: OpenApiOperation) -> frozenset[str]:
    """Return the words of an operation's id and of the literal steps of its path."""
    return frozenset((*words(offer.id), *words(_SLOT.sub(" ", offer.path))))


def may_be(operation: Operation, offer: OpenApiOperation) -> bool:
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


def has_scope(contract: Contract, operation: Operation, offer: OpenApiOperation) -> bool:
    """Whether an operation is about one item if that of the contract is, and lists if it lists."""
    path = filled_path(offer)[0]
    if operation.about:
        return "{" in path or any(
            names_item(contract, operation, name) for name in _value_names(offer)
        )
    if not operation.lists:
        return True
    steps = [step for step in path.split("/") if step]
    mine = distinctive_words([operation.id])
    return not any(
        _SLOT.search(following) and mine & set(words(step)) for step, following in pairwise(steps)
    )


def _value_names(offer: OpenApiOperation) -> list[str]:
    """Return the names of the values in a query, and at the top of a body."""
    members = (
        leaf.name
        for leaf in offer.request
        if len(leaf.steps) == 1 and leaf.kind not in {"object", "array"}
    )
    return [*offer.named("query"), *members]


def resource_steps(offer: OpenApiOperation) -> tuple[str, ...]:
    """Return the steps of a path without a last one that says what is done."""
    steps = [step for step in filled_path(offer)[0].split("/") if step]
    if steps and not _SLOT.search(steps[-1]) and _ACTS & set(words(steps[-1])):
        steps = steps[:-1]
    return tuple("{}" if _SLOT.search(step) else step for step in steps)
