"""Authentication problems of a target file: file, line, and a hint.

A target that refuses a client, a scope or a certificate has shown nothing about its
contract. The target file is suspected before the bank: usually a secret, scope or
address in it is wrong. Nothing here quotes the target's answer, which may contain our
own secrets.
"""

from __future__ import annotations

from collections.abc import Mapping

from assay.binding.target import OAuth, Target
from assay.errors import Problem, TargetError
from assay.transport.auth.token_endpoint import UNAUTHORIZED, OAuthClient, TokenRefused


class AuthenticationError(TargetError):
    """Calls cannot be authenticated; `problem` names the line to check.

    `hopeless` says that no call of this party (True: the TPP) can be made in the whole
    run; None where others of its calls still may. `nowhere` says that no connection was
    made.
    """

    def __init__(
        self, problem: Problem, *, hopeless: bool | None = None, nowhere: bool = False
    ) -> None:
        self.problem = problem
        self.hopeless = hopeless
        self.nowhere = nowhere
        super().__init__(str(problem))


def line_of(target: Target, *pointer: str) -> tuple[str, int]:
    """Return the file and line of a key, or of its nearest parent."""
    if target.document is not None:
        return target.place(*pointer)
    names = (".".join(pointer[:n]) for n in range(len(pointer), 0, -1))
    return target.path, next((target.lines[one] for one in names if one in target.lines), 0)


def place_of(target: Target, *pointer: str) -> str:
    """Return a key and where it is, in words: `auth.scope, line 12`."""
    path, line = line_of(target, *pointer)
    where = f"line {line}" if path == target.path else f"{path}:{line}"
    return ".".join(pointer) + (f", {where}" if line else "")


def problem(target: Target, *pointer: str, what: str, hint: str = "") -> Problem:
    """Return a problem with a key of a target file."""
    path, line = line_of(target, *pointer)
    key = ".".join(pointer)
    return Problem(path=path, line=line, what=f"{key}: {what}", hint=hint, key=key)


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
#: Errors that concern the client, and so every call of the party; others may concern one
#: customer.
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
    """Return the key that says how the party's calls are authenticated."""
    apart = by_provider and target.auth.provider is not None
    return ("auth", "provider") if apart else ("auth",)


def refusal(
    target: Target, said: OAuth, client: OAuthClient, refused: TokenRefused, *, by_provider: bool
) -> AuthenticationError:
    """Explain a refusal of the token endpoint by a line of the target file."""
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
        return AuthenticationError(problem(target, *at, what=what, hint="the endpoint may be down"))
    what = f"this is not a token endpoint: {refused.why or f'it answers {refused.status}'}"
    hint = "check the whole URL"
    return AuthenticationError(problem(target, *at, what=what, hint=hint), hopeless=by_provider)


def _has(said: OAuth, client: OAuthClient, key: str) -> bool:
    """Whether a key is in the target file, and its value was sent."""
    if client.made and key.startswith(("client_id", "client_secret")):
        return False
    return key == "kind" or bool(getattr(said, key))
