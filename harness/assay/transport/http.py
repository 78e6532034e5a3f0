"""The HTTP client: sends what it is given, once, and bounds what comes back.

No retries, no redirects, no following of links to other hosts, no answer over a
few megabytes or slower than the profile's time: each of those would change what
is being measured or trust a stranger.
"""

from __future__ import annotations

import json
import ssl
import time
import zlib
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from typing import Any, TypeAlias

import httpx

from assay.binding.encode import HttpRequest
from assay.errors import Problem, TargetError
from assay.transport.auth.diagnostics import AuthenticationError
from assay.transport.protocol import ELSEWHERE, MOST, PREFIX, Delivery, answered, nothing, sendable

#: What is said of an answer that never came.
SLOW = "no whole answer within {} s"
#: Content codings that are undone; zlib finds out by itself which of them it is.
PACKED = frozenset({"gzip", "x-gzip", "deflate"})
#: For zlib: either of its formats, with the largest window.
EITHER = 32 + zlib.MAX_WBITS
#: What it is to have no connection at all.
UNREACHED = (httpx.ConnectError, httpx.ConnectTimeout)

#: Scheme, host and port; two URLs of one origin are the same host.
Origin: TypeAlias = tuple[str, str, int | None]


@dataclass(slots=True, kw_only=True)
class HttpClient:
    """Sends requests to one target over one transport; `timeout` is in seconds.

    `hosts` are further base URLs of it; those in `nearby` are no names that anybody
    could look up, and are called at the base URL's address.

    `reached` tells whether the target ever did what it was asked. `clock` counts
    seconds of real time. Connections are made with `tls`, and `explain` puts what goes
    wrong with one down to a line of the profile, where it can.
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
        # The transport alone, below httpx.Client: no cookie of one customer may
        # travel with another's call, and nothing may be retried or followed.
        verify = True if self.tls is None else self.tls
        self._wire = self.transport or httpx.HTTPTransport(verify=verify, trust_env=False)
        self._origins = frozenset(_origin(httpx.URL(one)) for one in (self.base_url, *self.hosts))

    def send(self, request: HttpRequest) -> Delivery:
        """Send a request once; trouble on the way is told, not raised.

        Raises:
            TargetError: nobody can be connected to, and nobody ever could.
            NoAccess: the same, and the profile has a line that is the reason.

        """
        for name, value in request.headers:
            if not sendable(value):
                return nothing(request, f"no request can carry this header: {name}")
        try:
            url = httpx.URL(request.url)
            asked = self._request(request.method, url, list(request.headers), request.body)
        except (httpx.InvalidURL, ValueError) as error:
            return nothing(request, f"not a URL that can be called: {error}")
        if _origin(url) not in self._origins or url.userinfo:
            return nothing(request, ELSEWHERE)
        base = httpx.URL(self.base_url)
        if self.nearby and _origin(url) != _origin(base):
            asked.url = url.copy_with(scheme=base.scheme, host=base.host, port=base.port)
        try:
            answer, body, truncated = self._exchange(asked)
        except httpx.HTTPError as error:
            problem = self.explain(error)
            if problem:
                if not self.reached:
                    raise AuthenticationError(problem, nowhere=True) from None
                return nothing(request, str(problem))
            if isinstance(error, UNREACHED) and not self.reached:
                raise TargetError(_say(error, self.timeout)) from None
            late = isinstance(error, httpx.TimeoutException) and not isinstance(error, UNREACHED)
            return nothing(request, _say(error, self.timeout), timed_out=late)
        self.reached = True
        headers = tuple(answer.headers.multi_items())
        return answered(request, answer.status_code, headers, body, truncated=truncated)

    def _request(
        self, method: str, url: httpx.URL | str, headers: list[tuple[str, str]], body: bytes
    ) -> httpx.Request:
        timeout = httpx.Timeout(self.timeout).as_dict()
        return httpx.Request(
            method, url, headers=headers, content=body, extensions={"timeout": timeout}
        )

    def _exchange(self, asked: httpx.Request) -> tuple[httpx.Response, bytes, bool]:
        deadline = self.clock() + self.timeout
        answer = self._wire.handle_request(asked)
        try:
            return answer, *self._read(answer, deadline)
        finally:
            answer.close()

    def _read(self, answer: httpx.Response, deadline: float) -> tuple[bytes, bool]:
        """Read a body up to the bound, packed or not, within the time."""
        unpack = _unpacker(answer)
        parts: list[bytes] = []
        left = MOST
        for raw in answer.iter_raw():
            part = unpack(raw, left + 1) if unpack else raw
            parts.append(part[:left])
            left -= len(part)
            if left < 0:
                return b"".join(parts), True
            if self.clock() > deadline:
                raise httpx.ReadTimeout(SLOW.format(self.timeout))
        return b"".join(parts), False

    def control(self, method: str, path: str, body: Mapping[str, Any] | None) -> tuple[int, Any]:
        """Call the target's control API and return status and JSON answer.

        Raises:
            TargetError: nobody answers there, or not in JSON.

        """
        url = (self.control_url or self.base_url).rstrip("/") + PREFIX + path
        headers = [("Content-Type", "application/json")]
        if self.control_key:
            headers.append(("Assay-Control-Key", self.control_key))
        content = b"" if body is None else json.dumps(body).encode()
        try:
            asked = self._request(method, url, headers, content)
            answer, told, _ = self._exchange(asked)
        except (httpx.HTTPError, httpx.InvalidURL) as error:
            if problem := self.explain(error):
                raise AuthenticationError(problem, nowhere=True) from None
            raise TargetError(f"{url}: {_say(error, self.timeout)}") from None
        try:
            known = json.loads(told, parse_constant=_refuse) if told else {}
        except (ValueError, RecursionError):
            raise TargetError(
                f"{url}: status {answer.status_code}, and no JSON: is assay-control/1 spoken there?"
            ) from None
        self.reached = self.reached or answer.is_success
        return answer.status_code, known

    def beyond(self, *urls: str) -> HttpClient:
        """Return a client that also calls these URLs' hosts, over the same connections."""
        return replace(self, transport=self._wire, hosts=(*self.hosts, *urls))

    def close(self) -> None:
        """Close every connection."""
        self._wire.close()


