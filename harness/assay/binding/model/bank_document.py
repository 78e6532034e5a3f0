"""The OpenAPI document that a bank publishes, as a value: its operations, and what references lead to.

Only what is needed to hold answers against it. References lead to other parts of the document;
no other file is read, and nothing is fetched. Whatever the document may lack, nothing here fails.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from decimal import Decimal
from typing import Any, Final, TypeAlias, cast
from urllib.parse import unquote, urlsplit

from assay.binding.model.pointer import MISSING, find, steps
from assay.contract.model import Json
from assay.files.document import Document, Pointer

#: A part of the document: what JSON calls an object.
Node: TypeAlias = Mapping[str, Any]
#: How many references may lead from one to the next.
MOST_HOPS: Final = 16
METHODS: Final = frozenset({"get", "put", "post", "delete", "patch", "head", "options", "trace"})
JSON: Final = "application/json"
#: Numbers with more digits than this are compared as floats.
_DIGITS: Final = 40


def plain(value: Json) -> Any:
    """Return a value with numbers as a JSON Schema compares them; a huge one is infinite."""
    if isinstance(value, Decimal):
        whole = value.is_finite() and value.adjusted() < _DIGITS and value == int(value)
        return int(value) if whole else float(value)
    if isinstance(value, Mapping):
        members = cast("Mapping[str, Json]", value)
        return {name: plain(member) for name, member in members.items()}
    if isinstance(value, list | tuple):
        return [plain(member) for member in cast("Sequence[Json]", value)]
    return value


def mapping(node: object) -> Node:
    """Return a mapping as it is, and an empty one for anything else."""
    return cast("Node", node) if isinstance(node, Mapping) else {}


def sequence(node: object) -> Sequence[Any]:
    """Return a list as it is, and an empty one for anything else."""
    return cast("Sequence[Any]", node) if isinstance(node, list) else ()


@dataclass(frozen=True, slots=True, kw_only=True)
class DocumentPart:
    """A part of the document with the pointer to it, after all references."""

    at: Pointer
    node: Node

    @property
    def reference(self) -> str:
        """The reference to this part: `#/paths/~1accounts/get`."""
        names = (str(step).replace("~", "~0").replace("/", "~1") for step in self.at)
        return "#" + "".join(f"/{name}" for name in names)


@dataclass(frozen=True, slots=True, kw_only=True)
class BankDocument:
    """A bank's OpenAPI document of version 3.0 or 3.1, and the target file's key that names it.

    `bases` are the paths before those of the document, of its servers and of the target.
    """

    document: Document
    bases: tuple[str, ...] = ()
    data: Any = field(default=None, compare=False, repr=False)
    _paths: Mapping[str, Sequence[tuple[Sequence[str], str]]] = field(
        default_factory=dict[str, Any], compare=False, repr=False
    )

    @classmethod
    def of(cls, document: Document, bases: Sequence[str]) -> BankDocument:
        """Return the document for a target that is found at these paths."""
        data = plain(document.data)
        servers = [urlsplit(url).path for url in _servers(data)]
        every = (each.rstrip("/") for each in (*servers, *bases, ""))
        paths: dict[str, list[tuple[Sequence[str], str]]] = {}
        made = cls(document=document, bases=tuple(dict.fromkeys(every)), data=data, _paths=paths)
        for path in mapping(data.get("paths")):
            item = made.part(("paths", path)).node
            for method in METHODS & item.keys():
                paths.setdefault(method, []).append((path.split("/"), path))
        return made

    @property
    def name(self) -> str:
        """The path of the file."""
        return self.document.path

    @property
    def is_3_0(self) -> bool:
        """Whether its schemas are those of OpenAPI 3.0."""
        return str(self.data.get("openapi")).startswith("3.0")

    def part(self, at: Pointer) -> DocumentPart:
        """Return the part at a pointer, or the one that it refers to; an empty one if there is none."""
        for _ in range(MOST_HOPS):
            found = find(self.data, "".join(f"/{_escaped(step)}" for step in at))
            node = mapping(None if found is MISSING else found)
            where = node.get("$ref")
            if not isinstance(where, str):
                return DocumentPart(at=at, node=node)
            if not where.startswith("#/"):
                break
            at = tuple(steps(unquote(where[1:])))
        return DocumentPart(at=at, node={})

    def below(self, part: DocumentPart, *names: str | int) -> DocumentPart:
        """Return a part below another one, references resolved at each step."""
        for name in names:
            part = self.part((*part.at, name))
        return part

    def operation(self, method: str, path: str) -> DocumentPart | None:
        """Return the operation for the path of a URL, or for that of a binding with its slots.

        A fixed segment comes before one that is a parameter, as OpenAPI has it.
        """
        method, found = method.lower(), list[tuple[int, str]]()
        for base in self.bases:
            if not path.startswith(f"{base}/"):
                continue
            parts = unquote(path[len(base) :]).split("/")
            for segments, documented in self._paths.get(method, ()):
                far = _distance(segments, parts)
                if far is not None:
                    found.append((far, documented))
        if not found:
            return None
        return self.below(self.part(("paths", min(found)[1])), method)

    def media_key(self, content: Node, media_type: str) -> str:
        """Return the key of a content that documents a media type; empty if none does.

        Contracts say nothing of types of JSON, so in an exported document one stands for all.
        """
        exported = "x-assay-contracts" in self.data and is_json(media_type)
        wanted = media_type, media_type.partition("/")[0] + "/*", "*/*", *([JSON] * exported)
        keys = {key.partition(";")[0].strip().lower(): key for key in content}
        return next((keys[each] for each in wanted if each in keys), "")

    def parameters(self, operation: DocumentPart) -> Iterator[DocumentPart]:
        """Yield the parameters of an operation, those of its path included; its own come first."""
        seen: set[tuple[object, object]] = set()
        for at in (operation.at, operation.at[:-1]):
            listed = self.part(at)
            for index, _ in enumerate(sequence(listed.node.get("parameters"))):
                parameter = self.below(DocumentPart(at=(*listed.at, "parameters"), node={}), index)
                name = parameter.node.get("name"), parameter.node.get("in")
                if name not in seen:
                    seen.add(name)
                    yield parameter


def response_key(operation: DocumentPart, status: int) -> str:
    """Return the key of the response that documents a status; empty if none does."""
    known = mapping(operation.node.get("responses"))
    keys = (str(status), f"{status // 100}XX", f"{status // 100}xx", "default")
    return next((key for key in keys if key in known), "")


def is_json(media_type: str) -> bool:
    """Whether a media type is JSON, or has its suffix."""
    return media_type.endswith(("/json", "+json"))


def _servers(data: Node) -> Iterator[str]:
    """Yield the URLs of all servers, with the default value of each variable."""
    items = [mapping(item) for item in mapping(data.get("paths")).values()]
    operations = [mapping(each) for item in items for each in item.values()]
    for node in (data, *items, *operations):
        for server in map(mapping, sequence(node.get("servers"))):
            url = str(server.get("url", "")).partition("?")[0]
            for name, each in mapping(server.get("variables")).items():
                url = url.replace(f"{{{name}}}", str(mapping(each).get("default", "-")))
            yield url


def _escaped(step: str | int) -> str:
    return str(step).replace("~", "~0").replace("/", "~1")


def _distance(segments: Sequence[str], parts: Sequence[str]) -> int | None:
    """Return how far a path is from a documented one; None if it is another."""
    if len(segments) != len(parts):
        return None
    far = 0
    for segment, part in zip(segments, parts, strict=True):
        if "{" in segment:
            far += 1
        elif "{" in part:
            far += 100  # a parameter of ours in place of a fixed segment
        elif segment != part:
            return None
    return far
