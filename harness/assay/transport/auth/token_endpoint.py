"""Asking a token endpoint (RFC 6749), once, and what its answer is taken for.

Requests are spelt by Authlib and sent by our own carrier. An answer is a stranger's: what
it says is checked, and of a refusal only the words of the RFC are ever repeated.
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
#: The longest token that is taken, in characters, and the longest life of one.
MOST_TOKEN = 8192
MOST_LIFE = timedelta(days=3650)
#: A token is renewed so long before it expires, or a tenth of its life before, if that is less.
MARGIN = timedelta(seconds=30)

#: What RFC 6749 has an endpoint say; of anything else nothing is repeated.
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
    """As whom tokens are asked for; `made` says that the world made it, and no profile."""

    id: str
    secret: str | None = None
    made: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Grant:
    """A token that was issued; `expires` is None where nobody said so."""

    token: str
    issued: datetime
    expires: datetime | None = None
    refresh: str | None = None

    def good(self, now: datetime) -> bool:
        """Whether it can still be shown; the clock of a world may also have gone back."""
        if now < self.issued:
            return False
        if self.expires is None:
            return True
        return now < self.expires - min(MARGIN, (self.expires - self.issued) / 10)


@dataclass(frozen=True, slots=True, kw_only=True)
class TokenRefused:
    """No token: `error` is a word of RFC 6749, if it is one, `why` a sentence.

    `failed` says that the endpoint itself did, which is nobody's fault here; `status` is
    0 when no answer came.
    """

    status: int
    error: str = ""
    why: str = ""
    failed: bool = False


def ask(
    transport: Transport, said: OAuth, client: OAuthClient, grant: str, now: datetime, **form: str
) -> Grant | TokenRefused:
    """Ask for a token once.

    Raises:
        TargetError: nobody can be connected to there.

    """
    sent = transport.send(_request(said, client, grant, form))
    if sent.trouble:
        return TokenRefused(status=0, why=sent.trouble, failed=True)
    return _read(sent.wire, now)


def renewable(grant: Grant | None, now: datetime) -> str | None:
    """Return with what a token can be asked for without the customer, if with anything."""
    return grant.refresh if grant and now >= grant.issued else None


def _request(said: OAuth, client: OAuthClient, grant: str, form: Mapping[str, str]) -> HttpRequest:
    # Authlib only where there is OAuth: it takes its time to load.
    from authlib.oauth2.rfc6749.parameters import prepare_token_request  # noqa: PLC0415

    headers = [
        ("Accept", "application/json"),
        ("Content-Type", "application/x-www-form-urlencoded"),
    ]
    own: dict[str, str] = {}
    if said.client_auth is ClientAuth.BASIC:
        # Each is spelt as in a form first (RFC 6749, 2.3.1).
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
        return TokenRefused(status=wire.status, why="its token is none that a header can carry")
    if not isinstance(kind, str) or kind.lower() != "bearer":
        return TokenRefused(status=wire.status, why="its token is no bearer token (token_type)")
    lifecycle, refresh = _life(told.get("expires_in")), told.get("refresh_token")
    return Grant(
        token=token,
        issued=now,
        expires=now + lifecycle if lifecycle is not None else None,
        refresh=refresh if isinstance(refresh, str) and refresh else None,
    )


def _life(told: object) -> timedelta | None:
    """Return how long a token lives, in whatever way the seconds are spelt."""
    if isinstance(told, bool) or not isinstance(told, int | str) or len(str(told)) > 12:  # noqa: PLR2004 -- more digits than any life has
        return None
    try:
        seconds = int(told)
    except ValueError:
        return None
    return min(timedelta(seconds=seconds), MOST_LIFE) if seconds > 0 else None
