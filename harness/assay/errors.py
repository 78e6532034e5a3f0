"""What can go wrong with what a user gave us, and with the harness itself.

Non-conformance is never an exception: checks yield evidence. The tree keeps
apart the three parties that may be at fault besides the bank:

    AssayError
    ├── InputError        a file or option: path, line, expected, found, hint (exit 2)
    ├── TargetError       the target cannot be reached or used at all (exit 2)
    ├── CannotArrange     the world cannot make the state a probe asks for
    └── JournalError      a record that is damaged, foreign or unfinished (exit 2)
"""

from __future__ import annotations

from dataclasses import dataclass
from difflib import get_close_matches
from enum import Enum
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable


class AssayError(Exception):
    """Anything Assay raises on purpose; its text is one helpful line."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Problem:
    """One thing wrong in one place of an input.

    `line` counts from 1; 0 means the whole file.
    """

    path: str
    line: int
    what: str
    hint: str = ""

    def __str__(self) -> str:
        where = f"{self.path}:{self.line}" if self.line else self.path
        return f"{where}: {self.what}" + (f" ({self.hint})" if self.hint else "")


class InputError(AssayError):
    """A contract, target file or option that cannot be used; holds every problem."""

    def __init__(self, problems: Iterable[Problem]) -> None:
        self.problems = tuple(problems)
        super().__init__("\n".join(str(problem) for problem in self.problems))

    @classmethod
    def one(cls, path: str, what: str, *, line: int = 0, hint: str = "") -> InputError:
        """Make the error for a single problem."""
        return cls([Problem(path=path, line=line, what=what, hint=hint)])


class TargetError(AssayError):
    """The target could not be reached or set up; no obligation is blamed on it."""


class Shortage(Enum):
    """What today's limits leave no room for; another day has it again."""

    BUDGET = "calls that the budget of the target file allows"
    UNUSED_QUOTA = "a day on which the customer's quota is unused"


class CannotArrange(AssayError):  # noqa: N818 -- it reads as the sentence it is
    """A step that cannot be performed here; its text says what is needed.

    `shortage` says that it could be on another day.
    """

    def __init__(self, needed: str, shortage: Shortage | None = None) -> None:
        self.shortage = shortage
        super().__init__(needed)


class JournalError(AssayError):
    """A journal or report that cannot be trusted: damaged, foreign or unfinished."""


#: A list of known words is shown whole up to this many.
MOST_WORDS = 24


def did_you_mean(word: str, known: Iterable[str]) -> str:
    """Return a hint naming the closest known word, or all of them when few."""
    words = sorted(set(known))
    close = get_close_matches(word, words, n=1, cutoff=0.6)
    if close:
        return f"did you mean {close[0]!r}?"
    return f"known: {', '.join(words)}" if words and len(words) <= MOST_WORDS else ""
