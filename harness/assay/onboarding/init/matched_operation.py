"""An operation of a contract together with the operation of the document that matches it."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

from assay.binding.features import BINDING_FEATURES
from assay.contract.model import Contract, Operation
from assay.onboarding.init.openapi_operations import OpenApiOperation
from assay.onboarding.init.openapi_schemas import SchemaLeaf, words
from assay.onboarding.init.operation_matching import OperationMatch
from assay.onboarding.init.yaml_writer import YamlEntry, gap

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
    `parts` are those of a single item with what is in its lists.
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

    @property
    def slots(self) -> tuple[str, ...]:
        """The names of the path parameters."""
        return tuple(_SLOT_NAME.findall(self.offered.path))

    @property
    def identifiers(self) -> frozenset[tuple[str, ...]]:
        """The words of the path parameters of all operations that end with `id`."""
        names = (name for offer in self.offers for name in _SLOT_NAME.findall(offer.path))
        return frozenset(words(name) for name in names if words(name)[-1:] == ("id",))

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
