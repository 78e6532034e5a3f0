"""A JSON schema as the leaves that a value of it may have, each with its JSON pointer.

Only what a guess needs: which names stand where, of which type and with which words.
Alternatives (`oneOf`, `anyOf`, `if` and `then`) are taken together. Depth and number are
bounded, for a schema may refer to itself.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from assay.init.name_matching import plain, words
from assay.init.safe_load import ForeignDocument, mapping, sequence, text

__all__ = ["EACH", "SchemaLeaf", "leaves"]

#: The step from a list to each of its elements.
EACH = "*"
MOST_LEAVES = 2_000
MOST_DEPTH = 10
#: Longer values and pointers are passed over.
MOST_VALUE, MOST_POINTER = 200, 400


@dataclass(frozen=True, slots=True, kw_only=True)
class SchemaLeaf:
    """Something in a value: `steps` lead to it; `kind` is its type, empty if not said.

    Objects and lists are leaves too, before what is in them. `words` are its allowed or
    exemplary values.
    """

    steps: tuple[str, ...]
    kind: str = ""
    form: str = ""
    values: tuple[str, ...] = ()
    fixed: bool = False
    says: str = ""
    required: bool = False

    @property
    def name(self) -> str:
        """The last of its names."""
        return next((one for one in reversed(self.steps) if one != EACH), "")

    @property
    def words(self) -> tuple[str, ...]:
        """The words of its own name."""
        return words(self.name)

    @property
    def path(self) -> frozenset[str]:
        """The words of all names that lead to it."""
        return frozenset(word for step in self.steps for word in words(step))

    @property
    def pointer(self) -> str:
        """Its JSON pointer; an element of a list is the first one."""
        steps = ("0" if one == EACH else one for one in self.steps)
        return "".join("/" + one.replace("~", "~0").replace("/", "~1") for one in steps)

    def below(self, steps: tuple[str, ...]) -> SchemaLeaf | None:
        """Return it as seen from something above it, or None if it is not below."""
        if self.steps[: len(steps)] != steps or len(self.steps) == len(steps):
            return None
        return SchemaLeaf(
            steps=self.steps[len(steps) :],
            kind=self.kind,
            form=self.form,
            values=self.values,
            fixed=self.fixed,
            says=self.says,
            required=self.required,
        )


def leaves(document: ForeignDocument, schema: object) -> tuple[SchemaLeaf, ...]:
    """Return everything that a value of a schema may have, the value itself first."""
    found: dict[tuple[str, ...], SchemaLeaf] = {}
    for leaf in _walk(document, schema, (), required=True):
        known = found.get(leaf.steps)
        found[leaf.steps] = leaf if known is None else _both(known, leaf)
        if len(found) >= MOST_LEAVES:
            break
    return tuple(found.values())


def _both(one: SchemaLeaf, other: SchemaLeaf) -> SchemaLeaf:
    return SchemaLeaf(
        steps=one.steps,
        kind=one.kind or other.kind,
        form=one.form or other.form,
        values=tuple(dict.fromkeys((*one.values, *other.values))),
        fixed=one.fixed or other.fixed,
        says=one.says or other.says,
        required=one.required or other.required,
    )


def _walk(
    document: ForeignDocument, schema: object, steps: tuple[str, ...], *, required: bool
) -> Iterator[SchemaLeaf]:
    """Yield leaves in the order of the document, as often as they are spelt."""
    stack = [(schema, steps, required)]
    turns = 0
    while stack and turns < 4 * MOST_LEAVES:
        turns += 1
        schema, steps, required = stack.pop()
        node = document.at(schema)
        yield _leaf(node, steps, required=required)
        if len(steps) < MOST_DEPTH:
            stack += reversed([*_inner(node, steps, required=required)])


def _inner(
    node: dict[str, Any], steps: tuple[str, ...], *, required: bool
) -> Iterator[tuple[object, tuple[str, ...], bool]]:
    needed = {text(one) for one in sequence(node.get("required"))}
    for name, below in mapping(node.get("properties")).items():
        if plain(name) and sum(map(len, (*steps, name))) < MOST_POINTER // 2:
            yield below, (*steps, name), required and name in needed
    for word in ("allOf", "oneOf", "anyOf"):
        for below in sequence(node.get(word)):
            yield below, steps, required and word == "allOf"
    for word in ("if", "then", "else"):
        if word in node:
            yield node[word], steps, False
    if "items" in node:
        yield node["items"], (*steps, EACH), False


def _leaf(node: dict[str, Any], steps: tuple[str, ...], *, required: bool) -> SchemaLeaf:
    kind = node.get("type")
    kinds = [text(one) for one in (kind if isinstance(kind, list) else [kind])]  # pyright: ignore[reportUnknownVariableType]
    if not any(kinds):
        kinds = ["object"] if "properties" in node else ["array"] if "items" in node else []
    fixed = [text(node[name]) for name in ("const",) if name in node]
    fixed += [text(one) for one in sequence(node.get("enum"))]
    shown = [text(node[name]) for name in ("default", "example") if name in node]
    shown += [text(one) for one in sequence(node.get("examples"))]
    every = dict.fromkeys(one for one in (*fixed, *shown) if one != "null")
    values = tuple(one for one in every if one.isprintable() and 0 < len(one) <= MOST_VALUE)
    return SchemaLeaf(
        steps=steps,
        kind=next((one for one in kinds if one and one != "null"), ""),
        form=text(node.get("format")) or text(node.get("pattern")),
        values=values,
        fixed=bool(fixed),
        says=text(node.get("description")),
        required=required,
    )
