"""Answers to the questions of `assay init` that an OpenAPI document gives, and the draft of a file.

A document answers how calls are authenticated, which header marks the customer's presence, and
which contracts its operations match.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import islice
from pathlib import Path
from typing import Any, Final, cast

import yaml
from yaml import events as ev

from assay.contract.model import Contract
from assay.errors import InputError
from assay.onboarding.init.authentication import GuessedAuth, guessed_auth
from assay.onboarding.init.foreign_values import (
    MOST_OPERATIONS,
    MOST_PARAMETERS,
    ForeignDocument,
    mapping,
    sequence,
    text,
)
from assay.onboarding.init.inherited import InheritedTarget
from assay.onboarding.init.openapi_operations import OpenApiOperation, base_url, openapi_operations
from assay.onboarding.init.openapi_schemas import words
from assay.onboarding.init.operation_bindings import Found, matched
from assay.onboarding.init.operation_matching import OperationMatch, has_evidence

__all__ = ["InitDefaults", "TargetDraft", "from_swagger", "init_defaults", "read"]

#: Words in the name of the header that marks a call as made with the customer present.
_PRESENCE: Final = (
    {"psu", "ip", "address"},
    {"customer", "ip", "address"},
    {"customer", "present"},
)


@dataclass(frozen=True, slots=True, kw_only=True)
class InitDefaults:
    """Default answers, each with the reason for it, and the operations of the document.

    `files` has the path of each contract that is not a shipped one, relative to the target file.
    """

    contracts: tuple[Contract, ...]
    files: Mapping[str, str] = field(default_factory=dict[str, str])
    defaults: Mapping[str, str] = field(default_factory=dict[str, str])
    whys: Mapping[str, str] = field(default_factory=dict[str, str])
    auth: GuessedAuth = field(default_factory=lambda: GuessedAuth(kind="bearer"))
    document: ForeignDocument | None = None
    offers: tuple[OpenApiOperation, ...] = ()
    found: Found = field(default_factory=dict[str, Mapping[str, OperationMatch]])
    inherited: InheritedTarget = field(default_factory=InheritedTarget)

    def draft(self, answers: Mapping[str, str], whys: Mapping[str, str]) -> TargetDraft:
        """Return the draft of a target file, given the answers to all questions."""
        base_url = answers["base_url"].rstrip("/")
        extends = "" if answers["extends"] == "none" else answers["extends"]
        texts = {**answers, "base_url": base_url, "extends": extends}
        return TargetDraft(start=self, whys=whys, **texts)


@dataclass(frozen=True, slots=True, kw_only=True)
class TargetDraft:
    """Everything that a target file is written from: the answers to all questions, and `start`.

    `whys` gives the reason for each answer that the user did not give.
    """

    start: InitDefaults
    whys: Mapping[str, str]
    name: str
    base_url: str
    environment: str
    zone: str
    auth: str
    presence: str
    fixtures: str
    extends: str

    @property
    def contracts(self) -> tuple[Contract, ...]:
        """The contracts whose operations the file binds."""
        return self.start.contracts

    @property
    def prefix(self) -> str:
        """The prefix of this target's environment variables."""
        return "".join(letter if letter.isalnum() else "_" for letter in self.name.upper())


