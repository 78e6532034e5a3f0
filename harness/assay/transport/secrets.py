"""The secrets that a target file names, read from the environment before a run starts.

All missing variables are reported at once, with the lines that name them. A secret is
never part of a message, a target file or a report.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from assay.binding.target import Auth, Target
from assay.errors import InputError, Problem
from assay.transport.auth.diagnostics import line_of
from assay.transport.protocol import sendable

__all__ = ["look_up", "unset"]


def look_up(target: Target, environ: Mapping[str, str]) -> Mapping[str, str]:
    """Return the secrets by the names of their variables.

    Raises:
        InputError: a variable is not set, is empty, or cannot be sent in a header.

    """
    problems = unset(target, environ)
    if problems:
        raise InputError(problems)
    return {name: environ[name] for _, _, name in _named(target)}


def unset(target: Target, environ: Mapping[str, str]) -> list[Problem]:
    """Return a problem for every variable of a target file that has no usable value."""
    problems: list[Problem] = []
    for at, shown, name in _named(target):
        value = environ.get(name)
        if not value:
            what = "is not set"
            hint = f"export {name}=… before the run; secrets are never written in the file"
        elif shown and not sendable(value):
            what = "has a value that cannot be sent in a header"
            hint = "check for a space or line break at its end"
        else:
            continue
        path, line = line_of(target, *at)
        key = ".".join(at[:-1])
        said = f"{key}: the environment variable {name} {what}"
        problems.append(Problem(path=path, line=line, what=said, hint=hint, key=key))
    return problems


def _named(target: Target) -> Iterator[tuple[tuple[str, ...], bool, str]]:
    """Yield where a variable is named, whether a header must carry it, and the variable."""
    found: list[tuple[tuple[str, ...], bool, str | None]] = [
        *_of(target.auth, ("auth",)),
        *(_of(target.auth.provider, ("auth", "provider")) if target.auth.provider else ()),
        (("fixtures", "key_env"), True, target.fixtures.key_env),
    ]
    for section, part in (("tls", target.tls), ("signature", target.signature)):
        found.append(
            ((section, "key_password_env"), False, part.key_password_env if part else None)
        )
    for role in target.fixtures.roles:
        own = ("fixtures", "roles", role.name)
        found += [
            ((*own, "token_env"), True, role.token_env),
            ((*own, "login_env"), False, role.login_env),
            ((*own, "password_env"), False, role.password_env),
            *(((*own, "code_envs", word), False, env) for word, env in role.code_envs.items()),
        ]
    for at, shown, name in found:
        if name:
            yield at, shown, name


def _of(auth: Auth, at: tuple[str, ...]) -> Iterator[tuple[tuple[str, ...], bool, str | None]]:
    yield (*at, "token_env"), True, auth.token_env
    if auth.oauth:
        yield (*at, "client_id_env"), False, auth.oauth.client_id_env
        yield (*at, "client_secret_env"), False, auth.oauth.client_secret_env
