"""How the answers of an operation are read: where lists, items, fields and links are.

By names, types and formats of the document. Nothing is made up: where no name is alike,
the pointer is missing.

What is in one item of a list, or in the one thing that is shown: key, date, fields.

How an answer shows one request: where it is, what addresses it, where it stands.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from functools import partial

from assay.contract.model import Json
from assay.init.name_matching import words
from assay.init.openapi_operations import EACH, SchemaLeaf
from assay.init.operation_match import THEIRS, MatchedOperation, guessed
from assay.init.pagination import LINKS, all_links, links, next_page
from assay.init.requests import beside, called
from assay.init.yaml_writer import YamlEntry, gap


def answers(shape: MatchedOperation) -> Iterator[YamlEntry]:
    """Yield the pointers into an answer, or that they are missing."""
    operation = shape.operation
    if operation.lists:
        yield from _listed(shape)
    elif operation.request and operation.available:
        yield from shown(shape)
    for name in operation.disclosures:
        yield _disclosure(shape, name)


def _listed(shape: MatchedOperation) -> Iterator[YamlEntry]:
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
    yield YamlEntry(key="list", value=where[0] if len(where) == 1 else where, why=why)
    yield from next_page(shape)
    yield from links(shape)
    yield YamlEntry(key="item", below=tuple(pointers(shape, _inside(shape, lists[0]))))


def _lists(shape: MatchedOperation) -> list[SchemaLeaf]:
    """Return the lists that the contract's resources are in."""
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
    return gap("values", f"where {name} stands", f"{{{name}: /{name}}}")


#: The date by which a range is cut is most often the first of these.
_DATES = ("booking", "book", "posting", "date", "transaction", "value")


def pointers(shape: MatchedOperation, item: Sequence[SchemaLeaf]) -> Iterator[YamlEntry]:
    """Yield the pointers into an item of a list."""
    operation, resources = shape.operation, shape.contract.resources
    listed = [resources[one] for one in operation.lists]
    key = next((one.key for one in listed if one.key), None)
    if key:
        leaf = _field(key, item, operation.lists)
        yield (
            pointer("key", leaf, key, item if len(listed) > 1 else ())
            if leaf
            else gap("key", "what tells one from others", f"/{key}")
        )
    elif operation.since:
        leaf = identifier(item, operation.lists)
        if leaf:
            yield YamlEntry(
                key="key", value=leaf.pointer, why=f"{leaf.name} looks like an identifier"
            )
        else:
            yield gap("key", "what tells one from others", "/id")
    if key and shape.lister:
        leaf = identifier(item, operation.lists)
        if leaf:
            why = f"{leaf.name} looks like what stands in paths"
            yield YamlEntry(key="id", value=leaf.pointer, why=why)
        else:
            yield gap("id", "the bank's own name of an item, which stands in paths", "/resourceId")
    if operation.since:
        yield _day(item)
    if key and len(listed) > 1:
        yield _kind(shape, item)
    names = tuple(dict.fromkeys(name for one in listed for name in one.fields))
    find = partial(_field, item=item, lists=operation.lists)
    many = bool(key) and len(listed) > 1
    yield YamlEntry(key="fields", below=tuple(fields(names, item, find, many=many)))
    yield gap("volatile", "what changes by itself in an item, to compare all the rest", "[]")


def fields(
    names: Sequence[str],
    item: Sequence[SchemaLeaf],
    find: Callable[[str], SchemaLeaf | None],
    *,
    many: bool,
) -> Iterator[YamlEntry]:
    """Yield where each field is; of `many` resources some may be identified otherwise."""
    for name in names:
        leaf = find(name)
        if leaf is None:
            yield gap(name, "where this field is", f"/{name}")
        else:
            yield pointer(name, leaf, name, item if many else ())


def pointer(key: str, leaf: SchemaLeaf, name: str, item: Sequence[SchemaLeaf] = ()) -> YamlEntry:
    """Return where something stands; with what identifies others beside it, if there is that."""
    why, other = guessed(name, leaf), beside(leaf, item) if len(leaf.steps) > 1 else None
    if other is None:
        return YamlEntry(key=key, value=leaf.pointer, why=why)
    return YamlEntry(
        key=key, value=[leaf.pointer, other.pointer], why=f"{why}; or what is beside it"
    )


def _field(name: str, item: Sequence[SchemaLeaf], lists: Sequence[str]) -> SchemaLeaf | None:
    """Return the leaf that is called like a field, and not somebody else's."""
    mine, about = words(name), {word for one in lists for word in words(one)}

    def far(one: SchemaLeaf) -> tuple[bool, int, int]:
        return one.name != name, len(one.path - about) - len(one.path & about), len(one.steps)

    near = (one for one in item if one.words == mine and not one.path & THEIRS)
    return min((one for one in near if EACH not in one.steps), key=far, default=None)


