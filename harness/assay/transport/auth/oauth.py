"""OAuth 2.0 (RFC 6749): requests to a token endpoint, and the authorization code flow.

Our own transport sends each request once. Answers are untrusted:
they are validated, and of a refusal only the error codes of the RFC are ever repeated.
"""

from __future__ import annotations

import json
from base64 import b64encode, urlsafe_b64encode
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from datetime import datetime, timedelta
from hashlib import sha256
from secrets import token_urlsafe
from typing import Any, TypeAlias, cast
from urllib.parse import parse_qs, quote_plus, urlencode, urlsplit

from assay.binding.model.target import ClientAuth, OAuth, Target
from assay.binding.wire.decode import SERVER_ERRORS, body_of
from assay.binding.wire.encode import HttpRequest
from assay.contract.model import Json
from assay.errors import TargetError
from assay.history import Wire
from assay.sca.protocol import ScreenFlowResult
from assay.transport.auth.diagnostics import AuthenticationError, problem
from assay.transport.protocol import Transport, sendable

__all__ = [
    "CLIENT_ERRORS",
    "ERROR_CODES",
    "AuthorizationCode",
    "Grant",
    "OAuthClient",
    "Parameters",
    "SignIn",
    "SignRequest",
    "TokenRefused",
    "push_request",
    "redirect_parameters",
    "request_code",
    "request_token",
]

OK, CREATED = 200, 201
REFUSALS = range(400, 600)
#: The longest token that is accepted, in characters, and the longest lifetime of one.
LONGEST_TOKEN = 8192
LONGEST_LIFETIME = timedelta(days=3650)
#: How long before its expiry a token is renewed; at most a tenth of its lifetime.
MARGIN = timedelta(seconds=30)

#: Error codes that concern the client, and so every call of the party.
CLIENT_ERRORS = frozenset(
    [
        "invalid_client",
        "unauthorized_client",
        "invalid_scope",
        "unsupported_grant_type",
        "unsupported_response_type",
    ]
)
#: The error codes of RFC 6749; no other text of an endpoint is repeated.
ERROR_CODES = CLIENT_ERRORS | {
    "access_denied",
    "invalid_grant",
    "invalid_request",
    "server_error",
    "temporarily_unavailable",
}


@dataclass(frozen=True, slots=True, kw_only=True)
class OAuthClient:
    """The credentials of a client; `made` says that the fixture provider created it."""

    id: str
    secret: str | None = None
    made: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Grant:
    """A token that was issued; `expires` is None where the endpoint gave no lifetime."""

    token: str
    issued: datetime
    expires: datetime | None = None
    refresh: str | None = None

    def valid(self, now: datetime) -> bool:
        """Whether it is still valid; the clock of a fixture may also have gone back."""
        if now < self.issued:
            return False
        if self.expires is None:
            return True
        return now < self.expires - min(MARGIN, (self.expires - self.issued) / 10)


@dataclass(frozen=True, slots=True, kw_only=True)
class TokenRefused:
    """A refusal: `error` is an error code of RFC 6749, or empty; `why` a sentence.

    `failed` says that the endpoint itself failed, which is no fault of the target file;
    `status` is 0 when no answer came, `key` that with the URL of the endpoint.
    """

    status: int
    key: str = "token_url"
    error: str = ""
    why: str = ""
    failed: bool = False


def request_token(
    transport: Transport, oauth: OAuth, client: OAuthClient, grant: str, now: datetime, **form: str
) -> Grant | TokenRefused:
    """Request a token once.

    Raises:
        TargetError: no connection to the endpoint is possible.

    """
    sent = {"grant_type": grant, **form}
    delivery = transport.send(_client_request(oauth.token_url, oauth, client, sent))
    if delivery.trouble:
        return TokenRefused(status=0, why=delivery.trouble, failed=True)
    return _read_token(delivery.wire, now)


def push_request(
    transport: Transport, oauth: OAuth, client: OAuthClient, parameters: Mapping[str, str]
) -> str | TokenRefused:
    """Push the parameters of an authorization request once (RFC 9126); return its `request_uri`."""
    refused = TokenRefused(key="par_url", status=0, failed=True)
    try:
        delivery = transport.send(_client_request(oauth.par_url, oauth, client, parameters))
    except TargetError as error:
        return replace(refused, why=str(error))
    if delivery.trouble:
        return replace(refused, why=delivery.trouble)
    if delivery.wire.status not in {OK, CREATED}:
        return replace(_refused(delivery.wire), key="par_url")
    uri = _object(delivery.wire).get("request_uri")
    if isinstance(uri, str) and 0 < len(uri) <= LONGEST_TOKEN:
        return uri
    return replace(refused, failed=False, why="its answer has no request_uri")


