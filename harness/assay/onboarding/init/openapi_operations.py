"""Operations of an OpenAPI document, with their parameters, messages and security.

Messages are leaves, and their names are compared as words with those of a contract.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cache, cached_property
from itertools import islice
from typing import Any

from assay.binding.model.forms import FORM
from assay.binding.read.checks import bad_url
from assay.onboarding.init.example_calls import SAID, content
from assay.onboarding.init.foreign_document import (
    MOST_OPERATIONS,
    MOST_PARAMETERS,
    SHOWN,
    ForeignDocument,
    mapping,
    sequence,
    text,
)

_METHODS = ("get", "post", "put", "patch", "delete")
_SUCCESS = re.compile(r"2([0-9]{2}|[xX]{2})")
_REFUSED = re.compile(r"4([0-9]{2}|[xX]{2})|default")


@dataclass(frozen=True, slots=True, kw_only=True)
class OpenApiParameter:
    """A parameter of an operation: its place is query, header, path or cookie; or body, of a member."""

    name: str
    place: str
    required: bool
    leaf: SchemaLeaf
    description: str

    @property
    def at(self) -> str:
        """What names it in its place: its name, or the pointer of a member of a body."""
        return self.leaf.pointer if self.place == "body" else self.name


@dataclass(frozen=True, kw_only=True, eq=False)
class OpenApiOperation:
    """An operation of the document; what its messages may contain is read when it is asked for.

    `statuses` and `headers` are those of successful responses. `security` are the alternatives
    by which a call is authorised, each with the scopes of its schemes; None if the document
    says nothing about it.
    """

    method: str
    path: str
    id: str = ""
    description: str = ""
    statuses: tuple[str, ...] = ()
    headers: tuple[str, ...] = ()
    security: tuple[Mapping[str, tuple[str, ...]], ...] | None = None
    document: ForeignDocument = field(default_factory=lambda: ForeignDocument({}, ""), repr=False)
    node: Mapping[str, Any] = field(default_factory=dict[str, Any], repr=False)
    common: Sequence[Any] = field(default=(), repr=False)

    @property
    def said(self) -> Sequence[Any]:
        """The operations of the contract that a text of calls says it to be."""
        return sequence(self.node.get(SAID))

    @cached_property
    def parameters(self) -> tuple[OpenApiParameter, ...]:
        """The parameters, those of the path included."""
        own = sequence(self.node.get("parameters"))
        return tuple(_parameters(self.document, [*self.common, *own][:MOST_PARAMETERS]))

    @cached_property
    def request(self) -> tuple[SchemaLeaf, ...]:
        """The parts of the body that is sent."""
        body = self.document.at(self.node.get("requestBody"))
        return leaves(self.document, _schema(self.document, body))

    @property
    def is_form(self) -> bool:
        """Whether the body that is sent is a form only."""
        return [*mapping(self.document.at(self.node.get("requestBody")).get("content"))] == [FORM]

    @cached_property
    def bodies(self) -> tuple[OpenApiOperation, ...]:
        """The operation with each body that it takes, if the document has several at its top."""
        schema = mapping(_schema(self.document, self.document.at(self.node.get("requestBody"))))
        several = sequence(schema.get("oneOf")) or sequence(schema.get("anyOf"))
        return tuple(
            replace(self, node={**self.node, "requestBody": content(each, form=self.is_form)})
            for each in several[:MOST_ALTERNATIVES]
        )

    @cached_property
    def answer(self) -> tuple[SchemaLeaf, ...]:
        """The parts of the first successful response that has any."""
        return self._shape(_SUCCESS)

    @cached_property
    def refusal(self) -> tuple[SchemaLeaf, ...]:
        """The parts of the first response to a refused call that has any."""
        return self._shape(_REFUSED)

    def _shape(self, statuses: re.Pattern[str]) -> tuple[SchemaLeaf, ...]:
        answers = _answers(self.document, self.node, statuses)
        shapes = (leaves(self.document, _schema(self.document, answer)) for _, answer in answers)
        return next((shape for shape in shapes if len(shape) > 1), ())

    def named(self, place: str) -> dict[str, OpenApiParameter]:
        """Return the parameters in a place by their names."""
        return {
            parameter.name: parameter for parameter in self.parameters if parameter.place == place
        }

    def __str__(self) -> str:
        return f"{self.method} {self.path}"


def openapi_operations(document: ForeignDocument) -> tuple[OpenApiOperation, ...]:
    """Return the operations of a document, at most `MOST_OPERATIONS`."""
    operations = (
        _operation(document, method, path, item)
        for path, raw in mapping(document.root.get("paths")).items()
        if path.startswith("/") and is_plain_name(path)
        for item in [document.at(raw)]
        for method in _METHODS
        if isinstance(item.get(method), dict)
    )
    return tuple(islice(operations, MOST_OPERATIONS))


def _operation(
    document: ForeignDocument, method: str, path: str, item: dict[str, Any]
) -> OpenApiOperation:
    node = mapping(item[method])
    answers = _answers(document, node)
    headers = (name for _, answer in answers for name in mapping(answer.get("headers")))
    return OpenApiOperation(
        method=method.upper(),
        path=path,
        id=text(node.get("operationId")),
        description=" ".join(
            filter(None, (text(node.get("summary")), text(node.get("description"))[:400]))
        ),
        statuses=tuple(dict.fromkeys(status.lower() for status, _ in answers)),
        headers=tuple(dict.fromkeys(name for name in headers if is_plain_name(name))),
        security=_security(node.get("security", document.root.get("security"))),
        document=document,
        node=node,
        common=sequence(item.get("parameters"))[:MOST_PARAMETERS],
    )


def _answers(
    document: ForeignDocument, node: Mapping[str, Any], wanted: re.Pattern[str] = _SUCCESS
) -> tuple[tuple[str, dict[str, Any]], ...]:
    """Return the responses with some statuses, by default those of success."""
    responses = islice(mapping(node.get("responses")).items(), MOST_PARAMETERS)
    return tuple(
        (status, document.at(response))
        for status, response in responses
        if wanted.fullmatch(status)
    )


def _security(raw: object) -> tuple[Mapping[str, tuple[str, ...]], ...] | None:
    """Return the alternatives of a security requirement, with the scopes of each scheme."""
    if not isinstance(raw, list):
        return None
    return tuple(
        {
            scheme: tuple(filter(is_plain_name, map(text, sequence(scopes)[:MOST_PARAMETERS])))
            for scheme, scopes in mapping(alternative).items()
        }
        for alternative in sequence(raw)[:MOST_PARAMETERS]
    )


def _parameters(document: ForeignDocument, raw: list[Any]) -> Iterator[OpenApiParameter]:
    """Yield parameters; those of an operation override those of its path."""
    parameters: dict[tuple[str, str], OpenApiParameter] = {}
    for entry in raw:
        node = document.at(entry)
        name, place = text(node.get("name")), text(node.get("in"))
        if is_plain_name(name):
            shape = leaves(document, _with_example(document, node))[0]
            parameters[name, place] = OpenApiParameter(
                name=name,
                place=place,
                required=text(node.get("required")) == "true",
                leaf=shape,
                description=text(node.get("description")) or shape.description,
            )
    yield from parameters.values()


def _with_example(document: ForeignDocument, parameter: dict[str, Any]) -> object:
    """Return the schema of a parameter, with the example that stands beside it."""
    schema = parameter.get("schema")
    if "example" not in parameter:
        return schema
    return {**document.at(schema), "example": parameter["example"]}


def _schema(document: ForeignDocument, node: dict[str, Any]) -> object:
    """Return the schema of the JSON body, or of another if there is none, with its own example."""
    content = mapping(node.get("content"))
    types = sorted(
        content, key=lambda media_type: ("json" not in media_type.lower(), "*" in media_type)
    )
    body = document.at(content[types[0]]) if types else {}
    named = islice(mapping(body.get("examples")).values(), 1)
    shown = next((document.at(each).get("value") for each in named), body.get("example"))
    schema = body.get("schema")
    return schema if shown is None else {**document.at(schema), "example": shown}


def base_url(document: ForeignDocument) -> str:
    """Return the first server that is a whole URL, with its defaults; empty if there is none."""
    for server in sequence(document.root.get("servers")):
        url = text(mapping(server).get("url")).rstrip("/")
        for name, variable in mapping(mapping(server).get("variables")).items():
            url = url.replace(f"{{{name}}}", text(mapping(variable).get("default")))
        if is_plain_name(url) and "{" not in url and not bad_url(url):
            return url
    return ""


def schemes(document: ForeignDocument) -> dict[str, dict[str, Any]]:
    """Return the security schemes of a document by their names."""
    components = mapping(document.root.get("components"))
    defined = islice(mapping(components.get("securitySchemes")).items(), MOST_PARAMETERS)
    return {name: document.at(scheme) for name, scheme in defined}


# -- Schemas of an OpenAPI document as leaves with JSON pointers, and names as words ---------------
# A schema is flattened into leaves: names, types, formats and values, as far as a guess needs
# them. Alternatives (`oneOf`, `anyOf`, `if` and `then`) are merged. Depth and number are
# bounded, because a schema may refer to itself. Names are compared as words, so that
# `account-id`, `accountId` and `account_ids` match.

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
    holds for all above it, too. Of what is `told`, no schema has the name: a text has.
    """

    steps: tuple[str, ...]
    kind: str = ""
    form: str = ""
    values: tuple[str, ...] = ()
    fixed: bool = False
    description: str = ""
    required: bool = False
    needed: bool = False
    told: bool = False

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
    def is_value(self) -> bool:
        """Whether it is neither an object nor a list."""
        return self.kind not in {"object", "array"}

    @property
    def is_text(self) -> bool:
        """Whether it is a text, as far as the document says."""
        return self.kind in {"string", ""}

    @property
    def is_listed(self) -> bool:
        """Whether it is in a list."""
        return EACH in self.steps

    @property
    def is_member(self) -> bool:
        """Whether it stands at the top."""
        return len(self.steps) == 1

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
        told=leaf.told and twin.told,
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
            stack += reversed([*_inner(document, node, part)])


