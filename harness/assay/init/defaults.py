"""Answers to the questions of `assay init` that an OpenAPI document gives."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

from assay.contract.model import Contract, Json
from assay.errors import InputError
from assay.init import security
from assay.init.openapi_operations import OpenApiOperation, base_url, openapi_operations
from assay.init.operation_bindings import matched
from assay.init.operation_match import OperationMatch
from assay.init.safe_load import ForeignDocument, read
from assay.init.target_file import TargetDraft

__all__ = ["InitDefaults", "init_defaults"]


@dataclass(frozen=True, slots=True, kw_only=True)
class InitDefaults:
    """Default answers, each with the reason for it, and the operations of the document."""

    contracts: tuple[Contract, ...]
    defaults: Mapping[str, str] = field(default_factory=dict[str, str])
    whys: Mapping[str, str] = field(default_factory=dict[str, str])
    auth: security.GuessedAuth = field(default_factory=lambda: security.GuessedAuth(kind="bearer"))
    document: ForeignDocument | None = None
    offers: tuple[OpenApiOperation, ...] = ()
    found: Mapping[str, Mapping[str, OperationMatch]] = field(
        default_factory=dict[str, Mapping[str, OperationMatch]]
    )

    def draft(self, answers: Mapping[str, str], whys: Mapping[str, str]) -> TargetDraft:
        """Return the draft of a target file, given the answers to all questions."""
        extends = answers["extends"]
        given: Mapping[str, Json] = self.auth.given if answers["auth"] == self.auth.kind else {}
        return TargetDraft(
            name=answers["name"],
            base_url=answers["base_url"].rstrip("/"),
            environment=answers["environment"],
            zone=answers["zone"],
            auth=answers["auth"],
            presence=answers["presence"],
            fixtures=answers["fixtures"],
            extends="" if extends == "none" else extends,
            given=dict(given),
            whys=whys,
            contracts=self.contracts,
            document=self.document,
            offers=self.offers,
            found=self.found,
        )


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
    found = matched(contracts, offers)
    kept = tuple(
        one for one in contracts if any(one.operations[name].available for name in found[one.id])
    )
    if not kept:
        what = f"none of the {len(offers)} operations in the document matches an operation of the contracts"
        raise InputError.one(str(path), what, hint="is it the right document and contract?")
    kept = contracts if named else kept
    used = tuple(each.offered for one in kept for each in found[one.id].values())
    auth, present, url = security.auth(document), security.presence(used), base_url(document)
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
        found={one.id: found[one.id] for one in kept},
    )
