"""Settings of a target for authentication, TLS, signatures, budget and safety.

Secrets are names of environment variables; keys and certificates are files beside the
target file. Nothing is looked up or opened here: see `transport.secrets` and
`transport.auth`; limits are enforced by `execution.guard`.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import Enum
from pathlib import Path


class AuthKind(Enum):
    """Where the token of a call comes from, and how it is shown."""

    NONE = "none"
    BEARER = "bearer"
    KEY = "key"
    CLIENT = "client-credentials"
    CODE = "authorization-code"


#: The kinds whose tokens are requested by OAuth.
ISSUING = frozenset({AuthKind.CLIENT, AuthKind.CODE})


class ClientAuth(Enum):
    """How a client shows at the token endpoint who it is."""

    BASIC = "basic"
    POST = "post"
    NONE = "none"


@dataclass(frozen=True, slots=True, kw_only=True)
class OAuth:
    """Where and how tokens are asked for (RFC 6749); URLs are absolute.

    `client_id` stands in the file or in the environment variable `client_id_env`; with
    neither, the world gives it. `scope` may be empty. `pkce` adds a proof key (RFC 7636).
    `authorize_url` and `redirect_uri` are for codes only.
    """

    token_url: str
    authorize_url: str = ""
    redirect_uri: str = ""
    client_id: str = ""
    client_id_env: str | None = None
    client_secret_env: str | None = None
    client_auth: ClientAuth = ClientAuth.BASIC
    scope: str = ""
    pkce: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Auth:
    """How calls are authenticated.

    `bearer` shows the subject's token, `key` the same as it is in a `header` of its own. A
    token comes from the world with its subject, or from the environment variable
    `token_env` for all subjects, or by OAuth (`oauth` is there for its two kinds).
    `provider` is how calls that are made as the third party are authenticated, where that
    differs.
    """

    kind: AuthKind = AuthKind.NONE
    header: str = ""
    token_env: str | None = None
    oauth: OAuth | None = None
    provider: Auth | None = None

    def of(self, *, by_provider: bool) -> Auth:
        """Return how a customer's calls, or those of the third party, are authenticated."""
        return self.provider if by_provider and self.provider else self


@dataclass(frozen=True, slots=True, kw_only=True)
class Tls:
    """Whom to trust, and the client's own certificate (files in PEM, or None).

    `key_password_env` names the variable with the key's password, if it has one.
    """

    ca_file: Path | None = None
    certificate_file: Path | None = None
    key_file: Path | None = None
    key_password_env: str | None = None


class SignatureKind(Enum):
    """Which way of signing HTTP messages."""

    CAVAGE = "cavage"
    RFC9421 = "rfc9421"


#: The components and the algorithm of a signature where the target file names none.
COVERS: Mapping[SignatureKind, tuple[str, ...]] = {
    SignatureKind.CAVAGE: ("(request-target)", "host", "date", "digest", "x-request-id"),
    SignatureKind.RFC9421: ("@method", "@target-uri", "content-digest"),
}
ALGORITHMS: Mapping[SignatureKind, str] = {
    SignatureKind.CAVAGE: "rsa-sha256",
    SignatureKind.RFC9421: "rsa-pss-sha512",
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Signature:
    """How every call is signed.

    `covers` are what is signed, in order, in the words of its kind: `(request-target)`,
    `host`, `digest` ... or `@method`, `@target-uri`, `content-digest` ...; what a call does not
    have (a digest without a body) is left out. `key_id` is sent as it is.
    """

    kind: SignatureKind
    key_file: Path
    key_id: str
    algorithm: str
    covers: tuple[str, ...]
    key_password_env: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Budget:
    """How much may be asked; None where nothing bounds it.

    `calls` in one run; `batch` accesses without the customer, for each customer, method
    and calendar day, by whichever run.
    """

    calls: int | None = None
    batch: int | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Safety:
    """What must not happen to somebody's money.

    Without `allow_writes` a live bank is only read. `only` lists the values that an
    argument of what is written may have, `most` the largest number. After `breaker`
    failures in a row nothing more is sent; None for never.
    """

    allow_writes: bool = False
    only: Mapping[str, tuple[str, ...]] = field(default_factory=dict[str, tuple[str, ...]])
    most: Mapping[str, str] = field(default_factory=dict[str, str])
    breaker: int | None = None