@dataclass(frozen=True, slots=True, kw_only=True)
class _Part:
    """A schema at some steps; `made` says that what it requires is required.

    `example` is the part of the example of what it is in.
    """

    schema: object
    steps: tuple[str, ...]
    example: object = None
    needed: bool
    required: bool
    made: bool = True
    told: bool = False


def _inner(document: ForeignDocument, node: dict[str, Any], part: _Part) -> Iterator[_Part]:
    steps, example = part.steps, node.get("example", part.example)
    names = {text(name) for name in sequence(node.get("required"))[:MOST_LEAVES]}
    properties, shown = mapping(node.get("properties")), mapping(example)
    further = _further(document, node, steps, shown)
    for name, below in islice({**further, **properties}.items(), MOST_LEAVES):
        if is_plain_name(name) and sum(map(len, (*steps, name))) < MOST_POINTER // 2:
            needed = part.made and name in names
            required = part.required and needed
            yield replace(
                part,
                schema=below,
                steps=(*steps, name),
                needed=needed,
                required=required,
                example=shown.get(name),
                told=part.told or not (name in properties or name in shown),
            )
    part = replace(part, example=example)
    for word in ("allOf", "oneOf", "anyOf"):
        for number, below in enumerate(sequence(node.get(word))[:MOST_ALTERNATIVES]):
            # Of several whole messages, the first is the one that is made.
            made = word == "allOf" or (not steps and number == 0)
            yield _alternative(part, below, made=made)
    for word in ("if", "then", "else", SHOWN):
        if word in node:
            yield _alternative(part, node[word], made=False)
    if "items" in node:
        each = (*steps, EACH)
        first = next(iter(sequence(example)), None)
        yield replace(
            part, schema=node["items"], steps=each, needed=False, required=False, example=first
        )


