"""What is known before anything is asked: from the document, if there is one."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

from assay.contract.model import Contract, Json
from assay.errors import InputError
from assay.init import security
from assay.init.openapi_operations import Offered, base_url, offered
from assay.init.operation_bindings import matched
from assay.init.operation_match import Match
from assay.init.safe_load import Foreign, read
from assay.init.target_file import Draft

__all__ = ["Begun", "begun"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Begun:
    """What a document says: answers to questions, each with a reason, and operations."""

    contracts: tuple[Contract, ...]
    defaults: Mapping[str, str] = field(default_factory=dict[str, str])
    whys: Mapping[str, str] = field(default_factory=dict[str, str])
    auth: security.Auth = field(default_factory=lambda: security.Auth(kind="bearer"))
    document: Foreign | None = None
    offers: tuple[Offered, ...] = ()
    found: Mapping[str, Mapping[str, Match]] = field(default_factory=dict[str, Mapping[str, Match]])

    def draft(self, told: Mapping[str, str], whys: Mapping[str, str]) -> Draft:
        """Return what a file is written from, with the answers to all questions."""
        extends = told["extends"]
        given: Mapping[str, Json] = self.auth.given if told["auth"] == self.auth.kind else {}
        return Draft(
            name=told["name"],
            base_url=told["base_url"].rstrip("/"),
            environment=told["environment"],
            zone=told["zone"],
            auth=told["auth"],
            presence=told["presence"],
            world=told["world"],
            extends="" if extends == "none" else extends,
            given=dict(given),
            whys=whys,
            contracts=self.contracts,
            document=self.document,
            offers=self.offers,
            found=self.found,
        )


def begun(contracts: tuple[Contract, ...], path: Path | None, *, named: bool) -> Begun:
    """Read the document, if there is one, and find the contracts' operations in it.

    Of contracts that nobody `named`, only those are kept of which the document has something.

    Raises:
        InputError: the document cannot be read, or has nothing of any contract.

    """
    if path is None:
        return Begun(contracts=contracts)
    document = read(path)
    offers = offered(document)
    found = matched(contracts, offers)
    kept = tuple(
        one for one in contracts if any(one.operations[name].available for name in found[one.id])
    )
    if not kept:
        what = f"none of the document's {len(offers)} operations is like one of the contracts"
        raise InputError.one(str(path), what, hint="is it the right document, and contract?")
    kept = contracts if named else kept
    used = tuple(each.offered for one in kept for each in found[one.id].values())
    auth, present, url = security.auth(document), security.presence(used), base_url(document)
    defaults = {"auth": auth.kind}
    whys = {"auth": auth.why or "the document does not say"}
    if url:
        defaults["base_url"], whys["base_url"] = url, "the first server of the document"
    if present:
        defaults["presence"], whys["presence"] = present, "a parameter of that name"
    if len(kept) < len(contracts):
        whys["contracts"] = "of these the document has operations"
    return Begun(
        contracts=kept,
        defaults=defaults,
        whys=whys,
        auth=auth,
        document=document,
        offers=offers,
        found={one.id: found[one.id] for one in kept},
    )
