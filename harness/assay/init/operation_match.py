"""Which of the document's operations are the contract's: by names, and how sure that is.

The same method and path, or the contract's own name, is sure. All else is a guess by the
words of paths and names, and a poor one is none.

An operation of the contract beside the one of the document that it is thought to be.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from assay.contract.model import Contract, Operation
from assay.init.name_matching import alike, telling, words
from assay.init.openapi_operations import OpenApiOperation, SchemaLeaf

#: What a guess has to reach; of equals, the first in the document is taken.
ENOUGH = 0.5
SURE = 100.0
_SLOT = re.compile(r"[{][^{}]*[}]")
#: Words of versions and bases, which say nothing of an operation.
_BASE = re.compile(r"v[0-9]+|psd[0-9]*|api|open|banking|stet|[0-9]+")
#: What an operation does, for those that would else be called alike.
_DOES = frozenset(["create", "modify", "update", "cancel", "delete", "confirm", "confirmation"])
#: What makes an operation another one, unless the contract has it too.
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
    """An operation of the document that is one of the contract's; `why` is empty if sure."""

    offered: OpenApiOperation
    why: str = ""


def matches(contract: Contract, offers: Iterable[OpenApiOperation]) -> Mapping[str, OperationMatch]:
    """Find the contract's operations in a document, each at most once for a request's line."""
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
        why = "" if score >= SURE else f"{one} has a like name"
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
    mine = telling([operation.id]) - _DOES
    path, about = _literal(operation.path), _literal(one.path)
    said = telling([one.id, one.says.partition(".")[0][:100]])
    score = 2 * alike(mine | path, about) + alike(mine, said & (mine | _OTHER | about))
    score += 0.5 * (_last(operation.path) == _last(one.path))
    score -= 0.5 * len((_OTHER & (about | said)) - mine - path - _does(operation))
    score -= 0.7 * (one.path.endswith("}") is not _about_one(operation))
    if operation.method != one.method:
        score -= 0.3 if operation.ends and one.method == "DELETE" else 0.8
    # The words that are its own have to be there.
    return score if mine & (about | telling([one.id])) else 0.0


def _about_one(operation: Operation) -> bool:
    """Whether an operation is about one thing that its path ends with."""
    return operation.path.endswith("}")


def _does(operation: Operation) -> frozenset[str]:
    return frozenset(words(operation.id))


def _plain(path: str) -> str:
    return _SLOT.sub("{}", path)


def _literal(path: str) -> frozenset[str]:
    """Return the words of a path, without its slots and what all paths begin with."""
    return frozenset(one for one in telling([_SLOT.sub("", path)]) if not _BASE.fullmatch(one))


def _last(path: str) -> tuple[str, ...]:
    """Return the words of the last step of a path that is no slot."""
    steps = [one for one in path.split("/") if one and not _SLOT.search(one)]
    return words(steps[-1]) if steps else ()


#: Whose things are not the customer's own, or not the item's.
THEIRS = frozenset(["creditor", "debtor", "beneficiary", "counterparty", "ultimate", "original"])
_SLOT_NAME = re.compile(r"[{]([^{}]*)[}]")


@dataclass(frozen=True, slots=True, kw_only=True)
class MatchedOperation:
    """An operation of the contract as the document spells it."""

    contract: Contract
    operation: Operation
    offered: OpenApiOperation
    #: The operation that lists the gateway's own names of things, if there is one.
    lister: str | None = None

    @property
    def slots(self) -> tuple[str, ...]:
        """The names of what stands in braces in the path."""
        return tuple(_SLOT_NAME.findall(self.offered.path))


def guessed(name: str, leaf: SchemaLeaf) -> str:
    """Return why a leaf is thought to be what the contract calls so; empty if it is sure."""
    if leaf.steps == (name,):
        return ""
    return "it has this name" if leaf.name == name else f"{' '.join(leaf.steps)} is like {name}"
