"""Callers of a recording, told apart by their credentials.

Another token is not always another customer: tokens expire and are renewed. Where a recording has
the renewal itself, both are one customer. A call without credentials is of an unknown caller, so
each is a customer of its own. No token is ever used as a name.
"""

from __future__ import annotations

import base64
import json
from dataclasses import dataclass, field
from typing import Any, cast
from urllib.parse import parse_qsl

from assay.binding.encode import Access
from assay.binding.target import AuthKind, Target
from assay.history import Wire
from assay.traffic.parse_request import ParsedRequest

#: An answer that gives tokens is no longer than this.
MOST = 100_000


@dataclass(slots=True, kw_only=True)
class Callers:
    """Everyone who called so far. `secrets` must not be written anywhere."""

    target: Target
    sessions: dict[str, str] = field(default_factory=dict[str, str])
    clients: dict[str, str] = field(default_factory=dict[str, str])
    customers: dict[str, str] = field(default_factory=dict[str, str])
    providers: dict[str, str] = field(default_factory=dict[str, str])
    nobodies: int = 0

    def token(self, taken: ParsedRequest, *, by_provider: bool) -> str | None:
        """Return what authorises a call, as it stands there."""
        auth = self.target.auth.of(by_provider=by_provider)
        if auth.kind is AuthKind.KEY:
            return taken.headers.get(auth.header.lower())
        scheme, _, token = taken.headers.get("authorization", "").partition(" ")
        return token.strip() if scheme.lower() == "bearer" and token else None

    def customer(self, token: str | None) -> str:
        """Return the name of the customer whose token it is."""
        if token is None:
            self.nobodies += 1
            return f"somebody-{self.nobodies}"
        session = self.sessions.get(token, token)
        return self.customers.setdefault(session, f"customer-{len(self.customers) + 1}")

    def provider(self, token: str | None) -> str:
        """Return the name of the TPP that calls: "" for the first one, or an unknown one."""
        client = self.clients.get(token or "")
        if client is None:
            return ""
        first = not self.providers
        return self.providers.setdefault(
            client, "" if first else f"provider-{len(self.providers) + 1}"
        )

    def learn(self, wire: Wire) -> Access:
        """Learn from an answer that gives tokens which of them belong together.

        What is returned is to be kept out of all that is told.
        """
        given = _object(wire.body)
        token, renewed = given.get("access_token"), given.get("refresh_token")
        if not isinstance(token, str):
            return Access()
        form = dict(parse_qsl(wire.request_body[:MOST].decode("utf-8", "replace")))
        client = form.get("client_id") or _basic(wire)
        if form.get("grant_type") == "client_credentials":
            if client:
                self.clients[token] = client
            return Access(token=token)
        before = form.get("refresh_token", "")
        session = self.sessions.get(before, before or token)
        self.sessions[token] = session
        if isinstance(renewed, str):
            self.sessions[renewed] = session
        return Access(token=token, login=renewed if isinstance(renewed, str) else None)


def pair(value: str) -> tuple[str, str] | None:
    """Return the login and the password of an `Authorization: Basic` header.

    Of what cannot be read, a pseudonym in a record for one, the whole is the login.
    """
    scheme, _, packed = value.partition(" ")
    if scheme.lower() != "basic" or not packed:
        return None
    try:
        login, _, password = base64.b64decode(packed, validate=True).decode().partition(":")
    except ValueError:
        return packed, ""
    return login, password


def _basic(wire: Wire) -> str | None:
    for name, value in wire.request_headers:
        if name.lower() == "authorization":
            found = pair(value)
            return found[0] if found else None
    return None


def _object(body: bytes) -> dict[str, Any]:
    try:
        found = json.loads(body) if body and len(body) <= MOST else None
    except (ValueError, RecursionError):
        return {}
    return cast("dict[str, Any]", found) if isinstance(found, dict) else {}
