"""Names of a document that mean the same as a name of the contract.

From the surest to the loosest: the same name at the top, a usual synonym, the same name further
down, and a name that has all words of the contract's and none that means something else. Names
of one general word, such as `date`, are never matched loosely: a body has several dates.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence

from assay.contract.model import Contract, Operation
from assay.onboarding.init.openapi_schemas import SchemaLeaf, words

__all__ = [
    "THEIRS",
    "beside",
    "called",
    "guessed",
    "is_masked",
    "is_unique_header",
    "item_words",
    "names_item",
]

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
    "amount": ((("instructed", "amount"), ("amount",)), (("instructed", "amount"),)),
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
#: Words that a loosely matched name may have besides those of the contract's name.
_NEUTRAL = frozenset(["iban", "identification", "id", "value", "code", "number", "amount"])


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
    if same:
        return min(same, key=lambda leaf: (leaf.name != name, *_depth(leaf)))
    loose = [leaf for leaf in own if len(mine) > 1 and _is_loosely(mine, leaf)]
    return min(loose, key=lambda leaf: (len(leaf.words), *_depth(leaf)), default=None)


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


def _is_loosely(mine: Sequence[str], leaf: SchemaLeaf) -> bool:
    """Whether a leaf has all words of a name, and none besides that means something else."""
    wanted, last = frozenset(mine), frozenset(leaf.words)
    return wanted <= leaf.path and bool(last & wanted) and last <= wanted | _NEUTRAL


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
