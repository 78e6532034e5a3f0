"""Schemas of an OpenAPI document as leaves with JSON pointers, and names as words.

A schema is flattened into leaves: names, types, formats and values, as far as a guess needs
them. Alternatives (`oneOf`, `anyOf`, `if` and `then`) are merged. Depth and number are
bounded, because a schema may refer to itself. Names are compared as words, so that
`account-id`, `accountId` and `account_ids` match.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from functools import cache
from itertools import islice
from typing import Any

from assay.onboarding.init.foreign_values import ForeignDocument, mapping, sequence, text

_PART = re.compile(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+|[0-9]+")
#: Words that do not distinguish names.
_STOP_WORDS = re.compile(r"an?|and|by|for|from|get|i[ns]|list|new|o[fnr]|post|put|read|the|to")
#: Names that can be written into a file.
_NAME = re.compile(r"[!-~]{1,200}")
#: How much of a foreign text a comment shows, in characters.
_SHOWN = 100


@cache
def words(name: str) -> tuple[str, ...]:
    """Return the words of a name in lower case and in the singular."""
    return tuple(_singular(part.lower()) for part in _PART.findall(name[:400]))


def _singular(word: str) -> str:
    if word.endswith("ies") and len(word) > len("ties"):
        return word[:-3] + "y"
    plural = word.endswith("s") and not word.endswith(("ss", "us", "is"))
    return word[:-1] if plural and len(word) > len("abs") else word


def distinctive_words(names: Iterable[str]) -> frozenset[str]:
    """Return the words of names and sentences without stop words."""
    all_words = (word for name in names for word in words(name))
    return frozenset(word for word in all_words if not _STOP_WORDS.fullmatch(word))


def similarity(names: Iterable[str], candidates: Iterable[str]) -> float:
    """Return the share of words that two sets have in common, from 0 to 1."""
    first, second = frozenset(names), frozenset(candidates)
    return len(first & second) / len(first | second) if first | second else 0.0


def is_plain_name(name: str) -> bool:
    """Whether a name can be written into a file as it is: one printable word of ASCII."""
    return bool(_NAME.fullmatch(name))


def printable(text: str) -> str:
    """Return a foreign text as a comment can show it: one line, printable and short."""
    line = "".join(char if char.isprintable() else " " for char in text[: 4 * _SHOWN])
    line = " ".join(line.split())
    return line if len(line) <= _SHOWN else line[: _SHOWN - 1] + "…"


#: The step from a list to each of its elements.
EACH = "*"
MOST_LEAVES = 2_000
MOST_DEPTH = 10
#: How many alternatives of a schema, and how many values of an enumeration, are read.
MOST_ALTERNATIVES, MOST_VALUES = 100, 200
#: Longer values and pointers are ignored.
MOST_VALUE, MOST_POINTER = 200, 400


@dataclass(frozen=True, slots=True, kw_only=True)
class SchemaLeaf:
    """One part of a value: `steps` lead to it, `kind` is its type, empty if unknown.

    Objects and lists are leaves too, before what is in them. `values` are its allowed or
    exemplary values. `needed` says that what it is in must have it, and `required` that this
    holds for all above it, too.
    """

    steps: tuple[str, ...]
    kind: str = ""
    form: str = ""
    values: tuple[str, ...] = ()
    fixed: bool = False
    description: str = ""
    required: bool = False
    needed: bool = False

    @property
    def name(self) -> str:
        """The name of the part itself."""
        return next((step for step in reversed(self.steps) if step != EACH), "")

    @property
    def words(self) -> tuple[str, ...]:
        """The words of the name."""
        return words(self.name)

    @property
    def path(self) -> frozenset[str]:
        """The words of the name and of all names above it."""
        return frozenset(word for step in self.steps for word in words(step))

    @property
    def pointer(self) -> str:
        """The JSON pointer; for an element of a list, that of the first one."""
        steps = ("0" if step == EACH else step for step in self.steps)
        return "".join("/" + step.replace("~", "~0").replace("/", "~1") for step in steps)

    def below(self, steps: tuple[str, ...]) -> SchemaLeaf | None:
        """Return the leaf relative to another part, or None if it is not below that part."""
        if self.steps[: len(steps)] != steps or len(self.steps) == len(steps):
            return None
        return replace(self, steps=self.steps[len(steps) :])


def leaves(document: ForeignDocument, schema: object) -> tuple[SchemaLeaf, ...]:
    """Return all parts that a value of a schema may have, the value itself first."""
    by_steps: dict[tuple[str, ...], SchemaLeaf] = {}
    for leaf in _walk(document, schema):
        known = by_steps.get(leaf.steps)
        by_steps[leaf.steps] = leaf if known is None else _both(known, leaf)
        if len(by_steps) >= MOST_LEAVES:
            break
    return tuple(by_steps.values())


def _both(leaf: SchemaLeaf, twin: SchemaLeaf) -> SchemaLeaf:
    return replace(
        leaf,
        kind=leaf.kind or twin.kind,
        form=leaf.form or twin.form,
        values=tuple(dict.fromkeys((*leaf.values, *twin.values))),
        fixed=leaf.fixed or twin.fixed,
        description=leaf.description or twin.description,
        required=leaf.required or twin.required,
        needed=leaf.needed or twin.needed,
    )


def _walk(document: ForeignDocument, schema: object) -> Iterator[SchemaLeaf]:
    """Yield leaves in the order of the document, once for each schema that has them."""
    stack = [_Part(schema=schema, steps=(), needed=True, required=True)]
    turns = 0
    while stack and turns < 4 * MOST_LEAVES:
        turns += 1
        part = stack.pop()
        node = document.at(part.schema)
        yield _leaf(node, part)
        if len(part.steps) < MOST_DEPTH:
            stack += reversed([*_inner(node, part)])


@dataclass(frozen=True, slots=True, kw_only=True)
class _Part:
    """A schema at some steps; `made` says that what it requires is required."""

    schema: object
    steps: tuple[str, ...]
    needed: bool
    required: bool
    made: bool = True


def _inner(node: dict[str, Any], part: _Part) -> Iterator[_Part]:
    steps = part.steps
    names = {text(name) for name in sequence(node.get("required"))[:MOST_LEAVES]}
    for name, below in islice(mapping(node.get("properties")).items(), MOST_LEAVES):
        if is_plain_name(name) and sum(map(len, (*steps, name))) < MOST_POINTER // 2:
            needed = part.made and name in names
            required = part.required and needed
            yield replace(
                part, schema=below, steps=(*steps, name), needed=needed, required=required
            )
    for word in ("allOf", "oneOf", "anyOf"):
        for number, below in enumerate(sequence(node.get(word))[:MOST_ALTERNATIVES]):
            # Of several whole messages, the first is the one that is made.
            made = word == "allOf" or (not steps and number == 0)
            yield _alternative(part, below, made=made)
    for word in ("if", "then", "else"):
        if word in node:
            yield _alternative(part, node[word], made=False)
    if "items" in node:
        each = (*steps, EACH)
        yield replace(part, schema=node["items"], steps=each, needed=False, required=False)


def _alternative(part: _Part, schema: object, *, made: bool) -> _Part:
    """Return another schema of the same part."""
    made = part.made and made
    required = part.required and made
    return replace(part, schema=schema, needed=part.needed and made, required=required, made=made)


def _leaf(node: dict[str, Any], part: _Part) -> SchemaLeaf:
    fixed = [text(node["const"])] if "const" in node else []
    fixed += [text(value) for value in sequence(node.get("enum"))[:MOST_VALUES]]
    examples = [text(node[name]) for name in ("default", "example") if name in node]
    # Open enumerations are examples, too.
    for key in ("examples", "x-namespaced-enum", "x-extensible-enum"):
        examples += [text(value) for value in sequence(node.get(key))[:MOST_VALUES]]
    return SchemaLeaf(
        steps=part.steps,
        kind=_kind(node),
        form=text(node.get("format")) or text(node.get("pattern")),
        values=_usable((*fixed, *examples)),
        fixed=bool(fixed),
        description=text(node.get("description")),
        required=part.required,
        needed=part.needed,
    )


def _kind(node: dict[str, Any]) -> str:
    """Return the type of a schema, or what its members imply; empty if unknown."""
    kind: Any = node.get("type")
    kinds = [text(name) for name in (kind if isinstance(kind, list) else [kind])]
    if any(kinds):
        return next((name for name in kinds if name and name != "null"), "")
    return "object" if "properties" in node else "array" if "items" in node else ""


def _usable(values: Iterable[str]) -> tuple[str, ...]:
    """Return the values that can be written into a file, each once."""
    distinct = dict.fromkeys(value for value in values if value != "null")
    return tuple(
        value for value in distinct if value.isprintable() and 0 < len(value) <= MOST_VALUE
    )


def typed(leaf: SchemaLeaf, value: str) -> str | bool | int:
    """Return a value of the document with the type of its schema."""
    if leaf.kind == "boolean" and value in {"true", "false"}:
        return value == "true"
    if leaf.kind == "integer" and re.fullmatch(r"-?[0-9]{1,15}", value):
        return int(value)
    return value