def spelt(url: str) -> str:
    """Return a URL as it is sent.

    Raises:
        ValueError: it is none.

    """
    try:
        return str(httpx.URL(url))
    except httpx.InvalidURL as error:
        raise ValueError(str(error)) from None


def _origin(url: httpx.URL) -> Origin:
    return url.scheme, url.host, url.port


def _unpacker(answer: httpx.Response) -> Callable[[bytes, int], bytes] | None:
    """Return what undoes the content coding, never making more than it is told."""
    coding = answer.headers.get("content-encoding", "").strip().lower()
    if coding in {"", "identity"}:
        return None
    if coding not in PACKED:
        raise httpx.DecodingError(f"packed in a way that is not read: {coding[:40]}")
    unpacker = zlib.decompressobj(EITHER)

    def unpack(raw: bytes, most: int) -> bytes:
        try:
            return unpacker.decompress(raw, most)
        except zlib.error as error:
            raise httpx.DecodingError(f"packed as {coding}, and broken: {error}") from None

    return unpack


def _refuse(constant: str) -> object:
    raise ValueError(f"{constant} is no JSON")


def _say(error: Exception, timeout: float) -> str:
    if isinstance(error, UNREACHED):
        return f"cannot connect ({str(error)[:200]})"
    if isinstance(error, httpx.TimeoutException):
        return SLOW.format(timeout)
    if isinstance(error, httpx.DecodingError):
        return f"the answer cannot be read: {error}"
    return f"the connection broke ({type(error).__name__}: {str(error)[:200]})"
