"""The HTTP client: sends what it is given, once, and bounds what comes back.

No retries, no redirects, no following of links to other hosts, no answer over a
few megabytes or slower than the profile's time: each of those would change what
is being measured or trust a stranger.
"""

from __future__ import annotations

import json
import time
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any
from urllib.parse import urlsplit

import httpx

from assay.errors import TargetError
from assay.history import Wire
from assay.target.encode import Request

#: The largest answer that is read, in bytes.
MOST = 4 * 1024 * 1024
#: What is said of an answer that never came.
SLOW = "no whole answer within {} s"


@dataclass(slots=True, kw_only=True)
class Sent:
    """What came of sending a request: the wire, or why there is none."""

    wire: Wire
    trouble: str = ""


@dataclass(slots=True, kw_only=True)
class Client:
    """Sends requests to one host over one transport; `timeout` is in seconds."""

    base_url: str
    timeout: float = 10.0
    transport: httpx.BaseTransport | None = None
    control_key: str | None = None
    control_url: str | None = None
    reached: bool = False
    _wire: httpx.BaseTransport = field(init=False)

    def __post_init__(self) -> None:
        # The transport alone, below httpx.Client: no cookie of one customer may
        # travel with another's call, and nothing may be retried or followed.
        self._wire = self.transport or httpx.HTTPTransport(trust_env=False)

    def send(self, request: Request) -> Sent:
        """Send a request once; trouble on the way is told, never raised."""
        if urlsplit(request.url).netloc != urlsplit(self.base_url).netloc:
            return _nothing(request, "a link to another host is not followed")
        try:
            asked = self._request(
                request.method, request.url, list(request.headers), request.body
            )
        except (httpx.InvalidURL, ValueError) as error:
            return _nothing(request, f"not a URL that can be called: {error}")
        try:
            answer = self._wire.handle_request(asked)
            body, truncated = self._read(answer)
        except httpx.HTTPError as error:
            return _nothing(request, _say(error, self.timeout))
        self.reached = True
        return Sent(
            wire=Wire(
                method=request.method,
                url=request.url,
                request_headers=request.headers,
                request_body=request.body,
                status=answer.status_code,
                headers=tuple(answer.headers.multi_items()),
                body=body,
                truncated=truncated,
            )
        )

    def _request(
        self, method: str, url: str, headers: list[tuple[str, str]], body: bytes
    ) -> httpx.Request:
        timeout = httpx.Timeout(self.timeout).as_dict()
        return httpx.Request(
            method, url, headers=headers, content=body, extensions={"timeout": timeout}
        )

    def _read(self, answer: httpx.Response) -> tuple[bytes, bool]:
        """Read a body up to the bound, within the time."""
        deadline = time.monotonic() + self.timeout
        parts: list[bytes] = []
        size = 0
        try:
            for part in answer.iter_bytes():
                parts.append(part)
                size += len(part)
                if size > MOST:
                    return b"".join(parts)[:MOST], True
                if time.monotonic() > deadline:
                    raise httpx.ReadTimeout(SLOW.format(self.timeout))
        finally:
            answer.close()
        return b"".join(parts), False

    def control(self, method: str, path: str, body: Mapping[str, Any] | None) -> tuple[int, Any]:
        """Call the target's control API and return status and JSON answer.

        Raises:
            TargetError: nobody answers there, or not in JSON.

        """
        url = (self.control_url or self.base_url).rstrip("/") + "/assay-control/1" + path
        headers = [("Content-Type", "application/json")]
        if self.control_key:
            headers.append(("Assay-Control-Key", self.control_key))
        content = b"" if body is None else json.dumps(body).encode()
        try:
            answer = self._wire.handle_request(self._request(method, url, headers, content))
            told, _ = self._read(answer)
        except (httpx.HTTPError, httpx.InvalidURL) as error:
            raise TargetError(f"{url}: {_say(error, self.timeout)}") from None
        self.reached = True
        if not told:
            return answer.status_code, {}
        try:
            return answer.status_code, json.loads(told)
        except (ValueError, RecursionError):
            raise TargetError(
                f"{url}: status {answer.status_code}, and no JSON: is assay-control/1 spoken there?"
            ) from None

    def close(self) -> None:
        """Close every connection."""
        self._wire.close()


def _nothing(request: Request, trouble: str) -> Sent:
    wire = Wire(
        method=request.method,
        url=request.url,
        request_headers=request.headers,
        request_body=request.body,
    )
    return Sent(wire=wire, trouble=trouble)


def _say(error: Exception, timeout: float) -> str:
    if isinstance(error, httpx.TimeoutException):
        return SLOW.format(timeout)
    if isinstance(error, httpx.ConnectError):
        return f"cannot connect ({error})"
    return f"the connection broke ({type(error).__name__}: {error})"
