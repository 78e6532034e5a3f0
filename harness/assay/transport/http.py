"""The HTTP client, and its TLS: sends each request once, and bounds what it reads.

No retries, no redirects, no calls to other hosts, and no answer over a few megabytes or
slower than the target file's timeout: each of those would change what is being measured
or trust an external source.

TLS has many error codes for a refusal. Each is mapped to the key of the target file
that decides it, with its line: an authority, a name, the client certificate.
"""

from __future__ import annotations

import json
import ssl
import time
import zlib
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from threading import Event
from typing import Any, TypeAlias

import httpx

from assay.binding.model.origin import Origin, origin
from assay.binding.model.target import Target
from assay.binding.wire.encode import HttpRequest
from assay.errors import InputError, Problem, TargetError
from assay.transport.auth.diagnostics import AuthenticationError, problem
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

#: Returns the problem of the target file that explains a connection error; None if there
#: is none.
Explain: TypeAlias = Callable[[BaseException], Problem | None]

#: OpenSSL's numbers of verification errors.
EXPIRED, NOT_YET_VALID = 10, 9
UNTRUSTED = frozenset({2, 18, 19, 20, 21})
WRONG_NAME = frozenset({62, 63, 64})

#: OpenSSL's names of a peer's errors about our certificate, and their meaning.
ALERTS: Mapping[str, tuple[str, str]] = {
    "CERTIFICATE_EXPIRED": ("the target says that our certificate has expired", ""),
    "CERTIFICATE_REVOKED": ("the target says that our certificate was revoked", ""),
    "UNKNOWN_CA": (
        "the target does not know who issued our certificate",
        "check that it is for this environment, and that the file contains the whole chain",
    ),
    "BAD_CERTIFICATE": ("the target rejects our certificate", ""),
    "UNSUPPORTED_CERTIFICATE": (
        "the target rejects this type of certificate",
        "check that it is a certificate for TLS (QWAC), not one for signatures (QSEAL)",
    ),
    "CERTIFICATE_UNKNOWN": ("the target rejects our certificate", ""),
    "ACCESS_DENIED": ("the target recognises our certificate, but denies access with it", ""),
    "DECRYPT_ERROR": ("the target rejects our certificate's key", ""),
}
#: Errors of a target that requires a certificate, or another kind of connection.
REQUIRED = ("CERTIFICATE_REQUIRED", "HANDSHAKE_FAILURE")


def tls_context(
    target: Target, secrets: Mapping[str, str], urls: Iterable[str]
) -> ssl.SSLContext | None:
    """Return the TLS context of connections to these URLs; None for the usual one.

    Raises:
        InputError: the files cannot be used together.

    """
    settings = target.tls
    if settings is None:
        encrypted = any(not url.lower().startswith("http:") for url in urls)
        # One that trusts no authority: to read the certificates of all of them takes a while.
        return None if encrypted else ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
    try:
        if settings.ca_file is not None:
            context = ssl.create_default_context(cafile=settings.ca_file)
        else:
            context = httpx.create_ssl_context(trust_env=False)
            context.load_default_certs()
        if settings.certificate_file is not None:
            # A password must be given: without one, OpenSSL asks on the terminal.
            password = secrets[settings.key_password_env] if settings.key_password_env else ""
            context.load_cert_chain(settings.certificate_file, settings.key_file, password)
    except (OSError, ValueError):
        what = "the files cannot be used together"
        raise InputError([problem(target, "tls", what=what)]) from None
    return context


def explainer(target: Target) -> Explain:
    """Return a function that explains a connection error by a line of this target file."""

    def explain(error: BaseException) -> Problem | None:
        for cause in _chain(error):
            if isinstance(cause, ssl.SSLCertVerificationError):
                return _untrusted(target, cause)
            if isinstance(cause, ssl.SSLError):
                return _refused(target, cause.reason or "")
        return None

    return explain


def _chain(error: BaseException | None) -> Iterator[BaseException]:
    """Yield an error and its causes."""
    for _ in range(10):
        if error is None:
            return
        yield error
        error = error.__cause__ or error.__context__


def _untrusted(target: Target, error: ssl.SSLCertVerificationError) -> Problem:
    """Say why the target's certificate is not trusted."""
    code = error.verify_code
    if code in WRONG_NAME:
        what = "the target's certificate is for another name"
        return problem(target, "base_url", what=what, hint="check which host it is for")
    if code == EXPIRED:
        return problem(target, "base_url", what="the target's certificate has expired")
    if code == NOT_YET_VALID:
        what = "the target's certificate is not valid yet"
        return problem(target, "base_url", what=what, hint="check the clock of this machine")
    at = ("tls", "ca_file") if target.tls and target.tls.ca_file else ("base_url",)
    if code in UNTRUSTED:
        what = "the target's certificate comes from an authority that is not trusted"
        hint = "set tls.ca_file to the certificate of the authority"
        return problem(target, *at, what=what, hint=hint)
    return problem(target, *at, what=f"the target's certificate is not valid (OpenSSL: {code})")


def _refused(target: Target, reason: str) -> Problem:
    """Say why there was no TLS connection."""
    own = target.tls is not None and target.tls.certificate_file is not None
    at = ("tls", "certificate_file") if own else ("tls",) if target.tls else ("base_url",)
    if own:
        for alert, (what, hint) in ALERTS.items():
            if reason.endswith(f"ALERT_{alert}"):
                return problem(target, *at, what=what, hint=hint)
    if reason.endswith(REQUIRED):
        hint = (
            "check that it accepts this certificate, and TLS 1.2 or 1.3"
            if own
            else "it may require a client certificate: set tls.certificate_file"
        )
        return problem(target, *at, what="the target refuses the connection", hint=hint)
    if reason in {"WRONG_VERSION_NUMBER", "HTTP_REQUEST", "RECORD_LAYER_FAILURE"}:
        what = "the target does not speak TLS on this port"
        return problem(target, "base_url", what=what, hint="use http instead of https?")
    what = f"no TLS connection (OpenSSL: {reason[:60] or 'no reason'})"
    return problem(target, "base_url", what=what)


# -- The client ----------------------------------------------------------------------------------
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