def identifier(item: Sequence[SchemaLeaf], lists: Sequence[str]) -> SchemaLeaf | None:
    """Return what looks like the bank's own name of an item."""
    about = {word for one in lists for word in words(one)} | {"resource", "entry"}
    near = [
        one
        for one in item
        if len(one.steps) == 1
        and (one.words[-1:] == ("id",) or "reference" in one.words)
        and set(one.words) <= about | {"id", "reference", "internal"}
    ]
    order = ("id", "resource", *lists)
    return min(
        near,
        key=lambda one: min(order.index(word) if word in order else 9 for word in one.words),
        default=None,
    )


def _day(item: Sequence[SchemaLeaf]) -> YamlEntry:
    days = [one for one in item if one.form in {"date", "date-time"} or "date" in one.words]
    days = [one for one in days if EACH not in one.steps and not one.path & THEIRS]
    for word in _DATES:
        for one in days:
            if word in one.words:
                return YamlEntry(key="on", value=one.pointer, why=f"{one.name} is a date")
    return gap("on", "the date of an item, by which ranges are cut", "/bookingDate")


def _kind(shape: MatchedOperation, item: Sequence[SchemaLeaf]) -> YamlEntry:
    """Return how an item says which resource it is: by words that are like their names."""
    lists = shape.operation.lists
    for one in item:
        if len(one.values) < len(lists) or not one.fixed:
            continue
        told = {
            name: next(
                (each for each in one.values if set(words(name)) & set(words(each.lower()))), None
            )
            for name in lists
        }
        rest = [each for each in one.values if each not in told.values()]
        unsure = [name for name, value in told.items() if value is None]
        if len(unsure) == 1 < len(lists) and len(rest) == 1:
            told[unsure[0]] = rest[0]
        if None not in told.values():
            value: dict[str, Json] = {"at": one.pointer, "values": dict(told)}
            return YamlEntry(key="resource", value=value, why=f"{one.name} has words for each")
    example = "{at: /kind, values: {" + ", ".join(f"{one}: {one.upper()}" for one in lists) + "}}"
    return gap("resource", "how an item says what it is", example)


#: Words for where a request stands, in small letters.
_STATES = {
    "open": "rcvd pdng actc accp acsp acwc acwp patc part received pending open initiated",
    "done": "acsc accc executed done completed settled",
    "rejected": "rjct rejected failed",
    "ended": "canc cancelled canceled refused expired revoked",
}


def shown(shape: MatchedOperation) -> Iterator[YamlEntry]:
    """Yield where the one thing is that an answer shows, and what it says."""
    top = [one for one in shape.offered.answer if len(one.steps) == 1]
    whole = [one for one in top if one.kind == "object" and not one.path & LINKS]
    if not top:
        yield gap("one", "where the one thing is that an answer shows", "/paymentRequest")
        return
    # A body that holds one object and links shows that object.
    where = (
        whole[0]
        if len(whole) == 1 and len([one for one in top if one.kind != "object"]) == 0
        else None
    )
    steps = where.steps if where else ()
    yield YamlEntry(
        key="one",
        value=where.pointer if where else "",
        why=f"the only object in the answer of {shape.offered}" if where else "",
    )
    if shape.operation.makes:
        wanted = {"approval", "consent", "sca", "redirect", "confirm"}
        near = [one for one in all_links(shape) if one.path & wanted]
        yield (
            YamlEntry(key="approval", value=near[0].pointer, why=f"{near[0].pointer} is called so")
            if near
            else gap(
                "approval", "where the link is under which the customer signs", "/links/approval"
            )
        )
    yield from links(shape)
    inside = [one.below(steps) for one in shape.offered.answer]
    item = [
        one
        for one in inside
        if one and one.kind not in {"object", "array"} and EACH not in one.steps
    ]
    yield YamlEntry(key="item", below=tuple(_shown(shape, item)))


def _shown(shape: MatchedOperation, item: Sequence[SchemaLeaf]) -> Iterator[YamlEntry]:
    resource = shape.contract.resources[shape.operation.request or ""]
    key = resource.key or "id"
    exact = next((one for one in item if one.steps == (key,)), None)
    leaf = exact or identifier(item, [resource.id, "request"])
    if leaf:
        yield pointer("key", leaf, key)
    elif "location" in {one.lower() for one in shape.offered.headers}:
        yield YamlEntry(
            key="key", value={"header": "Location"}, why="the answer has a header Location"
        )
    else:
        yield gap("key", "what a request is addressed by", f"/{key}")
    yield _state(item)
    if shape.operation.shows:
        known = {key: leaf} if leaf else {}
        yield YamlEntry(
            key="fields",
            below=tuple(
                fields(
                    resource.fields,
                    item,
                    lambda name: known.get(name) or called(name, item),
                    many=False,
                )
            ),
        )


def _state(item: Sequence[SchemaLeaf]) -> YamlEntry:
    for one in item:
        if "status" not in one.words or not one.values:
            continue
        told = {
            state: [each for each in one.values if each.lower() in known.split()]
            for state, known in _STATES.items()
        }
        values: dict[str, Json] = {state: each for state, each in told.items() if each}
        if values:
            value: dict[str, Json] = {"at": one.pointer, "values": values}
            return YamlEntry(key="state", value=value, why=f"by the words of {one.name}")
    return gap(
        "state", "how a request says where it stands", "{at: /status, values: {done: [ACSC]}}"
    )
