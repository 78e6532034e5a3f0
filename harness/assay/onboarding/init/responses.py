"""Guesses of the features of a response: lists, pages, links, values, and pointers into an item.

Guessed by names, types and formats of the document.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from functools import partial

from assay.contract.model import Json
from assay.onboarding.init.item_pointers import list_key
from assay.onboarding.init.openapi_operations import EACH, SchemaLeaf, words
from assay.onboarding.init.operation_matching import MatchedOperation
from assay.onboarding.init.synonyms import (
    THEIRS,
    guessed,
)
from assay.onboarding.init.yaml_writer import YamlEntry
from assay.rules.rule import facts_of

_LINKS = frozenset({"link", "href"})
_MOST_LINKS = 12
#: The status of an answer without a body.
_NO_CONTENT = "204"
#: Words of links to the SCA screens.
_SCREENS = frozenset({"approval", "consent", "sca", "redirect", "confirm", "sign", "authorize"})
_PAGES = frozenset({"page", "next", "cursor", "token", "total", "meta", "request", "uri", "url"})
#: Words of lists beside those of the contract's items, such as standing orders.
_OTHER_LISTS = frozenset({"information", "order", "scheduled"})


def with_items(shape: MatchedOperation) -> MatchedOperation:
    """Return a match with the lists or the single item of its response, and what is in one."""
    if shape.operation.lists:
        lists = tuple(_lists(shape))
        return replace(shape, lists=lists, item=tuple(inside(shape, *lists[:1])))
    objects = [leaf for leaf in shape.members if leaf.kind == "object"]
    items = [leaf for leaf in objects if not leaf.path & _LINKS]
    alone = len(items) == 1 and len(objects) == len(shape.members)
    # Beside others, the object that has the identifier of a request is the request.
    alone = alone or (len(objects) == 1 and any(map(partial(_is_whole, shape), items)))
    single = items[0] if alone else next(filter(partial(_has_id, shape), items), None)
    below = (leaf.below(single.steps if single else ()) for leaf in shape.offered.answer)
    parts = tuple(leaf for leaf in below if leaf and leaf.is_value) if shape.shows_one else ()
    item = tuple(leaf for leaf in parts if not leaf.is_listed)
    return replace(shape, single=single, item=item, parts=parts)


def _has_id(shape: MatchedOperation, single: SchemaLeaf) -> bool:
    """Whether an object has the identifier of the request that an operation is about."""
    mine = set(words(shape.operation.request or "")) - {"request"}
    identifiers = {each for each in shape.identifiers if mine & set(each)}
    at_top = {leaf.words for leaf in shape.members}
    return not at_top & identifiers and bool(_members(shape, single) & identifiers)


def _is_whole(shape: MatchedOperation, single: SchemaLeaf) -> bool:
    """Whether the only object of a response is the item, as it has an identifier and none is beside it."""
    beside = any(leaf.words[-1:] == ("id",) for leaf in shape.members)
    return not beside and not single.path & THEIRS and ("id",) in _members(shape, single)


def _members(shape: MatchedOperation, single: SchemaLeaf) -> set[tuple[str, ...]]:
    """Return the words of the members of an object."""
    below = (leaf.below(single.steps) for leaf in shape.offered.answer)
    return {leaf.words for leaf in below if leaf and leaf.is_member}


def _lists(shape: MatchedOperation) -> list[SchemaLeaf]:
    """Return the lists that contain the contract's resources."""
    arrays = [
        leaf
        for leaf in _outside(shape)
        if leaf.kind == "array" and any(True for _ in inside(shape, leaf))
    ]
    mine = {word for name in (shape.operation.id, *shape.operation.lists) for word in words(name)}
    named = [leaf for leaf in arrays if mine & leaf.path and not _OTHER_LISTS & set(leaf.words)]
    # Of a list with another name, what stands beside it must not be an item with this part.
    # A value is one of an item, unless it is a link, a number of items or a mark of a page.
    values = {
        leaf.steps[:-1]
        for leaf in _outside(shape)
        if leaf.kind == "string" and not leaf.path & (_LINKS | _PAGES)
    }
    whole = [leaf for leaf in shape.offered.answer if not leaf.steps and leaf.kind == "array"]
    key = list_key(shape)
    keyed = [array for array in arrays if key in {leaf.name for leaf in inside(shape, array)}]
    whole = whole or (keyed if len(keyed) == 1 else [])
    whole = whole or (arrays if len(arrays) == 1 and not shape.match.why else [])
    return named or whole or [leaf for leaf in arrays if leaf.steps[:-1] not in values][:1]


