"""The consequences of changed clauses for the bank and the TPP.

A kind says with `purpose` what its clauses are for; `comparisons` says what another value of a
parameter means. Each change is judged by itself, as if all else stayed the same: what other
clauses say is not looked at.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum
from typing import Final


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


SERVE_MORE: Final = Consequence(
    tpp=Impact.EASIER, bank=Impact.BREAKING, why="the bank must serve more"
)
SERVE_LESS: Final = Consequence(
    tpp=Impact.BREAKING, bank=Impact.EASIER, why="the bank no longer has to serve it"
)
REFUSE_MORE: Final = Consequence(
    tpp=Impact.BREAKING, bank=Impact.ADJUST, why="the bank must refuse or withhold more"
)
REFUSE_LESS: Final = Consequence(
    tpp=Impact.EASIER, bank=Impact.EASIER, why="the bank no longer has to refuse or withhold it"
)
ANSWER_MORE: Final = Consequence(
    tpp=Impact.BREAKING, bank=Impact.EASIER, why="responses may contain more"
)
ANSWER_LESS: Final = Consequence(
    tpp=Impact.EASIER, bank=Impact.BREAKING, why="responses may contain less"
)
PROTECT_MORE: Final = Consequence(
    tpp=Impact.NONE, bank=Impact.BREAKING, why="the bank must prevent more"
)
PROTECT_LESS: Final = Consequence(
    tpp=Impact.NONE, bank=Impact.EASIER, why="the bank no longer has to prevent it"
)
REPLACED: Final = Consequence(
    tpp=Impact.BREAKING, bank=Impact.BREAKING, why="both parties must use the new value"
)
RESIZED: Final = Consequence(
    tpp=Impact.REVIEW, bank=Impact.ADJUST, why="the bank must use the new value"
)
SETTLED: Final = Consequence(
    tpp=Impact.EASIER,
    bank=Impact.BREAKING,
    why="an open point is settled, and the bank must comply",
)
OPENED: Final = Consequence(
    tpp=Impact.BREAKING,
    bank=Impact.EASIER,
    why="a settled point is open again, and neither party can rely on it",
)
UNDECIDED: Final = Consequence(
    tpp=Impact.REVIEW, bank=Impact.REVIEW, why="changed; both parties must review it"
)
TEST_ONLY: Final = Consequence(
    tpp=Impact.NONE, bank=Impact.NONE, why="changes how the rule is tested, not what it says"
)
WORDING: Final = Consequence(tpp=Impact.NONE, bank=Impact.NONE, why="wording only")
NAMING: Final = Consequence(
    tpp=Impact.NONE,
    bank=Impact.NONE,
    why="only the name changes; waivers and baselines may still use the old one",
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Purpose:
    """What clauses of a kind are for: the consequences if one is added, or removed."""

    added: Consequence
    removed: Consequence


#: The bank serves or returns something.
PROMISE: Final = Purpose(added=SERVE_MORE, removed=SERVE_LESS)
#: The bank refuses or withholds something.
LIMIT: Final = Purpose(added=REFUSE_MORE, removed=REFUSE_LESS)
#: The bank prevents what no TPP is entitled to.
SAFEGUARD: Final = Purpose(added=PROTECT_MORE, removed=PROTECT_LESS)
#: The bank may fail to serve at times.
EXCUSE: Final = Purpose(added=SERVE_LESS, removed=SERVE_MORE)
#: The kind does not say.
UNSTATED: Final = Purpose(added=UNDECIDED, removed=UNDECIDED)
