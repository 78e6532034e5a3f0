"""The HTTP client: sends each request once, and bounds what it reads.

No retries, no redirects, no calls to other hosts, and no answer over a few megabytes or
slower than the target file's timeout: each of those would change what is being measured
or trust an external source.
"""

from __future__ import annotations

import json
import ssl
import time
import zlib
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from threading import Event
from typing import Any

import httpx

from assay.binding.encode import HttpRequest
from assay.binding.origin import Origin, origin
from assay.errors import Problem, TargetError
from assay.transport.auth.diagnostics import AuthenticationError
from assay.transport.deadline import DeadlineTransport, ThreadTransport
from assay.transport.protocol import (
    CONTROL_PATH,
    MAX_BODY,
    OTHER_HOST,
    Delivery,
    answered,
    sendable,
    unanswered,
)

#: The reason given for a call without a complete answer in time.
TIMED_OUT = "no complete answer within {} s"
#: Content codings that are decoded; zlib detects which of them it is.
CODINGS = frozenset({"gzip", "x-gzip", "deflate"})
#: For zlib: either of its formats, with the largest window.
ANY_FORMAT = 32 + zlib.MAX_WBITS
#: How a part of gzip begins, and the most parts that are read.
GZIP, MAX_PARTS = b"\x1f\x8b", 1_000
#: Errors that mean that there is no connection at all.
UNCONNECTED = (httpx.ConnectError, httpx.ConnectTimeout)


@dataclass(slots=True, kw_only=True)
class HttpClient:
    """Sends requests to one target over one transport; `timeout` is in seconds.

    `hosts` are further base URLs of the target. With `nearby`, their names cannot be
    resolved, and they are called at the base URL's address.

    `reached` says whether the target ever answered. `clock` counts seconds of real
    time. Connections are made with `tls`, and `explain` maps a connection error to a
    line of the target file where it can.
    """

    base_url: str
    timeout: float = 10.0
    transport: httpx.BaseTransport | None = None
    control_key: str | None = None
    control_url: str | None = None
    hosts: tuple[str, ...] = ()
    nearby: bool = False
    reached: bool = False
    clock: Callable[[], float] = time.monotonic
    tls: ssl.SSLContext | None = None
    explain: Callable[[BaseException], Problem | None] = lambda _: None
    _wire: httpx.BaseTransport = field(init=False)
    _origins: frozenset[Origin] = field(init=False)

    def __post_init__(self) -> None:
        # The transport alone, below httpx.Client: no cookie of one customer may travel
        # with another's call, and nothing may be retried or followed.
        self._wire = self.transport or self._one_for_each_thread()
        self._origins = frozenset(
            origin(str(httpx.URL(url))) for url in (self.base_url, *self.hosts)
        )

    def _one_for_each_thread(self) -> ThreadTransport:
        # The context is shared: to read the certificates of all authorities takes a while.
        context = self.tls or httpx.create_ssl_context(trust_env=False)
        broken = Event()
        return ThreadTransport(lambda: DeadlineTransport(context, self.clock, broken=broken))

    def send(self, request: HttpRequest) -> Delivery:
        """Send a request once; transport errors are returned, not raised.

        Raises:
            TargetError: no connection is possible, and none ever was.
            AuthenticationError: the same, and a line of the target file is the reason.

        """
        for name, value in request.headers:
            if not sendable(value):
                what = f"the header {name} has a value that cannot be sent"
                return unanswered(request, what, sent=False)
        try:
            url = httpx.URL(request.url)
            http_request = self._request(request.method, url, list(request.headers), request.body)
        except (httpx.InvalidURL, ValueError) as error:
            return unanswered(request, f"not a valid URL: {error}", sent=False)
        if origin(str(url)) not in self._origins or url.userinfo:
            return unanswered(request, OTHER_HOST, sent=False)
        base = httpx.URL(self.base_url)
        if self.nearby and origin(str(url)) != origin(str(base)):
            http_request.url = url.copy_with(scheme=base.scheme, host=base.host, port=base.port)
        try:
            response, body, truncated = self._exchange(http_request)
        except httpx.HTTPError as error:
            problem = self.explain(error)
            if problem:
                if not self.reached:
                    raise AuthenticationError(problem, unconnected=True) from None
                return unanswered(request, str(problem))
            if isinstance(error, UNCONNECTED) and not self.reached:
                raise TargetError(_describe(error, self.timeout)) from None
            late = isinstance(error, httpx.TimeoutException) and not isinstance(error, UNCONNECTED)
            return unanswered(request, _describe(error, self.timeout), timed_out=late)
        self.reached = True
        headers = tuple(response.headers.multi_items())
        return answered(request, response.status_code, headers, body, truncated=truncated)

    def _request(
        self, method: str, url: httpx.URL | str, headers: list[tuple[str, str]], body: bytes
    ) -> httpx.Request:
        timeout = httpx.Timeout(self.timeout).as_dict()
        return httpx.Request(
            method, url, headers=headers, content=body, extensions={"timeout": timeout}
        )

    def _exchange(self, request: httpx.Request) -> tuple[httpx.Response, bytes, bool]:
        deadline = self.clock() + self.timeout
        response = self._wire.handle_request(request)
        try:
            return response, *self._read(response, deadline)
        finally:
            response.close()
            close_connections_with_leftovers(self._wire)

    def _read(self, response: httpx.Response, deadline: float) -> tuple[bytes, bool]:
        """Read a body up to the limit, decoded, within the time."""
        decode = _decoder(response)
        parts: list[bytes] = []
        remaining = received = MAX_BODY
        for chunk in response.iter_raw():
            part = decode(chunk, remaining + 1) if decode else chunk
            if part:
                parts.append(part[:remaining])
            remaining, received = remaining - len(part), received - len(chunk)
            if min(remaining, received) < 0:
                return b"".join(parts), True
            if self.clock() > deadline:
                raise httpx.ReadTimeout(TIMED_OUT.format(self.timeout))
        return b"".join(parts), False

    def control(self, method: str, path: str, body: Mapping[str, Any] | None) -> tuple[int, Any]:
        """Call the target's control API and return status and JSON answer.

        Raises:
            TargetError: there is no answer, or it is not JSON.

        """
        url = (self.control_url or self.base_url).rstrip("/") + CONTROL_PATH + path
        headers = [("Content-Type", "application/json")]
        if self.control_key:
            headers.append(("Assay-Control-Key", self.control_key))
        body_bytes = b"" if body is None else json.dumps(body).encode()
        try:
            request = self._request(method, url, headers, body_bytes)
            response, text, truncated = self._exchange(request)
        except (httpx.HTTPError, httpx.InvalidURL) as error:
            if problem := self.explain(error):
                raise AuthenticationError(problem, unconnected=True) from None
            raise TargetError(f"{url}: {_describe(error, self.timeout)}") from None
        if truncated:
            raise TargetError(f"{url}: the answer is larger than {MAX_BODY} bytes")
        try:
            content = json.loads(text, parse_constant=_refuse) if text else {}
        except (ValueError, RecursionError):
            raise TargetError(
                f"{url}: status {response.status_code} without JSON; is this an assay-control/1 API?"
            ) from None
        self.reached = self.reached or response.is_success
        return response.status_code, content

    def with_hosts(self, *urls: str) -> HttpClient:
        """Return a client that also calls these URLs' hosts, over the same connections."""
        return replace(self, transport=self._wire, hosts=(*self.hosts, *urls))

    def close(self) -> None:
        """Close every connection."""
        self._wire.close()


