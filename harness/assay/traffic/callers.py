"""Callers of a recording, distinguished by their credentials.

Another token is not always another customer: tokens expire and are refreshed. Where a recording has
the refresh itself, both tokens are of one customer. The caller of a call without credentials is
unknown, so each such call is of a customer of its own. No token is ever used as a name.
"""

from __future__ import annotations

import json
from dataclasses import dataclass, field
from typing import Any, cast
from urllib.parse import parse_qsl

from assay.binding.model.security import shown_token
from assay.binding.model.target import Target
from assay.binding.wire.encode import Access
from assay.history import Wire
from assay.traffic.parse_request import ParsedRequest, basic_credentials

#: The longest message of a token endpoint, in bytes.
MAX_BODY = 100_000
#: How the name of a caller without a token begins.
UNKNOWN_CALLER = "unknown-"


@dataclass(slots=True, kw_only=True)
class Callers:
    """Everyone who called so far. The tokens in it must not be written anywhere."""

    target: Target
    sessions: dict[str, str] = field(default_factory=dict[str, str])
    clients: dict[str, str] = field(default_factory=dict[str, str])
    customers: dict[str, str] = field(default_factory=dict[str, str])
    tpps: dict[str, str] = field(default_factory=dict[str, str])
    unknown: int = 0

    def token(self, request: ParsedRequest, *, by_tpp: bool) -> str | None:
        """Return the token of a request."""
        return shown_token(self.target.auth.of(by_tpp=by_tpp), request)

    def customer(self, token: str | None) -> str:
        """Return the name of the customer that a token belongs to."""
        if token is None:
            self.unknown += 1
            return f"{UNKNOWN_CALLER}{self.unknown}"
        session = self.sessions.get(token, token)
        return self.customers.setdefault(session, f"customer-{len(self.customers) + 1}")

    def tpp(self, token: str | None) -> str:
        """Return the name of the TPP that calls: "" for the first one, or an unknown one."""
        client = self.clients.get(token or "")
        if client is None:
            return ""
        name = f"tpp-{len(self.tpps) + 1}" if self.tpps else ""
        return self.tpps.setdefault(client, name)

    def learn(self, wire: Wire) -> Access:
        """Learn from the response of a token endpoint which tokens belong together.

        The tokens are returned, so that they can be kept out of all records.
        """
        response = _json_object(wire.body)
        token, refresh_token = response.get("access_token"), response.get("refresh_token")
        if not isinstance(token, str):
            return Access()
        form = dict(parse_qsl(wire.request_body[:MAX_BODY].decode("utf-8", "replace")))
        client = form.get("client_id") or _basic_login(wire)
        if form.get("grant_type") == "client_credentials":
            if client:
                self.clients[token] = client
            return Access(token=token)
        earlier = form.get("refresh_token", "")
        session = self.sessions.get(earlier, earlier or token)
        self.sessions[token] = session
        if not isinstance(refresh_token, str):
            return Access(token=token)
        self.sessions[refresh_token] = session
        return Access(token=token, login=refresh_token)


def _basic_login(wire: Wire) -> str | None:
    credentials = basic_credentials(wire.request_header("authorization") or "")
    return credentials[0] if credentials else None


def _json_object(body: bytes) -> dict[str, Any]:
    try:
        content = json.loads(body) if body and len(body) <= MAX_BODY else None
    except (ValueError, RecursionError):
        return {}
    return cast("dict[str, Any]", content) if isinstance(content, dict) else {}
