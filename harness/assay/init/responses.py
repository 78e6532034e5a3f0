"""Guesses how responses are read: where lists, pages, links and disclosed values are.

Guessed by names, types and formats of the document. Nothing is made up: where no name
matches, the pointer is reported as missing.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from assay.contract.model import Json
from assay.init.items import LINKS, links, pointers, single_item
from assay.init.name_matching import words
from assay.init.openapi_operations import EACH, SchemaLeaf
from assay.init.operation_match import MatchedOperation, guessed
from assay.init.yaml_writer import YamlEntry, gap
from assay.rules.clauses import page_size


def responses(shape: MatchedOperation) -> Iterator[YamlEntry]:
    """Yield the pointers into a response, or that they are missing."""
    operation = shape.operation
    if operation.lists:
        yield from _listed(shape)
    elif operation.request and operation.available:
        yield from single_item(shape)
    for name in operation.disclosures:
        yield _disclosure(shape, name)


def _listed(shape: MatchedOperation) -> Iterator[YamlEntry]:
    lists = _lists(shape)
    if not lists:
        yield gap("list", "the pointer to the list in the response", f"/{shape.operation.id}")
        yield gap("next", "the pointer to the link to the next page", "/links/next")
        yield gap("item", "the pointers into an item", "{key: /id}")
        return
    where = [one.pointer for one in lists]
    why = f"the list of objects in the response of {shape.offered}"
    if len(lists) > 1:
        why = f"the {len(lists)} lists of objects in the response of {shape.offered}"
    yield YamlEntry(key="list", value=where[0] if len(where) == 1 else where, why=why)
    yield from next_page(shape)
    yield from links(shape)
    yield YamlEntry(key="item", below=tuple(pointers(shape, _inside(shape, lists[0]))))


def _lists(shape: MatchedOperation) -> list[SchemaLeaf]:
    """Return the lists that contain the contract's resources."""
    found = [
        one
        for one in shape.offered.answer
        if one.kind == "array" and EACH not in one.steps and _inside(shape, one)
    ]
    mine = {word for one in (shape.operation.id, *shape.operation.lists) for word in words(one)}
    named = [one for one in found if mine & one.path]
    return named or found[:1]


def _inside(shape: MatchedOperation, where: SchemaLeaf) -> list[SchemaLeaf]:
    below = (one.below((*where.steps, EACH)) for one in shape.offered.answer)
    return [one for one in below if one is not None and one.kind not in {"object", "array"}]


def _disclosure(shape: MatchedOperation, name: str) -> YamlEntry:
    mine = set(words(name))
    outside = [one for one in shape.offered.answer if EACH not in one.steps and len(one.steps) == 1]
    for one in sorted(outside, key=lambda one: one.name != name):
        if mine & set(one.words) and one.kind in {"string", ""}:
            inner = YamlEntry(key=name, value=one.pointer, why=guessed(name, one))
            return YamlEntry(key="values", below=(inner,))
    return gap("values", f"the pointer to {name}", f"{{{name}: /{name}}}")


def next_page(shape: MatchedOperation) -> Iterator[YamlEntry]:
    """Yield how the next page is found: by a link if there is one."""
    leaves = [one for one in shape.offered.answer if EACH not in one.steps and one.steps]
    query = shape.offered.named("query")
    for one in leaves:
        is_text = one.kind in {"string", ""}
        if is_text and "next" in one.path and (one.path & (LINKS | {"url", "uri"})):
            yield YamlEntry(
                key="next",
                value=one.pointer,
                why=f"{one.pointer} is named as a link to the next page",
            )
            return
    if "link" in {one.lower() for one in shape.offered.headers}:
        yield YamlEntry(key="next", value={"header": "Link"}, why="the response has a Link header")
        return
    cursors = [
        one for one in leaves if {"cursor", "token"} & set(one.words) or one.words == ("next",)
    ]
    takers = [one for one in query if {"cursor", "token", "after"} & set(words(one))]
    if cursors and takers:
        value: dict[str, Json] = {"cursor": cursors[0].pointer, "query": takers[0]}
        yield YamlEntry(
            key="next", value=value, why=f"{takers[0]} takes the value of {cursors[0].name}"
        )
        return
    yield from _counted(shape, leaves)


def _counted(shape: MatchedOperation, leaves: Sequence[SchemaLeaf]) -> Iterator[YamlEntry]:
    """Yield how pages are counted; or that it is missing, if the contract needs it."""
    for name, one in shape.offered.named("query").items():
        for turn in ("page", "offset"):
            if turn not in words(name) or "size" in words(name) or "limit" in words(name):
                continue
            value: dict[str, Json] = {turn: name}
            first = next(
                (each for each in one.leaf.values if each.isascii() and each.isdigit()), ""
            )
            if first in {"0", "1"}:
                value["first"] = int(first)
            more = next(
                (each for each in leaves if "more" in each.words or each.words == ("has", "next")),
                None,
            )
            total = next((each for each in leaves if "total" in each.words), None)
            if more:
                value["more"] = more.pointer
            elif total:
                value["total"] = total.pointer
            yield YamlEntry(
                key="next", value=value, why=f"the parameter {name} counts pages or items"
            )
            return
    if page_size(shape.contract, shape.operation.id) is not None:
        yield gap("next", "the pointer to the link to the next page", "/links/next")
