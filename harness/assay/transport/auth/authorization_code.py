"""The authorization code flow (RFC 6749, 4.1): the customer agrees, and there is a code.

Whoever signs payments walks the bank's screens here too. What comes back is read off the
redirection, which is not followed; a state that is not ours ends it.
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

#: Has the customer go through the screens from a link on, and tells what became of it.
SignIn: TypeAlias = Callable[[str], ScreenFlowResult]
REFUSALS = range(400, 600)


@dataclass(frozen=True, slots=True, kw_only=True)
class AuthorizationCode:
    """What a customer's agreement came to; `verifier` proves that it was we who asked."""

    code: str
    verifier: str = ""


def request_code(
    target: Target, section: tuple[str, ...], said: OAuth, client: OAuthClient, sign_in: SignIn
) -> AuthorizationCode:
    """Have the customer agree, and return the code.

    Raises:
        CannotArrange: nobody can go through the screens.
        NoAccess: they came to nothing, or to what we did not ask for.

    """
    from authlib.oauth2.rfc6749 import parameters  # noqa: PLC0415 -- only for OAuth
    from authlib.oauth2.rfc7636 import create_s256_code_challenge  # noqa: PLC0415

    state, verifier = token_urlsafe(24), token_urlsafe(48) if said.pkce else ""
    proof = {}
    if verifier:
        # Its types are not told.
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
        what = "the customer was sent elsewhere"
        raise AuthenticationError(problem(target, *section, "redirect_uri", what=what))
    told = parse_qs(urlsplit(back).query, keep_blank_values=True)
    if told.get("state") != [state]:
        what = "the state that came back is not the one that was sent: the code is not used"
        raise AuthenticationError(problem(target, *section, "authorize_url", what=what))
    if "error" in told:
        raise _denied(target, section, told["error"][0])
    code = told.get("code", [""])
    if len(code) != 1 or not code[0]:
        what = "the customer came back without a code"
        raise AuthenticationError(problem(target, *section, "authorize_url", what=what))
    return AuthorizationCode(code=code[0], verifier=verifier)


def _same(back: str, uri: str) -> bool:
    """Whether somebody was sent to this address, whatever was appended to it."""
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
    word = error if error in KNOWN else "in no word of RFC 6749"
    at = {"invalid_scope": "scope", "unauthorized_client": "client_id"}.get(error, "authorize_url")
    what = f"the bank sent the customer back with a refusal ({word})"
    lost = False if error in CLIENTS else None
    return AuthenticationError(problem(target, *section, at, what=what), hopeless=lost)


def _stopped(
    target: Target, section: tuple[str, ...], walked: ScreenFlowResult
) -> AuthenticationError:
    """Say why the screens did not lead back."""
    status = walked.wire.status
    if not walked.screens and status in REFUSALS:
        what = f"the bank shows no screens ({status})"
        hint = "is the client registered, with this redirect_uri and scope?"
        # No customer was asked for anything: it is the same for all of them.
        found = problem(target, *section, "authorize_url", what=what, hint=hint)
        return AuthenticationError(found, hopeless=None if status in SERVER_ERRORS else False)
    if not walked.screens:
        what = f"no screen that the profile knows ({walked.why or status})"
        hint = "sca.screens names the fields of each form"
        return AuthenticationError(problem(target, *section, "authorize_url", what=what, hint=hint))
    what = f"the screens did not lead back: {walked.why or f'they ended with {status}'}"
    hint = f"filled in: {', '.join(walked.screens)}; is the login right, is every screen spelt?"
    return AuthenticationError(problem(target, "sca", "screens", what=what, hint=hint))
