"""How the answers of an operation are read: where lists, items, fields and links are.

By names, types and formats of the document. Nothing is made up: where no name is alike,
the pointer is missing.
"""

from __future__ import annotations

from collections.abc import Iterator

from assay.init.items import pointers
from assay.init.lines import Entry, gap
from assay.init.shape import EACH, Leaf
from assay.init.shaped import Shape, guessed
from assay.init.showing import shown
from assay.init.turning import links, next_page
from assay.init.words import words

__all__ = ["answers"]


def answers(shape: Shape) -> Iterator[Entry]:
    """Yield the pointers into an answer, or that they are missing."""
    operation = shape.operation
    if operation.lists:
        yield from _listed(shape)
    elif operation.request and operation.available:
        yield from shown(shape)
    for name in operation.disclosures:
        yield _disclosure(shape, name)


def _listed(shape: Shape) -> Iterator[Entry]:
    lists = _lists(shape)
    if not lists:
        yield gap("list", "where the list is in the answer", f"/{shape.operation.id}")
        yield gap("next", "where the link to the next page is", "/links/next")
        yield gap("item", "pointers into an item", "{key: /id}")
        return
    where = [one.pointer for one in lists]
    why = f"the list of objects in the answer of {shape.offered}"
    if len(lists) > 1:
        why = f"the {len(lists)} lists of objects in the answer of {shape.offered}"
    yield Entry(key="list", value=where[0] if len(where) == 1 else where, why=why)
    yield from next_page(shape)
    yield from links(shape)
    yield Entry(key="item", below=tuple(pointers(shape, _inside(shape, lists[0]))))


def _lists(shape: Shape) -> list[Leaf]:
    """Return the lists that the contract's resources are in."""
    found = [
        one
        for one in shape.offered.answer
        if one.kind == "array" and EACH not in one.steps and _inside(shape, one)
    ]
    mine = {word for one in (shape.operation.id, *shape.operation.lists) for word in words(one)}
    named = [one for one in found if mine & one.path]
    return named or found[:1]


def _inside(shape: Shape, where: Leaf) -> list[Leaf]:
    below = (one.below((*where.steps, EACH)) for one in shape.offered.answer)
    return [one for one in below if one is not None and one.kind not in {"object", "array"}]


def _disclosure(shape: Shape, name: str) -> Entry:
    mine = set(words(name))
    outside = [one for one in shape.offered.answer if EACH not in one.steps and len(one.steps) == 1]
    for one in sorted(outside, key=lambda one: one.name != name):
        if mine & set(one.words) and one.kind in {"string", ""}:
            inner = Entry(key=name, value=one.pointer, why=guessed(name, one))
            return Entry(key="values", below=(inner,))
    return gap("values", f"where {name} stands", f"{{{name}: /{name}}}")
