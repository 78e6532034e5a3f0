"""The transport interface, and its implementation for a bank in this process, a WSGI application.

The interface: send one request, return what came back. `http` implements it over a network.
In this process there is no connection, no timeout, and nothing hostile on the way: `Embedded`
does what a WSGI server does with a request, and no more.
"""

from __future__ import annotations

import io
import json
import sys
from collections.abc import Callable, Iterable, Mapping, Sequence
from concurrent.futures import Future, ThreadPoolExecutor, wait
from dataclasses import dataclass
from threading import Barrier, current_thread
from time import perf_counter
from typing import Any, Protocol, TypeAlias, TypeVar
from urllib.parse import unquote_to_bytes, urlsplit

from assay.binding.model.origin import origin
from assay.binding.wire.encode import HttpRequest
from assay.history import Wire

#: The largest answer that is read, in bytes.
MAX_BODY = 4 * 1024 * 1024
#: The path of the control API below its base URL.
CONTROL_PATH = "/assay-control/1"
#: The reason given for a call to another host.
OTHER_HOST = "links to other hosts are not followed"


@dataclass(slots=True, kw_only=True)
class Delivery:
    """The result of sending a request: the wire data, or why there is none.

    `timed_out` says that the time limit was the reason; `sent` is false if nothing was sent at all.
    """

    wire: Wire
    trouble: str = ""
    timed_out: bool = False
    sent: bool = True


class Transport(Protocol):
    """Sends requests to one target; `reached` says whether it ever answered one."""

    @property
    def base_url(self) -> str:
        """The base URL of the target."""
        ...

    @property
    def reached(self) -> bool:
        """Whether the target ever answered."""
        ...

    def send(self, request: HttpRequest) -> Delivery:
        """Send a request once; transport errors are returned, not raised."""
        ...

    def control(self, method: str, path: str, body: Mapping[str, Any] | None) -> tuple[int, Any]:
        """Call the target's control API and return status and JSON answer."""
        ...

    def close(self) -> None:
        """Close every connection."""
        ...


#: The beginning of the names of the threads that do several things at one moment.
TOGETHER = "together"
#: How long, in seconds, a bank in this process has for one thing before the next one is done.
TURN = 0.2
R = TypeVar("R")


def at_one_moment(
    transport: Transport, tasks: Sequence[Callable[[], R]]
) -> tuple[tuple[R, float], ...]:
    """Do things at a target at one moment; return the results in their order, with milliseconds.

    A bank in this process gets them in this order, so that a run can be repeated: each once the one
    before was done, or waits for another one.
    """
    if not tasks:
        return ()
    in_turn = isinstance(transport, Embedded)
    start = Barrier(1 if in_turn else len(tasks))

    def timed(task: Callable[[], R]) -> tuple[R, float]:
        start.wait()
        began = perf_counter()
        return task(), (perf_counter() - began) * 1000

    with ThreadPoolExecutor(len(tasks), thread_name_prefix=TOGETHER) as pool:
        begun: list[Future[tuple[R, float]]] = []
        for task in tasks:
            begun.append(pool.submit(timed, task))
            wait(begun[-1:], timeout=TURN if in_turn else 0)
        return tuple(each.result() for each in begun)


def unanswered(
    request: HttpRequest, trouble: str, *, timed_out: bool = False, sent: bool = True
) -> Delivery:
    """Return the delivery of a request without an answer, and the reason."""
    wire = Wire(
        method=request.method,
        url=request.url,
        request_headers=request.headers,
        request_body=request.body,
    )
    return Delivery(wire=wire, trouble=trouble, timed_out=timed_out, sent=sent)


def answered(
    request: HttpRequest,
    status: int,
    headers: tuple[tuple[str, str], ...],
    body: bytes,
    *,
    truncated: bool,
) -> Delivery:
    """Return the delivery of a request that was answered; `body` is bounded already."""
    wire = Wire(
        method=request.method,
        url=request.url,
        request_headers=request.headers,
        request_body=request.body,
        status=status,
        headers=headers,
        body=body,
        truncated=truncated,
    )
    return Delivery(wire=wire)


