"""Transport that signs every request as the target file says, just before it is sent.

It wraps another transport: what is signed is what is sent, and nothing is added
afterwards. The control API and the customer's screens are not signed. Both kinds of
signatures work on the same `Message`.
"""

from __future__ import annotations

from base64 import b64encode
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from email.utils import format_datetime
from hashlib import sha256
from typing import Any, Protocol, TypeAlias
from urllib.parse import urlsplit
from uuid import uuid4

from assay.binding.encode import HttpRequest
from assay.binding.target import Signature, SignatureKind, Target, TransportKind
from assay.transport.auth.certificates import Key
from assay.transport.protocol import Delivery, Transport, nothing, sendable

__all__ = ["Message", "SigningTransport", "signed"]

#: The name of a body's digest header and algorithm in each kind of signature.
DIGESTS: Mapping[SignatureKind, str] = {
    SignatureKind.CAVAGE: "digest",
    SignatureKind.RFC9421: "content-digest",
}
#: Headers that are added to a signed request unless the target file sets its own.
MADE = ("date", "x-request-id")


@dataclass(frozen=True, slots=True, kw_only=True)
class Message:
    """A request to be signed: lower-case header names, `now` with an offset."""

    method: str
    url: str
    headers: Mapping[str, str]
    now: datetime

    @property
    def target(self) -> str:
        """Path and query, as they are sent."""
        parts = urlsplit(self.url)
        return (parts.path or "/") + (f"?{parts.query}" if parts.query else "")


class Sign(Protocol):
    """Signs a message: returns the headers to add."""

    def __call__(self, message: Message, said: Signature, key: Key) -> list[tuple[str, str]]:
        """Sign what `said` covers, as far as the message has it."""
        ...


#: Returns a URL as the transport sends it: that is what must be signed.
Spell: TypeAlias = Callable[[str], str]


@dataclass(slots=True, kw_only=True)
class SigningTransport:
    """Signs each request and passes it on. `own` are the headers that the target file sets."""

    inner: Transport
    said: Signature
    key: Key
    sign: Sign
    spell: Spell
    own: frozenset[str] = frozenset()
    clock: Callable[[], datetime] = lambda: datetime.now(UTC)
    unique: Callable[[], str] = lambda: str(uuid4())
    base_url: str = field(init=False)
    reached: bool = field(init=False)

    def __post_init__(self) -> None:
        self.base_url, self.reached = self.inner.base_url, self.inner.reached

    def send(self, request: HttpRequest) -> Delivery:
        """Sign a request, and send it once."""
        sent = self._send(request)
        self.reached = self.inner.reached
        return sent

    def _send(self, request: HttpRequest) -> Delivery:
        try:
            url = self.spell(request.url)
            host = urlsplit(url).netloc
        except ValueError:
            return self.inner.send(request)  # which says what is wrong with it
        if not all(sendable(value) for _, value in request.headers):
            return self.inner.send(request)  # and so it does here
        now = self.clock()
        headers = list(self._headers(request, now))
        named: dict[str, str] = {"host": host}
        for name, value in headers:
            low = name.lower()
            named[low] = f"{named[low]}, {value}" if low in named else value
        message = Message(method=request.method, url=url, headers=named, now=now)
        try:
            headers += self.sign(message, self.said, self.key)
        except ValueError:
            return nothing(request, "a request that cannot be signed")
        return self.inner.send(replace(request, url=url, headers=tuple(headers)))

    def _headers(self, request: HttpRequest, now: datetime) -> Iterator[tuple[str, str]]:
        """Yield a request's own headers, and those that are added for its signature.

        A request that is derived from another keeps the headers that were signed in
        that one.
        """
        covers, digest = self.said.covers, DIGESTS[self.said.kind]
        stale = {"signature", "signature-input", digest}
        stale |= {name for name in MADE if name in covers and name not in self.own}
        kept = [pair for pair in request.headers if pair[0].lower() not in stale]
        yield from kept
        there = {name.lower() for name, _ in kept}
        if "date" in covers and "date" not in there:
            yield "Date", format_datetime(now, usegmt=True)
        if "x-request-id" in covers and "x-request-id" not in there:
            yield "X-Request-ID", self.unique()
        if digest in covers and request.body:
            told = b64encode(sha256(request.body).digest()).decode()
            if self.said.kind is SignatureKind.CAVAGE:
                yield "Digest", f"SHA-256={told}"
            else:
                yield "Content-Digest", f"sha-256=:{told}:"

    def control(self, method: str, path: str, body: Mapping[str, Any] | None) -> tuple[int, Any]:
        """Call the control API; these calls are not signed."""
        answer = self.inner.control(method, path, body)
        self.reached = self.inner.reached
        return answer

    def close(self) -> None:
        """Close every connection."""
        self.inner.close()


def signed(transport: Transport, target: Target, key: Key) -> Transport:
    """Return a transport that signs as the target file says; unchanged if it says nothing."""
    said = target.signature
    if said is None:
        return transport
    if said.kind is SignatureKind.CAVAGE:
        from assay.transport.auth.cavage import sign as way  # noqa: PLC0415 -- one of two
    else:
        from assay.transport.auth.rfc9421 import sign as way  # noqa: PLC0415 -- one of two
    every = (target.headers, *(one.headers for one in target.operations.values()))
    own = frozenset(name.lower() for headers in every for name in headers)
    spell: Spell = str
    if target.transport is TransportKind.HTTP:
        from assay.transport.http import spelt as spell  # noqa: PLC0415 -- httpx only for a network
    return SigningTransport(inner=transport, said=said, key=key, sign=way, spell=spell, own=own)
