"""Requests to an OAuth token endpoint (RFC 6749), and the validation of its answers.

Authlib encodes a request, which is sent once by our own transport. The answer is
untrusted: it is validated, and of a refusal only the error codes of the RFC are ever
repeated.
"""

from __future__ import annotations

from base64 import b64encode
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any, cast
from urllib.parse import quote_plus

from assay.binding.decode import SERVER_ERRORS, body_of
from assay.binding.encode import HttpRequest
from assay.binding.target import ClientAuth, OAuth
from assay.history import Wire
from assay.transport.protocol import Transport, sendable

__all__ = ["Grant", "OAuthClient", "TokenRefused", "ask", "renewable"]

OK, UNAUTHORIZED = 200, 401
#: The longest token that is accepted, in characters, and the longest lifetime of one.
MOST_TOKEN = 8192
MOST_LIFE = timedelta(days=3650)
#: How long before its expiry a token is renewed; at most a tenth of its lifetime.
MARGIN = timedelta(seconds=30)

#: The error codes of RFC 6749; no other text of an endpoint is repeated.
KNOWN = frozenset(
    [
        "access_denied",
        "invalid_client",
        "invalid_grant",
        "invalid_request",
        "invalid_scope",
        "server_error",
        "temporarily_unavailable",
        "unauthorized_client",
        "unsupported_grant_type",
        "unsupported_response_type",
    ]
)


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

    def good(self, now: datetime) -> bool:
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
    `status` is 0 when no answer came.
    """

    status: int
    error: str = ""
    why: str = ""
    failed: bool = False


def ask(
    transport: Transport, said: OAuth, client: OAuthClient, grant: str, now: datetime, **form: str
) -> Grant | TokenRefused:
    """Request a token once.

    Raises:
        TargetError: no connection to the endpoint is possible.

    """
    sent = transport.send(_request(said, client, grant, form))
    if sent.trouble:
        return TokenRefused(status=0, why=sent.trouble, failed=True)
    return _read(sent.wire, now)


def renewable(grant: Grant | None, now: datetime) -> str | None:
    """Return the refresh token to use without the customer, if there is one."""
    return grant.refresh if grant and now >= grant.issued else None


def _request(said: OAuth, client: OAuthClient, grant: str, form: Mapping[str, str]) -> HttpRequest:
    # Authlib is imported only where OAuth is used: the import is slow.
    from authlib.oauth2.rfc6749.parameters import prepare_token_request  # noqa: PLC0415

    headers = [
        ("Accept", "application/json"),
        ("Content-Type", "application/x-www-form-urlencoded"),
    ]
    own: dict[str, str] = {}
    if said.client_auth is ClientAuth.BASIC:
        # Each is form-encoded first (RFC 6749, 2.3.1).
        pair = f"{quote_plus(client.id)}:{quote_plus(client.secret or '')}"
        headers.append(("Authorization", f"Basic {b64encode(pair.encode()).decode()}"))
    else:
        own["client_id"] = client.id
        if said.client_auth is ClientAuth.POST and client.secret:
            own["client_secret"] = client.secret
    body: str = prepare_token_request(grant, **form, **own)
    return HttpRequest(
        method="POST", url=said.token_url, headers=tuple(headers), body=body.encode("ascii")
    )


def _read(wire: Wire, now: datetime) -> Grant | TokenRefused:
    body = body_of(wire)
    told = cast("dict[str, Any]", body) if isinstance(body, dict) else {}
    if wire.status != OK:
        error = told.get("error")
        known = error if isinstance(error, str) and error in KNOWN else ""
        failed = wire.status in SERVER_ERRORS
        return TokenRefused(status=wire.status, error=known, failed=failed)
    token, kind = told.get("access_token"), told.get("token_type", "bearer")
    if not isinstance(token, str) or not token:
        return TokenRefused(status=wire.status, why="its answer has no access_token")
    if len(token) > MOST_TOKEN or not sendable(token):
        return TokenRefused(status=wire.status, why="its token cannot be sent in a header")
    if not isinstance(kind, str) or kind.lower() != "bearer":
        return TokenRefused(status=wire.status, why="its token is not a bearer token (token_type)")
    lifecycle, refresh = _life(told.get("expires_in")), told.get("refresh_token")
    return Grant(
        token=token,
        issued=now,
        expires=now + lifecycle if lifecycle is not None else None,
        refresh=refresh if isinstance(refresh, str) and refresh else None,
    )


def _life(told: object) -> timedelta | None:
    """Return how long a token lives, whether the seconds are a number or a text."""
    if isinstance(told, bool) or not isinstance(told, int | str) or len(str(told)) > 12:  # noqa: PLR2004 -- more digits than any life has
        return None
    try:
        seconds = int(told)
    except ValueError:
        return None
    return min(timedelta(seconds=seconds), MOST_LIFE) if seconds > 0 else None
