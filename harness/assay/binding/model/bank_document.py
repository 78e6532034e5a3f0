"""The OpenAPI document that a bank publishes, as a value: its operations, and what references lead to.

References lead to its own parts; no other file is read. Whatever it lacks, nothing here fails.
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
JSON: Final = "application/json"
#: Numbers with more digits than this are compared as floats.
_DIGITS: Final = 40


def plain(value: Json) -> Any:
    """Return a value with numbers as a JSON Schema compares them; a huge one is infinite."""
    if isinstance(value, Decimal):
        whole = value.is_finite() and value.adjusted() < _DIGITS and value == int(value)
        return int(value) if whole else float(value)
    if isinstance(value, Mapping):
        return {name: plain(member) for name, member in cast("Node", value).items()}
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
    node: Node = field(default_factory=dict[str, Any])

    @property
    def pointer(self) -> str:
        """The JSON pointer to this part: `/paths/~1accounts/get`."""
        return "".join(f"/{str(s).replace('~', '~0').replace('/', '~1')}" for s in self.at)


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class BankDocument:
    """A document of OpenAPI 3.0 or 3.1; two are the same only if they are one.

    `bases` are the paths before those of the document: of its servers, and of the target.
    """

    document: Document
    data: Node = field(repr=False)
    bases: tuple[str, ...]

    @classmethod
    def of(cls, document: Document, bases: Sequence[str]) -> BankDocument:
        """Return the document for a target that is found at these paths."""
        data: Node = plain(document.data)
        every = (urlsplit(url).path.rstrip("/") for url in (*_servers(data), *bases, ""))
        return cls(document=document, data=data, bases=tuple(dict.fromkeys(every)))

    @property
    def is_3_0(self) -> bool:
        """Whether its schemas are those of OpenAPI 3.0."""
        return str(self.data.get("openapi")).startswith("3.0")

    def part(self, at: Pointer) -> DocumentPart:
        """Return the part at a pointer, or the one that it refers to; an empty one if there is none."""
        for _ in range(MOST_HOPS):
            found = find(self.data, DocumentPart(at=at).pointer)
            node = mapping(None if found is MISSING else found)
            where = node.get("$ref")
            if not isinstance(where, str):
                return DocumentPart(at=at, node=node)
            at = tuple(steps(unquote(where[1:]))) if where.startswith("#/") else ("",)
        return DocumentPart(at=at)

    def below(self, part: DocumentPart, *names: str | int) -> DocumentPart:
        """Return a part below another one, references resolved at each step."""
        for name in names:
            part = self.part((*part.at, name))
        return part

    def operation(self, method: str, path: str) -> DocumentPart | None:
        """Return the operation for the path of a URL, or for that of a binding with its slots.

        A fixed segment comes before one that is a parameter, as OpenAPI has it.
        """
        found = [
            (far, documented)
            for base in self.bases
            if path.startswith(f"{base}/")
            for documented in mapping(self.data.get("paths"))
            if (far := _distance(documented, unquote(path[len(base) :]))) is not None
            and method.lower() in self.part(("paths", documented)).node
        ]
        return self.below(self.part(("paths", min(found)[1])), method.lower()) if found else None

    def bound(self, method: str, path: str, base_url: str) -> DocumentPart | None:
        """Return the operation for the path of a binding, at the address of a target."""
        return self.operation(method, urlsplit(base_url).path.rstrip("/") + path.partition("?")[0])

    def response(self, operation: DocumentPart, status: int) -> DocumentPart | None:
        """Return the response that documents a status; None if none does."""
        known, group = mapping(operation.node.get("responses")), status // 100
        keys = (key for key in (str(status), f"{group}XX", f"{group}xx", "default") if key in known)
        key = next(keys, None)
        return None if key is None else self.below(operation, "responses", key)

    def media_key(self, content: Node, media_type: str) -> str:
        """Return the key of a content that documents a media type; empty if none does.

        Contracts say nothing of types of JSON, so in an exported document one stands for all.
        """
        exported = "x-assay-contracts" in self.data and is_json(media_type)
        wanted = media_type, media_type.partition("/")[0] + "/*", "*/*", *([JSON] * exported)
        keys = {key.partition(";")[0].strip().lower(): key for key in content}
        return next((keys[each] for each in wanted if each in keys), "")

    def parameters(self, operation: DocumentPart) -> Iterator[DocumentPart]:
        """Yield the parameters of an operation in the query and in headers, and those of its path."""
        for at in (operation.at, operation.at[:-1]):
            listed = self.part(at)
            for index, _ in enumerate(sequence(listed.node.get("parameters"))):
                parameter = self.below(DocumentPart(at=(*listed.at, "parameters")), index)
                own_place = str(parameter.node.get("name")).lower() in OWN_PLACE
                if parameter.node.get("in") in {"query", "header"} and not own_place:
                    yield parameter


#: Headers that have a place of their own in a document (OpenAPI, Parameter and Header Objects).
OWN_PLACE: Final = frozenset({"accept", "content-type", "authorization"})


def is_json(media_type: str) -> bool:
    """Whether a media type is JSON, or has its suffix."""
    return media_type.endswith(("/json", "+json"))


def _servers(data: Node) -> Iterator[str]:
    """Yield the URLs of the servers, with the default value of each variable."""
    for node in (data, *map(mapping, mapping(data.get("paths")).values())):
        for server in map(mapping, sequence(node.get("servers"))):
            url = str(server.get("url", "")).partition("?")[0]
            for name, each in mapping(server.get("variables")).items():
                url = url.replace(f"{{{name}}}", str(mapping(each).get("default", "-")))
            yield url


def _distance(documented: str, path: str) -> int | None:
    """Return how far a path is from a documented one; None if it is another."""
    pairs, far = [*zip(documented.split("/"), path.split("/"), strict=False)], 0
    for segment, part in pairs:
        if segment != part and "{" not in segment + part:
            return None
        # A parameter of ours in place of a fixed segment is the last choice.
        far += 1 if "{" in segment else 100 if "{" in part else 0
    return far if documented.count("/") == path.count("/") else None
