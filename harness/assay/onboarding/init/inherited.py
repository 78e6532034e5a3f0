"""What a draft adds to the target file that it extends.

The inherited file was written for the same interface, and a guess from names knows less than it.
So a guess replaces an inherited key only where the document contradicts that key: it does not
have the pointer or the parameter. Where the inherited file has nothing, only what is certain is
written. A gap is one only if the joined file has it.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Final, TypeAlias, cast

from assay.contract.model import Contract, Json
from assay.files.document import Spot
from assay.files.edits import flow
from assay.onboarding.init.openapi_operations import OpenApiOperation, SchemaLeaf
from assay.onboarding.init.operation_matching import MatchedOperation, OperationMatch, plain_path
from assay.onboarding.init.yaml_writer import YamlEntry, gap

__all__ = ["InheritedTarget"]

_Raw: TypeAlias = Mapping[str, Any]
#: An entry with the keys between its operation and itself.
_Placed: TypeAlias = tuple[tuple[str, ...], YamlEntry]
#: Keys of the whole response, and of one item, that hold pointers.
_IN_ANSWER: Final = frozenset({"next", "approval"})
#: Keys that a document never corrects: what it does not list may exist all the same, and where
#: an item stands depends on the keys of the item.
_KEPT: Final = frozenset(
    {"links", "modes", "template", "credentials", "queries", "headers", "list", "one"}
)
#: The places of an argument that are parameters of an operation.
_PARAMETERS: Final = ("query", "header", "path")


@dataclass(frozen=True, slots=True, kw_only=True)
class InheritedTarget:
    """The file that a draft extends, with all that it extends itself, as raw values.

    `spots` are where its keys stand, those included that a null removed.
    """

    raw: _Raw = field(default_factory=dict[str, Any])
    spots: Spot | None = None

    def operation(self, name: str) -> _Raw:
        """Return the inherited binding of an operation; empty if there is none."""
        operations: _Raw = self.raw.get("operations") or {}
        return operations.get(name) or {}

    def with_ids(self) -> Iterator[str]:
        """Yield the operations whose items have an identifier of the bank's own."""
        for name in self.raw.get("operations") or ():
            if _at(self.operation(name), ("item", "id")) is not None:
                yield name

    def matches(
        self, contract: Contract, offers: Iterable[OpenApiOperation]
    ) -> dict[str, OperationMatch]:
        """Return the operations of a document that have the inherited method and path."""
        by_line = {f"{offer.method} {plain_path(offer.path)}": offer for offer in offers}
        matched: dict[str, OperationMatch] = {}
        for name, operation in contract.operations.items() if self.raw else ():
            raw = self.operation(name)
            method, path = raw.get("method") or operation.method, raw.get("path") or operation.path
            offer = by_line.get(f"{method} {plain_path(path)}")
            if offer is not None:
                matched[name] = OperationMatch(offered=offer)
        return matched

    def corrections(self, shape: MatchedOperation, placed: Iterable[_Placed]) -> Iterator[_Placed]:
        """Yield the entries of an operation that the joined file needs."""
        raw = self.operation(shape.operation.id)
        if not raw:
            yield from placed
            return
        for section, entry in placed:
            place = (*section, entry.key)
            inherited = _at(raw, place)
            if inherited is None and entry.key != "links":
                if not (entry.missing and self._is_removed(shape.operation.id, place)):
                    yield section, _certain(entry)
            elif (
                inherited
                and not entry.missing
                and _is_contradicted(shape, raw, section, entry, inherited)
            ):
                why = f"the document has no {flow(inherited)}, which is inherited; {entry.why}"
                yield section, replace(entry, why=why.removesuffix("; "))

    def _is_removed(self, operation: str, place: Sequence[str]) -> bool:
        """Whether a null in the inherited files says that there is no such thing."""
        spot = self.spots
        for key in ("operations", operation, *place):
            spot = spot.at(key) if spot else None
        return spot is not None

    def accepts(self, statuses: Iterable[int]) -> bool:
        """Whether the inherited outcomes already name all statuses of success."""
        outcomes: _Raw = self.raw.get("outcomes") or {}
        known: set[object] = set()
        for matcher in outcomes.get("accepted") or ():
            known |= {str(status) for status in matcher.get("statuses", ())}
        return "2xx" in known or not known or {str(status) for status in statuses} <= known


def _at(raw: _Raw, keys: Sequence[str]) -> Any:
    value: Any = raw
    for key in keys:
        value = cast("_Raw", value).get(key) if isinstance(value, Mapping) else None
    return value


def _certain(entry: YamlEntry) -> YamlEntry:
    """Return a certain entry or a gap as it is, and a guess as a gap with an example."""
    if entry.missing or not entry.why or entry.below is not None:
        return entry
    what = f"nothing is inherited here, and the document suggests this ({entry.why})"
    return gap("operations", entry.key, what=what, example=flow(entry.value))


def _is_contradicted(
    shape: MatchedOperation,
    raw: _Raw,
    section: tuple[str, ...],
    entry: YamlEntry,
    inherited: Json,
) -> bool:
    """Whether the document does not have what the inherited key names."""
    if entry.key in _KEPT or section[:1] in {("modes",), ("values",)} or entry.value == inherited:
        return False
    if entry.key == "method":
        return True  # no operation has the inherited method and path
    if entry.key == "path":
        return plain_path(str(entry.value)) != plain_path(str(inherited))
    if entry.key == "aliases":
        paths = {plain_path(offer.path) for offer in shape.offers}
        return not {plain_path(path) for path in cast("Sequence[str]", inherited)} <= paths
    if section[:1] == ("arguments",):
        return _is_misplaced(shape, inherited)
    leaves = shape.offered.answer
    inside = leaves if entry.key in _IN_ANSWER else tuple(_in_item(raw, leaves))
    known = {leaf.pointer for leaf in inside}
    pointers = set(_pointers(inherited))
    return len(known) > 1 and bool(pointers) and not pointers & known


def _is_misplaced(shape: MatchedOperation, inherited: Json) -> bool:
    """Whether the document has no parameter or member where an argument goes."""
    place = cast("_Raw", inherited) if isinstance(inherited, Mapping) else {}
    for kind in _PARAMETERS:
        if place.get(kind):
            # The names of path parameters are only the document's.
            return kind != "path" and place[kind] not in shape.offered.named(kind)
    known = {leaf.pointer for leaf in shape.offered.request}
    pointers = set(_pointers(place.get("body")))
    return len(known) > 1 and bool(pointers) and not pointers & known


def _in_item(raw: _Raw, leaves: Sequence[SchemaLeaf]) -> Iterator[SchemaLeaf]:
    """Yield the parts of one item, at the inherited pointer to the items."""
    above = [f"{pointer}/0" for pointer in _pointers(raw.get("list"))]
    above = above or list(_pointers(raw.get("one")))
    for leaf in leaves:
        for pointer in above:
            depth = pointer.count("/")
            if leaf.pointer.startswith(f"{pointer}/") and len(leaf.steps) > depth:
                yield replace(leaf, steps=leaf.steps[depth:])


def _pointers(value: Any) -> Iterator[str]:
    """Yield the pointers of a key, whichever form it has."""
    if isinstance(value, str):
        yield value.replace("/*", "/0")
    elif isinstance(value, list):
        for each in cast("Sequence[Any]", value):
            yield from _pointers(each)
    elif isinstance(value, Mapping):
        mapping = cast("_Raw", value)
        for key in ("at", "link", "cursor"):
            yield from _pointers(mapping.get(key))
