"""The operations of an OpenAPI document, with the leaves of their schemas and JSON pointers.

A schema is flattened into leaves: names, types, formats and values, as far as a guess needs
them. Alternatives (`oneOf`, `anyOf`, `if` and `then`) are merged. Depth and number are
bounded, because a schema may refer to itself.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from itertools import islice
from typing import Any

from assay.binding.checks import bad_url
from assay.init.name_matching import is_plain_name, words
from assay.init.safe_load import ForeignDocument, mapping, sequence, text

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
    description: str = ""
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
            description=self.description,
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
        description=one.description or other.description,
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
        if is_plain_name(name) and sum(map(len, (*steps, name))) < MOST_POINTER // 2:
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
    fixed = [text(node["const"])] if "const" in node else []
    fixed += [text(one) for one in sequence(node.get("enum"))]
    examples = [text(node[name]) for name in ("default", "example") if name in node]
    examples += [text(one) for one in sequence(node.get("examples"))]
    return SchemaLeaf(
        steps=steps,
        kind=_kind(node),
        form=text(node.get("format")) or text(node.get("pattern")),
        values=_usable((*fixed, *examples)),
        fixed=bool(fixed),
        description=text(node.get("description")),
        required=required,
    )


def _kind(node: dict[str, Any]) -> str:
    """Return the type of a schema, or what its members imply; empty if unknown."""
    kind: Any = node.get("type")
    kinds = [text(one) for one in (kind if isinstance(kind, list) else [kind])]
    if any(kinds):
        return next((one for one in kinds if one and one != "null"), "")
    return "object" if "properties" in node else "array" if "items" in node else ""


def _usable(values: Iterable[str]) -> tuple[str, ...]:
    """Return the values that can be written into a file, each once."""
    every = dict.fromkeys(one for one in values if one != "null")
    return tuple(one for one in every if one.isprintable() and 0 < len(one) <= MOST_VALUE)


_METHODS = ("get", "post", "put", "patch", "delete")
_SUCCESS = re.compile(r"2([0-9]{2}|[xX]{2})")
#: How many operations are looked at.
MOST_OPERATIONS = 500


@dataclass(frozen=True, slots=True, kw_only=True)
class OpenApiParameter:
    """A parameter of an operation: its place is query, header, path or cookie."""

    name: str
    place: str
    required: bool
    leaf: SchemaLeaf
    description: str


@dataclass(frozen=True, slots=True, kw_only=True)
class OpenApiOperation:
    """An operation of the document, with everything that may be in its messages.

    `statuses` are those of success; `headers` those of such answers.
    """

    method: str
    path: str
    id: str
    description: str
    parameters: tuple[OpenApiParameter, ...]
    request: tuple[SchemaLeaf, ...]
    answer: tuple[SchemaLeaf, ...]
    statuses: tuple[str, ...]
    headers: tuple[str, ...]

    def named(self, place: str) -> dict[str, OpenApiParameter]:
        """Return the parameters in a place by their names."""
        return {one.name: one for one in self.parameters if one.place == place}

    def __str__(self) -> str:
        return f"{self.method} {self.path}"


def openapi_operations(document: ForeignDocument) -> tuple[OpenApiOperation, ...]:
    """Return the operations of a document, the first five hundred."""
    every = (
        _operation(document, method, path, item)
        for path, raw in mapping(document.root.get("paths")).items()
        if path.startswith("/") and is_plain_name(path)
        for item in [document.at(raw)]
        for method in _METHODS
        if isinstance(item.get(method), dict)
    )
    return tuple(islice(every, MOST_OPERATIONS))


def _operation(
    document: ForeignDocument, method: str, path: str, item: dict[str, Any]
) -> OpenApiOperation:
    node = mapping(item[method])
    answers = [
        (status, document.at(one))
        for status, one in mapping(node.get("responses")).items()
        if _SUCCESS.fullmatch(status)
    ]
    headers = (name for _, one in answers for name in mapping(one.get("headers")))
    return OpenApiOperation(
        method=method.upper(),
        path=path,
        id=text(node.get("operationId")),
        description=" ".join(
            filter(None, (text(node.get("summary")), text(node.get("description"))[:400]))
        ),
        parameters=tuple(
            _parameters(
                document, [*sequence(item.get("parameters")), *sequence(node.get("parameters"))]
            )
        ),
        request=leaves(document, _schema(document, document.at(node.get("requestBody")))),
        answer=next(
            (
                shape
                for _, one in answers
                if len(shape := leaves(document, _schema(document, one))) > 1
            ),
            (),
        ),
        statuses=tuple(dict.fromkeys(status.lower() for status, _ in answers)),
        headers=tuple(dict.fromkeys(name for name in headers if is_plain_name(name))),
    )


def _parameters(document: ForeignDocument, raw: list[Any]) -> Iterator[OpenApiParameter]:
    """Yield parameters; those of an operation take the place of its path's."""
    found: dict[tuple[str, str], OpenApiParameter] = {}
    for one in raw:
        node = document.at(one)
        name, place = text(node.get("name")), text(node.get("in"))
        if is_plain_name(name):
            shape = leaves(document, node.get("schema"))[0]
            found[name, place] = OpenApiParameter(
                name=name,
                place=place,
                required=node.get("required") == "true",
                leaf=shape,
                description=text(node.get("description")) or shape.description,
            )
    yield from found.values()


def _schema(document: ForeignDocument, node: dict[str, Any]) -> object:
    """Return the schema of a JSON body, or of any body if none is said to be JSON."""
    content = mapping(node.get("content"))
    types = sorted(content, key=lambda one: ("json" not in one.lower(), "*" in one))
    return document.at(content[types[0]]).get("schema") if types else None


def base_url(document: ForeignDocument) -> str:
    """Return the first server that is a whole URL; empty if there is none."""
    for one in sequence(document.root.get("servers")):
        url = text(mapping(one).get("url")).rstrip("/")
        if is_plain_name(url) and "{" not in url and not bad_url(url):
            return url
    return ""


def schemes(document: ForeignDocument) -> tuple[dict[str, Any], ...]:
    """Return the security schemes of a document."""
    components = mapping(document.root.get("components"))
    found = mapping(components.get("securitySchemes"))
    return tuple(document.at(one) for one in found.values())
