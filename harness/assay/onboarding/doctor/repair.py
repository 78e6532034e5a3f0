"""Repair of a target file by what an examination proposes: one change after another, each shown.

The examination names what stands in the file and what was probably meant. What it can only ask, and
what is wrong in a file that this one extends, is left to the reader.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from difflib import unified_diff
from pathlib import Path

from assay.files.edits import Edit, apply
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


#: Returns the change to make: the proposed one, another one, or none.
Decide = Callable[[Proposal], Edit | None]


def proposed(finding: Finding, path: Path, text: str) -> Proposal | None:
    """Return the change of a file that a finding proposes; None if there is none to make."""
    edit = finding.edit
    if edit is None or Path(finding.path) != path:
        return None
    if finding.inherited and edit.old is not None:
        return None  # another file has what is wrong; what is missing can stand here
    # It may come from an answer, and is written into a file.
    if not edit.printable or len(edit.text) > LONGEST:
        return None
    after = apply(text, edit)
    changes = after is not None and after != text
    return Proposal(finding=finding, before=text, after=after or "") if changes else None


def repair(
    path: Path, examine: Callable[[], Examination], decide: Decide
) -> tuple[Examination, int]:
    """Change a file as long as something is proposed and accepted; return what is left.

    The second is the number of changes. Each is written as soon as it is accepted.
    """
    changes, decided = 0, list[Edit | None]()
    examined = examine()
    for _ in range(ROUNDS):
        text, again = path.read_text("utf-8"), False
        for finding in examined.findings:
            proposal = None if finding.edit in decided else proposed(finding, path, text)
            if proposal is None:
                continue
            decided.append(finding.edit)
            edit = decide(proposal)
            after = edit and apply(text, edit)
            if after:
                path.write_text(after, "utf-8")
                text, changes, again = after, changes + 1, True
        if not again:
            break
        examined = examine()
    return examined, changes
