"""The authorization code flow (RFC 6749, 4.1): the customer consents, the bank issues a code.

The signer operates the bank's screens here too. The result is read from the redirect,
which is not followed; a state other than ours ends the flow.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from secrets import token_urlsafe
from typing import TypeAlias, cast
from urllib.parse import parse_qs, urlsplit

from assay.binding.decode import SERVER_ERRORS
from assay.binding.target import OAuth, Target
from assay.sca.protocol import ScreenFlowResult
from assay.transport.auth.diagnostics import CLIENTS, AuthenticationError, problem
from assay.transport.auth.token_endpoint import KNOWN, OAuthClient

__all__ = ["AuthorizationCode", "SignIn", "request_code"]

#: Takes the customer through the screens from a link on, and returns the result.
SignIn: TypeAlias = Callable[[str], ScreenFlowResult]
REFUSALS = range(400, 600)


@dataclass(frozen=True, slots=True, kw_only=True)
class AuthorizationCode:
    """The code that the bank issued; `verifier` proves that this client requested it (PKCE)."""

    code: str
    verifier: str = ""


def request_code(
    target: Target, section: tuple[str, ...], said: OAuth, client: OAuthClient, sign_in: SignIn
) -> AuthorizationCode:
    """Have the customer agree, and return the code.

    Raises:
        CannotArrange: there is no signer for the screens.
        AuthenticationError: the flow ended without a code, or with another state.

    """
    from authlib.oauth2.rfc6749 import parameters  # noqa: PLC0415 -- only for OAuth
    from authlib.oauth2.rfc7636 import create_s256_code_challenge  # noqa: PLC0415

    state, verifier = token_urlsafe(24), token_urlsafe(48) if said.pkce else ""
    proof = {}
    if verifier:
        # Authlib has no type annotations.
        challenge = cast("Callable[[str], str]", create_s256_code_challenge)(verifier)
        proof = {"code_challenge": challenge, "code_challenge_method": "S256"}
    link: str = parameters.prepare_grant_uri(
        said.authorize_url,
        client.id,
        "code",
        redirect_uri=said.redirect_uri,
        scope=said.scope,
        state=state,
        **proof,
    )
    walked = sign_in(link)
    back = walked.redirected or ""
    if not back:
        raise _stopped(target, section, walked)
    if not _same(back, said.redirect_uri):
        what = "the customer was redirected elsewhere"
        raise AuthenticationError(problem(target, *section, "redirect_uri", what=what))
    told = parse_qs(urlsplit(back).query, keep_blank_values=True)
    if told.get("state") != [state]:
        what = "the redirect has another state than was sent: the code is not used"
        raise AuthenticationError(problem(target, *section, "authorize_url", what=what))
    if "error" in told:
        raise _denied(target, section, told["error"][0])
    code = told.get("code", [""])
    if len(code) != 1 or not code[0]:
        what = "the redirect has no code"
        raise AuthenticationError(problem(target, *section, "authorize_url", what=what))
    return AuthorizationCode(code=code[0], verifier=verifier)


def _same(back: str, uri: str) -> bool:
    """Whether a redirect leads to this address, whatever was appended to it."""
    try:
        came, meant = urlsplit(back), urlsplit(uri)
    except ValueError:
        return False
    return (came.scheme, came.netloc.lower(), came.path or "/") == (
        meant.scheme,
        meant.netloc.lower(),
        meant.path or "/",
    )


def _denied(target: Target, section: tuple[str, ...], error: str) -> AuthenticationError:
    word = error if error in KNOWN else "not an error code of RFC 6749"
    at = {"invalid_scope": "scope", "unauthorized_client": "client_id"}.get(error, "authorize_url")
    what = f"the bank refused the authorization ({word})"
    lost = False if error in CLIENTS else None
    return AuthenticationError(problem(target, *section, at, what=what), hopeless=lost)


def _stopped(
    target: Target, section: tuple[str, ...], walked: ScreenFlowResult
) -> AuthenticationError:
    """Explain why the screens did not lead to the redirect."""
    status = walked.wire.status
    if not walked.screens and status in REFUSALS:
        what = f"the bank shows no screens ({status})"
        hint = "check that the client is registered with this redirect_uri and scope"
        # The screens never opened, so it is the same for all customers.
        found = problem(target, *section, "authorize_url", what=what, hint=hint)
        return AuthenticationError(found, hopeless=None if status in SERVER_ERRORS else False)
    if not walked.screens:
        what = f"no screen matches sca.screens ({walked.why or status})"
        hint = "list the fields of each form in sca.screens"
        return AuthenticationError(problem(target, *section, "authorize_url", what=what, hint=hint))
    what = f"the screens did not lead to redirect_uri: {walked.why or f'they ended with {status}'}"
    hint = (
        f"filled in: {', '.join(walked.screens)}; check the login, and that sca.screens is complete"
    )
    return AuthenticationError(problem(target, "sca", "screens", what=what, hint=hint))
