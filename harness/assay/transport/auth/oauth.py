"""OAuth 2.0 (RFC 6749): requests to a token endpoint.

Our own transport sends each request once. Answers are untrusted:
they are validated, and of a refusal only the error codes of the RFC are ever repeated.
"""

from __future__ import annotations

from base64 import b64encode
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any, cast
from urllib.parse import quote_plus, urlencode

from assay.binding.decode import SERVER_ERRORS, body_of
from assay.binding.encode import HttpRequest
from assay.binding.target import ClientAuth, OAuth
from assay.history import Wire
from assay.transport.protocol import Transport, sendable

__all__ = [
    "CLIENT_ERRORS",
    "ERROR_CODES",
    "Grant",
    "OAuthClient",
    "TokenRefused",
    "request_token",
]

OK = 200
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
    `status` is 0 when no answer came.
    """

    status: int
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
    delivery = transport.send(_token_request(oauth, client, grant, form))
    if delivery.trouble:
        return TokenRefused(status=0, why=delivery.trouble, failed=True)
    return _read_token(delivery.wire, now)


def _token_request(
    oauth: OAuth, client: OAuthClient, grant: str, form: Mapping[str, str]
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
    fields = {"grant_type": grant, **form, **credentials}
    body = urlencode({name: value for name, value in fields.items() if value})
    return HttpRequest(
        method="POST", url=oauth.token_url, headers=tuple(headers), body=body.encode("ascii")
    )


def _read_token(wire: Wire, now: datetime) -> Grant | TokenRefused:
    body = body_of(wire)
    answer = cast("dict[str, Any]", body) if isinstance(body, dict) else {}
    if wire.status != OK:
        error = answer.get("error")
        known = error if isinstance(error, str) and error in ERROR_CODES else ""
        failed = wire.status in SERVER_ERRORS
        return TokenRefused(status=wire.status, error=known, failed=failed)
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
