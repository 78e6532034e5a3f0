"""Where a profile is wrong about how calls are authenticated: file, line, and a hint.

A target that refuses a client, a scope or a certificate has said nothing of its contract.
Nothing here quotes what a target says: it may say our own secrets.
"""

from __future__ import annotations

from assay.errors import Problem, TargetError
from assay.target.profile import Profile

__all__ = ["NoAccess", "line_of", "place_of", "problem"]


class NoAccess(TargetError):  # noqa: N818 -- it reads as what it is
    """Nobody can call like this; `problem` names the line to look at.

    `hopeless` says whether no call of this party (True: the third party) can be made in
    the whole run; None where others of it still may. `nowhere` says that nobody was
    reached at all.
    """

    def __init__(
        self, problem: Problem, *, hopeless: bool | None = None, nowhere: bool = False
    ) -> None:
        self.problem = problem
        self.hopeless = hopeless
        self.nowhere = nowhere
        super().__init__(str(problem))


def line_of(profile: Profile, *pointer: str) -> tuple[str, int]:
    """Return the file and the line of a key, or of the nearest one above it."""
    if profile.document is not None:
        return profile.place(*pointer)
    names = (".".join(pointer[:n]) for n in range(len(pointer), 0, -1))
    return profile.path, next((profile.lines[one] for one in names if one in profile.lines), 0)


def place_of(profile: Profile, *pointer: str) -> str:
    """Return a key and where it stands, in words: `auth.scope, line 12`."""
    path, line = line_of(profile, *pointer)
    where = f"line {line}" if path == profile.path else f"{path}:{line}"
    return ".".join(pointer) + (f", {where}" if line else "")


def problem(profile: Profile, *pointer: str, what: str, hint: str = "") -> Problem:
    """Return what is wrong at a key of a profile."""
    path, line = line_of(profile, *pointer)
    return Problem(path=path, line=line, what=f"{'.'.join(pointer)}: {what}", hint=hint)
