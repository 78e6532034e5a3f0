"""Client of the one bank behind the proxy: forwards each request once, never repeated.

Certificates are verified as everywhere; nothing is retried, followed or kept between calls, so that
the record shows what the client did.
"""

from __future__ import annotations

import os
import ssl
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from urllib.parse import SplitResult, urlsplit

import httpx

from assay.binding.model.origin import PORTS
from assay.errors import InputError
from assay.traffic.proxy.messages import Headers, encode_headers, readable_codings
from assay.transport.deadline import DeadlineTransport
from assay.transport.http import close_connections_with_leftovers

__all__ = ["MAX_EXCHANGES", "Upstream", "UpstreamError", "parse_upstream", "tls_context"]

#: How many exchanges may run at the same time.
MAX_EXCHANGES = 64
#: Headers of one connection, which are not forwarded (RFC 9110, section 7.6.1).
HOP_BY_HOP = frozenset(
    [
        "connection",
        "expect",
        "keep-alive",
        "proxy-authenticate",
        "proxy-authorization",
        "proxy-connection",
        "te",
        "trailer",
        "trailers",
        "transfer-encoding",
        "upgrade",
    ]
)


class UpstreamError(OSError):
    """The upstream cannot be reached, or its response is incomplete; the text says why."""


@dataclass(slots=True, kw_only=True)
class Upstream:
    """Sends requests to one origin.

    `timeout` is in seconds: until the head of a response is complete, counted from the end of its
    request, and for each part of its body. Clients may take longer than that.
    """

    origin: str
    timeout: float = 60.0
    context: ssl.SSLContext | None = None
    _transport: DeadlineTransport = field(init=False)

    def __post_init__(self) -> None:
        self._transport = DeadlineTransport(
            self.context or ssl.create_default_context(),
            limits=httpx.Limits(
                max_connections=MAX_EXCHANGES, max_keepalive_connections=8, keepalive_expiry=5.0
            ),
        )

    def request_headers(self, headers: Headers) -> Headers:
        """Return the headers of a request that are forwarded, with the upstream's own host."""
        dropped = HOP_BY_HOP | _named_by_connection(headers) | {"host"}
        forwarded = [("Host", httpx.URL(self.origin).netloc.decode())]
        for name, value in headers:
            if name.lower() == "accept-encoding":
                forwarded.append((name, readable_codings(value)))
            elif name.lower() not in dropped:
                forwarded.append((name, value))
        return tuple(forwarded)

    def send(
        self, method: str, target: bytes, headers: Headers, body: Iterator[bytes] | None
    ) -> httpx.Response:
        """Send a request as it came; the caller closes the response.

        Raises:
            UpstreamError: there is no response.

        """
        extensions = {"target": target, "timeout": httpx.Timeout(self.timeout).as_dict()}
        request = httpx.Request(
            method,
            self.origin,
            headers=encode_headers(headers),
            content=body if body is None else self._timed(body),
            extensions=extensions,
        )
        close_connections_with_leftovers(self._transport)
        try:
            return self._transport.handle_request(request)
        except httpx.HTTPError as error:
            raise UpstreamError(self._reason(error)) from None

    def parts(self, response: httpx.Response) -> Iterator[bytes]:
        """Yield the body of a response as it comes.

        Raises:
            UpstreamError: it breaks off.

        """
        self._transport.restart(self.timeout)
        try:
            yield from self._timed(response.iter_raw())
        except httpx.HTTPError as error:
            raise UpstreamError(self._reason(error)) from None

    def _timed(self, parts: Iterator[bytes]) -> Iterator[bytes]:
        """Yield parts; the upstream has the whole time again after each of them."""
        for part in parts:
            yield part
            self._transport.restart(self.timeout)

    def close(self) -> None:
        """Close every connection."""
        self._transport.close()

    def _reason(self, error: httpx.HTTPError) -> str:
        if isinstance(error, httpx.ConnectError | httpx.ConnectTimeout):
            return f"cannot connect to {self.origin}: {str(error)[:200] or 'no answer'}"
        if isinstance(error, httpx.TimeoutException):
            return f"{self.origin} sent no complete response for {self.timeout:g} s"
        return f"the connection to {self.origin} broke: {str(error)[:200] or type(error).__name__}"


def response_headers(headers: Headers) -> Headers:
    """Return the headers of a response that are forwarded."""
    dropped = HOP_BY_HOP | _named_by_connection(headers)
    return tuple((name, value) for name, value in headers if name.lower() not in dropped)


def _named_by_connection(headers: Headers) -> frozenset[str]:
    """Return the headers that the header Connection declares to be of the connection only."""
    values = (value for name, value in headers if name.lower() == "connection")
    return frozenset(name.strip().lower() for value in values for name in value.split(","))


def parse_upstream(url: str) -> tuple[str, str]:
    """Return origin and path of the upstream that a user named.

    Raises:
        InputError: it is not an http or https URL with a host.

    """
    hint = "for example https://sandbox.bank.example/v1"
    try:
        parts = urlsplit(url)
        port = parts.port
    except ValueError as error:
        raise InputError.one("--upstream", f"not a URL: {error}", hint=hint) from None
    if parts.scheme not in PORTS or not parts.hostname or port == 0:
        raise InputError.one("--upstream", "not an http or https URL with a host", hint=hint)
    if parts.username or parts.password:
        what = "a URL with credentials in it is not accepted"
        raise InputError.one("--upstream", what, hint="the client sends its own credentials")
    return _origin(parts), parts.path.rstrip("/")


def _origin(url: SplitResult) -> str:
    """Return the origin of a URL in its normal form."""
    host = f"[{url.hostname}]" if ":" in (url.hostname or "") else url.hostname
    is_default = url.port in {None, PORTS[url.scheme]}
    return f"{url.scheme}://{host}" + ("" if is_default else f":{url.port}")


def tls_context(
    ca: Path | None, cert: Path | None, key: Path | None, password_env: str | None
) -> ssl.SSLContext:
    """Return how the proxy verifies the upstream, and which certificate it presents.

    Raises:
        InputError: a file or a password cannot be used.

    """
    try:
        context = ssl.create_default_context(cafile=str(ca) if ca else None)
    except (OSError, ssl.SSLError):
        hint = "a PEM file with the certificates of the CA"
        raise InputError.one("--ca", f"{ca} cannot be read as certificates", hint=hint) from None
    if cert is None:
        if key is not None:
            raise InputError.one("--key", "a key without its certificate", hint="give --cert too")
        return context
    password = os.environ.get(password_env, "") if password_env else ""
    try:
        # With an own password, OpenSSL does not ask for one at the terminal.
        context.load_cert_chain(cert, key, password=lambda: password)
    except (OSError, ssl.SSLError, ValueError):
        what = f"{cert} and its key cannot be used"
        hint = "PEM files of one pair; a key with a password needs --key-password-env"
        raise InputError.one("--cert", what, hint=hint) from None
    return context
