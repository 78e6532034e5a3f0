"""Authentication, TLS, signatures, budget and safety of a target, and the token in a request.

Secrets are names of environment variables; keys and certificates are files beside the
target file. Nothing is looked up or opened here: see `transport.secrets` and
`transport.auth`; limits are enforced by `running.guard`.
"""

from __future__ import annotations

import base64
import json
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from enum import Enum
from pathlib import Path
from typing import Any, Final, TypeAlias, cast
from urllib.parse import parse_qsl, urlencode, urlsplit, urlunsplit

from assay.binding.model.pointer import MISSING, find, parse_json, put
from assay.binding.model.request_parts import RequestParts
from assay.binding.model.spelling import OperationBinding, Place
from assay.contract.model import Json
from assay.history import Token


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
    neither, the fixture provider supplies it. Authorization requests are pushed to `par_url` first.
    `scope` may be empty. `pkce` adds a proof key (RFC 7636).
    `parameters` stand in every token request. `authorize_url`, `par_url`, `redirect_uri` and
    `request_object` are for codes only.
    """

    token_url: str
    authorize_url: str = ""
    par_url: str = ""
    redirect_uri: str = ""
    client_id: str = ""
    client_id_env: str | None = None
    client_secret_env: str | None = None
    client_auth: ClientAuth = ClientAuth.BASIC
    scope: str = ""
    parameters: Mapping[str, str] = field(default_factory=dict[str, str])
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


class CredentialOf(Enum):
    """Whose credential stands beside the token of a call."""

    TPP = "tpp"
    CUSTOMER = "customer"
    CUSTOMER_ID = "customer-id"
    LOGIN = "login"


@dataclass(frozen=True, slots=True, kw_only=True)
class FurtherCredential(TokenPlace):
    """A credential beside the token: `of` the TPP or the customer, or from the variable `env`.

    Or it is the customer's own `secret` of this name.
    """

    of: CredentialOf | None = None
    env: str | None = None
    secret: str = ""


#: Where a bearer token is sent (RFC 6750) if the target file does not say it.
BEARER = TokenPlace(place=Place.HEADER, name="Authorization", text="Bearer {}")


@dataclass(frozen=True, slots=True, kw_only=True)
class Auth:
    """How calls are authenticated.

    `bearer` sends the token as a bearer token, `key` as it is in the given `header`; `token_in`
    has the places where it is sent instead. A token
    comes from the fixture provider with its subject, from the environment variable
    `token_env` for all subjects, or by OAuth (`oauth` is set for its two kinds). `tpp`
    is how calls of the TPP in its own name are authenticated, where that differs. `further` are
    credentials that stand in each call beside the token. `expires_in` is how many seconds a token
    lasts if its endpoint does not say it, or it is a fixture's, which then renews it; 0 if unknown.
    """

    kind: AuthKind = AuthKind.NONE
    header: str = ""
    token_in: tuple[TokenPlace, ...] = ()
    token_env: str | None = None
    oauth: OAuth | None = None
    tpp: Auth | None = None
    further: tuple[FurtherCredential, ...] = ()
    expires_in: int = 0

    @property
    def token_places(self) -> tuple[TokenPlace, ...]:
        """Everywhere in a request where its token is sent."""
        if self.kind is AuthKind.NONE or self.token_in:
            return self.token_in
        if self.kind is AuthKind.KEY:
            return (TokenPlace(place=Place.HEADER, name=self.header),)
        return (BEARER,)

    @property
    def credential_places(self) -> tuple[TokenPlace, ...]:
        """Everywhere in a request where its token or a further credential is sent."""
        return (*self.token_places, *self.further)

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


# -- The token of a call in its request: written into every place that the file names, and read ---
# A body has a token only where the method has a body. A request shows its caller only if every such
# place has the same token.
Headers: TypeAlias = tuple[tuple[str, str], ...]
#: The methods of requests with a body.
WITH_BODY: Final = frozenset({"PUT", "POST", "PATCH"})


def places_for(auth: Auth, method: str) -> Iterator[TokenPlace]:
    """Return the places of the token in requests with a method."""
    return (at for at in auth.token_places if is_sent(at, method))


def is_sent(at: TokenPlace | Presence, method: str) -> bool:
    """Whether requests with a method have such a place."""
    return at.place is not Place.BODY or method.upper() in WITH_BODY


@dataclass(frozen=True, slots=True, kw_only=True)
class Presence:
    """What marks a call as made with the customer present, or `absent`: a member of the request.

    It stands in a header, a query parameter, or at a pointer in the body.
    """

    place: Place
    name: str
    value: Json
    absent: bool = False

    def marks(self, *, present: bool) -> bool:
        """Whether a call is marked, where the customer is `present` or not."""
        return present is not self.absent

    def shows(self, sent: Json) -> bool:
        """Whether a request with this at the place, or `MISSING`, says that the customer is present.

        The value of others may be any but false.
        """
        marked = sent is not MISSING and (sent == self.value or sent is not False)
        return marked is not self.absent


@dataclass(frozen=True, slots=True)
class StandingParts:
    """What a request with this method has whatever it asks for: credentials, and who is present.

    The token is empty without one; `further` are the credentials beside it, in the order of the
    target file. `mark` is sent, if there is one.
    """

    auth: Auth
    token: str
    method: str
    further: tuple[str, ...] = ()
    mark: Presence | None = None

    def headers(self) -> Iterator[tuple[str, str]]:
        """Yield the headers."""
        return ((name, str(value)) for name, value in self._at(Place.HEADER))

    def parameters(self) -> Iterator[tuple[str, str]]:
        """Yield the query parameters."""
        return ((name, str(value)) for name, value in self._at(Place.QUERY))

    def put(self, body: dict[str, Any]) -> dict[str, Any]:
        """Put what stands in a body into it, and return it."""
        for pointer, value in self._at(Place.BODY):
            put(body, pointer, value)
        return body

    def put_in_url(self, url: str) -> str:
        """Return a URL with the query parameters, in place of others of these names."""
        own = dict(self.parameters())
        url = without_parameters(url, own)
        return f"{url}{'&' if '?' in url else '?'}{urlencode(own)}" if own else url

    def _at(self, place: Place) -> Iterator[tuple[str, Json]]:
        own = [(at, self.token) for at in self.auth.token_places if self.token]
        for at, text in (*own, *zip(self.auth.further, self.further, strict=False)):
            if at.place is place and is_sent(at, self.method):
                yield at.name, at.text.replace("{}", text)
        if self.mark and self.mark.place is place and is_sent(self.mark, self.method):
            yield self.mark.name, self.mark.value


def shown_token(auth: Auth, request: RequestParts) -> str | None:
    """Return the token of a request; None without one, or if its places do not have the same."""
    places = places_for(auth, request.method)
    tokens = {_inside(at.text, request.value_at(at)) for at in places}
    return tokens.pop() if len(tokens) == 1 else None


def _inside(text: str, sent: Json) -> str | None:
    """Return the token in what stands at a place; a scheme before it in any case."""
    before, _, after = text.partition("{}")
    if not isinstance(sent, str):
        return None
    fits = sent[: len(before)].lower() == before.lower() and sent.endswith(after)
    token = sent[len(before) : len(sent) - len(after)].strip() if fits else ""
    return token or None


def without_parameters(url: str, names: Iterable[str]) -> str:
    """Return a URL, or the end of one, without some query parameters."""
    left_out = frozenset(names)
    parts = urlsplit(url)
    if not left_out or not parts.query:
        return url
    kept = [
        pair for pair in parse_qsl(parts.query, keep_blank_values=True) if pair[0] not in left_out
    ]
    return urlunsplit(parts._replace(query=urlencode(kept)))


def put_tokens_back(auth: Auth, body: Json, sent: Json) -> None:
    """Give a changed body the tokens of the one that was sent, unless it is no object any more."""
    if isinstance(body, dict):
        for at in auth.credential_places:
            token = find(sent, at.name) if at.place is Place.BODY else MISSING
            if token is not MISSING:
                put(cast("dict[str, object]", body), at.name, token)


def forged(token: str, how: Token | None) -> str:
    """Return what is sent in place of a token, of the same shape; the token itself for None.

    With another ending, the last two letters or digits are others: the last character of a
    signature may have bits that nobody reads, the one before it has none. With another content,
    the signed claims of a JWT have one more, under the old signature, and any other token has
    another character in its middle. So a bank that reads claims without the signature, or
    compares a part of a token, is seen to do so.
    """
    if how is None:
        return token
    signs = [n for n, sign in enumerate(token) if sign.isalnum()]
    if how is Token.CONTENT and (claimed := _with_another_claim(token)):
        return claimed
    changed = {
        Token.INVENTED: signs,
        Token.ENDING: signs[-2:],
        Token.CONTENT: signs[len(signs) // 2 :][:1],
    }.get(how, [])
    # "0" also differs from every letter where capitals do not matter.
    other = {n: "1" if token[n] == "0" else "0" for n in changed}
    return "".join(other.get(n, sign) for n, sign in enumerate(token))


def _with_another_claim(token: str) -> str:
    """Return a JWT with one more claim and its old signature; nothing for another token."""
    head, _, rest = token.partition(".")
    payload, _, signature = rest.partition(".")
    try:
        claims = parse_json(base64.urlsafe_b64decode(payload + "=" * (-len(payload) % 4)))
    except ValueError:
        return ""
    if not isinstance(claims, dict) or not signature:
        return ""
    more = json.dumps({**claims, "changed": True}, separators=(",", ":")).encode()
    return f"{head}.{base64.urlsafe_b64encode(more).decode().rstrip('=')}.{signature}"


# -- Authorization requests for a single consent or payment that has its own token ----------------
# A target file has the parameters of the request below `approval`, at the operation that makes what the
# customer authorises at `auth.authorize_url`. A token that is issued for the code belongs to that alone.
#: Where the parameters stand, below an operation.
AUTHORIZE: Final = ("approval", "authorize")


def authorizes(bindings: Mapping[str, OperationBinding]) -> bool:
    """Whether a customer's token belongs to what the customer authorised, and not to the customer."""
    return any(binding.authorize is not None for binding in bindings.values())