def inside(shape: MatchedOperation, *lists: SchemaLeaf) -> Iterator[SchemaLeaf]:
    """Yield the values in an element of a list."""
    for array in lists:
        below = (leaf.below((*array.steps, EACH)) for leaf in shape.offered.answer)
        yield from (leaf for leaf in below if leaf is not None and leaf.is_value)


def _outside(shape: MatchedOperation) -> list[SchemaLeaf]:
    """Return what a response has outside of lists."""
    return [leaf for leaf in shape.offered.answer if not leaf.is_listed and leaf.steps]


def list_of_items(shape: MatchedOperation) -> Iterator[YamlEntry]:
    """Yield the pointer to each list of items."""
    pointers = [leaf.pointer for leaf in shape.lists]
    if pointers:
        several = "list" if len(pointers) == 1 else f"{len(pointers)} lists"
        why = f"the {several} of objects in the response of {shape.offered}"
        value: Json = pointers[0] if len(pointers) == 1 else [*pointers]
        yield YamlEntry(key="list", value=value, why=why)
    elif shape.operation.lists:
        yield shape.gap("list", example=f"/{shape.operation.id}")


def single_item(shape: MatchedOperation) -> Iterator[YamlEntry]:
    """Yield the pointer to the single item of a response."""
    if shape.single and shape.shows_one:
        why = f"the object with the request in the response of {shape.offered}"
        yield YamlEntry(key="one", value=shape.single.pointer, why=why)
    elif shape.shows_one and shape.members:
        yield YamlEntry(key="one", value="")
    elif shape.shows_one and shape.offered.statuses != (_NO_CONTENT,):
        yield shape.gap("one")


def next_page(shape: MatchedOperation) -> Iterator[YamlEntry]:
    """Yield how the next page is found: by a link if there is one."""
    if not shape.operation.lists:
        return
    ways = (_next_link, _link_header, _cursor, _counted) if shape.lists else ()
    entry = next((entry for way in ways if (entry := way(shape))), None)
    if entry is not None:
        yield entry
    elif not shape.lists or shape.operation.id in facts_of(shape.contract).page_sizes:
        yield shape.gap("next")


def _next_link(shape: MatchedOperation) -> YamlEntry | None:
    places: list[Json] = [
        leaf.pointer
        for leaf in _outside(shape)
        if leaf.is_text and "next" in leaf.path and leaf.path & (_LINKS | {"url", "uri"})
    ]
    if not places:
        return None
    # Beside each of several lists there may be one.
    beside = [place for place in places if str(place).count("/") == str(places[0]).count("/")]
    several = len(shape.lists) > 1 and len(beside) > 1
    why = "named as a link to the next page"
    return YamlEntry(key="next", value=beside if several else places[0], why=why)


def _link_header(shape: MatchedOperation) -> YamlEntry | None:
    if not shape.has_header("link"):
        return None
    return YamlEntry(key="next", value={"header": "Link"}, why="the response has a Link header")


def _cursor(shape: MatchedOperation) -> YamlEntry | None:
    marks = {"cursor", "token"}
    cursors = (
        leaf
        for leaf in _outside(shape)
        if marks & set(leaf.words) or leaf.words in {("next",), ("next", "page"), ("after",)}
    )
    takers = [name for name in shape.offered.named("query") if {*marks, "after"} & {*words(name)}]
    cursor = next(cursors, None)
    if cursor is None:
        return None
    if takers:
        value: dict[str, Json] = {"cursor": cursor.pointer, "query": takers[0]}
        why = f"{takers[0]} takes the value of {cursor.name}"
        return YamlEntry(key="next", value=value, why=why)
    if shape.offered.method != "POST":
        return None
    members = (leaf for leaf in shape.offered.request if leaf.steps and not leaf.is_listed)
    taker = next((leaf for leaf in members if _takes_page(leaf, marks)), None)
    if taker is None:
        return None
    value = {"cursor": cursor.pointer, "body": taker.pointer}
    return YamlEntry(key="next", value=value, why=f"{taker.name} takes the value of {cursor.name}")