def init_defaults(
    contracts: tuple[Contract, ...],
    path: Path | None,
    *,
    named: bool,
    inherited: InheritedTarget | None = None,
) -> InitDefaults:
    """Read the document, if there is one, and match its operations to the contracts.

    `inherited` is the target file that the draft extends. Unless the contracts were `named` by the user, those without a match are dropped.

    Raises:
        InputError: the document cannot be read, or matches no contract.

    """
    zones = dict.fromkeys(str(contract.zone) for contract in contracts if contract.zone)
    zone = {"zone": next(iter(zones))} if len(zones) == 1 else {}
    # What the contract says is no guess.
    known = {"zone": ""} if zone else {}
    if path is None:
        return InitDefaults(contracts=contracts, defaults=zone, whys=known)
    inherited = inherited or InheritedTarget()
    document = read(path)
    offers = openapi_operations(document)
    found = {
        contract.id: match
        for contract, match in zip(
            contracts, matched(contracts, offers, inherited).values(), strict=True
        )
        if any(contract.operations[name].available for name in match)
        and (named or has_evidence(contract, match))
    }
    if not found:
        what = f"none of the {len(offers)} operations in the document matches an operation of the contracts"
        hint = "is this the right document? with --contract, partial matches are used"
        raise InputError.one(str(path), what, hint=hint)
    kept = tuple(contract for contract in contracts if named or contract.id in found)
    found = {contract.id: found.get(contract.id, {}) for contract in kept}
    used = tuple(match.offered for matches in found.values() for match in matches.values())
    auth = guessed_auth(document, kept, found)
    present, url = _presence(used), base_url(document)
    defaults = {**zone, "auth": auth.kind}
    whys = {**known, "auth": auth.why or "the document does not define it"}
    if url:
        defaults["base_url"], whys["base_url"] = url, "the first server of the document"
    if present:
        defaults["presence"], whys["presence"] = present, "a header parameter of the document"
    if len(kept) < len(contracts):
        whys["contracts"] = "the document has operations of these contracts"
    return InitDefaults(
        contracts=kept,
        defaults=defaults,
        whys=whys,
        auth=auth,
        document=document,
        offers=offers,
        found=found,
        inherited=inherited,
    )


def _presence(offers: Sequence[OpenApiOperation]) -> str:
    """Return the header that marks a call as made with the customer present, if any."""
    names = [name for offered in offers for name in offered.named("header")]
    fitting = (name for wanted in _PRESENCE for name in names if wanted <= set(words(name)))
    return next(fitting, "")


# -- Loader for foreign JSON and YAML: bounded and tolerant; every scalar is a text --------------
# OpenAPI documents are not written for the strict reader of contracts: keys may be numbers, and
# versions may look like numbers, so scalars are not interpreted. Size, depth and the number of
# values are bounded. An alias is not expanded, however often it is used.
MAX_BYTES: Final = 32 * 1024 * 1024
MAX_DEPTH: Final = 100
#: How many values a document may have; lists, mappings and their keys count, too.
MAX_VALUES: Final = 8_000_000
_Loader: Final[Any] = getattr(yaml, "CSafeLoader", yaml.SafeLoader)


def read(path: Path) -> ForeignDocument:
    """Read an OpenAPI document; one of version 2 is converted.

    Raises:
        InputError: it cannot be read, or is no OpenAPI document.

    """
    root = mapping(_parsed(_content(path), str(path)))
    document = ForeignDocument(root, str(path))
    if text(root.get("openapi")).startswith("3."):
        return document
    if text(root.get("swagger")).startswith("2."):
        return from_swagger(document)
    hint = "it begins with `openapi: 3.0.0` or later, or with `swagger: '2.0'`"
    raise InputError.one(str(path), "this is not an OpenAPI document", hint=hint)


def _content(path: Path) -> str:
    if "://" in str(path).replace(":/", "://", 1) and not path.exists():
        hint = "download it first, for example with curl -o"
        raise InputError.one(str(path), "this is a URL, not a file", hint=hint)
    try:
        with path.open("rb") as file:
            raw = file.read(MAX_BYTES + 1)
    except OSError as error:
        why = (error.strerror or str(error)).lower()
        raise InputError.one(str(path), f"the file cannot be read: {why}") from None
    if len(raw) > MAX_BYTES:
        raise InputError.one(str(path), f"the file is larger than {MAX_BYTES >> 20} MiB")
    try:
        return raw.decode("utf-8-sig")
    except UnicodeDecodeError:
        raise InputError.one(str(path), "this is not UTF-8 text") from None


