"""Findings of a verification: what differs, what could not be judged again, and why."""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum


class FindingKind(Enum):
    """What a finding says; the value is the word used in every output."""

    DIFFERS = "differs"
    NOT_REJUDGED = "not re-judged"


@dataclass(frozen=True, slots=True, kw_only=True)
class VerificationFinding:
    """One finding: about which obligation, line or file, and on which line of the journal."""

    kind: FindingKind
    where: str
    what: str
    line: int = 0


def differs(where: str, what: str, line: int = 0) -> VerificationFinding:
    """Return the finding that something is not what it should be."""
    return VerificationFinding(kind=FindingKind.DIFFERS, where=where, what=what, line=line)


def not_rejudged(where: str, what: str, line: int = 0) -> VerificationFinding:
    """Return the finding that something could not be judged again."""
    return VerificationFinding(kind=FindingKind.NOT_REJUDGED, where=where, what=what, line=line)