def normalized_url(url: str) -> str:
    """Return a URL as it is sent.

    Raises:
        ValueError: it is not a valid URL.

    """
    try:
        return str(httpx.URL(url))
    except httpx.InvalidURL as error:
        raise ValueError(str(error)) from None


def coding_of(header: str) -> str:
    """Return the content coding that a header names; "" for none."""
    names = (name.strip() for name in header.lower().split(","))
    return ", ".join(name for name in names if name not in {"", "identity"})


@dataclass(slots=True, kw_only=True)
class Decompressor:
    """Undoes a content coding bit by bit: zlib's formats, deflate without a header, gzip in parts.

    Raises:
        zlib.error: the content is not compressed with it.

    """

    coding: str
    _inner: Any = None
    _held: bytes = b""
    _parts: int = 0

    def feed(self, chunk: bytes, limit: int) -> bytes:
        """Return what a chunk stands for, never more than the given size."""
        data, parts = self._held + chunk, list[bytes]()
        self._held = b""
        while data and limit > 0 and self._parts < MAX_PARTS:
            if self._inner is None:
                if len(data) < 2:  # noqa: PLR2004 -- what says which format it is
                    self._held = data
                    break
                whole = data[0] & 15 == zlib.DEFLATED and not int.from_bytes(data[:2]) % 31
                if self._parts and data[:2] != GZIP:
                    self._parts = MAX_PARTS  # what follows the end is nothing
                    break
                raw = self.coding == "deflate" and not whole and data[:2] != GZIP
                self._inner = zlib.decompressobj(-zlib.MAX_WBITS if raw else ANY_FORMAT)
            parts.append(self._inner.decompress(data, limit))
            limit -= len(parts[-1])
            data = b""
            if self._inner.eof:
                data, self._inner = self._inner.unused_data, None
                self._parts += 1
        return b"".join(parts)


def _decoder(response: httpx.Response) -> Callable[[bytes, int], bytes] | None:
    """Return a decoder of the content coding that never produces more than the given size."""
    coding = coding_of(response.headers.get("content-encoding", ""))
    if not coding:
        return None
    if coding not in CODINGS:
        raise httpx.DecodingError(f"unsupported content coding: {coding[:40]}")
    decompressor = Decompressor(coding=coding)

    def decode(chunk: bytes, limit: int) -> bytes:
        try:
            return decompressor.feed(chunk, limit)
        except zlib.error as error:
            raise httpx.DecodingError(f"broken {coding} content: {error}") from None

    return decode


def _refuse(constant: str) -> object:
    raise ValueError(f"{constant} is not JSON")


def _describe(error: Exception, timeout: float) -> str:
    if isinstance(error, UNCONNECTED):
        return f"cannot connect ({str(error)[:200]})"
    if isinstance(error, httpx.TimeoutException):
        return TIMED_OUT.format(timeout)
    if isinstance(error, httpx.DecodingError):
        return f"the answer cannot be read: {error}"
    return f"the connection broke ({type(error).__name__}: {str(error)[:200]})"


def close_connections_with_leftovers(transport: httpx.BaseTransport) -> None:
    """Close the idle connections of a transport that have received more than one answer."""
    current = transport.current if isinstance(transport, ThreadTransport) else transport
    if isinstance(current, DeadlineTransport):
        current.close_unclean()