def sendable(value: str) -> bool:
    """Whether a header can carry this value; the error of a lower layer would quote it."""
    return value.isascii() and value.isprintable() and value == value.strip()


#: A WSGI application (PEP 3333).
Application: TypeAlias = Callable[[dict[str, Any], Callable[..., Any]], Iterable[bytes]]

#: The part of the WSGI environment that all requests share.
COMMON: Mapping[str, Any] = {
    "SCRIPT_NAME": "",
    "SERVER_PROTOCOL": "HTTP/1.1",
    "REMOTE_ADDR": "127.0.0.1",
    "wsgi.version": (1, 0),
    "wsgi.errors": sys.stderr,
    "wsgi.multiprocess": False,
    "wsgi.run_once": False,
}


class Embedded:
    """Calls an application under its public base URL."""

    def __init__(self, app: Application, base_url: str, hosts: Iterable[str] = ()) -> None:
        self.app = app
        self.base_url = base_url
        self.reached = True
        parts = urlsplit(base_url)
        self._hosts = {origin(url): urlsplit(url).netloc for url in (base_url, *hosts)}
        self._common = {
            **COMMON,
            "wsgi.url_scheme": parts.scheme,
            "SERVER_NAME": parts.hostname or "",
            "SERVER_PORT": str(parts.port or (443 if parts.scheme == "https" else 80)),
            "HTTP_HOST": parts.netloc,
        }

    def send(self, request: HttpRequest) -> Delivery:
        """Call the application with a request."""
        try:
            parts = urlsplit(request.url)
        except ValueError as error:
            return unanswered(request, f"not a valid URL: {error}", sent=False)
        host = self._hosts.get(origin(request.url))
        if host is None or "@" in parts.netloc:
            return unanswered(request, OTHER_HOST, sent=False)
        headers = (*request.headers, ("Host", host))
        status, headers, body = self._call(
            request.method, parts.path, parts.query, headers, request.body
        )
        return answered(request, status, headers, body[:MAX_BODY], truncated=len(body) > MAX_BODY)

    def control(self, method: str, path: str, body: Mapping[str, Any] | None) -> tuple[int, Any]:
        """Call the application's control API and return status and JSON answer."""
        content = b"" if body is None else json.dumps(body).encode()
        headers = (("Content-Type", "application/json"),)
        status, _, text = self._call(method, CONTROL_PATH + path, "", headers, content)
        return status, json.loads(text) if text else {}

    def _call(
        self,
        method: str,
        path: str,
        query: str,
        headers: Iterable[tuple[str, str]],
        body: bytes,
    ) -> tuple[int, tuple[tuple[str, str], ...], bytes]:
        environ = {
            **self._common,
            "REQUEST_METHOD": method,
            # Bytes as Latin-1 text, as PEP 3333 requires.
            "PATH_INFO": unquote_to_bytes(path).decode("latin-1"),
            "QUERY_STRING": query,
            # The target as it was sent, which servers need not pass on: this is what is
            # signed.
            "REQUEST_URI": f"{path}?{query}" if query else path,
            "CONTENT_LENGTH": str(len(body)),
            "wsgi.multithread": current_thread().name.startswith(TOGETHER),
            "wsgi.input": io.BytesIO(body),
        }
        for name, value in headers:
            key = name.upper().replace("-", "_")
            environ["CONTENT_TYPE" if key == "CONTENT_TYPE" else f"HTTP_{key}"] = value
        started: list[tuple[str, list[tuple[str, str]]]] = []

        def start(status: str, headers: list[tuple[str, str]], error: object = None) -> None:
            started.append((status, headers))

        parts = self.app(environ, start)
        content = b"".join(parts)
        close = getattr(parts, "close", None)
        if close is not None:
            close()
        status, response_headers = started[-1]
        lower_case = tuple((name.lower(), value) for name, value in response_headers)
        return int(status[:3]), lower_case, content

    def close(self) -> None:
        """Do nothing: there is no connection."""
