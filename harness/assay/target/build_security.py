"""Data of `auth`, `tls`, `signature`, `budget` and `safety` in which nothing is wrong -> values."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any, TypeAlias

from assay.target.safety import Budget, Safety
from assay.target.security import (
    Auth,
    AuthKind,
    ClientAuth,
    OAuth,
    Signature,
    SignatureKind,
    Tls,
)

__all__ = ["auth", "budget", "safety", "signature", "tls"]

_Raw: TypeAlias = Mapping[str, Any]
#: Finds a file by the section and the key that name it.
Beside: TypeAlias = Callable[[str, str], Path]

#: What is signed, and how, where the file does not say.
COVERS: Mapping[SignatureKind, tuple[str, ...]] = {
    SignatureKind.CAVAGE: ("(request-target)", "host", "date", "digest", "x-request-id"),
    SignatureKind.RFC9421: ("@method", "@target-uri", "content-digest"),
}
ALGORITHMS: Mapping[SignatureKind, str] = {
    SignatureKind.CAVAGE: "rsa-sha256",
    SignatureKind.RFC9421: "rsa-pss-sha512",
}
#: The keys of `auth` that are about tokens asked for by OAuth.
_OAUTH = frozenset(
    [
        "token_url",
        "authorize_url",
        "redirect_uri",
        "client_id",
        "client_id_env",
        "client_secret_env",
        "scope",
        "pkce",
    ]
)


def auth(raw: _Raw) -> Auth:
    """Make what says how calls are authenticated."""
    kind = AuthKind(raw.get("kind", AuthKind.NONE.value))
    return Auth(
        kind=kind,
        header=raw.get("header", ""),
        token_env=raw.get("token_env"),
        oauth=_oauth(raw) if kind in {AuthKind.CLIENT, AuthKind.CODE} else None,
        provider=auth(raw["provider"]) if "provider" in raw else None,
    )


def _oauth(raw: _Raw) -> OAuth:
    given = {name: raw[name] for name in _OAUTH if name in raw}
    return OAuth(client_auth=ClientAuth(raw.get("client_auth", ClientAuth.BASIC.value)), **given)


def tls(raw: _Raw, beside: Beside) -> Tls:
    """Make what is used for TLS."""
    files = {
        name: beside("tls", name)
        for name in ("ca_file", "certificate_file", "key_file")
        if name in raw
    }
    return Tls(key_password_env=raw.get("key_password_env"), **files)


def signature(raw: _Raw, beside: Beside) -> Signature:
    """Make what says how calls are signed."""
    kind = SignatureKind(raw["kind"])
    return Signature(
        kind=kind,
        key_file=beside("signature", "key_file"),
        key_id=raw["key_id"],
        algorithm=raw.get("algorithm", ALGORITHMS[kind]),
        covers=tuple(raw.get("covers", COVERS[kind])),
        key_password_env=raw.get("key_password_env"),
    )


def budget(raw: _Raw) -> Budget:
    """Make what bounds the calls."""
    return Budget(calls=raw.get("calls"), batch=raw.get("batch"))


def safety(raw: _Raw) -> Safety:
    """Make what must not happen."""
    return Safety(
        allow_writes=raw.get("allow_writes", False),
        only={name: tuple(values) for name, values in raw.get("only", {}).items()},
        most={name: str(value) for name, value in raw.get("most", {}).items()},
        breaker=raw.get("breaker"),
    )
