"""The authorization code flow of OAuth 2.0 (RFC 6749): the authorization request, and its answer.

The signer operates the bank's screens as the customer. The code is read from the redirect, which is not
followed; a state other than ours ends the flow. Further parameters say what is authorised.
"""

from __future__ import annotations

import json
from base64 import urlsafe_b64encode
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from hashlib import sha256
from secrets import token_urlsafe
from typing import TypeAlias
from urllib.parse import parse_qs, urlencode, urlsplit

from assay.binding.decode import SERVER_ERRORS
from assay.binding.target import OAuth, Target
from assay.contract.model import Json
from assay.sca.protocol import ScreenFlowResult
from assay.transport.auth.diagnostics import AuthenticationError, problem
from assay.transport.auth.oauth import CLIENT_ERRORS, ERROR_CODES, OAuthClient

__all__ = [
    "AuthorizationCode",
    "Parameters",
    "SignIn",
    "SignRequest",
    "redirect_parameters",
    "request_code",
]

REFUSALS = range(400, 600)

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
    sign: SignRequest | None = None,
) -> AuthorizationCode:
    """Have the customer consent, and return the code.

    `sign` signs the parameters, so that `more` is sent in the request object alone.

    Raises:
        CannotArrange: there is no signer for the screens.
        AuthenticationError: the flow ended without a code, or with another state.

    """
    state, verifier = token_urlsafe(24), token_urlsafe(48) if oauth.pkce else ""
    own: Mapping[str, Json] = {"client_id": client.id, "state": state, **_proof(verifier)}
    link = _link(oauth, {**own, "redirect_uri": oauth.redirect_uri}, more, sign)
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


def _link(oauth: OAuth, own: Mapping[str, Json], more: Parameters, sign: SignRequest | None) -> str:
    """Return the link of an authorization request; if it is signed, in a request object."""
    usual: dict[str, Json] = {"response_type": "code"}
    if oauth.scope:
        usual["scope"] = oauth.scope
    sent = {**usual, **more.values, **own}
    if sign is not None:
        # The server reads the request object alone; OpenID Connect wants the others beside it.
        plain = {name: value for name, value in sent.items() if name in {*usual, *own}}
        sent = {**plain, "request": sign(sent)}
    query = urlencode({name: _parameter(value) for name, value in sent.items()})
    return f"{oauth.authorize_url}?{query}"


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
