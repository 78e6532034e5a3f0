"""The secrets that a target file names, read from the environment before a run starts.

All missing variables are reported at once, with the lines that name them. A secret is
never part of a message, a target file or a report.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Generator, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from urllib.parse import quote_plus

from assay.binding.model.target import Auth, Target
from assay.errors import InputError, Problem
from assay.transport.auth.diagnostics import line_of
from assay.transport.protocol import sendable

__all__ = ["KnownSecrets", "Secret", "known_secrets", "look_up", "unset"]

#: How many secrets are remembered at most.
MOST_SECRETS = 100_000
#: The kinds of the secrets in variables, by the last key that names the variable.
KINDS: Mapping[str, str] = {
    "token_env": "token",
    "client_id_env": "client",
    "client_secret_env": "secret",
    "env": "secret",
    "key_env": "key",
    "key_password_env": "password",
    "login_env": "login",
    "password_env": "password",
}


@dataclass(frozen=True, slots=True)
class Secret:
    """A value that is written nowhere; a `lasting` one belongs to the run, not to one trial."""

    value: str
    kind: str
    lasting: bool


@dataclass(slots=True)
class KnownSecrets:
    """The secrets that a run knows so far, in the order in which it learned them.

    Of very many, the earliest are dropped; `count` counts all.
    """

    entries: list[Secret] = field(default_factory=list[Secret])
    count: int = 0
    _values: set[str] = field(default_factory=set[str])
    _thread: threading.local = field(default_factory=threading.local)

    @contextmanager
    def collected(self, collect: Callable[[Secret], None]) -> Generator[None]:
        """Hand what this thread learns to a trial's own record, until that is written."""
        self._thread.collect = collect
        try:
            yield
        finally:
            del self._thread.collect

    def add(self, value: str | None, kind: str, *, lasting: bool = False) -> None:
        """Remember a secret."""
        collect = getattr(self._thread, "collect", None)
        if collect is not None:
            if value:
                collect(Secret(value, kind, lasting))
        elif value and value not in self._values:
            if len(self.entries) >= MOST_SECRETS:
                del self.entries[: MOST_SECRETS // 2]
                self._values = {secret.value for secret in self.entries}
            self._values.add(value)
            self.entries.append(Secret(value, kind, lasting))
            self.count += 1

    def after(self, count: int) -> list[Secret]:
        """Return the secrets that were learned after the first `count`, as far as they are kept."""
        return self.entries[-(self.count - count) :] if count < self.count else []


def known_secrets(target: Target, secrets: Mapping[str, str]) -> KnownSecrets:
    """Return the secrets of a target file, which `look_up` found, and the pairs of clients."""
    known = KnownSecrets()
    for key_path, _, name in _named(target):
        kind = "token" if "token_envs" in key_path else KINDS.get(key_path[-1], "code")
        kind = "secret" if "secret_envs" in key_path else kind
        known.add(secrets.get(name), kind, lasting=True)
    for auth in (target.auth, target.auth.tpp):
        oauth = auth.oauth if auth else None
        if oauth and oauth.client_secret_env:
            name = secrets.get(oauth.client_id_env or "") or oauth.client_id or ""
            secret = secrets.get(oauth.client_secret_env, "")
            known.add(f"{quote_plus(name)}:{quote_plus(secret)}", "credentials", lasting=True)
    return known


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
    for key_path, in_header, name in _named(target):
        value = environ.get(name)
        if not value:
            fault = "is not set"
            hint = f"export {name}=… before the run; secrets are never written in the file"
        elif in_header and not sendable(value):
            fault = "has a value that cannot be sent in a header"
            hint = "check for a space or line break at its end"
        else:
            continue
        path, line = line_of(target, *key_path)
        key = ".".join(key_path[:-1])
        what = f"{key}: the environment variable {name} {fault}"
        problems.append(Problem(path=path, line=line, what=what, hint=hint, key=key))
    return problems


def _named(target: Target) -> Iterator[tuple[tuple[str, ...], bool, str]]:
    """Yield the key that names a variable, whether a header carries its value, and its name."""
    variables: list[tuple[tuple[str, ...], bool, str | None]] = [
        *_of(target.auth, ("auth",)),
        *(_of(target.auth.tpp, ("auth", "tpp")) if target.auth.tpp else ()),
        (("fixtures", "key_env"), True, target.fixtures.key_env),
    ]
    for section, part in (("tls", target.tls), ("signature", target.signature)):
        variables.append(
            ((section, "key_password_env"), False, part.key_password_env if part else None)
        )
    for role in target.fixtures.roles:
        own = ("fixtures", "roles", role.name)
        variables += [
            ((*own, "token_env"), True, role.token_env),
            ((*own, "login_env"), False, role.login_env),
            ((*own, "password_env"), False, role.password_env),
            *(((*own, "code_envs", factor), False, env) for factor, env in role.code_envs.items()),
            *(((*own, "token_envs", tpp), True, env) for tpp, env in role.token_envs.items()),
            *(((*own, "secret_envs", each), True, env) for each, env in role.secret_envs.items()),
        ]
    variables += [
        (("fixtures", "tpps", tpp.name, "token_env"), True, tpp.token_env)
        for tpp in target.fixtures.tpps
    ]
    for key_path, in_header, name in variables:
        if name:
            yield key_path, in_header, name


def _of(
    auth: Auth, key_path: tuple[str, ...]
) -> Iterator[tuple[tuple[str, ...], bool, str | None]]:
    yield (*key_path, "token_env"), True, auth.token_env
    for number, each in enumerate(auth.further):
        yield (*key_path, "further", str(number), "env"), True, each.env
    if auth.oauth:
        yield (*key_path, "client_id_env"), False, auth.oauth.client_id_env
        yield (*key_path, "client_secret_env"), False, auth.oauth.client_secret_env
        if requested := auth.oauth.request_object:
            at = (*key_path, "request_object", "key_password_env")
            yield at, False, requested.key_password_env