def _parsed(content: str, path: str) -> object:
    if content.lstrip().startswith("{"):
        if sum(map(content.count, "[{,")) > MAX_VALUES:
            raise _too_large(path)
        try:
            # Numbers keep their spelling, and `true` becomes a text.
            parsed = json.loads(content, parse_int=str, parse_float=str, parse_constant=str)
            return _with_texts(parsed)
        except json.JSONDecodeError as error:
            raise InputError.one(
                path, f"JSON cannot be read: {error.msg}", line=error.lineno
            ) from None
        except (ValueError, RecursionError):
            raise InputError.one(path, "JSON cannot be read: it is nested too deeply") from None
    try:
        return _built(content, path)
    except yaml.YAMLError as error:
        mark = getattr(error, "problem_mark", None)
        what = getattr(error, "problem", None) or "this is not YAML"
        if "nesting depth" in what:
            raise _too_large(path) from None
        line = mark.line + 1 if mark else 0
        raise InputError.one(path, f"YAML cannot be read: {what}", line=line) from None
    except (ValueError, OverflowError):
        raise InputError.one(path, "YAML cannot be read: check its escape sequences") from None


def _too_large(path: str) -> InputError:
    what = "the document is too large or too deeply nested"
    hint = f"at most {MAX_VALUES:,} values, {MAX_DEPTH} levels"
    return InputError.one(path, what, hint=hint)


_TEXTS: Final[dict[Any, str]] = {True: "true", False: "false", None: "null"}


def _with_texts(root: Any) -> Any:
    """Return parsed JSON with texts in place of true, false and null, changed in place."""
    stack: list[Any] = [root]
    while stack:
        node = stack.pop()
        entries = node.items() if isinstance(node, dict) else enumerate(node)
        for key, value in list(cast("Iterable[tuple[Any, Any]]", entries)):
            if isinstance(value, dict | list):
                stack.append(value)
            elif not isinstance(value, str):
                node[key] = _TEXTS[value]
    return root


def _built(content: str, path: str) -> object:
    """Build values from events with a stack, without recursion and without expanding aliases."""
    builder = _LooseBuilder()
    for number, event in enumerate(yaml.parse(content, Loader=_Loader)):
        if number > MAX_VALUES or len(builder.stack) > MAX_DEPTH:
            raise _too_large(path)
        builder.take(event)
    return builder.root


class _LooseBuilder:
    """The open lists and mappings, innermost last, each with the key that awaits its value."""

    def __init__(self) -> None:
        self.root: object = None
        self.stack: list[tuple[dict[str, Any] | list[Any], list[str]]] = []
        self._anchors: dict[str, object] = {}

    def take(self, event: ev.Event) -> None:
        if isinstance(event, ev.ScalarEvent):
            self._place(self._known(event, event.value))
        elif isinstance(event, ev.AliasEvent):
            self._place(self._anchors.get(event.anchor or ""))
        elif isinstance(event, ev.MappingStartEvent):
            self.stack.append((self._known(event, {}), []))
        elif isinstance(event, ev.SequenceStartEvent):
            self.stack.append((self._known(event, []), []))
        elif isinstance(event, ev.MappingEndEvent | ev.SequenceEndEvent):
            self._place(self.stack.pop()[0])

    def _known(self, event: ev.NodeEvent, value: Any) -> Any:
        if event.anchor:
            self._anchors[event.anchor] = value
        return value

    def _place(self, value: object) -> None:
        if not self.stack:
            self.root = value
            return
        top, key = self.stack[-1]
        if isinstance(top, list):
            top.append(value)
        elif key:
            top[key.pop()] = value
        else:
            key.append(text(value))


# -- Conversion of an OpenAPI 2 document (Swagger) into the form of version 3 --------------------
# Converted is what `assay init` reads: servers, security schemes, parameters, bodies and
# responses. Definitions stay where they are, so references to them need no change. Where a
# parameter or a response is itself a reference, it is replaced by what it refers to.
#: The flow of version 3 for each flow of version 2.
_FLOWS: Final = {
    "accessCode": "authorizationCode",
    "application": "clientCredentials",
    "implicit": "implicit",
    "password": "password",
}
_METHODS: Final = frozenset({"get", "put", "post", "delete", "options", "head", "patch"})
_JSON: Final = "application/json"
#: The keys of a parameter that are no part of its schema.
_OF_PARAMETER: Final = frozenset({"name", "in", "description", "required", "schema"})


