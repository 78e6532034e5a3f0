"""The secrets that a profile names, looked up in the environment before a run begins.

All that lack are told at once, with the lines that name them: nobody wants to learn of
them one by one. No secret is ever part of a message, a profile or a report.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from assay.errors import InputError, Problem
from assay.run.carrier import sendable
from assay.target.profile import Profile

__all__ = ["look_up", "unset"]


def look_up(profile: Profile, environ: Mapping[str, str]) -> Mapping[str, str]:
    """Return the secrets by the names of their variables.

    Raises:
        InputError: any of them is not set, or empty, or nothing that a header can hold.

    """
    problems = unset(profile, environ)
    if problems:
        raise InputError(problems)
    return {name: environ[name] for _, _, name in _named(profile)}


def unset(profile: Profile, environ: Mapping[str, str]) -> list[Problem]:
    """List every variable that a profile names and that holds nothing to call with."""
    problems: list[Problem] = []
    for at, key, name in _named(profile):
        value = environ.get(name)
        if not value:
            what = "is not set"
            hint = f"export {name}=… before the run; secrets never stand in the file"
        elif not sendable(value):
            what = "holds what no header can carry"
            hint = "is there a space or a line break at its end?"
        else:
            continue
        line = profile.lines.get(f"{at}.{key}") or profile.lines.get(at, 0)
        said = f"{at}: the environment variable {name} {what}"
        problems.append(Problem(path=profile.path, line=line, what=said, hint=hint))
    return problems


def _named(profile: Profile) -> Iterator[tuple[str, str, str]]:
    """Yield where a variable is named: the mapping, its key there, and the variable."""
    if profile.auth.token_env:
        yield "auth", "token_env", profile.auth.token_env
    if profile.world.key_env:
        yield "world", "key_env", profile.world.key_env
    for role in profile.world.roles:
        if role.token_env:
            yield f"world.roles.{role.name}", "token_env", role.token_env
