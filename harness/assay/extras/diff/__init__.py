"""What changes between two versions of a contract, for the bank and for the TPP.

`compare` takes two documents of the right shape and returns all changes, each with its places
in both files and its impact on each party. It resolves no names: what refers to nothing is
found by `parsing.parse` before.
"""

from __future__ import annotations

from typing import Final

from assay.extras.diff.clauses import rules
from assay.extras.diff.structure import (
    WORDS,
    listed,
    mapped,
    match,
    names_and_hosts,
    operations,
    resources,
    statements,
)
from assay.extras.diff.values import GATES, Compared, ContractChange, ContractDiff, ContractVersion
from assay.files.document import Document

__all__ = ["GATES", "ContractChange", "ContractDiff", "compare"]

_ALL: Final = frozenset[str]()


def compare(old: Document, new: Document) -> ContractDiff:
    """Return the changes from one version of a contract to another."""
    compared = Compared(old=old, new=new)
    versions = old.data, new.data
    matches = {
        noun: match(*(mapped(data, section) for data in versions), ignored=_ALL)
        for noun, section in (("operation", "operations"), ("resource", "resources"))
    }
    renamed = {noun: matched.renamed for noun, matched in matches.items()}
    clauses = match(*(listed(data, "rules") for data in versions), ignored=WORDS)
    points = [frozenset(entry.name for entry in listed(data, "unspecified")) for data in versions]
    settled = points[0] & {entry.name for entry in clauses.added}
    opened = points[1] & {entry.name for entry in clauses.removed}
    return ContractDiff(
        old=_version(old),
        new=_version(new),
        changes=(
            *names_and_hosts(compared),
            *operations(compared, matches["operation"], renamed),
            *resources(compared, matches["resource"], renamed),
            *rules(compared, clauses, renamed, (points[0], points[1])),
            *statements(compared, "scope", "scope", _ALL),
            *statements(compared, "open-point", "unspecified", settled | opened),
        ),
    )


def _version(document: Document) -> ContractVersion:
    return ContractVersion(
        path=document.path,
        contract=str(document.data["contract"]),
        version=str(document.data["version"]),
        digest=document.digest,
    )
