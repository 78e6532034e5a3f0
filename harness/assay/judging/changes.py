"""Changes between two verdicts on one obligation, of an earlier and a later run.

The comparison of runs, the baseline of a run and the report of a fleet share them. Nothing here
does I/O.
"""

from __future__ import annotations

from collections.abc import Mapping
from enum import Enum

from assay.rules.verdict import OPEN, Standing


class ChangeKind(Enum):
    """How the verdict on an obligation changed; the value is the word used everywhere."""

    NEWLY_VIOLATED = "newly-violated"
    NEWLY_WAIVED = "newly-waived"
    NEWLY_UNVERIFIED = "newly-unverified"
    NO_LONGER_PLANNED = "no-longer-planned"
    FIXED = "fixed"
    NEWLY_VERIFIED = "newly-verified"
    NEWLY_PLANNED = "newly-planned"
    OTHER = "other"


#: Verdicts on what a run had to test.
OWED = frozenset(
    {
        Standing.CONFORMS,
        Standing.VIOLATES,
        Standing.WAIVED,
        Standing.INDETERMINATE,
        Standing.UNVERIFIED,
    }
)
#: Verdicts on what a run has tested.
TESTED = OWED - OPEN


#: How a verdict changed, by what it is now; where it depends on the verdict before, see below.
_TO: Mapping[Standing | None, ChangeKind] = {
    Standing.VIOLATES: ChangeKind.NEWLY_VIOLATED,
    Standing.WAIVED: ChangeKind.NEWLY_WAIVED,
    Standing.CONFORMS: ChangeKind.FIXED,
    Standing.INDETERMINATE: ChangeKind.NEWLY_UNVERIFIED,
    Standing.UNVERIFIED: ChangeKind.NEWLY_UNVERIFIED,
}
_VIOLATED = frozenset({ChangeKind.NEWLY_VIOLATED, ChangeKind.NEWLY_WAIVED})


def change_of(before: Standing | None, now: Standing | None) -> ChangeKind | None:
    """Return how a verdict changed, None if it did not; no verdict means not planned."""
    if before is now:
        return None
    change = _TO.get(now, ChangeKind.NO_LONGER_PLANNED)
    if change in _VIOLATED:
        return change
    if before not in OWED:
        return ChangeKind.NEWLY_PLANNED if now in OWED else ChangeKind.OTHER
    if before in OPEN and now in OWED:
        return ChangeKind.NEWLY_VERIFIED if change is ChangeKind.FIXED else ChangeKind.OTHER
    return change
