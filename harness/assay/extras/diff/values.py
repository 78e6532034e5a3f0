"""The values of a comparison of two contracts: changes, their places, and the gates.

A change has an `id` for its sort ("quota.limit-changed"), a path that is the same in both
versions, and a fingerprint that depends on nothing but contract, sort, path and values: not on
lines, file names, wording or severity.
"""

from __future__ import annotations

import hashlib
from collections import Counter
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Final

from assay.contract.model import Json, Party
from assay.files.document import Document, Pointer
from assay.rules.comparisons import ABSENT, canonical
from assay.rules.consequences import Consequence, Impact


@dataclass(frozen=True, slots=True, kw_only=True)
class ContractVersion:
    """One of the two contract files."""

    path: str
    contract: str
    version: str
    digest: str


@dataclass(frozen=True, slots=True, kw_only=True)
class ContractChange:
    """One change from one version of a contract to the next.

    `old` and `new` are `ABSENT` where a version has no value. `old_line` and `new_line` are the
    lines of the values, or of the nearest parent that a version has. `statement` is the
    sentence that is concerned, if there is one; `moved_from` the list that an item was in.
    """

    id: str
    path: tuple[str, ...]
    old: Json
    new: Json
    consequence: Consequence
    old_line: int
    new_line: int
    fingerprint: str
    statement: str = ""
    moved_from: str = ""

    def impact(self, party: Party) -> Impact:
        """Return what the change means for a party."""
        return self.consequence.tpp if party is Party.TPP else self.consequence.bank

    @property
    def worst(self) -> Impact:
        """The more severe of the two impacts."""
        return min((self.impact(party) for party in Party), key=SEVERITY.index)

    @property
    def name(self) -> str:
        """The path as text."""
        return "/".join(self.path)


#: The impacts, the most severe first.
SEVERITY: Final = tuple(Impact)


@dataclass(frozen=True, slots=True, kw_only=True)
class ContractDiff:
    """All changes between two versions of a contract, in the order of the files."""

    old: ContractVersion
    new: ContractVersion
    changes: tuple[ContractChange, ...]

    def counts(self, party: Party) -> Mapping[Impact, int]:
        """Return how many changes have each impact on a party."""
        counted = Counter(change.impact(party) for change in self.changes)
        return {impact: counted[impact] for impact in SEVERITY}

    @property
    def by_severity(self) -> tuple[ContractChange, ...]:
        """The changes, the most severe first; changes that break both parties before others."""
        return tuple(sorted(self.changes, key=_rank))


def _rank(change: ContractChange) -> tuple[int, int]:
    ranks = sorted(SEVERITY.index(change.impact(party)) for party in Party)
    return ranks[0], ranks[1]


def _breaks(*parties: Party) -> Callable[[ContractChange], bool]:
    return lambda change: any(change.impact(party) is Impact.BREAKING for party in parties)


def _at_least(impact: Impact) -> Callable[[ContractChange], bool]:
    return lambda change: SEVERITY.index(change.worst) <= SEVERITY.index(impact)


#: The gates: which changes fail a comparison.
GATES: Mapping[str, Callable[[ContractChange], bool]] = {
    "breaking-tpp": _breaks(Party.TPP),
    "breaking-bank": _breaks(Party.BANK),
    "breaking": _breaks(*Party),
    "review": _at_least(Impact.REVIEW),
    "any": lambda _: True,
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Compared:
    """The two documents that are compared; makes the changes between them."""

    old: Document
    new: Document

    def change(
        self,
        sort: str,
        path: tuple[str, ...],
        values: tuple[Json, Json],
        places: tuple[Pointer, Pointer],
        consequence: Consequence,
        *,
        statement: str = "",
        moved_from: str = "",
    ) -> ContractChange:
        """Return a change; `places` are its pointers in the old and the new document."""
        old, new = values
        contract = self.old.data.get("contract", "")
        identity = canonical([contract, sort, path, old, new, moved_from])
        return ContractChange(
            id=sort,
            path=path,
            old=old,
            new=new,
            consequence=consequence,
            old_line=self.old.line(places[0]),
            new_line=self.new.line(places[1]),
            fingerprint=hashlib.sha256(identity.encode(errors="surrogatepass")).hexdigest()[:32],
            statement=statement,
            moved_from=moved_from,
        )


def action(old: Json, new: Json, moved_from: str = "") -> str:
    """Return what happened to a value, as the end of an id."""
    if moved_from:
        return "moved"
    if old is ABSENT:
        return "added"
    return "removed" if new is ABSENT else "changed"
