"""Authentication problems of a target file: file, line, and a hint.

A target that refuses a client, a scope or a certificate has shown nothing about its
contract. The target file is suspected before the bank: usually a secret, scope or
address in it is wrong. Nothing here quotes the target's answer, which may contain our
own secrets.
"""

from __future__ import annotations

from assay.binding.model.target import Target
from assay.errors import Problem, TargetError

__all__ = ["AuthenticationError", "line_of", "place", "place_of", "problem"]


class AuthenticationError(TargetError):
    """Calls cannot be authenticated; `problem` names the line to check.

    `party_lost` is the party (False: the customers, True: the TPP) none of whose calls
    can be made in this run; None where other calls may still succeed. `unconnected` says
    that there was no connection.
    """

    def __init__(
        self, problem: Problem, *, party_lost: bool | None = None, unconnected: bool = False
    ) -> None:
        self.problem = problem
        self.party_lost = party_lost
        self.unconnected = unconnected
        super().__init__(str(problem))


def line_of(target: Target, *pointer: str) -> tuple[str, int]:
    """Return the file and line of a key, or of its nearest parent."""
    if target.document is not None:
        return target.place(*pointer)
    names = (".".join(pointer[:n]) for n in range(len(pointer), 0, -1))
    return target.path, next((target.lines[name] for name in names if name in target.lines), 0)


def place_of(target: Target, *pointer: str) -> str:
    """Return a key with its line as text: `auth.scope, line 12`."""
    path, line = line_of(target, *pointer)
    where = f"line {line}" if path == target.path else f"{path}:{line}"
    return ".".join(pointer) + (f", {where}" if line else "")


def problem(target: Target, *pointer: str, what: str, hint: str = "") -> Problem:
    """Return a problem with a key of a target file."""
    path, line = line_of(target, *pointer)
    key = ".".join(pointer)
    return Problem(path=path, line=line, what=f"{key}: {what}", hint=hint, key=key)


def place(target: Target, *, by_tpp: bool) -> tuple[str, ...]:
    """Return the key that says how the party's calls are authenticated."""
    separate = by_tpp and target.auth.tpp is not None
    return ("auth", "tpp") if separate else ("auth",)
