"""Operations of a document that match those of a contract.

The same method and path, or the contract's own name, is a certain match. Every other match is
a guess by the words of paths and names, of what has the same effect and scope. An operation
that the contract calls unavailable is matched only by its own path.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise
from types import MappingProxyType
from typing import TypeAlias

from assay.binding.model.features import BINDING_FEATURES
from assay.contract.model import Contract, Operation
from assay.onboarding.init.openapi_operations import (
    OpenApiOperation,
    SchemaLeaf,
    distinctive_words,
    similarity,
    words,
)
from assay.onboarding.init.synonyms import called, cancelling
from assay.onboarding.init.yaml_writer import YamlEntry, gap

#: The least score of a guess; of equal ones, the first in the document is taken.
ENOUGH = 0.5
SURE = 100.0
#: How many of the most similar operations are looked into.
MOST_CANDIDATES = 20
#: The least share of the arguments of a new request that a guessed body must have.
_EVIDENCE = 0.5
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
#: How many of the contract's own names make a body one of its requests, whatever its path is called.
_TELLING = 3
#: Names that documents of any kind have.
_GENERAL = frozenset(["amount", "currency", "date", "name"])


@dataclass(frozen=True, slots=True, kw_only=True)
class OperationMatch:
    """An operation of the document that matches one of the contract; `why` is empty if certain."""

    offered: OpenApiOperation
    why: str = ""


#: The matched operations of each contract, by their ids.
Found: TypeAlias = Mapping[str, Mapping[str, OperationMatch]]


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
        matched |= _at_path_of_maker(contract, offers, matched)
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
    wants_list = bool(operation.lists)
    looked_into = [
        (score - 0.3 * (wants_list and score < SURE and not _has_list(offer)), number, each, offer)
        for score, number, each, offer in best
    ]
    return [row for row in looked_into if row[0] >= ENOUGH]


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


def _score(
    operation: Operation,
    offer: OpenApiOperation,
    contract: Contract,
    matched: Mapping[str, OperationMatch],
) -> float:
    if told := _told(operation, offer):
        return told
    # The distinctive words of the contract's name are required.
    if not (distinctive_words([operation.id]) - _DOES) & frozenset(
        (*words(offer.id), *words(offer.path))
    ):
        return 0.0
    path, about = path_words(operation.path), path_words(filled_path(offer)[0])
    if not operation.available:
        same = operation.method == offer.method and path == about
        return 1.0 if same and last_words(operation.path) == last_words(offer.path) else 0.0
    if _needs_others(operation) and not _is_of_request(offer, contract, matched):
        return 0.0
    is_it = may_be(operation, offer) and has_scope(contract, operation, offer)
    is_other = _is_of_another(contract, operation, offer)
    return _similarity(operation, offer) if is_it and not is_other else 0.0


def _told(operation: Operation, offer: OpenApiOperation) -> float:
    """Return the score of an operation that its id, its path, or the names in its body tell; or 0."""
    if operation.id in {offer.id, *offer.id.split("-or-")} and operation.method == offer.method:
        return SURE + 1
    if (operation.method, plain_path(operation.path)) == (offer.method, without_base(offer.path)):
        return SURE if may_be(operation, offer) or not operation.ends else ENOUGH
    own = {*operation.arguments} & _sent_members(offer)
    if operation.makes and offer.method == "POST" and len(own - _GENERAL) >= _TELLING:
        return 1.0 + similarity(operation.arguments, (leaf.name for leaf in offer.request))
    return 0.0


def _sent_members(offer: OpenApiOperation) -> frozenset[str]:
    """Return the names of the members of a body that is sent."""
    return frozenset(leaf.name for leaf in offer.request if leaf.is_member)


def _at_path_of_maker(
    contract: Contract, offers: Sequence[OpenApiOperation], matched: Mapping[str, OperationMatch]
) -> Iterator[tuple[str, OperationMatch]]:
    """Yield what reads, changes and ends a request below the path at which it is made."""
    makers = [name for name in matched if contract.operations[name].makes]
    for name, operation in contract.operations.items():
        path = operation.path
        makes = next(
            (each for each in makers if path.startswith(contract.operations[each].path)), ""
        )
        if not makes or name in matched or operation.makes:
            continue
        made, tail = matched[makes].offered, path.removeprefix(contract.operations[makes].path)
        below = (*resource_steps(made), "{}")
        places = {below, (*below, *tail.split("/")[2:])}
        near = [
            each
            for each in offers
            if resource_steps(each) in places
            and may_be(operation, each)
            and (operation.available or operation.method == each.method)
        ]
        if len(near) != 1:
            continue
        # A change has members of the request that it changes, whatever these are called.
        alike = operation.changes and _sent_members(made) & _sent_members(near[0])
        if alike or _has_arguments(operation, near[0]):
            yield name, OperationMatch(offered=near[0], why=f"it is at the path of {made}")


def _is_of_another(contract: Contract, operation: Operation, offer: OpenApiOperation) -> bool:
    """Whether the last step of a path has a word of another operation, and none of this one."""
    mine = distinctive_words([operation.id])
    last = frozenset(last_words(offer.path))
    return not last & mine and bool(last & distinctive_words(contract.operations))


def _similarity(operation: Operation, offer: OpenApiOperation) -> float:
    """Return how similar the names of two operations are."""
    mine = distinctive_words([operation.id]) - _DOES
    path, about = path_words(operation.path), path_words(filled_path(offer)[0])
    said = distinctive_words([offer.id, offer.description.partition(".")[0][:100]])
    score = 2 * similarity(mine | path, about) + similarity(mine, said & (mine | _OTHER | about))
    score += 0.5 * (last_words(operation.path) == last_words(offer.path))
    score -= 0.5 * len((_OTHER & (about | said)) - mine - path - frozenset(words(operation.id)))
    if not is_named_by_verb(offer):
        ends = ends_with_slot(filled_path(offer)[0])
        score -= 0.7 * (ends is not ends_with_slot(operation.path))
    if operation.method != offer.method:
        score -= _penalty(operation, offer)
    return score if mine & (about | distinctive_words([offer.id])) else 0.0


def _penalty(operation: Operation, offer: OpenApiOperation) -> float:
    """Return what another method costs."""
    if operation.ends and (offer.method == "DELETE" or is_named_by_verb(offer)):
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
    resources = {resource_steps(shown) for shown in known}
    resources |= {(*resource_steps(made), "{}") for made in known}
    return not known or resource_steps(offer) in resources


def _has_arguments(operation: Operation, offer: OpenApiOperation) -> bool:
    """Whether a guess takes most of the arguments of a new request, or any of those of a change."""
    asks = operation.makes or operation.changes
    if not (asks and operation.available and operation.arguments):
        return True
    places = [*offer.request, *(each.leaf for each in offer.parameters)]
    named = {name: leaf for name in operation.arguments if (leaf := called(name, places))}
    # A short body has few of the contract's arguments, and little else.
    members = {leaf.steps[0] for leaf in offer.request if leaf.steps}
    meant = {leaf.steps[0] for name, leaf in named.items() if name not in _GENERAL} & members
    if operation.makes and meant and len(named) > 1 and len(named) >= _EVIDENCE * len(members):
        return True
    return len(named) >= (_EVIDENCE * len(operation.arguments) if operation.makes else 1)


def has_evidence(contract: Contract, found: Mapping[str, OperationMatch]) -> bool:
    """Whether matched operations are those of the contract, by more than the words of a path.

    A contract whose requests are made needs the operation that makes one. Otherwise, there are
    several operations, one of them certain or of the entries of an account, or one of the contract's
    own names in a message.
    """
    operations = contract.operations
    used = [
        (operations[name], match) for name, match in found.items() if operations[name].available
    ]
    if any(operation.makes and operation.available for operation in operations.values()):
        return any(operation.makes for operation, _ in used)
    named = any(any(_names_in(contract, operation, match.offered)) for operation, match in used)
    certain = any(not match.why for _, match in used)
    entries = any(operation.lists and operation.since for operation, _ in used)
    return (len(used) > 1 and (named or certain or entries)) or (named and certain)


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
    for name in names:
        leaf = None if name in _GENERAL else called(name, places)
        # Each customer of a supplier of anything has an account with a number.
        if leaf is not None and leaf.words != ("account", "number"):
            yield name


def _in_item(leaf: SchemaLeaf) -> SchemaLeaf:
    """Return a leaf as it is in one item, if it is in a list."""
    while leaf.is_listed:
        leaf = replace(leaf, steps=leaf.steps[leaf.steps.index("*") + 1 :])
    return leaf


def _queries(offer: OpenApiOperation) -> Iterable[SchemaLeaf]:
    return (SchemaLeaf(steps=(name,)) for place in ("query", "path") for name in offer.named(place))


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
        *("terminate", "stop", "abort", "reject", "withdraw", "withdrawal"),
        # In other languages, where a path has a step of its own for it.
        *("anulacion", "anular", "cancelacion", "cancelar", "annulation", "annuler"),
        *("storno", "stornierung", "widerruf", "annullamento", "annulering"),
    ]
)
_CHANGES = frozenset(["modify", "modification", "update", "change", "amend", "edit", "replace"])
_CONFIRMS = frozenset(
    [
        *("confirm", "confirmation", "submit", "submission", "execute", "approve", "sign"),
        *("authorise", "authorize", "authorisation", "authorization"),
        *("confirmacion", "confirmar", "bestaetigung", "conferma", "bevestiging"),
    ]
)
_READS = frozenset(["get", "read", "retrieve", "retrieval", "list", "fetch", "query", "search"])
_ACTS = _READS | _CANCELS | _CHANGES


def plain_path(path: str) -> str:
    """Return a path without the names of its parameters."""
    return _SLOT.sub("{}", path)


def without_base(path: str) -> str:
    """Return a plain path without the steps of its beginning that are a version or a base path."""
    steps = plain_path(path).split("/")
    while len(steps) > 2 and all(map(_BASE.fullmatch, words(steps[1]) or ("",))):  # noqa: PLR2004 -- one is left
        del steps[1]
    return "/".join(steps)


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
        by_body = method in {"PUT", "PATCH"} and cancelling(offer.request)
        return method == "DELETE" or bool(_verbs(offer) & _CANCELS) or bool(by_body)
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
    members = (leaf.name for leaf in offer.request if leaf.is_member and leaf.is_value)
    return [*offer.named("query"), *members]


def resource_steps(offer: OpenApiOperation) -> tuple[str, ...]:
    """Return the steps of a path without a last one that says what is done."""
    steps = [step for step in filled_path(offer)[0].split("/") if step]
    if steps and not _SLOT.search(steps[-1]) and _ACTS & set(words(steps[-1])):
        steps = steps[:-1]
    return tuple("{}" if _SLOT.search(step) else step for step in steps)


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


# -- An operation of a contract together with the operation of the document that matches it --------

#: The last words of the names of identifiers.
IDENTIFIERS = frozenset({"id", "no", "number", "ref", "key"})
_SLOT_NAME = re.compile(r"[{]([^{}]+)[}]")


@dataclass(frozen=True, slots=True, kw_only=True)
class MatchedOperation:
    """An operation of the contract with the matching one of the document.

    `offered` has the path with the values of `match` filled in, for the reason `path_why`, and
    `explicit` says that the path is written even if it is that of the contract.
    `token_member` is the pointer at the token in the body, if it is there.
    `offers` are all operations of the document. `lister` is the operation that lists the bank's
    own names of items, and `has_ids` says that they are known. `lists` are the lists of the response that contain the operation's items,
    `single` is the object that is the single item, and `item` has the leaves of one item;
    `parts` are those of a single item with what is in its lists. `required` are the features
    that rules require. `made` is the call that makes the request that an operation is about.
    """

    contract: Contract
    operation: Operation
    match: OperationMatch
    offered: OpenApiOperation
    token_member: str = ""
    offers: Sequence[OpenApiOperation] = ()
    path_why: str = ""
    explicit: bool = False
    lister: str | None = None
    has_ids: bool = False
    lists: tuple[SchemaLeaf, ...] = ()
    single: SchemaLeaf | None = None
    item: tuple[SchemaLeaf, ...] = ()
    parts: tuple[SchemaLeaf, ...] = ()
    required: frozenset[str] = frozenset()
    made: OpenApiOperation | None = None

    @property
    def is_whole(self) -> bool:
        """Whether the body of a change must have all that the body of the request must have."""
        of = self.made if self.operation.changes else None
        needed = {leaf.steps for leaf in of.request if leaf.required} if of else set()
        mine = {leaf.steps for leaf in self.offered.request if leaf.required}
        needed = {steps for steps in needed if len(steps) == 1}
        return len(needed) > 1 and needed <= mine

    @property
    def slots(self) -> tuple[str, ...]:
        """The names of the path parameters."""
        return tuple(_SLOT_NAME.findall(self.offered.path))

    @property
    def path_names(self) -> frozenset[str]:
        """The names of the path parameters of all operations."""
        return frozenset(name for offer in self.offers for name in _SLOT_NAME.findall(offer.path))

    @property
    def identifiers(self) -> frozenset[tuple[str, ...]]:
        """The words of the path parameters of all operations that end with a word for an identifier."""
        return frozenset(
            words(name) for name in self.path_names if {*words(name)[-1:]} & IDENTIFIERS
        )

    @property
    def shows_one(self) -> bool:
        """Whether a response shows a single request of the customer."""
        operation = self.operation
        return bool(operation.request and operation.available and not operation.lists)

    @property
    def members(self) -> list[SchemaLeaf]:
        """The members of a response, without what is in them."""
        return [leaf for leaf in self.offered.answer if leaf.is_member]

    def has_header(self, name: str) -> bool:
        """Whether a response has a header."""
        return name in {header.lower() for header in self.offered.headers}

    def pointer(self, feature: str, leaf: SchemaLeaf | None, why: str) -> YamlEntry:
        """Return the pointer at what a feature binds, or that it is missing."""
        if leaf is None:
            return self.gap(feature)
        return YamlEntry(key=BINDING_FEATURES[feature].key[-1], value=leaf.pointer, why=why)

    def gap(self, feature: str, name: str = "", *, what: str = "", example: str = "") -> YamlEntry:
        """Return the comment for a feature that the document does not define."""
        place = BINDING_FEATURES[feature].place(self.operation.id, name)
        return gap(*place, what=what, example=example)
