"""Token endpoint (``/oauth/token``): exchanges a code, a refresh token or client credentials.

Implements RFC 6749 with PKCE (RFC 7636). A code can be used once; using it again
withdraws all tokens issued for it.
"""

from base64 import urlsafe_b64encode
from collections.abc import Callable, Mapping
from hashlib import sha256
from hmac import compare_digest
from typing import TYPE_CHECKING, TypeAlias

from assay.sandbox.guard.oauth.requests import BadClient, authenticate, read_form
from assay.sandbox.guard.oauth.state import (
    LIFETIMES,
    Access,
    AuthorizationRequest,
    Client,
    OAuthStore,
)
from assay.sandbox.messages import Answer, Json, error

if TYPE_CHECKING:
    from _typeshed.wsgi import WSGIEnvironment

__all__ = ["answer_token"]

_Form: TypeAlias = Mapping[str, str]
_Grant: TypeAlias = Callable[[OAuthStore, Client, _Form], Access]

_PRIVATE = (("Cache-Control", "no-store"), ("Pragma", "no-cache"))


class _TokenError(Exception):
    """A refused token request; carries the error code and its description."""

    def __init__(self, why: str, says: str) -> None:
        super().__init__(why, says)
        self.why = why
        self.says = says


def answer_token(environ: "WSGIEnvironment", store: OAuthStore) -> Answer:
    """Answer one token request."""
    if environ["REQUEST_METHOD"] != "POST":
        return error(405, "method not allowed for this path", ("Allow", "POST"))
    parameters = read_form(environ)
    if parameters is None:
        return _refusal("invalid_request", "expected a form, with each parameter once")
    try:
        client = authenticate(environ, parameters, store)
        access = _grant(parameters)(store, client, parameters)
    except BadClient as exc:
        if exc.ambiguous:
            return _refusal("invalid_request", "the client is identified in two ways")
        return _refusal("invalid_client", "unknown client or failed authentication")
    except _TokenError as exc:
        return _refusal(exc.why, exc.says)
    body: dict[str, Json] = {
        "access_token": store.issue_access_token(access),
        "token_type": "Bearer",
        "expires_in": int(LIFETIMES[access.scope].total_seconds()),
        "scope": access.scope,
    }
    if access.refresh is not None:
        body["refresh_token"] = access.refresh
    return Answer(status=200, body=body, headers=_PRIVATE)


def _refusal(why: str, says: str) -> Answer:
    body: dict[str, Json] = {"error": why, "error_description": says}
    if why != "invalid_client":
        return Answer(status=400, body=body, headers=_PRIVATE)
    challenge = ("WWW-Authenticate", 'Basic realm="oauth"')
    return Answer(status=401, body=body, headers=(challenge, *_PRIVATE))


def _grant(parameters: _Form) -> _Grant:
    grant = _GRANTS.get(parameters.get("grant_type", ""))
    if grant is None:
        why = "unsupported_grant_type" if "grant_type" in parameters else "invalid_request"
        raise _TokenError(why, f"expected one of the grant types {', '.join(_GRANTS)}")
    return grant


def _by_code(store: OAuthStore, client: Client, parameters: _Form) -> Access:
    code = store.codes.get(parameters.get("code", ""))
    if code is None or code.request.client != client:
        raise _TokenError("invalid_grant", "unknown code")
    now = store.now(code.customer.world)
    if code.refresh is not None:
        store.withdraw(code.refresh)
        raise _TokenError("invalid_grant", "the code was already used")
    if now is None or now >= code.expires:
        raise _TokenError("invalid_grant", "the code has expired")
    if parameters.get("redirect_uri") != code.request.redirect:
        raise _TokenError("invalid_grant", "redirect_uri differs from that of the code")
    _check_verifier(code.request, parameters.get("code_verifier"))
    _check_scope(parameters, "aisp")
    code.refresh = store.issue_refresh_token(client, code.customer, now)
    return _from(store, code.refresh)


def _check_verifier(request: AuthorizationRequest, verifier: str | None) -> None:
    if request.challenge is None and verifier is None:
        return
    digest = urlsafe_b64encode(sha256((verifier or "").encode()).digest()).rstrip(b"=")
    if not compare_digest(digest, (request.challenge or "").encode()):
        raise _TokenError("invalid_grant", "code_verifier does not match the code")


def _check_scope(parameters: _Form, scope: str) -> None:
    if parameters.get("scope", scope).split() != [scope]:
        raise _TokenError("invalid_scope", f"expected the scope {scope}, or none")


def _by_refresh(store: OAuthStore, client: Client, parameters: _Form) -> Access:
    token = parameters.get("refresh_token", "")
    lasting = store.refreshes.get(token)
    if lasting is None or lasting.client != client.id or not store.is_valid(lasting):
        raise _TokenError("invalid_grant", "the refresh token is unknown or has expired")
    _check_scope(parameters, lasting.scope)
    return _from(store, token)


def _from(store: OAuthStore, refresh: str) -> Access:
    """Return an access based on a refresh token."""
    lasting = store.refreshes[refresh]
    now = store.worlds[lasting.world].now
    return Access(
        client=lasting.client,
        world=lasting.world,
        token=lasting.token,
        scope=lasting.scope,
        expires=now + LIFETIMES[lasting.scope],
        refresh=refresh,
    )


def _by_itself(store: OAuthStore, client: Client, parameters: _Form) -> Access:
    _check_scope(parameters, "pisp")
    now = store.worlds[client.world].now
    return Access(
        client=client.id,
        world=client.world,
        token=client.token,
        scope="pisp",
        expires=now + LIFETIMES["pisp"],
    )


_GRANTS: Mapping[str, _Grant] = {
    "authorization_code": _by_code,
    "refresh_token": _by_refresh,
    "client_credentials": _by_itself,
}