def _takes_page(leaf: SchemaLeaf, marks: set[str]) -> bool:
    """Whether a member of a body takes the value that leads to the next page."""
    mine = set(leaf.words)
    is_cursor = bool({*marks, "after"} & mine) and "page" in mine | leaf.path
    return leaf.words == ("page", "id") or "cursor" in mine or is_cursor


def _counted(shape: MatchedOperation) -> YamlEntry | None:
    """Return how pages or items are counted, if a parameter does so."""
    for name, parameter in shape.offered.named("query").items():
        kind = next((word for word in ("page", "offset") if word in words(name)), "")
        if kind and not {"size", "limit"} & set(words(name)):
            value: dict[str, Json] = {kind: name}
            numbers = (text for text in parameter.leaf.values if text.isascii() and text.isdigit())
            first = next(numbers, "")
            if first in {"0", "1"}:
                value["first"] = int(first)
            value |= _end(shape)
            why = f"the parameter {name} counts pages or items"
            return YamlEntry(key="next", value=value, why=why)
    return None


def _end(shape: MatchedOperation) -> dict[str, Json]:
    """Return the pointer that says whether there is another page, if there is one."""
    for leaf in _outside(shape):
        if "more" in leaf.words or leaf.words == ("has", "next"):
            return {"more": leaf.pointer}
    total = next((leaf.pointer for leaf in _outside(shape) if "total" in leaf.words), None)
    return {} if total is None else {"total": total}


def approval(shape: MatchedOperation) -> Iterator[YamlEntry]:
    """Yield the pointer to the link to the SCA screens, or that it is missing."""
    makes = shape.operation.makes and shape.operation.signed
    if not (shape.shows_one and makes and shape.members):
        return
    link = next((leaf for leaf in _all_links(shape) if leaf.path & _SCREENS), None)
    urls = [leaf for leaf in _outside(shape) if leaf.is_text and {*leaf.words} & {"url", "uri"}]
    named = [leaf for leaf in urls if {*leaf.words} & _SCREENS]
    link = link or (named[0] if len(named) == 1 else None)
    why = "named as a link to SCA screens"
    if link is None:
        # Whatever it is called; what a request has at the same place is its own.
        sent = {leaf.steps for leaf in shape.offered.request}
        only = [
            leaf
            for leaf in _outside(shape)
            if leaf.form == "uri" and leaf.steps not in sent and leaf.name not in {"self", "next"}
        ]
        link, why = only[0] if len(only) == 1 else None, "the only URL in the answer"
    yield shape.pointer("approval", link, why)


def links(shape: MatchedOperation) -> Iterator[YamlEntry]:
    """Yield the pointers to links, if there are any."""
    several = [leaf for leaf in _all_links(shape) if not leaf.told][:_MOST_LINKS]
    pointers: list[Json] = [
        leaf.pointer if leaf.required else {"at": leaf.pointer, "optional": True}
        for leaf in several
    ]
    if pointers and (shape.lists or shape.shows_one):
        yield YamlEntry(key="links", value=pointers, why="named as links")


def _all_links(shape: MatchedOperation) -> list[SchemaLeaf]:
    return [leaf for leaf in _outside(shape) if leaf.is_text and leaf.path & _LINKS]


def values(shape: MatchedOperation) -> Iterator[YamlEntry]:
    """Yield the pointer to each value that an operation discloses beside its items."""
    texts = [leaf for leaf in shape.members if leaf.is_text and not leaf.is_listed]
    for name in shape.operation.disclosures:
        named = (leaf for leaf in texts if set(words(name)) & set(leaf.words))
        leaf = min(named, key=lambda leaf: leaf.name != name, default=None)
        if leaf is None:
            yield shape.gap("value", name, example=f"/{name}")
        else:
            yield YamlEntry(key=name, value=leaf.pointer, why=guessed(name, leaf))