def _further(
    document: ForeignDocument, node: dict[str, Any], steps: tuple[str, ...], shown: Iterable[str]
) -> dict[str, Any]:
    """Return the schemas of members whose names an example shows, or a text about links."""
    others = node.get("additionalProperties")
    names = [*shown] if "properties" not in node or others else []
    told = document.links if steps and "link" in words(steps[-1]) else ()
    link = mapping(others) or {"properties": {"href": {"type": "string"}}}
    return {**dict.fromkeys(told, link), **dict.fromkeys(names, others)}


def _alternative(part: _Part, schema: object, *, made: bool) -> _Part:
    """Return another schema of the same part."""
    made = part.made and made
    required = part.required and made
    return replace(part, schema=schema, needed=part.needed and made, required=required, made=made)


def _leaf(node: dict[str, Any], part: _Part) -> SchemaLeaf:
    fixed = [text(node["const"])] if "const" in node else []
    fixed += [text(value) for value in sequence(node.get("enum"))[:MOST_VALUES]]
    examples = [text(node[name]) for name in ("default", "example") if name in node]
    examples.append(text(part.example))
    # Open enumerations are examples, too.
    for key in ("examples", "x-namespaced-enum", "x-extensible-enum"):
        examples += [text(value) for value in sequence(node.get(key))[:MOST_VALUES]]
    return SchemaLeaf(
        steps=part.steps,
        kind=_kind(node) or _kind_of(part.example),
        form=text(node.get("format")) or text(node.get("pattern")),
        values=_usable((*fixed, *examples)),
        fixed=bool(fixed),
        description=text(node.get("description")),
        required=part.required,
        needed=part.needed,
        told=part.told,
    )


def _kind(node: dict[str, Any]) -> str:
    """Return the type of a schema, or what its members imply; empty if unknown."""
    kind: Any = node.get("type")
    kinds = [text(name) for name in (kind if isinstance(kind, list) else [kind])]
    if any(kinds):
        return next((name for name in kinds if name and name != "null"), "")
    return "object" if "properties" in node else "array" if "items" in node else ""


def _kind_of(example: object) -> str:
    """Return the type of an example that has members or elements; empty for any other."""
    return "object" if isinstance(example, dict) else "array" if isinstance(example, list) else ""


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
