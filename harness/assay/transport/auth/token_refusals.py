"""Refusals of a token endpoint, explained by the line of the target file that they are about."""

from __future__ import annotations

from collections.abc import Mapping

from assay.binding.target import OAuth, Target
from assay.transport.auth.diagnostics import AuthenticationError, place, problem
from assay.transport.auth.oauth import CLIENT_ERRORS, OAuthClient, TokenRefused

__all__ = ["refusal"]

UNAUTHORIZED = 401
#: For each error code of RFC 6749, the keys it may be about (the first that the file has
#: is named), and a hint.
ABOUT: Mapping[str, tuple[tuple[str, ...], str]] = {
    "invalid_client": (
        ("client_secret_env", "client_id_env", "client_id", "client_auth"),
        "check that the secret is this client's, for this environment, and that client_auth fits",
    ),
    "unauthorized_client": (
        ("client_id_env", "client_id", "kind"),
        "check that the client is registered for this grant type",
    ),
    "invalid_scope": (("scope",), "compare with the scopes in the bank's documentation"),
    "unsupported_grant_type": (
        ("kind",),
        "compare with the grant types in the bank's documentation",
    ),
    "unsupported_response_type": (
        ("kind",),
        "compare with the grant types in the bank's documentation",
    ),
    "invalid_grant": (
        ("redirect_uri", "kind"),
        "check that redirect_uri is as registered, and whether the bank requires pkce",
    ),
    "invalid_request": (
        ("client_auth", "pkce", "kind"),
        "check whether the bank requires pkce, or client_auth: post",
    ),
    "access_denied": (("scope", "kind"), "check that this customer may give the consent"),
}


def refusal(
    target: Target, oauth: OAuth, client: OAuthClient, refused: TokenRefused, *, by_tpp: bool
) -> AuthenticationError:
    """Explain a refusal of the token endpoint by a line of the target file."""
    section = place(target, by_tpp=by_tpp)
    error = refused.error
    if not error and refused.status == UNAUTHORIZED:
        error = "invalid_client"
    if error in ABOUT:
        keys, hint = ABOUT[error]
        at = (*section, next((key for key in keys if _has(oauth, client, key)), "kind"))
        what = f"the token endpoint refuses ({refused.error or refused.status})"
        party_lost = by_tpp if error in CLIENT_ERRORS else None
        return AuthenticationError(
            problem(target, *at, what=what, hint=hint), party_lost=party_lost
        )
    at = (*section, "token_url")
    if refused.failed:
        what = f"the token endpoint failed ({refused.why or refused.status})"
        return AuthenticationError(problem(target, *at, what=what, hint="the endpoint may be down"))
    what = f"this is not a token endpoint: {refused.why or f'it answers {refused.status}'}"
    hint = "check the whole URL"
    return AuthenticationError(problem(target, *at, what=what, hint=hint), party_lost=by_tpp)


def _has(oauth: OAuth, client: OAuthClient, key: str) -> bool:
    """Whether a key is in the target file, and its value was sent."""
    if client.made and key.startswith(("client_id", "client_secret")):
        return False
    return key == "kind" or bool(getattr(oauth, key))
