"""Mistakes in what a target file says of the answers of an operation."""

from collections.abc import Iterator, Mapping, Sequence
from itertools import pairwise
from typing import Any

from wrong_values import GONE, Change, Path, misspelt, nearly, set_to, swapped

from assay.binding.model.pointer import MISSING, find
from assay.onboarding.doctor.pointer_probe import kind, likeness, members
from assay.onboarding.doctor.record import SeenAnswer


def _leaves(documents: Sequence[Any], like: Any) -> list[str]:
    """Return the pointers in answers to values of the same kind as one, each once."""
    named = dict.fromkeys(
        at for document in documents[:4] for at, value in members(document) if kind(value) == like
    )
    return list(named)


def _neighbours(pointer: str, documents: Sequence[Any]) -> list[str]:
    """Return two other pointers at the same kind of value: the likest, and the unlikest."""
    shown = [found for each in documents if (found := find(each, pointer)) is not MISSING]
    if not shown:
        return []
    same = [at for at in _leaves(documents, kind(shown[0])) if at != pointer]
    ranked = sorted(same, key=lambda at: (-likeness(at, pointer), at))
    return list(dict.fromkeys(ranked[:1] + ranked[-1:]))


def pointed(kind_of: str, at: Path, pointer: Any, documents: Sequence[Any]) -> Iterator[Change]:
    """Yield the mistakes of one pointer, or of the first of several."""
    if isinstance(pointer, list):
        for n, each in enumerate(pointer):
            yield from pointed(kind_of, (*at, n), each, documents)
            if len(pointer) > 1:
                yield set_to(f"{kind_of} without one", (*at, n), GONE)
        return
    if isinstance(pointer, Mapping):
        yield from _condition(kind_of, at, pointer)
        for inner in ("in", "link", "cursor", "more", "total"):
            if inner in pointer:
                yield from pointed(kind_of, (*at, inner), pointer[inner], documents)
        if "at" in pointer:
            inside = [found for each in documents for found in _elements(each, pointer.get("in"))]
            yield from pointed(kind_of, (*at, "at"), pointer["at"], inside)
        return
    if not isinstance(pointer, str):
        return
    yield set_to(f"{kind_of} misspelt", at, misspelt(pointer) if pointer else "/data")
    for other in _neighbours(pointer, documents):
        yield set_to(f"{kind_of} of a neighbour", at, other)


def _elements(document: Any, pointer: Any) -> Sequence[Any]:
    """Return what a pointer is applied to: a document, or the elements of a list in it."""
    if pointer is None:
        return [document]
    found = find(document, pointer)
    return found if isinstance(found, list) else []


def _condition(kind_of: str, at: Path, pointer: Mapping[str, Any]) -> Iterator[Change]:
    """Yield the mistakes of what stands beside a pointer."""
    for name, value in (pointer.get("where") or {}).items():
        yield set_to(f"{kind_of} where misspelt", (*at, "where"), {misspelt(name): value})
        yield set_to(f"{kind_of} where another", (*at, "where"), {name: nearly(value)})
    if "header" in pointer:
        yield set_to(f"{kind_of} misspelt", (*at, "header"), misspelt(pointer["header"]))
    if "optional" in pointer:
        yield set_to(f"{kind_of} optional flipped", (*at, "optional"), not pointer["optional"])


def answered(
    data: Any, at: Path, operation: Mapping[str, Any], seen: Sequence[SeenAnswer]
) -> Iterator[Change]:
    bodies = [answer.body for answer in seen if answer.accepted and answer.body is not MISSING]
    for key in ("list", "one", "approval", "next"):
        if operation.get(key) is not None:
            yield from pointed(key, (*at, key), operation[key], bodies)
            yield set_to(f"{key} removed", (*at, key), GONE)
    yield from _turned((*at, "next"), operation.get("next"))
    yield from pointed("links", (*at, "links"), operation.get("links"), bodies)
    for section in ("values", "outputs"):
        for name, pointer in (operation.get(section) or {}).items():
            yield from pointed(section, (*at, section, name), pointer, bodies)
    for name in operation.get("outputs") or {}:
        yield set_to("outputs removed", (*at, "outputs", name), GONE)
    yield from _item(data, (*at, "item"), operation.get("item") or {}, seen)


