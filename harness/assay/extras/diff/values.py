"""The values of a comparison of two contracts: changes, what they mean for the parties, and the gates.

A change has an `id` for its sort ("quota.limit-changed"), a path that is the same in both
versions, and a fingerprint that depends on nothing but contract, sort, path and values: not on
lines, file names, wording or severity.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from decimal import Decimal
from enum import Enum
from typing import Final

from assay.contract.model import Json, Party
from assay.rules.rule import Purpose


class Absent(Enum):
    """The type of `ABSENT`, the value that a version does not have."""

    ABSENT = "absent"


ABSENT: Final = Absent.ABSENT


def canonical(value: Json) -> str:
    """Return a value as text that is the same only for the same value: `1` is neither `1.0` nor true."""
    return json.dumps(value, sort_keys=True, ensure_ascii=False, default=_number)


def _number(value: object) -> object:
    if isinstance(value, Decimal):
        return {"decimal": str(value)}
    if isinstance(value, Absent):
        return {"absent": True}
    raise TypeError(f"no JSON: {type(value).__name__}")


class Impact(Enum):
    """What a change means for one party, the worst first."""

    #: The party must do more, or can do less: what conformed, or worked, may fail now.
    BREAKING = "breaking"
    #: The bank must refuse or withhold more: easy, but an unchanged gateway violates it.
    ADJUST = "adjust"
    #: It depends: the party must judge it.
    REVIEW = "review"
    #: The party can do more, or must do less; it can stay as it is.
    EASIER = "easier"
    #: Nothing changes for the party.
    NONE = "none"


@dataclass(frozen=True, slots=True, kw_only=True)
class Consequence:
    """What a change means for each party, and why in a few words."""

    tpp: Impact
    bank: Impact
    why: str


_SERVE_MORE = Consequence(tpp=Impact.EASIER, bank=Impact.BREAKING, why="the bank must serve more")
_SERVE_LESS = Consequence(
    tpp=Impact.BREAKING, bank=Impact.EASIER, why="the bank no longer has to serve it"
)
UNDECIDED: Final = Consequence(
    tpp=Impact.REVIEW, bank=Impact.REVIEW, why="changed; both parties must review it"
)
WORDING: Final = Consequence(tpp=Impact.NONE, bank=Impact.NONE, why="wording only")
NAMING: Final = Consequence(
    tpp=Impact.NONE,
    bank=Impact.NONE,
    why="only the name changes; waivers and baselines may still use the old one",
)
#: What a new clause means, by the purpose of its kind.
ADDED: Final[Mapping[Purpose, Consequence]] = {
    Purpose.PROMISE: _SERVE_MORE,
    Purpose.LIMIT: Consequence(
        tpp=Impact.BREAKING, bank=Impact.ADJUST, why="the bank must refuse or withhold more"
    ),
    Purpose.SAFEGUARD: Consequence(
        tpp=Impact.NONE, bank=Impact.BREAKING, why="the bank must prevent more"
    ),
    Purpose.EXCUSE: _SERVE_LESS,
    Purpose.UNSTATED: UNDECIDED,
}
#: What a clause that is gone means, by the purpose of its kind.
REMOVED: Final[Mapping[Purpose, Consequence]] = {
    Purpose.PROMISE: _SERVE_LESS,
    Purpose.LIMIT: Consequence(
        tpp=Impact.EASIER,
        bank=Impact.EASIER,
        why="the bank no longer has to refuse or withhold it",
    ),
    Purpose.SAFEGUARD: Consequence(
        tpp=Impact.NONE, bank=Impact.EASIER, why="the bank no longer has to prevent it"
    ),
    Purpose.EXCUSE: _SERVE_MORE,
    Purpose.UNSTATED: UNDECIDED,
}


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
    sentence that is concerned, if there is one.
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