def from_swagger(document: ForeignDocument) -> ForeignDocument:
    """Return a document of version 2 in the form of version 3."""
    root = document.root
    paths = {
        path: _path_item(document, document.at(item))
        for path, item in islice(mapping(root.get("paths")).items(), MOST_OPERATIONS)
    }
    schemes = {
        name: _scheme(document.at(scheme))
        for name, scheme in islice(
            mapping(root.get("securityDefinitions")).items(), MOST_PARAMETERS
        )
    }
    converted = {
        **root,
        "openapi": "3.0.0",
        "paths": paths,
        "servers": _servers(root),
        "components": {"securitySchemes": schemes},
    }
    return ForeignDocument(converted, document.path)


def _servers(root: dict[str, Any]) -> list[dict[str, str]]:
    """Return the base URL; without a whole host name there is none."""
    host, base = text(root.get("host")), text(root.get("basePath")).rstrip("/")
    schemes = [text(scheme) for scheme in sequence(root.get("schemes"))]
    scheme = "https" if "https" in schemes or not schemes else schemes[0]
    return [{"url": f"{scheme}://{host}{base}"}] if "." in host or ":" in host else []


def _scheme(scheme: dict[str, Any]) -> dict[str, Any]:
    kind = text(scheme.get("type"))
    if kind == "basic":
        return {"type": "http", "scheme": "basic"}
    if kind != "oauth2":
        return scheme
    flow = _FLOWS.get(text(scheme.get("flow")), "")
    return {"type": "oauth2", "flows": {flow: scheme} if flow else {}}


def _path_item(document: ForeignDocument, item: dict[str, Any]) -> dict[str, Any]:
    common = sequence(item.get("parameters"))
    return {
        method: _operation(document, mapping(node), common)
        for method, node in item.items()
        if method in _METHODS and isinstance(node, dict)
    }


def _operation(
    document: ForeignDocument, node: dict[str, Any], common: list[Any]
) -> dict[str, Any]:
    own = [*common, *sequence(node.get("parameters"))]
    parameters = [document.at(parameter) for parameter in own[:MOST_PARAMETERS]]
    consumes, produces = (
        next((media for value in sequence(node.get(key)) if (media := text(value))), _JSON)
        for key in ("consumes", "produces")
    )
    converted = dict(node)
    converted["parameters"] = [
        _parameter(parameter)
        for parameter in parameters
        if text(parameter.get("in")) not in {"body", "formData"}
    ]
    schema = _body(parameters)
    if schema is not None:
        converted["requestBody"] = {"content": {consumes: {"schema": schema}}}
    converted["responses"] = {
        status: _response(document.at(response), produces)
        for status, response in islice(mapping(node.get("responses")).items(), MOST_PARAMETERS)
    }
    return converted


def _parameter(parameter: dict[str, Any]) -> dict[str, Any]:
    inner = {key: value for key, value in parameter.items() if key not in _OF_PARAMETER}
    return {**parameter, "schema": parameter.get("schema", inner)}


def _body(parameters: Iterable[dict[str, Any]]) -> object:
    """Return the schema of the body; fields of a form are the members of an object."""
    members: dict[str, object] = {}
    required: list[str] = []
    for parameter in parameters:
        place, name = text(parameter.get("in")), text(parameter.get("name"))
        if place == "body":
            return parameter.get("schema", {})
        if place == "formData":
            members[name] = _parameter(parameter)["schema"]
            required += [name] if parameter.get("required") == "true" else []
    return {"type": "object", "properties": members, "required": required} if members else None


def _response(response: dict[str, Any], produces: str) -> dict[str, Any]:
    if "schema" not in response:
        return response
    return {**response, "content": {produces: {"schema": response["schema"]}}}