def _item(
    data: Any, at: Path, item: Mapping[str, Any], seen: Sequence[SeenAnswer]
) -> Iterator[Change]:
    """Yield the mistakes of the pointers into an item."""
    items = [each for answer in seen if answer.accepted for each in answer.raw_items]
    for key in ("key", "on", "id", "volatile"):
        yield from pointed(f"item.{key}", (*at, key), item.get(key), items)
        if item.get(key) is not None:
            yield set_to(f"item.{key} removed", (*at, key), GONE)
    if item.get("volatile") is not None and isinstance(item.get("key"), str):
        more = [*item["volatile"], item["key"]]
        yield set_to("item.volatile too much", (*at, "volatile"), more)
    if item.get("volatile"):
        yield set_to("item.volatile without all", (*at, "volatile"), [])
    yield from _fields(data, (*at, "fields"), item.get("fields") or {}, items)
    for key in ("resource", "state"):
        if item.get(key):
            yield from pointed(f"item.{key}", (*at, key, "at"), item[key]["at"], items)
            yield from _said(data, (*at, key, "values"), item[key]["values"], key)
            yield set_to(f"item.{key} removed", (*at, key), GONE)


def _turned(at: Path, turned: Any) -> Iterator[Change]:
    """Yield the mistakes of the parameters of a next page."""
    if not isinstance(turned, Mapping):
        return
    for key in ("query", "page", "offset"):
        if key in turned:
            yield set_to("next misspelt", (*at, key), misspelt(turned[key]))
    if "first" in turned:
        yield set_to("next counted from elsewhere", (*at, "first"), turned["first"] + 1)


def _fields(
    data: Any, at: Path, fields: Mapping[str, Any], items: Sequence[Any]
) -> Iterator[Change]:
    """Yield the mistakes of the fields of an item."""
    bound = {name: field for name, field in fields.items() if field is not None}
    for name, field in bound.items():
        here = (*at, name)
        yield from pointed("item.fields", here, field, items)
        if isinstance(field, Mapping) and "first" in field:
            yield set_to("item.fields cut elsewhere", (*here, "first"), field["first"] - 3)
            yield set_to("item.fields not cut", (*here, "first"), GONE)
        yield from words(data, here, field)
    for name, other in pairwise(bound):
        yield swapped("item.fields swapped", data, (*at, name), (*at, other))


def _said(data: Any, at: Path, values: Mapping[str, Any], what: str) -> Iterator[Change]:
    """Yield the mistakes of the words for resources or states."""
    names = list(values)
    for name, other in zip(names, [*names[1:], names[0]], strict=True):
        if name != other:
            yield swapped(f"{what} words swapped", data, (*at, name), (*at, other))
    for name, words in values.items():
        if not isinstance(words, list):
            yield set_to(f"{what} word misspelt", (*at, name), nearly(words))
            continue
        for n, word in enumerate(words):
            rest = words[:n] + words[n + 1 :]
            yield set_to(f"{what} word removed", (*at, name), rest or ["NEVER"])
            yield set_to(f"{what} word misspelt", (*at, name, n), nearly(word))
            for other in names:
                if other != name:
                    moved = [*values[other], word]
                    left = ((*at, name), rest or ["NEVER"])
                    place = (*at, other)
                    yield f"{what} word moved", place, moved, ((place, moved), left)


def words(data: Any, at: Path, bound: Any) -> Iterator[Change]:
    if not isinstance(bound, Mapping):
        return
    words = bound.get("words") or {}
    names = list(words)
    for name, other in pairwise(names):
        yield swapped("words swapped", data, (*at, "words", name), (*at, "words", other))
    for name in names:
        yield set_to("words misspelt", (*at, "words", name), nearly(words[name]))
        yield set_to("words removed", (*at, "words", name), GONE)