def _client_request(
    url: str, oauth: OAuth, client: OAuthClient, form: Mapping[str, str]
) -> HttpRequest:
    headers = [
        ("Accept", "application/json"),
        ("Content-Type", "application/x-www-form-urlencoded"),
    ]
    credentials: dict[str, str] = {}
    if oauth.client_auth is ClientAuth.BASIC:
        # Each is form-encoded first (RFC 6749, 2.3.1).
        pair = f"{quote_plus(client.id)}:{quote_plus(client.secret or '')}"
        headers.append(("Authorization", f"Basic {b64encode(pair.encode()).decode()}"))
    else:
        credentials["client_id"] = client.id
        if oauth.client_auth is ClientAuth.POST and client.secret:
            credentials["client_secret"] = client.secret
    fields = {**form, **credentials}
    body = urlencode({name: value for name, value in fields.items() if value})
    return HttpRequest(method="POST", url=url, headers=tuple(headers), body=body.encode("ascii"))


def _object(wire: Wire) -> dict[str, Any]:
    body = body_of(wire)
    return cast("dict[str, Any]", body) if isinstance(body, dict) else {}


def _refused(wire: Wire) -> TokenRefused:
    error = _object(wire).get("error")
    known = error if isinstance(error, str) and error in ERROR_CODES else ""
    failed = wire.status in SERVER_ERRORS
    return TokenRefused(status=wire.status, error=known, failed=failed)


def _read_token(wire: Wire, now: datetime) -> Grant | TokenRefused:
    if wire.status != OK:
        return _refused(wire)
    answer = _object(wire)
    token, token_type = answer.get("access_token"), answer.get("token_type", "bearer")
    if not isinstance(token, str) or not token:
        return TokenRefused(status=wire.status, why="its answer has no access_token")
    if len(token) > LONGEST_TOKEN or not sendable(token):
        return TokenRefused(status=wire.status, why="its token cannot be sent in a header")
    if not isinstance(token_type, str) or token_type.lower() != "bearer":
        return TokenRefused(status=wire.status, why="its token is not a bearer token (token_type)")
    lifetime, refresh = _lifetime(answer.get("expires_in")), answer.get("refresh_token")
    return Grant(
        token=token,
        issued=now,
        expires=now + lifetime if lifetime is not None else None,
        refresh=refresh if isinstance(refresh, str) and 0 < len(refresh) <= LONGEST_TOKEN else None,
    )


def _lifetime(expires_in: object) -> timedelta | None:
    """Return how long a token is valid; endpoints send the seconds as a number or as text."""
    if isinstance(expires_in, bool) or not isinstance(expires_in, int | str):
        return None
    if len(str(expires_in)) > 12:  # noqa: PLR2004 -- more digits than any lifetime has
        return None
    try:
        seconds = int(expires_in)
    except ValueError:
        return None
    return min(timedelta(seconds=seconds), LONGEST_LIFETIME) if seconds > 0 else None


# -- The authorization code flow -----------------------------------------------------------------
# The signer operates the bank's screens as the customer. The code is read from the redirect, which
# is not followed; a state other than ours ends the flow. Further parameters say what is authorised.
#: Signs the parameters of an authorization request, and returns the request object (RFC 9101).
SignRequest: TypeAlias = Callable[[Mapping[str, Json]], str]

#: Takes the customer through the screens, starting at a link, and returns the result.
SignIn: TypeAlias = Callable[[str], ScreenFlowResult]


@dataclass(frozen=True, slots=True, kw_only=True)
class AuthorizationCode:
    """The code that the bank issued; `verifier` proves that this client requested it (PKCE)."""

    code: str
    verifier: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Parameters:
    """Further parameters of an authorization request, which precede those of `auth`.

    `at` is the key of the target file that has them; it is empty if there are none.
    """

    at: tuple[str, ...] = ()
    values: Mapping[str, Json] = field(default_factory=dict[str, Json])

    def suspect(self, section: tuple[str, ...]) -> tuple[str, ...]:
        """Return the key to check if the bank does not take the request."""
        return self.at or (*section, "authorize_url")


def request_code(
    target: Target,
    section: tuple[str, ...],
    oauth: OAuth,
    client: OAuthClient,
    sign_in: SignIn,
    *,
    more: Parameters,
    push: Callable[[Mapping[str, str]], str],
    sign: SignRequest | None = None,
) -> AuthorizationCode:
    """Have the customer consent, and return the code.

    `sign` signs the parameters, so that `more` is sent in the request object alone. `push` has the bank
    keep them, and returns the reference to them with which the customer is sent.

    Raises:
        CannotArrange: there is no signer for the screens.
        AuthenticationError: the flow ended without a code, or with another state.

    """
    state, verifier = token_urlsafe(24), token_urlsafe(48) if oauth.pkce else ""
    own: Mapping[str, Json] = {"client_id": client.id, "state": state, **_proof(verifier)}
    sent = _parameters(oauth, {**own, "redirect_uri": oauth.redirect_uri}, more, sign)
    if oauth.par_url:
        sent = {"client_id": client.id, "request_uri": push(sent)}
    link = f"{oauth.authorize_url}?{urlencode(sent)}"
    result = sign_in(link)
    redirect = result.redirected or ""
    if not redirect:
        raise _stopped(target, section, result, more)
    if not _same_address(redirect, oauth.redirect_uri):
        what = "the customer was redirected elsewhere"
        raise AuthenticationError(problem(target, *section, "redirect_uri", what=what))
    answer = redirect_parameters(redirect)
    if answer.get("state") != [state]:
        what = "the redirect has a different state than the request: the code is not used"
        raise AuthenticationError(problem(target, *section, "authorize_url", what=what))
    if "error" in answer:
        raise _denied(target, section, answer["error"][0], more)
    codes = answer.get("code", [""])
    if len(codes) != 1 or not codes[0]:
        what = "the redirect has no code"
        raise AuthenticationError(problem(target, *section, "authorize_url", what=what))
    return AuthorizationCode(code=codes[0], verifier=verifier)


