"""Guesses the pointers into one item of a list, and into the single item of a response."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from functools import partial

from assay.contract.model import Json
from assay.init.name_matching import words
from assay.init.openapi_operations import EACH, SchemaLeaf
from assay.init.operation_match import THEIRS, MatchedOperation, guessed
from assay.init.requests import beside, called
from assay.init.yaml_writer import YamlEntry, gap

LINKS = frozenset({"link", "href"})
MOST_LINKS = 12
#: Words of links to the SCA screens.
_SCREENS = frozenset({"approval", "consent", "sca", "redirect", "confirm"})
#: Words for the date by which lists are filtered, the usual ones first.
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
            else gap("key", "the pointer that identifies an item", f"/{key}")
        )
    elif operation.since:
        leaf = identifier(item, operation.lists)
        if leaf:
            yield YamlEntry(
                key="key", value=leaf.pointer, why=f"{leaf.name} looks like an identifier"
            )
        else:
            yield gap("key", "the pointer that identifies an item", "/id")
    if key and shape.lister:
        leaf = identifier(item, operation.lists)
        if leaf:
            why = f"{leaf.name} looks like the name used in paths"
            yield YamlEntry(key="id", value=leaf.pointer, why=why)
        else:
            yield gap("id", "the bank's own name of an item, used in paths", "/resourceId")
    if operation.since:
        yield _day(item)
    if key and len(listed) > 1:
        yield _kind(shape, item)
    names = tuple(dict.fromkeys(name for one in listed for name in one.fields))
    find = partial(_field, item=item, lists=operation.lists)
    many = bool(key) and len(listed) > 1
    yield YamlEntry(key="fields", below=tuple(fields(names, item, find, many=many)))
    yield gap("volatile", "members of an item that change by themselves and are not compared", "[]")


def fields(
    names: Sequence[str],
    item: Sequence[SchemaLeaf],
    find: Callable[[str], SchemaLeaf | None],
    *,
    many: bool,
) -> Iterator[YamlEntry]:
    """Yield the pointer to each field; `many` resources may be identified by different ones."""
    for name in names:
        leaf = find(name)
        if leaf is None:
            yield gap(name, "the pointer to this field", f"/{name}")
        else:
            yield pointer(name, leaf, name, item if many else ())


def pointer(key: str, leaf: SchemaLeaf, name: str, item: Sequence[SchemaLeaf] = ()) -> YamlEntry:
    """Return a pointer, with that beside it that identifies other resources, if there is one."""
    why, other = guessed(name, leaf), beside(leaf, item) if len(leaf.steps) > 1 else None
    if other is None:
        return YamlEntry(key=key, value=leaf.pointer, why=why)
    return YamlEntry(
        key=key, value=[leaf.pointer, other.pointer], why=f"{why}; or the identification beside it"
    )


def _field(name: str, item: Sequence[SchemaLeaf], lists: Sequence[str]) -> SchemaLeaf | None:
    """Return the leaf with the name of a field that is not about another party."""
    mine, about = words(name), {word for one in lists for word in words(one)}

    def far(one: SchemaLeaf) -> tuple[bool, int, int]:
        return one.name != name, len(one.path - about) - len(one.path & about), len(one.steps)

    near = (one for one in item if one.words == mine and not one.path & THEIRS)
    return min((one for one in near if EACH not in one.steps), key=far, default=None)


def identifier(item: Sequence[SchemaLeaf], lists: Sequence[str]) -> SchemaLeaf | None:
    """Return the leaf that looks like the bank's own name of an item."""
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
    return gap("on", "the pointer to the date by which items are filtered", "/bookingDate")


def _kind(shape: MatchedOperation, item: Sequence[SchemaLeaf]) -> YamlEntry:
    """Return how an item says which resource it is: by words similar to their names."""
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
            return YamlEntry(
                key="resource", value=value, why=f"{one.name} has a value for each resource"
            )
    example = "{at: /kind, values: {" + ", ".join(f"{one}: {one.upper()}" for one in lists) + "}}"
    return gap("resource", "how an item says which resource it is", example)


#: Usual words for the states of a request, in lower case.
_STATES = {
    "open": "rcvd pdng actc accp acsp acwc acwp patc part received pending open initiated",
    "done": "acsc accc executed done completed settled",
    "rejected": "rjct rejected failed",
    "ended": "canc cancelled canceled refused expired revoked",
}


def single_item(shape: MatchedOperation) -> Iterator[YamlEntry]:
    """Yield the pointers to and into the single item of a response."""
    top = [one for one in shape.offered.answer if len(one.steps) == 1]
    if not top:
        yield gap("one", "the pointer to the single item of the response", "/paymentRequest")
        return
    whole = _only_object(top)
    why = f"the only object in the response of {shape.offered}" if whole else ""
    yield YamlEntry(key="one", value=whole.pointer if whole else "", why=why)
    if shape.operation.makes:
        yield _approval(shape)
    yield from links(shape)
    steps = whole.steps if whole else ()
    inside = (one.below(steps) for one in shape.offered.answer)
    item = [one for one in inside if one and _is_value(one)]
    yield YamlEntry(key="item", below=tuple(_single_item(shape, item)))


def _only_object(top: Sequence[SchemaLeaf]) -> SchemaLeaf | None:
    """Return the object of a body that has one object, and beside it nothing but links."""
    objects = [one for one in top if one.kind == "object"]
    items = [one for one in objects if not one.path & LINKS]
    return items[0] if len(items) == 1 and len(objects) == len(top) else None


def _is_value(leaf: SchemaLeaf) -> bool:
    return leaf.kind not in {"object", "array"} and EACH not in leaf.steps


def _approval(shape: MatchedOperation) -> YamlEntry:
    """Return the pointer to the link to the SCA screens, or that it is missing."""
    near = [one for one in all_links(shape) if one.path & _SCREENS]
    if not near:
        return gap("approval", "the pointer to the link to the SCA screens", "/links/approval")
    return YamlEntry(key="approval", value=near[0].pointer, why="named as a link to SCA screens")


def _single_item(shape: MatchedOperation, item: Sequence[SchemaLeaf]) -> Iterator[YamlEntry]:
    resource = shape.contract.resources[shape.operation.request or ""]
    key = resource.key or "id"
    exact = next((one for one in item if one.steps == (key,)), None)
    leaf = exact or identifier(item, [resource.id, "request"])
    if leaf:
        yield pointer("key", leaf, key)
    elif "location" in {one.lower() for one in shape.offered.headers}:
        yield YamlEntry(
            key="key", value={"header": "Location"}, why="the response has a Location header"
        )
    else:
        yield gap("key", "the pointer that identifies a request", f"/{key}")
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
            return YamlEntry(key="state", value=value, why=f"by the values of {one.name}")
    return gap(
        "state", "how a request says which state it has", "{at: /status, values: {done: [ACSC]}}"
    )


def links(shape: MatchedOperation) -> Iterator[YamlEntry]:
    """Yield the pointers to links, if there are any."""
    found = [one.pointer for one in all_links(shape)][:MOST_LINKS]
    if found:
        yield YamlEntry(key="links", value=found, why="named as links")


def all_links(shape: MatchedOperation) -> list[SchemaLeaf]:
    """Return the leaves named as links outside of a list's items."""
    return [
        one
        for one in shape.offered.answer
        if one.kind in {"string", ""} and EACH not in one.steps and one.path & LINKS and one.steps
    ]
