"""Answers to the questions of `assay init` that an OpenAPI document gives, and the draft of a file.

A document answers how calls are authenticated, which header marks the customer's presence, and
which contracts its operations match.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final

from assay.binding.checks import bad_url
from assay.contract.model import Contract, Json
from assay.errors import InputError
from assay.init.openapi_operations import (
    OpenApiOperation,
    OperationMatch,
    base_url,
    openapi_operations,
    schemes,
)
from assay.init.openapi_schemas import is_plain_name, words
from assay.init.operation_bindings import Found, matched
from assay.init.safe_load import ForeignDocument, mapping, read, text

__all__ = ["InitDefaults", "TargetDraft", "init_defaults"]

#: The kind of the target file for each OAuth flow, the preferred one first.
_FLOWS: Final = {
    "authorizationCode": "authorization-code",
    "clientCredentials": "client-credentials",
}
#: Words in the name of the header that marks a call as made with the customer present.
_PRESENCE: Final = (
    {"psu", "ip", "address"},
    {"customer", "ip", "address"},
    {"customer", "present"},
)


@dataclass(frozen=True, slots=True, kw_only=True)
class GuessedAuth:
    """How calls are authenticated: the kind of the target file, and its settings."""

    kind: str
    why: str = ""
    given: Mapping[str, Json] = field(default_factory=dict[str, Json])


@dataclass(frozen=True, slots=True, kw_only=True)
class InitDefaults:
    """Default answers, each with the reason for it, and the operations of the document."""

    contracts: tuple[Contract, ...]
    defaults: Mapping[str, str] = field(default_factory=dict[str, str])
    whys: Mapping[str, str] = field(default_factory=dict[str, str])
    auth: GuessedAuth = field(default_factory=lambda: GuessedAuth(kind="bearer"))
    document: ForeignDocument | None = None
    offers: tuple[OpenApiOperation, ...] = ()
    found: Found = field(default_factory=dict[str, Mapping[str, OperationMatch]])

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
    def given(self) -> Mapping[str, Json]:
        """The settings of the document for the way in which calls are authenticated."""
        return self.start.auth.given if self.auth == self.start.auth.kind else {}

    @property
    def prefix(self) -> str:
        """The prefix of this target's environment variables."""
        return "".join(letter if letter.isalnum() else "_" for letter in self.name.upper())


def init_defaults(
    contracts: tuple[Contract, ...], path: Path | None, *, named: bool
) -> InitDefaults:
    """Read the document, if there is one, and match its operations to the contracts.

    Unless the contracts were `named` by the user, those without a match are dropped.

    Raises:
        InputError: the document cannot be read, or matches no contract.

    """
    if path is None:
        return InitDefaults(contracts=contracts)
    document = read(path)
    offers = openapi_operations(document)
    matches = matched(contracts, offers)
    kept = tuple(
        contract
        for contract in contracts
        if any(contract.operations[name].available for name in matches[contract.id])
    )
    if not kept:
        what = f"none of the {len(offers)} operations in the document matches an operation of the contracts"
        raise InputError.one(str(path), what, hint="is it the right document and contract?")
    kept = contracts if named else kept
    used = tuple(each.offered for contract in kept for each in matches[contract.id].values())
    auth, present, url = _auth(document), _presence(used), base_url(document)
    defaults = {"auth": auth.kind}
    whys = {"auth": auth.why or "the document does not define it"}
    if url:
        defaults["base_url"], whys["base_url"] = url, "the first server of the document"
    if present:
        defaults["presence"], whys["presence"] = present, "a header parameter of the document"
    if len(kept) < len(contracts):
        whys["contracts"] = "the document has operations of these"
    return InitDefaults(
        contracts=kept,
        defaults=defaults,
        whys=whys,
        auth=auth,
        document=document,
        offers=offers,
        found={contract.id: matches[contract.id] for contract in kept},
    )


def _auth(document: ForeignDocument) -> GuessedAuth:
    """Return how the document authenticates calls; by default with a bearer token."""
    guesses = (
        guess(scheme) for guess in (_oauth, _bearer, _api_key) for scheme in schemes(document)
    )
    return next((auth for auth in guesses if auth is not None), GuessedAuth(kind="bearer"))


def _oauth(scheme: Mapping[str, Any]) -> GuessedAuth | None:
    """Return the first OAuth flow of a scheme that has the URLs it needs."""
    flows = mapping(scheme.get("flows"))
    for name, kind in _FLOWS.items():
        flow = mapping(flows.get(name))
        token, authorize = text(flow.get("tokenUrl")), text(flow.get("authorizationUrl"))
        if _url(token) and (kind == "client-credentials" or _url(authorize)):
            scopes = " ".join(
                scope for scope in mapping(flow.get("scopes")) if is_plain_name(scope)
            )
            given = {"authorize_url": authorize, "token_url": token, "scope": scopes}
            return GuessedAuth(
                kind=kind,
                why=f"the OAuth flow {name} in the document",
                given={key: value for key, value in given.items() if value},
            )
    return None


def _bearer(scheme: Mapping[str, Any]) -> GuessedAuth | None:
    if text(scheme.get("type")) == "http" and text(scheme.get("scheme")).lower() == "bearer":
        return GuessedAuth(kind="bearer", why="the bearer scheme in the document")
    return None


def _api_key(scheme: Mapping[str, Any]) -> GuessedAuth | None:
    name, place = text(scheme.get("name")), (text(scheme.get("type")), text(scheme.get("in")))
    if place != ("apiKey", "header") or not is_plain_name(name):
        return None
    if name.lower() == "authorization":
        return GuessedAuth(kind="bearer", why="the Authorization header")
    return GuessedAuth(kind="key", why=f"the header {name} in the document", given={"header": name})


def _url(url: str) -> bool:
    return is_plain_name(url) and not bad_url(url)


def _presence(offers: Sequence[OpenApiOperation]) -> str:
    """Return the header that marks a call as made with the customer present, if any."""
    names = [name for offered in offers for name in offered.named("header")]
    fitting = (name for wanted in _PRESENCE for name in names if wanted <= set(words(name)))
    return next(fitting, "")
