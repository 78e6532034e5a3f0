"""``/oauth/token``: a code, a refresh token or a client's own word for an access token.

As RFC 6749 has it, with PKCE (RFC 7636). A code is good once: when it comes again, all
that it was exchanged for is withdrawn.
"""

from base64 import urlsafe_b64encode
from collections.abc import Callable, Mapping
from hashlib import sha256
from hmac import compare_digest
from typing import TYPE_CHECKING, TypeAlias

from assay.sandbox.guard.oauth.requests import BadClient, authenticate, posted
from assay.sandbox.guard.oauth.state import LIFE, Access, Asked, Client, Office
from assay.sandbox.messages import Answer, Json, error

if TYPE_CHECKING:
    from _typeshed.wsgi import WSGIEnvironment

__all__ = ["answer_token"]

_Form: TypeAlias = Mapping[str, str]
_Grant: TypeAlias = Callable[[Office, Client, _Form], Access]

_PRIVATE = (("Cache-Control", "no-store"), ("Pragma", "no-cache"))


class _No(Exception):  # noqa: N818 - it is the request that is at fault
    """A request that gets no token; carries the name and the explanation of why."""

    def __init__(self, why: str, says: str) -> None:
        super().__init__(why, says)
        self.why = why
        self.says = says


def answer_token(environ: "WSGIEnvironment", office: Office) -> Answer:
    """Answer one request for a token."""
    if environ["REQUEST_METHOD"] != "POST":
        return error(405, "this path has other methods", ("Allow", "POST"))
    given = posted(environ)
    if given is None:
        return _refusal("invalid_request", "expected a form, with each parameter once")
    try:
        client = authenticate(environ, given, office)
        access = _grant(given)(office, client, given)
    except BadClient as no:
        if no.ambiguous:
            return _refusal("invalid_request", "the client is named in two ways")
        return _refusal("invalid_client", "the client is not known, or not proven")
    except _No as no:
        return _refusal(no.why, no.says)
    body: dict[str, Json] = {
        "access_token": office.issue(access),
        "token_type": "Bearer",
        "expires_in": int(LIFE[access.scope].total_seconds()),
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


def _grant(given: _Form) -> _Grant:
    grant = _GRANTS.get(given.get("grant_type", ""))
    if grant is None:
        why = "unsupported_grant_type" if "grant_type" in given else "invalid_request"
        raise _No(why, f"expected a grant_type out of {', '.join(_GRANTS)}")
    return grant


def _by_code(office: Office, client: Client, given: _Form) -> Access:
    code = office.codes.get(given.get("code", ""))
    if code is None or code.asked.client != client:
        raise _No("invalid_grant", "the code is not known")
    now = office.now(code.person.world)
    if code.refresh is not None:
        office.withdraw(code.refresh)
        raise _No("invalid_grant", "the code was used already")
    if now is None or now >= code.expires:
        raise _No("invalid_grant", "the code has expired")
    if given.get("redirect_uri") != code.asked.redirect:
        raise _No("invalid_grant", "redirect_uri is not that of the code")
    _check_verifier(code.asked, given.get("code_verifier"))
    _check_scope(given, "aisp")
    code.refresh = office.keep_permission(client, code.person, now)
    return _from(office, code.refresh)


def _check_verifier(asked: Asked, verifier: str | None) -> None:
    if asked.challenge is None and verifier is None:
        return
    digest = urlsafe_b64encode(sha256((verifier or "").encode()).digest()).rstrip(b"=")
    if not compare_digest(digest, (asked.challenge or "").encode()):
        raise _No("invalid_grant", "code_verifier is not that of the code")


def _check_scope(given: _Form, scope: str) -> None:
    if given.get("scope", scope).split() != [scope]:
        raise _No("invalid_scope", f"expected the scope {scope}, or none")


def _by_refresh(office: Office, client: Client, given: _Form) -> Access:
    token = given.get("refresh_token", "")
    lasting = office.refreshes.get(token)
    if lasting is None or lasting.client != client.id or not office.living(lasting):
        raise _No("invalid_grant", "the refresh token is not known, or not any more")
    _check_scope(given, lasting.scope)
    return _from(office, token)


def _from(office: Office, refresh: str) -> Access:
    """Make an access out of the permission that lasts."""
    lasting = office.refreshes[refresh]
    now = office.worlds[lasting.world].now
    return Access(
        client=lasting.client,
        world=lasting.world,
        token=lasting.token,
        scope=lasting.scope,
        expires=now + LIFE[lasting.scope],
        refresh=refresh,
    )


def _by_itself(office: Office, client: Client, given: _Form) -> Access:
    _check_scope(given, "pisp")
    now = office.worlds[client.world].now
    return Access(
        client=client.id,
        world=client.world,
        token=client.token,
        scope="pisp",
        expires=now + LIFE["pisp"],
    )


_GRANTS: Mapping[str, _Grant] = {
    "authorization_code": _by_code,
    "refresh_token": _by_refresh,
    "client_credentials": _by_itself,
}
