"""Where a profile is wrong about how calls are authenticated: file, line, and a hint.

A target that refuses a client, a scope or a certificate has said nothing of its contract.
Nothing here quotes what a target says: it may say our own secrets.

Which line of the profile a token endpoint's refusal is about.

The profile comes before the bank: a wrong secret, scope or address is what it mostly is.
"""

from __future__ import annotations

from collections.abc import Mapping

from assay.binding.target import OAuth, Target
from assay.errors import Problem, TargetError
from assay.transport.auth.token_endpoint import UNAUTHORIZED, OAuthClient, TokenRefused


class AuthenticationError(TargetError):
    """Nobody can call like this; `problem` names the line to look at.

    `hopeless` says whether no call of this party (True: the third party) can be made in
    the whole run; None where others of it still may. `nowhere` says that nobody was
    reached at all.
    """

    def __init__(
        self, problem: Problem, *, hopeless: bool | None = None, nowhere: bool = False
    ) -> None:
        self.problem = problem
        self.hopeless = hopeless
        self.nowhere = nowhere
        super().__init__(str(problem))


def line_of(target: Target, *pointer: str) -> tuple[str, int]:
    """Return the file and the line of a key, or of the nearest one above it."""
    if target.document is not None:
        return target.place(*pointer)
    names = (".".join(pointer[:n]) for n in range(len(pointer), 0, -1))
    return target.path, next((target.lines[one] for one in names if one in target.lines), 0)


def place_of(target: Target, *pointer: str) -> str:
    """Return a key and where it stands, in words: `auth.scope, line 12`."""
    path, line = line_of(target, *pointer)
    where = f"line {line}" if path == target.path else f"{path}:{line}"
    return ".".join(pointer) + (f", {where}" if line else "")


def problem(target: Target, *pointer: str, what: str, hint: str = "") -> Problem:
    """Return what is wrong at a key of a profile."""
    path, line = line_of(target, *pointer)
    key = ".".join(pointer)
    return Problem(path=path, line=line, what=f"{key}: {what}", hint=hint, key=key)


#: For each word of RFC 6749 the first of these keys that the profile has, and a hint.
ABOUT: Mapping[str, tuple[tuple[str, ...], str]] = {
    "invalid_client": (
        ("client_secret_env", "client_id_env", "client_id", "client_auth"),
        "is it this client's secret, of this environment? does client_auth fit?",
    ),
    "unauthorized_client": (
        ("client_id_env", "client_id", "kind"),
        "is the client registered for this way of getting tokens?",
    ),
    "invalid_scope": (("scope",), "which scopes does the bank's documentation have?"),
    "unsupported_grant_type": (("kind",), "which ways of getting tokens does the bank have?"),
    "unsupported_response_type": (("kind",), "which ways of getting tokens does the bank have?"),
    "invalid_grant": (
        ("redirect_uri", "kind"),
        "is redirect_uri spelt as it is registered? does the bank want pkce?",
    ),
    "invalid_request": (
        ("client_auth", "pkce", "kind"),
        "does the bank want pkce, or client_auth: post?",
    ),
    "access_denied": (("scope", "kind"), "is the customer one who may agree to this?"),
}
#: What concerns the client, and so every call of the party; the rest may be one customer's.
CLIENTS = frozenset(
    [
        "invalid_client",
        "unauthorized_client",
        "invalid_scope",
        "unsupported_grant_type",
        "unsupported_response_type",
    ]
)


def place(target: Target, *, by_provider: bool) -> tuple[str, ...]:
    """Return where the profile says how the party's calls are authenticated."""
    apart = by_provider and target.auth.provider is not None
    return ("auth", "provider") if apart else ("auth",)


def refusal(
    target: Target, said: OAuth, client: OAuthClient, refused: TokenRefused, *, by_provider: bool
) -> AuthenticationError:
    """Put a refusal of the token endpoint down to a line."""
    section = place(target, by_provider=by_provider)
    error = refused.error
    if not error and refused.status == UNAUTHORIZED:
        error = "invalid_client"
    if error in ABOUT:
        keys, hint = ABOUT[error]
        at = (*section, next((one for one in keys if _has(said, client, one)), "kind"))
        what = f"the token endpoint refuses ({refused.error or refused.status})"
        lost = by_provider if error in CLIENTS else None
        return AuthenticationError(problem(target, *at, what=what, hint=hint), hopeless=lost)
    at = (*section, "token_url")
    if refused.failed:
        what = f"the token endpoint failed ({refused.why or refused.status})"
        return AuthenticationError(problem(target, *at, what=what, hint="is it down?"))
    what = f"that is no token endpoint: {refused.why or f'it answers {refused.status}'}"
    hint = "is the whole URL right?"
    return AuthenticationError(problem(target, *at, what=what, hint=hint), hopeless=by_provider)


def _has(said: OAuth, client: OAuthClient, key: str) -> bool:
    """Whether a key stands in the profile, and is what was sent."""
    if client.made and key.startswith(("client_id", "client_secret")):
        return False
    return key == "kind" or bool(getattr(said, key))
