"""Names of a document that mean the same as a name of the contract.

From the surest to the loosest: the same name at the top, a usual synonym, and the same name further
down; one general word, such as `date`, only near the top: a body has several dates.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Sequence
from itertools import pairwise

from assay.contract.model import Contract, Json, Operation
from assay.onboarding.init.openapi_operations import (
    OpenApiOperation,
    SchemaLeaf,
    distinctive_words,
    words,
)

#: Words of parties other than the customer.
THEIRS = frozenset(
    [
        *("creditor", "debtor", "beneficiary", "counterparty", "ultimate", "original"),
        *("recipient", "sender", "payee", "payer"),
    ]
)
_ACCOUNT = (("iban",), ("identification",), ("number",), ("account", "number"))
#: Other names of the contract's arguments and fields, as the words at the end of a path, the
#: surest first.
_SYNONYMS: dict[str, tuple[tuple[tuple[str, ...], ...], ...]] = {
    "creditorAccount": tuple(
        (party, inner)
        for party in (("creditor", "account"), ("recipient",), ("payee",), ("beneficiary",))
        for inner in _ACCOUNT
    ),
    "debtorAccount": tuple(
        (party, inner)
        for party in (("debtor", "account"), ("sender",), ("payer",))
        for inner in _ACCOUNT
    ),
    "amount": (
        (("instructed", "amount"), ("amount",)),
        (("instructed", "amount"),),
        (("amount", "minor"),),
    ),
    "currency": ((("instructed", "amount"), ("currency",)),),
    "date": (
        (("requested", "execution", "date"),),
        (("requested", "execution", "date", "time"),),
        (("execution", "date"),),
        (("execution", "date", "time"),),
    ),
    "successfulReportUrl": (
        (("success", "url"),),
        (("redirect", "uri"),),
        (("redirect", "url"),),
        (("return", "url"),),
    ),
    "iban": ((("account", "number"),),),
}
#: The patterns of numbers.
_DIGITS = re.compile(r"\^?(\[0-9\]|\\d)([+*]|[{][0-9,]+[}])\$?")
#: How far below the top a name of one word is still taken for that of the contract.
MOST_GENERAL = 2


def guessed(name: str, leaf: SchemaLeaf) -> str:
    """Return why a leaf is taken for the contract's name; empty if it is certain."""
    if leaf.steps == (name,):
        return ""
    return "same name" if leaf.name == name else f"{' '.join(leaf.steps)} is similar to {name}"


def called(name: str, leaves: Iterable[SchemaLeaf]) -> SchemaLeaf | None:
    """Return the leaf that has a name of the contract, or another name for the same."""
    mine = words(name)
    values = [leaf for leaf in leaves if leaf.steps and _may_hold(mine, leaf)]
    top = [leaf for leaf in values if leaf.name == name and len(leaf.steps) == 1]
    if top:
        return top[0]
    for ending in _SYNONYMS.get(name, ()):
        near = [leaf for leaf in values if _ends_with(leaf, ending) and not is_masked(leaf)]
        if near:
            return min(near, key=_depth)
    # The account of another party is another field.
    own = [leaf for leaf in values if leaf.path & set(mine) & THEIRS or not leaf.path & THEIRS]
    # What is in a list, or a general word far below, is about something else.
    own = [leaf for leaf in own if "*" not in leaf.steps]
    own = own if len(mine) > 1 else [leaf for leaf in own if len(leaf.steps) <= MOST_GENERAL]
    same = [leaf for leaf in own if leaf.words == mine]
    return min(same, key=lambda leaf: (leaf.name != name, *_depth(leaf)), default=None)


def _may_hold(mine: Sequence[str], leaf: SchemaLeaf) -> bool:
    """Whether a leaf has a value, which for an account is an IBAN: neither digits nor a UUID."""
    if leaf.kind in {"object", "array"}:
        return False
    if not {"account", "iban"} & {*mine}:
        return True
    is_number = leaf.kind in {"integer", "number"} or bool(_DIGITS.fullmatch(leaf.form))
    return not is_number and leaf.form != "uuid"


def _depth(leaf: SchemaLeaf) -> tuple[int, int]:
    """Return a rank: what is not in a list comes first, then what is nearer to the top."""
    return leaf.steps.count("*"), len(leaf.steps)


def _ends_with(leaf: SchemaLeaf, ending: Sequence[tuple[str, ...]]) -> bool:
    """Whether the last steps to a leaf, without those of lists, have the words of an ending."""
    steps = [words(step) for step in leaf.steps if step != "*"]
    return tuple(steps[-len(ending) :]) == tuple(ending)


def item_words(contract: Contract, operation: Operation) -> set[str]:
    """Return the words of the item that an operation is about, and of its resources."""
    below = (contract.resources[resource] for resource in operation.lists)
    names = [operation.about, operation.request, *(resource.of for resource in below)]
    return {word for name in names if name for word in words(name)}


def names_item(contract: Contract, operation: Operation, parameter: str) -> bool:
    """Whether a parameter names the item that an operation is about."""
    theirs = set(words(parameter))
    identifies = {"id", "number", "iban", *words(operation.about or "")}
    return bool(item_words(contract, operation) & theirs and identifies & theirs)


def is_unique_header(header: str) -> bool:
    """Whether the name of a header says that each request has another value."""
    mine = set(words(header))
    return ("id" in mine and bool({"request", "correlation"} & mine)) or "idempotency" in mine


def unit_of(leaf: SchemaLeaf) -> dict[str, Json]:
    """Return the `unit` of an amount that is named as one in minor units; empty for another."""
    return {"unit": "0.01"} if leaf.words == ("amount", "minor") else {}


def is_masked(leaf: SchemaLeaf) -> bool:
    """Whether the document says that a value is shown only in part."""
    return "mask" in leaf.description.lower()


def beside(leaf: SchemaLeaf, leaves: Iterable[SchemaLeaf]) -> SchemaLeaf | None:
    """Return the leaf beside the key that identifies other resources."""
    above = leaf.steps[:-1]
    for candidate in leaves:
        if candidate.words == ("identification",) and candidate.steps[: len(above)] == above:
            return candidate
    return None


# -- What an operation of a document does and is about, by its method and the words of its names
# A guess never has another effect than the operation of the contract: nothing that changes,
# cancels or confirms is taken for a reading or a new request. What lists things is not taken for
# what is about one of them, nor the other way round.

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
