"""A problem that the examination found at a line of a target file, as a value."""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum

from assay.binding.target import Target
from assay.contract.files.document import Pointer, spell
from assay.errors import Problem
from assay.report.sanitize import clean

#: How much of a text from the target is quoted, in characters.
MOST = 160


class Weight(Enum):
    """How certain a finding is; the value is the word for it in the output."""

    FAULT = "fault"
    #: Either the target file is wrong or the target behaves unusually: a question.
    DOUBT = "doubt"
    UNSEEN = "not seen"
    #: Nothing is wrong, but it deserves a look: a line marked as a guess.
    NOTE = "note"


@dataclass(frozen=True, slots=True, kw_only=True)
class Finding:
    """One problem at one place: what was expected, what was found, and a hint.

    `line` counts from 1; 0 means the whole file. `key` is the dotted name of the place.
    `expected` is empty where `found` is a complete statement.
    """

    weight: Weight
    path: str
    line: int
    key: str
    expected: str
    found: str
    hint: str = ""

    @property
    def blocking(self) -> bool:
        """Whether it would falsify the verdicts of a run, and so must be fixed first."""
        return self.weight in {Weight.FAULT, Weight.DOUBT}

    @property
    def problem(self) -> Problem:
        """The finding in the form in which all commands report a problem in a file."""
        key = f"{self.key}: " if self.key else ""
        asked = "; is this intended?" if self.weight is Weight.DOUBT else ""
        expected = f"expected {self.expected}, found " if self.expected else ""
        what = f"{key}{expected}{self.found}{asked}"
        return Problem(path=self.path, line=self.line, what=what, hint=self.hint, key=self.key)

    def __str__(self) -> str:
        return str(self.problem)


def from_problem(problem: Problem) -> Finding:
    """Return a problem that another part of Assay reported, as a finding."""
    return Finding(
        weight=Weight.FAULT,
        path=problem.path,
        line=problem.line,
        key=problem.key,
        expected="",
        found=one_line(problem.statement),
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
    """Return a finding at a key of the target file, or at its nearest parent that exists."""
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
    """Return a text from the target, cut to a bound, without control characters, in one line."""
    return " ".join(clean(text, 3 * MOST).split())
