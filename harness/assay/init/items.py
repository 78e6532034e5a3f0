"""What is in one item of a list, or in the one thing that is shown: key, date, fields."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from functools import partial

from assay.init.bodies import beside
from assay.init.lines import Entry, gap
from assay.init.shape import EACH, Leaf
from assay.init.shaped import THEIRS, Shape, guessed
from assay.init.words import words
from assay.model import Json

__all__ = ["fields", "identifier", "pointer", "pointers"]

#: The date by which a range is cut is most often the first of these.
_DATES = ("booking", "book", "posting", "date", "transaction", "value")


def pointers(shape: Shape, item: Sequence[Leaf]) -> Iterator[Entry]:
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
            yield Entry(key="key", value=leaf.pointer, why=f"{leaf.name} looks like an identifier")
        else:
            yield gap("key", "what tells one from others", "/id")
    if key and shape.lister:
        leaf = identifier(item, operation.lists)
        if leaf:
            why = f"{leaf.name} looks like what stands in paths"
            yield Entry(key="id", value=leaf.pointer, why=why)
        else:
            yield gap("id", "the bank's own name of an item, which stands in paths", "/resourceId")
    if operation.since:
        yield _day(item)
    if key and len(listed) > 1:
        yield _kind(shape, item)
    names = tuple(dict.fromkeys(name for one in listed for name in one.fields))
    find = partial(_field, item=item, lists=operation.lists)
    many = bool(key) and len(listed) > 1
    yield Entry(key="fields", below=tuple(fields(names, item, find, many=many)))
    yield gap("volatile", "what changes by itself in an item, to compare all the rest", "[]")


def fields(
    names: Sequence[str], item: Sequence[Leaf], find: Callable[[str], Leaf | None], *, many: bool
) -> Iterator[Entry]:
    """Yield where each field is; of `many` resources some may be identified otherwise."""
    for name in names:
        leaf = find(name)
        if leaf is None:
            yield gap(name, "where this field is", f"/{name}")
        else:
            yield pointer(name, leaf, name, item if many else ())


def pointer(key: str, leaf: Leaf, name: str, item: Sequence[Leaf] = ()) -> Entry:
    """Return where something stands; with what identifies others beside it, if there is that."""
    why, other = guessed(name, leaf), beside(leaf, item) if len(leaf.steps) > 1 else None
    if other is None:
        return Entry(key=key, value=leaf.pointer, why=why)
    return Entry(key=key, value=[leaf.pointer, other.pointer], why=f"{why}; or what is beside it")


def _field(name: str, item: Sequence[Leaf], lists: Sequence[str]) -> Leaf | None:
    """Return the leaf that is called like a field, and not somebody else's."""
    mine, about = words(name), {word for one in lists for word in words(one)}

    def far(one: Leaf) -> tuple[bool, int, int]:
        return one.name != name, len(one.path - about) - len(one.path & about), len(one.steps)

    near = (one for one in item if one.words == mine and not one.path & THEIRS)
    return min((one for one in near if EACH not in one.steps), key=far, default=None)


def identifier(item: Sequence[Leaf], lists: Sequence[str]) -> Leaf | None:
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


def _day(item: Sequence[Leaf]) -> Entry:
    days = [one for one in item if one.form in {"date", "date-time"} or "date" in one.words]
    days = [one for one in days if EACH not in one.steps and not one.path & THEIRS]
    for word in _DATES:
        for one in days:
            if word in one.words:
                return Entry(key="on", value=one.pointer, why=f"{one.name} is a date")
    return gap("on", "the date of an item, by which ranges are cut", "/bookingDate")


def _kind(shape: Shape, item: Sequence[Leaf]) -> Entry:
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
            return Entry(key="resource", value=value, why=f"{one.name} has words for each")
    example = "{at: /kind, values: {" + ", ".join(f"{one}: {one.upper()}" for one in lists) + "}}"
    return gap("resource", "how an item says what it is", example)
