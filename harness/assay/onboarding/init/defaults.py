"""Answers to the questions of `assay init` that an OpenAPI document gives, and the draft of a file.

A document answers how calls are authenticated, which header marks the customer's presence, and
which contracts its operations match.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final

from assay.contract.model import Contract
from assay.errors import InputError
from assay.onboarding.init.authentication import GuessedAuth, guessed_auth
from assay.onboarding.init.foreign_document import ForeignDocument, read
from assay.onboarding.init.inherited import InheritedTarget
from assay.onboarding.init.openapi_operations import (
    OpenApiOperation,
    base_url,
    openapi_operations,
    words,
)
from assay.onboarding.init.operation_bindings import Found, matched
from assay.onboarding.init.operation_matching import OperationMatch, has_evidence

__all__ = ["InitDefaults", "TargetDraft", "init_defaults"]

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
