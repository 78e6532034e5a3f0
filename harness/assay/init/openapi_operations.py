"""Operations of an OpenAPI document, and which of them match those of a contract.

The same method and path, or the contract's own name, is a certain match. Every other match
is a guess by the words of paths and names; a poor guess is dropped.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import islice
from typing import Any

from assay.binding.checks import bad_url
from assay.binding.features import BINDING_FEATURES
from assay.contract.model import Contract, Operation
from assay.init.openapi_schemas import (
    SchemaLeaf,
    distinctive_words,
    is_plain_name,
    leaves,
    similarity,
    words,
)
from assay.init.safe_load import ForeignDocument, mapping, sequence, text
from assay.init.yaml_writer import YamlEntry, gap

_METHODS = ("get", "post", "put", "patch", "delete")
_SUCCESS = re.compile(r"2([0-9]{2}|[xX]{2})")
#: How many operations are read.
MOST_OPERATIONS = 500


@dataclass(frozen=True, slots=True, kw_only=True)
class OpenApiParameter:
    """A parameter of an operation: its place is query, header, path or cookie."""

    name: str
    place: str
    required: bool
    leaf: SchemaLeaf
    description: str


@dataclass(frozen=True, slots=True, kw_only=True)
class OpenApiOperation:
    """An operation of the document, with everything that its messages may contain.

    `statuses` and `headers` are those of successful responses.
    """

    method: str
    path: str
    id: str = ""
    description: str = ""
    parameters: tuple[OpenApiParameter, ...] = ()
    request: tuple[SchemaLeaf, ...] = ()
    answer: tuple[SchemaLeaf, ...] = ()
    statuses: tuple[str, ...] = ()
    headers: tuple[str, ...] = ()

    def named(self, place: str) -> dict[str, OpenApiParameter]:
        """Return the parameters in a place by their names."""
        return {
            parameter.name: parameter for parameter in self.parameters if parameter.place == place
        }

    def __str__(self) -> str:
        return f"{self.method} {self.path}"


def openapi_operations(document: ForeignDocument) -> tuple[OpenApiOperation, ...]:
    """Return the operations of a document, at most `MOST_OPERATIONS`."""
    operations = (
        _operation(document, method, path, item)
        for path, raw in mapping(document.root.get("paths")).items()
        if path.startswith("/") and is_plain_name(path)
        for item in [document.at(raw)]
        for method in _METHODS
        if isinstance(item.get(method), dict)
    )
    return tuple(islice(operations, MOST_OPERATIONS))


def _operation(
    document: ForeignDocument, method: str, path: str, item: dict[str, Any]
) -> OpenApiOperation:
    node = mapping(item[method])
    answers = [
        (status, document.at(response))
        for status, response in mapping(node.get("responses")).items()
        if _SUCCESS.fullmatch(status)
    ]
    headers = (name for _, answer in answers for name in mapping(answer.get("headers")))
    return OpenApiOperation(
        method=method.upper(),
        path=path,
        id=text(node.get("operationId")),
        description=" ".join(
            filter(None, (text(node.get("summary")), text(node.get("description"))[:400]))
        ),
        parameters=tuple(
            _parameters(
                document, [*sequence(item.get("parameters")), *sequence(node.get("parameters"))]
            )
        ),
        request=leaves(document, _schema(document, document.at(node.get("requestBody")))),
        answer=next(
            (
                shape
                for _, answer in answers
                if len(shape := leaves(document, _schema(document, answer))) > 1
            ),
            (),
        ),
        statuses=tuple(dict.fromkeys(status.lower() for status, _ in answers)),
        headers=tuple(dict.fromkeys(name for name in headers if is_plain_name(name))),
    )


def _parameters(document: ForeignDocument, raw: list[Any]) -> Iterator[OpenApiParameter]:
    """Yield parameters; those of an operation override those of its path."""
    parameters: dict[tuple[str, str], OpenApiParameter] = {}
    for entry in raw:
        node = document.at(entry)
        name, place = text(node.get("name")), text(node.get("in"))
        if is_plain_name(name):
            shape = leaves(document, node.get("schema"))[0]
            parameters[name, place] = OpenApiParameter(
                name=name,
                place=place,
                required=node.get("required") == "true",
                leaf=shape,
                description=text(node.get("description")) or shape.description,
            )
    yield from parameters.values()


def _schema(document: ForeignDocument, node: dict[str, Any]) -> object:
    """Return the schema of the JSON body, or of another body if there is none."""
    content = mapping(node.get("content"))
    types = sorted(
        content, key=lambda media_type: ("json" not in media_type.lower(), "*" in media_type)
    )
    return document.at(content[types[0]]).get("schema") if types else None


def base_url(document: ForeignDocument) -> str:
    """Return the first server that is a whole URL; empty if there is none."""
    for server in sequence(document.root.get("servers")):
        url = text(mapping(server).get("url")).rstrip("/")
        if is_plain_name(url) and "{" not in url and not bad_url(url):
            return url
    return ""


def schemes(document: ForeignDocument) -> tuple[dict[str, Any], ...]:
    """Return the security schemes of a document."""
    components = mapping(document.root.get("components"))
    defined = mapping(components.get("securitySchemes"))
    return tuple(document.at(scheme) for scheme in defined.values())


#: The least score of a guess; of equal ones, the first in the document is taken.
ENOUGH = 0.5
SURE = 100.0
_SLOT = re.compile(r"[{][^{}]*[}]")
#: Words of versions and base paths, which do not distinguish operations.
_BASE = re.compile(r"v[0-9]+|psd[0-9]*|api|open|banking|stet|[0-9]+")
#: Words for what an operation does, which names of the contract repeat.
_DOES = frozenset(["create", "modify", "update", "cancel", "delete", "confirm", "confirmation"])
#: Words that indicate another operation, unless the contract has them too.
_OTHER = frozenset(
    [
        *("authorisation", "authorization", "bulk", "card", "confirmation", "detail"),
        *("periodic", "status"),
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
        (score, -number, name, offer)
        for name, operation in contract.operations.items()
        for number, offer in enumerate(offers)
        if (score := _score(operation, offer)) >= ENOUGH
    ]
    matches: dict[str, OperationMatch] = {}
    taken: dict[str, str] = {}
    for score, _, name, offer in sorted(scores, key=lambda entry: (-entry[0], -entry[1])):
        operation = contract.operations[name]
        line = f"{operation.method} {operation.path}"
        if name in matches or taken.get(str(offer), line) != line:
            continue
        taken[str(offer)] = line
        why = "" if score >= SURE else f"{offer} has a similar name"
        matches[name] = OperationMatch(offered=offer, why=why)
    return matches


def _score(operation: Operation, offer: OpenApiOperation) -> float:
    if operation.id in {offer.id, *offer.id.split("-or-")} and operation.method == offer.method:
        return SURE + 1
    if (operation.method, _plain(operation.path)) == (offer.method, _plain(offer.path)):
        return SURE
    if (operation.method == "GET") is not (offer.method == "GET"):
        return 0.0
    if not operation.available and operation.method != offer.method:
        return 0.0
    if offer.method == "DELETE" and not operation.ends:
        return 0.0
    mine = distinctive_words([operation.id]) - _DOES
    path, about = _literal(operation.path), _literal(offer.path)
    said = distinctive_words([offer.id, offer.description.partition(".")[0][:100]])
    score = 2 * similarity(mine | path, about) + similarity(mine, said & (mine | _OTHER | about))
    score += 0.5 * (_last(operation.path) == _last(offer.path))
    score -= 0.5 * len((_OTHER & (about | said)) - mine - path - _does(operation))
    score -= 0.7 * (offer.path.endswith("}") is not _about_one(operation))
    if operation.method != offer.method:
        score -= 0.3 if operation.ends and offer.method == "DELETE" else 0.8
    # The distinctive words of the contract's name are required.
    return score if mine & (about | distinctive_words([offer.id])) else 0.0


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
        word for word in distinctive_words([_SLOT.sub("", path)]) if not _BASE.fullmatch(word)
    )


def _last(path: str) -> tuple[str, ...]:
    """Return the words of the last step of a path that is no parameter."""
    steps = [step for step in path.split("/") if step and not _SLOT.search(step)]
    return words(steps[-1]) if steps else ()


#: Words of parties other than the customer.
THEIRS = frozenset(["creditor", "debtor", "beneficiary", "counterparty", "ultimate", "original"])
_SLOT_NAME = re.compile(r"[{]([^{}]+)[}]")


@dataclass(frozen=True, slots=True, kw_only=True)
class MatchedOperation:
    """An operation of the contract with the matching one of the document.

    `offered` has the path with the values of `match` filled in, for the reason `path_why`.
    `offers` are all operations of the document. `lister` is the operation that lists the bank's
    own names of items. `lists` are the lists of the response that contain the operation's items,
    `single` is the object that is the single item, and `item` has the leaves of one item.
    """

    contract: Contract
    operation: Operation
    match: OperationMatch
    offered: OpenApiOperation
    offers: Sequence[OpenApiOperation] = ()
    path_why: str = ""
    lister: str | None = None
    lists: tuple[SchemaLeaf, ...] = ()
    single: SchemaLeaf | None = None
    item: tuple[SchemaLeaf, ...] = ()

    @property
    def slots(self) -> tuple[str, ...]:
        """The names of the path parameters."""
        return tuple(_SLOT_NAME.findall(self.offered.path))

    @property
    def shows_one(self) -> bool:
        """Whether a response shows a single request of the customer."""
        operation = self.operation
        return bool(operation.request and operation.available and not operation.lists)

    @property
    def members(self) -> list[SchemaLeaf]:
        """The members of a response, without what is in them."""
        return [leaf for leaf in self.offered.answer if len(leaf.steps) == 1]

    def has_header(self, name: str) -> bool:
        """Whether a response has a header."""
        return name in {header.lower() for header in self.offered.headers}

    def gap(self, feature: str, name: str = "", *, what: str = "", example: str = "") -> YamlEntry:
        """Return the comment for a feature that the document does not define."""
        place = BINDING_FEATURES[feature].place(self.operation.id, name)
        return gap(*place, what=what, example=example)


def guessed(name: str, leaf: SchemaLeaf) -> str:
    """Return why a leaf is taken for the contract's name; empty if it is certain."""
    if leaf.steps == (name,):
        return ""
    return "same name" if leaf.name == name else f"{' '.join(leaf.steps)} is similar to {name}"