def _proof(verifier: str) -> Mapping[str, Json]:
    """Return the parameters that prove later who made the request (RFC 7636)."""
    if not verifier:
        return {}
    challenge = urlsafe_b64encode(sha256(verifier.encode("ascii")).digest()).rstrip(b"=").decode()
    return {"code_challenge": challenge, "code_challenge_method": "S256"}


def _parameters(
    oauth: OAuth, own: Mapping[str, Json], more: Parameters, sign: SignRequest | None
) -> Mapping[str, str]:
    """Return the parameters of an authorization request; if they are signed, in a request object."""
    usual: dict[str, Json] = {"response_type": "code"}
    if oauth.scope:
        usual["scope"] = oauth.scope
    sent = {**usual, **more.values, **own}
    if sign is not None:
        # The server reads the request object alone; OpenID Connect wants the others beside it.
        plain = {name: value for name, value in sent.items() if name in {*usual, *own}}
        sent = {**plain, "request": sign(sent)}
    return {name: _parameter(value) for name, value in sent.items()}


def _parameter(value: Json) -> str:
    """Return a parameter as it is sent: a structure as JSON."""
    return value if isinstance(value, str) else json.dumps(value, separators=(",", ":"))


def redirect_parameters(redirect: str) -> Mapping[str, list[str]]:
    """Return the parameters of a redirect: in its query, or, for some response types, its fragment."""
    try:
        parts = urlsplit(redirect)
    except ValueError:
        return {}
    query, fragment = (
        parse_qs(part, keep_blank_values=True) for part in (parts.query, parts.fragment)
    )
    names = {**query, **fragment}
    return {name: [*query.get(name, ()), *fragment.get(name, ())] for name in names}


def _same_address(redirect: str, redirect_uri: str) -> bool:
    """Whether a redirect leads to this address, whatever its query is."""
    try:
        actual, expected = urlsplit(redirect), urlsplit(redirect_uri)
    except ValueError:
        return False
    return (actual.scheme, actual.netloc.lower(), actual.path or "/") == (
        expected.scheme,
        expected.netloc.lower(),
        expected.path or "/",
    )


def _denied(
    target: Target, section: tuple[str, ...], error: str, more: Parameters
) -> AuthenticationError:
    code = error if error in ERROR_CODES else "not an error code of RFC 6749"
    key = {"invalid_scope": "scope", "unauthorized_client": "client_id"}.get(error)
    own = key is None or key in more.values
    at = more.suspect(section) if own else (*section, key or "")
    what, hint = f"the bank refused the authorization ({code})", ""
    if error == "access_denied" and target.sca.decisions:
        at, hint = ("sca", "decisions"), "is the word for `confirm` the one that allows it?"
    by_tpp = False if error in CLIENT_ERRORS and not own else None
    return AuthenticationError(problem(target, *at, what=what, hint=hint), party_lost=by_tpp)


def _stopped(
    target: Target, section: tuple[str, ...], result: ScreenFlowResult, more: Parameters
) -> AuthenticationError:
    """Explain why the screens did not lead to the redirect."""
    status = result.wire.status
    if not result.screens and status in REFUSALS:
        what = f"the bank shows no screens ({status})"
        hint = "check that the client is registered with this redirect_uri and scope"
        hint += ", and the names of the parameters" if more.at else ""
        if target.auth.oauth and not target.auth.oauth.par_url:
            hint += "; if the bank takes pushed requests only (RFC 9126), set `auth.par_url`"
        if status in SERVER_ERRORS:
            hint = "is it out of order, or in its maintenance hours? what does its clock show?"
        cause = problem(target, *more.suspect(section), what=what, hint=hint)
        # The screens never opened, so it is the same for all customers.
        own = status in SERVER_ERRORS or bool(more.at)
        return AuthenticationError(cause, party_lost=None if own else False)
    if not result.screens:
        what = f"no screen matches sca.screens ({result.why or status})"
        address = ".".join((*section, "authorize_url"))
        hint = f"list the fields of each form in sca.screens; is {address} the page with the login?"
        return AuthenticationError(problem(target, "sca", "screens", what=what, hint=hint))
    what = f"the screens did not lead to redirect_uri: {result.why or f'they ended with {status}'}"
    hint = (
        f"filled in: {', '.join(result.screens)}; check the login, and that sca.screens is complete"
    )
    return AuthenticationError(problem(target, "sca", "screens", what=what, hint=hint))
