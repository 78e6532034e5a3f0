"""Guesses how calls are authenticated and which headers they carry."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

from assay.binding.checks import bad_url
from assay.contract.model import Json
from assay.init.name_matching import is_plain_name, words
from assay.init.openapi_operations import OpenApiOperation, schemes
from assay.init.safe_load import ForeignDocument, mapping, text
from assay.init.yaml_writer import YamlEntry, gap

__all__ = ["GuessedAuth", "auth", "headers", "presence", "protection"]

_TOKEN = re.compile(r"[A-Za-z0-9!#$%&'*+.^_`|~-]+")
#: Headers that other sections set.
_ELSEWHERE = frozenset(["authorization", "content-type", "accept", "cookie", "host"])
_SIGNED = frozenset(
    ["signature", "digest", "tpp-signature-certificate", "content-digest", "signature-input"]
)


@dataclass(frozen=True, slots=True, kw_only=True)
class GuessedAuth:
    """How calls are authenticated: the kind of the target file, and its settings."""

    kind: str
    why: str = ""
    given: dict[str, Json] = field(default_factory=dict[str, Json])


def auth(document: ForeignDocument) -> GuessedAuth:
    """Return how the document authenticates calls; by default with a bearer token."""
    found = schemes(document)
    for one in found:
        flows = mapping(one.get("flows"))
        for name, kind in (
            ("authorizationCode", "authorization-code"),
            ("clientCredentials", "client-credentials"),
        ):
            flow = mapping(flows.get(name))
            token, authorize = text(flow.get("tokenUrl")), text(flow.get("authorizationUrl"))
            if not _url(token) or (name == "authorizationCode" and not _url(authorize)):
                continue
            given: dict[str, Json] = {"authorize_url": authorize} if authorize else {}
            scopes = " ".join(one for one in mapping(flow.get("scopes")) if is_plain_name(one))
            given |= {"token_url": token} | ({"scope": scopes} if scopes else {})
            return GuessedAuth(kind=kind, why=f"the OAuth flow {name} in the document", given=given)
    for one in found:
        if text(one.get("type")) == "http" and text(one.get("scheme")).lower() == "bearer":
            return GuessedAuth(kind="bearer", why="the bearer scheme in the document")
    for one in found:
        name = text(one.get("name"))
        if (
            text(one.get("type")) == "apiKey"
            and text(one.get("in")) == "header"
            and is_plain_name(name)
        ):
            if name.lower() == "authorization":
                return GuessedAuth(kind="bearer", why="the Authorization header")
            return GuessedAuth(
                kind="key", why=f"the header {name} in the document", given={"header": name}
            )
    return GuessedAuth(kind="bearer")


def _url(url: str) -> bool:
    return is_plain_name(url) and not bad_url(url)


def protection(
    document: ForeignDocument, offers: Sequence[OpenApiOperation]
) -> Iterator[YamlEntry]:
    """Yield that certificates and signatures are missing, where the document requires them."""
    if any(text(one.get("type")) == "mutualTLS" for one in schemes(document)):
        example = "{certificate_file: our.pem, key_file: our-key.pem}"
        yield gap("tls", "the required client certificate", example)
    signed = {
        name.lower()
        for one in offers
        for name, each in one.named("header").items()
        if each.required
    }
    if signed & _SIGNED:
        example = "{kind: cavage, key_file: seal-key.pem, key_id: https://…}"
        yield gap("signature", "the required signature of calls", example)


def presence(offers: Sequence[OpenApiOperation]) -> str:
    """Return the header that marks a call as made with the customer present, if any."""
    names = [name for one in offers for name in one.named("header")]
    for wanted in (
        {"psu", "ip", "address"},
        {"customer", "ip", "address"},
        {"customer", "present"},
    ):
        for name in names:
            if wanted <= set(words(name)):
                return name
    return ""


def headers(offers: Sequence[OpenApiOperation], known: str) -> Iterator[YamlEntry]:
    """Yield the headers of every call, and those that are missing."""
    wanted: dict[str, list[OpenApiOperation]] = {}
    for one in offers:
        for name, each in one.named("header").items():
            if (
                each.required
                and _TOKEN.fullmatch(name)
                and name.lower() not in _ELSEWHERE | _SIGNED | {known.lower()}
            ):
                wanted.setdefault(name, []).append(one)
    unique = {
        name: "{unique}"
        for name in wanted
        if {"request", "id"} <= set(words(name)) or {"correlation", "id"} <= set(words(name))
    }
    if unique:
        yield YamlEntry(
            key="headers", value=unique, why="required; the name suggests a unique value"
        )
    for name, where in wanted.items():
        if name not in unique:
            others = f" and {len(where) - 1} more" if len(where) > 1 else ""
            yield gap("headers", f"{name} is required by {where[0]}{others}", f"{{{name}: …}}")
