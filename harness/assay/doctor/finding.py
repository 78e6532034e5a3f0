"""What the examination finds at a line of a target file, as a value."""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum

from assay.binding.target import Target
from assay.contract.files.document import Pointer, spell
from assay.errors import Problem
from assay.report.sanitize import clean

#: The most of a text of a target's that is quoted, in characters.
MOST = 160


class Weight(Enum):
    """How sure a finding is; the value is the word for it."""

    FAULT = "fault"
    #: Either the profile is wrong or the target is odd: a question to who wrote the file.
    DOUBT = "doubt"
    UNSEEN = "not seen"
    #: Nothing wrong, but worth a look: a guess that is marked as one.
    NOTE = "note"


@dataclass(frozen=True, slots=True, kw_only=True)
class Finding:
    """One thing found at a place: what was expected there, what was found, what helps.

    `line` counts from 1; 0 means the whole file. `key` is the dotted name of the place.
    `expected` is empty where what was found says it all.
    """

    weight: Weight
    path: str
    line: int
    key: str
    expected: str
    found: str
    hint: str = ""

    @property
    def grave(self) -> bool:
        """Whether a run would judge by it: then there had better be none."""
        return self.weight in {Weight.FAULT, Weight.DOUBT}

    @property
    def problem(self) -> Problem:
        """The same as other commands tell a mistake in a file."""
        key = f"{self.key}: " if self.key else ""
        asked = "; is that so?" if self.weight is Weight.DOUBT else ""
        expected = f"expected {self.expected}, found " if self.expected else ""
        what = f"{key}{expected}{self.found}{asked}"
        return Problem(path=self.path, line=self.line, what=what, hint=self.hint)

    def __str__(self) -> str:
        return str(self.problem)


def told(problem: Problem) -> Finding:
    """Return what another part of Assay has found wrong, as a finding."""
    key, colon, rest = problem.what.partition(": ")
    named = colon and " " not in key
    return Finding(
        weight=Weight.FAULT,
        path=problem.path,
        line=problem.line,
        key=key if named else "",
        expected="",
        found=one_line(rest if named else problem.what),
        hint=problem.hint,
    )


def at(
    target: Target,
    pointer: Pointer,
    expected: str,
    found: str,
    hint: str = "",
    *,
    weight: Weight = Weight.FAULT,
) -> Finding:
    """Return a finding at a key of the profile, or at the nearest above it that is there."""
    path, line = target.place(*pointer)
    return Finding(
        weight=weight,
        path=path,
        line=line,
        key=spell(pointer),
        expected=expected,
        found=one_line(found),
        hint=one_line(hint),
    )


def one_line(text: str) -> str:
    """Return a text of a stranger's bounded, harmless, and in one line."""
    return " ".join(clean(text, 3 * MOST).split())
