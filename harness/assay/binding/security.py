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

from assay.binding.spelling import Place


class AuthKind(Enum):
    """Where the token of a call comes from, and how it is sent."""

    NONE = "none"
    BEARER = "bearer"
    KEY = "key"
    CLIENT = "client-credentials"
    CODE = "authorization-code"


#: The kinds whose tokens are requested by OAuth.
ISSUING = frozenset({AuthKind.CLIENT, AuthKind.CODE})


class ClientAuth(Enum):
    """How a client authenticates at the token endpoint."""

    BASIC = "basic"
    POST = "post"
    NONE = "none"


@dataclass(frozen=True, slots=True, kw_only=True)
class RequestObject:
    """How the parameters of authorization requests are signed (RFC 9101).

    `key_id` is sent as it is. `audience` is the issuer of the authorization server; empty for the
    origin of `authorize_url`.
    """

    key_file: Path
    key_id: str
    key_password_env: str | None = None
    algorithm: str = "PS256"
    audience: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class OAuth:
    """Where and how tokens are requested (RFC 6749); URLs are absolute.

    `client_id` stands in the file or in the environment variable `client_id_env`; with
    neither, the fixture provider supplies it. `scope` may be empty. `pkce` adds a proof key (RFC 7636).
    `authorize_url`, `redirect_uri` and `request_object` are for codes only.
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
    request_object: RequestObject | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class TokenPlace:
    """One place of a request that has the token: a header, a query parameter, a pointer in the body.

    `text` is what stands there, with the token in place of "{}".
    """

    place: Place
    name: str
    text: str = "{}"


#: Where a bearer token is sent (RFC 6750) if the target file does not say it.
BEARER = TokenPlace(place=Place.HEADER, name="Authorization", text="Bearer {}")


@dataclass(frozen=True, slots=True, kw_only=True)
class Auth:
    """How calls are authenticated.

    `bearer` sends the token as a bearer token, `key` as it is in the given `header`; `token_in`
    has the places where it is sent instead. A token
    comes from the fixture provider with its subject, from the environment variable
    `token_env` for all subjects, or by OAuth (`oauth` is set for its two kinds). `tpp`
    is how calls of the TPP in its own name are authenticated, where that differs.
    """

    kind: AuthKind = AuthKind.NONE
    header: str = ""
    token_in: tuple[TokenPlace, ...] = ()
    token_env: str | None = None
    oauth: OAuth | None = None
    tpp: Auth | None = None

    @property
    def token_places(self) -> tuple[TokenPlace, ...]:
        """Everywhere in a request where its token is sent."""
        if self.kind is AuthKind.NONE or self.token_in:
            return self.token_in
        if self.kind is AuthKind.KEY:
            return (TokenPlace(place=Place.HEADER, name=self.header),)
        return (BEARER,)

    def of(self, *, by_tpp: bool) -> Auth:
        """Return how a customer's calls, or the TPP's own, are authenticated."""
        return self.tpp if by_tpp and self.tpp else self


@dataclass(frozen=True, slots=True, kw_only=True)
class Tls:
    """The certificates to trust, and the client's own (files in PEM, or None).

    `key_password_env` names the variable with the key's password, if it has one.
    """

    ca_file: Path | None = None
    certificate_file: Path | None = None
    key_file: Path | None = None
    key_password_env: str | None = None


class SignatureKind(Enum):
    """The standard by which HTTP messages are signed."""

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

    `covers` lists the signed components in order, with the names of its kind:
    `(request-target)`, `host`, `digest` ... or `@method`, `@target-uri`, `content-digest` ...; a
    component that a call does not have (a digest without a body) is left out. `key_id` is sent
    as it is.
    """

    kind: SignatureKind
    key_file: Path
    key_id: str
    algorithm: str
    covers: tuple[str, ...]
    key_password_env: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Budget:
    """The limits on calls; None for no limit.

    `calls` is the limit of one run. `batch` is the limit of accesses without the customer, for
    each customer, method and calendar day, in all runs together.
    """

    calls: int | None = None
    batch: int | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Safety:
    """What must not happen to real money.

    Without `allow_writes`, a live bank is only read. `only` lists the values that an argument
    of a writing call may have, `most` its largest number. A run makes at most `requests` requests,
    None for the usual number on a live bank and any number elsewhere; `total` is the largest sum of
    the numbers that an argument has in all of them. After `breaker` failures in a row
    nothing more is sent; None for never. At most `concurrency` trials run side by side; None for
    one on a live bank, and any number elsewhere.
    """

    allow_writes: bool = False
    only: Mapping[str, tuple[str, ...]] = field(default_factory=dict[str, tuple[str, ...]])
    most: Mapping[str, str] = field(default_factory=dict[str, str])
    requests: int | None = None
    total: Mapping[str, str] = field(default_factory=dict[str, str])
    breaker: int | None = None
    concurrency: int | None = None
