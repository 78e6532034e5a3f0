"""The exceptions of Assay, its exit codes, and hints on misspelt names.

Non-conformance of a bank is never an exception: checks yield evidence. The exceptions
separate the other causes of a failure:

    AssayError
    ├── InputError        a file or option: path, line, expected, found, hint (exit 2)
    ├── TargetError       the target cannot be reached or used at all (exit 2)
    ├── CannotArrange     a step of a probe that cannot be performed on this target
    ├── KindError         a rule kind that does not do what it declares
    └── JournalError      a journal that is damaged, foreign or unfinished (exit 2)
"""

from __future__ import annotations

from dataclasses import dataclass, field
from difflib import get_close_matches
from enum import Enum
from itertools import islice
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence


class Exit(Enum):
    """What the exit code of a run means."""

    OK = 0
    VIOLATION = 1
    USAGE = 2
    INCOMPLETE = 3
    FAULT = 4


class AssayError(Exception):
    """An error that Assay raises on purpose; its text is one line for the user."""


#: The most problems that are listed, and that are looked for: each costs a search for a hint.
MOST_PROBLEMS, SOUGHT_PROBLEMS = 100, 1_000
#: The greatest length of a message: what it quotes may be long.
MOST_CHARACTERS = 2_000


def one_line(text: str) -> str:
    """Return a message as one line; what cannot be printed is escaped, the middle may be cut out."""
    if not text.isprintable():
        text = "".join(char if char.isprintable() else repr(char)[1:-1] for char in text)
    half = MOST_CHARACTERS // 2
    return text if len(text) <= MOST_CHARACTERS else f"{text[:half]}…{text[-half:]}"


def first_lines(lines: Sequence[object]) -> Iterator[str]:
    """Yield the first lines of a list, and how many more there are."""
    yield from map(str, lines[:MOST_PROBLEMS])
    if more := len(lines[MOST_PROBLEMS:]):
        yield f"and {'at least ' if len(lines) >= SOUGHT_PROBLEMS else ''}{more} more"


@dataclass(frozen=True, slots=True, kw_only=True)
class Problem:
    """One thing wrong in one place of an input.

    `line` counts from 1; 0 means the whole file. `key` is the dotted name of the place,
    empty where the problem has none; `what` begins with it. `at` is the same as steps.
    """

    path: str
    line: int
    what: str
    hint: str = ""
    key: str = field(default="", compare=False)
    at: tuple[str | int, ...] = field(default=(), compare=False)

    @property
    def statement(self) -> str:
        """What is wrong, without the key."""
        return self.what.removeprefix(f"{self.key}: ") if self.key else self.what

    def __str__(self) -> str:
        where = f"{self.path}:{self.line}" if self.line else self.path
        return one_line(f"{where}: {self.what}" + (f" ({self.hint})" if self.hint else ""))


class InputError(AssayError):
    """A contract, target file or option that cannot be used, with all its problems (up to 1,000)."""

    def __init__(self, problems: Iterable[Problem]) -> None:
        self.problems = tuple(islice(problems, SOUGHT_PROBLEMS))
        super().__init__("\n".join(first_lines(self.problems)))

    @classmethod
    def one(cls, path: str, what: str, *, line: int = 0, hint: str = "") -> InputError:
        """Return the error of a single problem."""
        return cls([Problem(path=path, line=line, what=what, hint=hint)])


class TargetError(AssayError):
    """The target could not be reached or set up; no obligation is reported as violated."""


class Shortage(Enum):
    """What today's limits leave no room for; another day has it again."""

    BUDGET = "calls that the budget of the target file allows"
    UNUSED_QUOTA = "a day on which the customer's quota is unused"


class CannotArrange(AssayError):  # noqa: N818 -- it reads as the sentence it is
    """A step that cannot be performed here; its text says what is needed.

    `shortage` says that it could be on another day. `key` leads to the place in the target
    file that would provide what is needed; empty where it is the fixture provider's to give.
    A fixture may say which part of a customer it cannot prepare: things of a `resource`, only those
    in the state `trait`, or only their `entries`.
    """

    def __init__(
        self,
        needed: str,
        shortage: Shortage | None = None,
        *,
        key: tuple[str, ...] = (),
        resource: str = "",
        trait: str = "",
        entries: bool = False,
    ) -> None:
        super().__init__(needed)
        self.shortage = shortage
        self.key = key
        self.resource = resource
        self.trait = trait
        self.entries = entries


class KindError(AssayError):
    """A rule kind that does not do what it declares; to be fixed in the code of the kind."""


class JournalError(AssayError):
    """A journal or report that cannot be trusted: damaged, foreign or unfinished."""


#: The greatest number of known words that a hint lists.
MOST_WORDS = 24


def closest(word: str, known: Iterable[str]) -> str | None:
    """Return the known word that a word is most likely a misspelling of, if there is one."""
    return next(iter(get_close_matches(word, sorted(set(known)), n=1, cutoff=0.6)), None)


class Hint(str):
    """A hint that knows which word it proposes, and in place of which."""

    __slots__ = ("meant",)
    meant: tuple[str, str]

    @classmethod
    def instead(cls, word: str, close: str) -> Hint:
        """Return the hint that a known word was meant."""
        hint = cls(f"did you mean {close!r}?")
        hint.meant = word, close
        return hint


def did_you_mean(word: str, known: Iterable[str]) -> str:
    """Return a hint with the closest known word, or with all of them if they are few."""
    candidates = sorted(set(known))
    if close := closest(word, candidates):
        return Hint.instead(word, close)
    return f"known: {', '.join(candidates)}" if candidates and len(candidates) <= MOST_WORDS else ""
