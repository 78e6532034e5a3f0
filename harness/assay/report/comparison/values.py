"""Values of a comparison: the two runs, and what differs between them.

All texts come from a report, and are clean already. Nothing here reads a file or knows a format.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from enum import Enum

from assay.judging.changes import ChangeKind
from assay.judging.waivers import WaiverResult
from assay.rules.verdict import Standing


@dataclass(frozen=True, slots=True, kw_only=True)
class ComparedObligation:
    """One obligation of a run, as far as it is compared.

    `context` is the further context in which alone it is violated; empty in the base context.
    """

    id: str
    clause: str
    standing: Standing
    reason: str = ""
    context: str = ""
    kind: str = ""
    level: str = ""
    sentence: str = ""
    sources: tuple[str, ...] = ()
    parameters: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class ComparedRun:
    """A run, as far as it is compared; `conditions` are what it was made with, by their names."""

    path: str
    started: str
    conditions: Mapping[str, str]
    selection: Mapping[str, str]
    obligations: Mapping[str, ComparedObligation]
    waivers: tuple[WaiverResult, ...] = ()

    @property
    def verdicts(self) -> dict[str, Standing]:
        """The verdict on each obligation."""
        return {name: each.standing for name, each in self.obligations.items()}

    @property
    def label(self) -> str:
        """Its path and its beginning, to the second."""
        return ", ".join(filter(None, (self.path, self.started.partition(".")[0].rstrip("Z"))))


class Category(Enum):
    """What can differ between two runs; the value is the word of `--fail-on`."""

    NEWLY_VIOLATED = ChangeKind.NEWLY_VIOLATED.value
    NEWLY_WAIVED = ChangeKind.NEWLY_WAIVED.value
    NEWLY_UNVERIFIED = ChangeKind.NEWLY_UNVERIFIED.value
    NO_LONGER_PLANNED = ChangeKind.NO_LONGER_PLANNED.value
    FIXED = ChangeKind.FIXED.value
    NEWLY_VERIFIED = ChangeKind.NEWLY_VERIFIED.value
    NEWLY_PLANNED = ChangeKind.NEWLY_PLANNED.value
    OTHER = ChangeKind.OTHER.value
    CONTEXT_CHANGED = "context-changed"
    CLAUSE_CHANGED = "clause-changed"
    WAIVER_CHANGED = "waiver-changed"
    CONDITION_CHANGED = "condition-changed"


@dataclass(frozen=True, slots=True, kw_only=True)
class RunDifference:
    """One thing that differs: the id of an obligation, clause or waiver, or the name of a condition.

    `before` and `now` are the two values in words, `detail` says more about it.
    """

    category: Category
    name: str
    before: str
    now: str
    detail: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Comparison:
    """Two runs and all their differences, by category and then in the order of the plan."""

    old: ComparedRun
    new: ComparedRun
    differences: tuple[RunDifference, ...]

    def of(self, category: Category) -> tuple[RunDifference, ...]:
        """Return the differences of one category."""
        return tuple(each for each in self.differences if each.category is category)
