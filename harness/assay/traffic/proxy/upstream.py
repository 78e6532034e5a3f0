"""Client of the one bank behind the proxy: one request for each request, never repeated.

Certificates are checked as everywhere; nothing is retried, followed or kept between calls, so that
the record shows what the client did.
"""

from __future__ import annotations

import os
import ssl
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

import httpx

from assay.errors import InputError
from assay.traffic.proxy.masking import Headers
from assay.traffic.proxy.messages import readable

__all__ = ["MOST_AT_ONCE", "Upstream", "UpstreamFailed", "trust"]

#: How many exchanges may run side by side.
MOST_AT_ONCE = 64
#: What concerns one connection, and is not passed on (RFC 9110, section 7.6.1).
HOPS = frozenset(
    [
        "connection",
        "expect",
        "keep-alive",
        "proxy-authenticate",
        "proxy-authorization",
        "proxy-connection",
        "te",
        "trailer",
        "transfer-encoding",
        "upgrade",
    ]
)


class UpstreamFailed(Exception):  # noqa: N818 -- it reads as the sentence it is
    """The upstream could not be asked, or did not answer to the end; says why."""


@dataclass(slots=True, kw_only=True)
class Upstream:
    """Sends requests to one origin; `timeout` is in seconds of silence."""

    origin: str
    timeout: float = 60.0
    context: ssl.SSLContext | None = None
    _wire: httpx.HTTPTransport = field(init=False)

    def __post_init__(self) -> None:
        self._wire = httpx.HTTPTransport(
            verify=self.context or ssl.create_default_context(),
            trust_env=False,
            limits=httpx.Limits(max_connections=MOST_AT_ONCE, max_keepalive_connections=8),
        )

    def headers(self, headers: Headers) -> Headers:
        """Return what is passed on of a request's headers, with the upstream's own host."""
        host = httpx.URL(self.origin).netloc.decode()
        named = _connection(headers)
        kept = [("Host", host)]
        for name, value in headers:
            if name.lower() == "accept-encoding":
                kept.append((name, readable(value)))
            elif name.lower() not in HOPS | named | {"host"}:
                kept.append((name, value))
        return tuple(kept)

    def ask(
        self, method: str, target: bytes, headers: Headers, body: Iterator[bytes] | None
    ) -> httpx.Response:
        """Send a request as it came; the answer is to be closed.

        Raises:
            Failed: there is no answer.

        """
        extensions = {"target": target, "timeout": httpx.Timeout(self.timeout).as_dict()}
        raw = [(name.encode("latin-1"), value.encode("latin-1")) for name, value in headers]
        asked = httpx.Request(method, self.origin, headers=raw, content=body, extensions=extensions)
        try:
            return self._wire.handle_request(asked)
        except httpx.HTTPError as error:
            raise UpstreamFailed(self._say(error)) from None

    def parts(self, answer: httpx.Response) -> Iterator[bytes]:
        """Yield the body of an answer as it comes.

        Raises:
            Failed: it breaks off.

        """
        try:
            yield from answer.iter_raw()
        except httpx.HTTPError as error:
            raise UpstreamFailed(self._say(error)) from None

    def close(self) -> None:
        """Close every connection."""
        self._wire.close()

    def _say(self, error: httpx.HTTPError) -> str:
        if isinstance(error, httpx.ConnectError | httpx.ConnectTimeout):
            return f"cannot connect to {self.origin}: {str(error)[:200] or 'no answer'}"
        if isinstance(error, httpx.TimeoutException):
            return f"{self.origin} said nothing for {self.timeout:g} s"
        return f"the connection to {self.origin} broke: {str(error)[:200] or type(error).__name__}"


def passed_on(headers: Headers) -> Headers:
    """Return what is passed on of an answer's headers."""
    hops = HOPS | _connection(headers)
    return tuple((name, value) for name, value in headers if name.lower() not in hops)


def _connection(headers: Headers) -> frozenset[str]:
    """Return the headers that a message itself names as its connection's."""
    named = (value for name, value in headers if name.lower() == "connection")
    return frozenset(one.strip().lower() for value in named for one in value.split(","))


def trust(
    ca: Path | None, cert: Path | None, key: Path | None, password_env: str | None
) -> ssl.SSLContext:
    """Return whom the proxy believes to be the upstream, and how it shows itself.

    Raises:
        InputError: a file or a password is not what it is said to be.

    """
    try:
        context = ssl.create_default_context(cafile=str(ca) if ca else None)
    except (OSError, ssl.SSLError):
        hint = "a PEM file with the certificates of those who sign"
        raise InputError.one("--ca", f"{ca} cannot be read as certificates", hint=hint) from None
    if cert is None:
        if key is not None:
            raise InputError.one("--key", "there is no certificate to it", hint="give --cert too")
        return context
    password = os.environ.get(password_env, "") if password_env else ""
    try:
        # With a password of our own nobody is asked for one at the terminal.
        context.load_cert_chain(cert, key, password=lambda: password)
    except (OSError, ssl.SSLError, ValueError):
        what = f"{cert} and its key cannot be used"
        hint = "PEM files of one pair; a key with a password needs --key-password-env"
        raise InputError.one("--cert", what, hint=hint) from None
    return context
