"""Matching of the document's operations to those of the contracts, by names.

The same method and path, or the contract's own name, is certain. All else is a guess by the
words of paths and names; a poor guess is dropped.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from assay.contract.model import Contract, Operation
from assay.init.name_matching import distinctive_words, similarity, words
from assay.init.openapi_operations import OpenApiOperation, SchemaLeaf

#: The least score of a guess; of equal ones, the first in the document is taken.
ENOUGH = 0.5
SURE = 100.0
_SLOT = re.compile(r"[{][^{}]*[}]")
#: Words of versions and base paths, which do not distinguish operations.
_BASE = re.compile(r"v[0-9]+|psd[0-9]*|api|open|banking|stet|[0-9]+")
#: Words for what an operation does, which names of the contract repeat.
_DOES = frozenset(["create", "modify", "update", "cancel", "delete", "confirm", "confirmation"])
#: Words that make it another operation, unless the contract has them too.
_OTHER = frozenset(
    [
        "authorisation",
        "authorization",
        "bulk",
        "card",
        "confirmation",
        "detail",
        "periodic",
        "status",
    ]
)


@dataclass(frozen=True, slots=True, kw_only=True)
class OperationMatch:
    """An operation of the document that matches one of the contract; `why` is empty if certain."""

    offered: OpenApiOperation
    why: str = ""


def matches(contract: Contract, offers: Iterable[OpenApiOperation]) -> Mapping[str, OperationMatch]:
    """Match a contract's operations to those of a document, each of which is used once."""
    scores = [
        (score, -number, name, one)
        for name, operation in contract.operations.items()
        for number, one in enumerate(offers)
        if (score := _score(operation, one)) >= ENOUGH
    ]
    found: dict[str, OperationMatch] = {}
    taken: dict[str, str] = {}
    for score, _, name, one in sorted(scores, key=lambda entry: (-entry[0], -entry[1])):
        operation = contract.operations[name]
        line = f"{operation.method} {operation.path}"
        if name in found or taken.get(str(one), line) != line:
            continue
        taken[str(one)] = line
        why = "" if score >= SURE else f"{one} has a similar name"
        found[name] = OperationMatch(offered=one, why=why)
    return found


def _score(operation: Operation, one: OpenApiOperation) -> float:
    if operation.id in {one.id, *one.id.split("-or-")} and operation.method == one.method:
        return SURE + 1
    if (operation.method, _plain(operation.path)) == (one.method, _plain(one.path)):
        return SURE
    if (operation.method == "GET") is not (one.method == "GET"):
        return 0.0
    if not operation.available and operation.method != one.method:
        return 0.0
    if one.method == "DELETE" and not operation.ends:
        return 0.0
    mine = distinctive_words([operation.id]) - _DOES
    path, about = _literal(operation.path), _literal(one.path)
    said = distinctive_words([one.id, one.description.partition(".")[0][:100]])
    score = 2 * similarity(mine | path, about) + similarity(mine, said & (mine | _OTHER | about))
    score += 0.5 * (_last(operation.path) == _last(one.path))
    score -= 0.5 * len((_OTHER & (about | said)) - mine - path - _does(operation))
    score -= 0.7 * (one.path.endswith("}") is not _about_one(operation))
    if operation.method != one.method:
        score -= 0.3 if operation.ends and one.method == "DELETE" else 0.8
    # The distinctive words of the contract's name are required.
    return score if mine & (about | distinctive_words([one.id])) else 0.0


def _about_one(operation: Operation) -> bool:
    """Whether the path of an operation ends with the name of an item."""
    return operation.path.endswith("}")


def _does(operation: Operation) -> frozenset[str]:
    return frozenset(words(operation.id))


def _plain(path: str) -> str:
    return _SLOT.sub("{}", path)


def _literal(path: str) -> frozenset[str]:
    """Return the words of a path, without its parameters and base path."""
    return frozenset(
        one for one in distinctive_words([_SLOT.sub("", path)]) if not _BASE.fullmatch(one)
    )


def _last(path: str) -> tuple[str, ...]:
    """Return the words of the last step of a path that is no parameter."""
    steps = [one for one in path.split("/") if one and not _SLOT.search(one)]
    return words(steps[-1]) if steps else ()


#: Words of parties other than the customer.
THEIRS = frozenset(["creditor", "debtor", "beneficiary", "counterparty", "ultimate", "original"])
_SLOT_NAME = re.compile(r"[{]([^{}]*)[}]")


@dataclass(frozen=True, slots=True, kw_only=True)
class MatchedOperation:
    """An operation of the contract with the matching one of the document."""

    contract: Contract
    operation: Operation
    offered: OpenApiOperation
    #: The operation that lists the bank's own names of items, if there is one.
    lister: str | None = None

    @property
    def slots(self) -> tuple[str, ...]:
        """The names of the path parameters."""
        return tuple(_SLOT_NAME.findall(self.offered.path))


def guessed(name: str, leaf: SchemaLeaf) -> str:
    """Return why a leaf is taken for the contract's name; empty if it is certain."""
    if leaf.steps == (name,):
        return ""
    return "same name" if leaf.name == name else f"{' '.join(leaf.steps)} is similar to {name}"
