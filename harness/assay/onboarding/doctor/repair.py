"""Repair of a target file by what an examination proposes: one change after another, each shown.

The examination names what stands in the file and what was probably meant. What it can only ask, and
what a file inherits, is left to the reader.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from difflib import unified_diff
from pathlib import Path

from assay.files.edits import apply
from assay.onboarding.doctor.examination import Examination
from assay.onboarding.doctor.record import Finding

#: The longest value that is written into a file.
LONGEST = 200
#: How often a file is examined again at most; each time it has fewer problems.
ROUNDS = 10


@dataclass(frozen=True, slots=True, kw_only=True)
class Proposal:
    """A finding with the change that would correct it."""

    finding: Finding
    before: str
    after: str

    @property
    def certain(self) -> bool:
        """Whether the change follows from more than a similar name."""
        return self.finding.edit is not None and self.finding.edit.certain

    @property
    def diff(self) -> Iterator[str]:
        """The changed lines, as a diff without context."""
        lines = unified_diff(self.before.splitlines(), self.after.splitlines(), lineterm="", n=0)
        yield from [*lines][2:]


#: Says whether a change is made.
Accept = Callable[[Proposal], bool]


def proposals(examined: Examination, path: Path, text: str) -> Iterator[Proposal]:
    """Yield the changes of a file that an examination proposes, each of the file as it is."""
    done: set[str] = set()
    for finding in examined.findings:
        edit = finding.edit
        if edit is None or finding.inherited or Path(finding.path) != path:
            continue
        # It may come from an answer, and is written into a file.
        if not edit.new.isprintable() or len(edit.new) > LONGEST:
            continue
        after = apply(text, edit)
        if after is not None and after != text and after not in done:
            done.add(after)
            yield Proposal(finding=finding, before=text, after=after)


def repair(
    path: Path, examine: Callable[[], Examination], accept: Accept
) -> tuple[Examination, int]:
    """Change a file as long as something is proposed and accepted; return what is left.

    The second is the number of changes. Each is written as soon as it is accepted.
    """
    changes, refused = 0, set[object]()
    examined = examine()
    for _ in range(ROUNDS):
        text, again = path.read_text("utf-8"), False
        for proposal in proposals(examined, path, text):
            edit = proposal.finding.edit
            if edit is None or edit in refused:
                continue
            after = apply(path.read_text("utf-8"), edit)
            if after is None or not accept(proposal):
                refused.add(edit)
                continue
            path.write_text(after, "utf-8")
            changes, again = changes + 1, True
        if not again:
            break
        examined = examine()
    return examined, changes
