"""Server of the proxy: accepts clients and forwards each request to the one upstream.

waitress reads a request completely before it is forwarded, so a slow client costs a connection and no
thread. A response is forwarded as it comes; only JSON that may have links is buffered, up to a bound,
to rewrite them. It is no open proxy: a request that is not HTTP, names another host, asks for a
tunnel, or was made by a page of another site in a browser is refused here and reaches neither the
upstream nor the record.
"""

from __future__ import annotations

import logging
import socket
import sys
import time
from collections.abc import Iterable, Iterator
from contextlib import suppress
from dataclasses import dataclass, field
from datetime import UTC, datetime
from http import HTTPStatus
from ipaddress import ip_address
from threading import Event, Thread
from typing import TYPE_CHECKING, Any, Self
from urllib.parse import urlsplit

from waitress import wasyncore
from waitress.server import TcpWSGIServer

from assay.traffic.proxy import messages
from assay.traffic.proxy.messages import Headers, LinkRewriter
from assay.traffic.proxy.recorder import HarRecorder, ProxiedExchange
from assay.traffic.proxy.upstream import MAX_EXCHANGES, Upstream, UpstreamError, response_headers

if TYPE_CHECKING:
    from _typeshed.wsgi import InputStream, StartResponse, WSGIEnvironment
    from waitress.channel import HTTPChannel

__all__ = ["Proxy"]

#: How many bytes of a request are read at once.
READ_SIZE = 64 * 1024
#: Hosts that name a proxy on this machine.
LOCAL_HOSTS = frozenset({"127.0.0.1", "localhost", "::1"})
#: What a browser says of requests that no page of another site made.
OWN_SITES = frozenset({"same-origin", "none"})
#: Connections of which some are closed before another is accepted, and how many.
MAX_CONNECTIONS, CLOSED = 256, 32
#: How many seconds running exchanges get to finish when the proxy is closed.
GRACE = 10.0
#: After how many seconds at most the proxy notices that it was closed.
POLL_INTERVAL = 0.05
#: For how many seconds a connection may be silent.
IDLE_TIMEOUT = 75


class _Server(TcpWSGIServer):
    """A server that closes the connections that wait longest for their client if it has too many."""

    def __init__(self, proxy: Proxy) -> None:
        self._open: dict[int, Any] = {}
        is_ipv6 = ":" in proxy.host
        try:
            super().__init__(
                proxy,
                map=self._open,
                host=proxy.host,
                port=proxy.port,
                ipv4=not is_ipv6,
                ipv6=is_ipv6,
                threads=MAX_EXCHANGES,
                ident="assay proxy",
                backlog=MAX_CONNECTIONS,
                # Above the number at which connections are closed, so that it is not reached.
                connection_limit=2 * MAX_CONNECTIONS,
                channel_timeout=IDLE_TIMEOUT,
                # However slowly a client reads a response, it waits in a file, not in a thread.
                outbuf_high_watermark=sys.maxsize,
                clear_untrusted_proxy_headers=False,
                log_socket_errors=False,
                asyncore_use_poll=True,
            )
        except ValueError:
            raise OSError(0, "no address of this machine") from None

    def bind_server_socket(self) -> None:
        """Bind, or leave nothing open: a server that was never made cannot be closed."""
        try:
            super().bind_server_socket()
        except OSError:
            self.task_dispatcher.shutdown()
            wasyncore.close_all(self._open, ignore_all=True)
            raise

    def readable(self) -> bool:
        """Accept a connection, and close others if there are too many."""
        if len(self._open) > MAX_CONNECTIONS:
            waiting = [channel for channel in self._channels() if not channel.requests]
            for channel in sorted(waiting, key=lambda each: each.last_activity)[:CLOSED]:
                channel.will_close = True
        return super().readable()

    def serve(self, over: Event) -> None:
        """Serve until the event is set; then finish running exchanges, and close all connections."""
        while not over.is_set():
            self._poll()
        self.accepting = False
        until = time.monotonic() + GRACE
        while time.monotonic() < until and (channels := self._channels()):
            for channel in channels:
                channel.will_close |= not channel.requests and not channel.total_outbufs_len
            self._poll()
        wasyncore.close_all(self._open, ignore_all=True)

    def _poll(self) -> None:
        wasyncore.loop(timeout=POLL_INTERVAL, map=self._open, use_poll=True, count=1)

    def _channels(self) -> list[HTTPChannel]:
        return [each for each in self._open.values() if each not in {self, self.trigger}]


@dataclass(slots=True, kw_only=True)
class Proxy:
    """Forwards requests to one upstream, and records the exchanges; a context manager.

    It is a WSGI application. `rewrite` rewrites the upstream's links in responses to the proxy.
    """

    upstream: Upstream
    record: HarRecorder
    host: str = "127.0.0.1"
    port: int = 0
    rewrite: bool = True
    _server: _Server | None = None
    _thread: Thread | None = None
    _over: Event = field(default_factory=Event)

    def open(self) -> None:
        """Listen, and serve in a thread from now on.

        Raises:
            OSError: the address cannot be listened on.

        """
        # Its warnings are of clients that went away, and of many requests at once.
        logging.getLogger("waitress").setLevel(logging.ERROR)
        self._server = _Server(self)
        self.port = int(self._server.getsockname()[1])
        self._thread = Thread(target=self._server.serve, args=(self._over,), daemon=True)
        self._thread.start()

    @property
    def url(self) -> str:
        """The origin under which clients reach the proxy."""
        return f"http://{f'[{self.host}]' if ':' in self.host else self.host}:{self.port}"

    @property
    def local(self) -> bool:
        """Whether only this machine can reach the proxy."""
        try:
            return ip_address(self.host).is_loopback
        except ValueError:
            return self.host == "localhost"

    def close(self) -> None:
        """Accept no more, let running exchanges finish within bounds, and end the record."""
        self._over.set()
        if self._server is not None and self._thread is not None:
            self._thread.join()
            self._server.task_dispatcher.shutdown()
        self.record.close()
        self.upstream.close()

    def __enter__(self) -> Self:
        self.open()
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def __call__(self, environ: WSGIEnvironment, respond: StartResponse) -> Iterable[bytes]:
        """Answer a request."""
        refusal = self._refusal(environ)
        return [_answer(respond, *refusal)] if refusal else self._forward(environ, respond)

    def _refusal(self, environ: WSGIEnvironment) -> tuple[int, str] | None:
        """Return status and reason if a request must not be forwarded."""
        if not environ["REQUEST_URI"].startswith("/"):
            what = f"this proxy forwards to {self.upstream.origin} and nowhere else"
            return 421, f"{what}: request a path"
        header = environ.get("HTTP_HOST", "")
        try:
            host = urlsplit(f"//{header}").hostname
        except ValueError:
            host = None
        if not host or "," in header:
            return 400, "the Host header names no host"
        if not self._is_own(host):
            what = f"this proxy is {self.url}"
            return 421, f"{what}; set --listen to another address to use it under a name"
        if _from_another_site(environ, f"http://{header}".lower()):
            what = "a page of another site made this request in a browser"
            return 403, f"{what}; only links to the bank's pages are forwarded from there"
        return None

    def _is_own(self, host: str) -> bool:
        """Whether a name is the proxy's: a page must not reach the bank by a name of its own.

        On an address of the network, names without a dot are the network's own.
        """
        if self.local:
            return host in LOCAL_HOSTS
        with suppress(ValueError):
            return bool(ip_address(host))
        return "." not in host or host in {self.host.lower(), socket.getfqdn().lower()}

    def _forward(self, environ: WSGIEnvironment, respond: StartResponse) -> Iterator[bytes]:
        """Forward a request, return the response, and record both, however it ends."""
        target: bytes = environ["REQUEST_URI"].encode("latin-1")
        exchange = ProxiedExchange(
            started=datetime.now(UTC),
            method=environ["REQUEST_METHOD"],
            url=self.upstream.origin + environ["REQUEST_URI"],
            version=environ["SERVER_PROTOCOL"],
            request_headers=self._sent_headers(environ),
        )
        has_body = "CONTENT_LENGTH" in environ
        began = time.perf_counter()
        try:
            body = _request_body(environ["wsgi.input"], exchange, began) if has_body else None
            headers = self.upstream.request_headers(exchange.request_headers)
            response = self.upstream.send(exchange.method, target, headers, body)
            exchange.waiting = time.perf_counter() - began - exchange.sending
            try:
                yield from self._returned(exchange, response, respond)
            finally:
                response.close()
                elapsed = time.perf_counter() - began
                exchange.receiving = elapsed - exchange.sending - exchange.waiting
        except UpstreamError as error:
            exchange.failure = str(error)
            # If the response has begun, this raises the error, and the connection is closed.
            yield _answer(respond, 502, str(error), begun=True)
        except GeneratorExit:
            exchange.failure = "the client went away"
            raise
        finally:
            self.record.add(exchange)

    def _sent_headers(self, environ: WSGIEnvironment) -> Headers:
        """Return the headers of a request, but with the upstream's host."""
        sent = {
            name.removeprefix("HTTP_"): str(value)
            for name, value in environ.items()
            if name in {"CONTENT_TYPE", "CONTENT_LENGTH"} or name.startswith("HTTP_")
        }
        sent.pop("HOST", None)
        named = ((name.replace("_", "-").title(), value) for name, value in sent.items())
        return (("Host", urlsplit(self.upstream.origin).netloc), *named)

    def _returned(
        self, exchange: ProxiedExchange, response: Any, respond: StartResponse
    ) -> Iterator[bytes]:
        """Yield the body of the upstream's response, after its head."""
        reason: bytes = response.extensions.get("reason_phrase", b"")
        headers = messages.decode_headers(response.headers.raw)
        exchange.status, exchange.reason = response.status_code, reason.decode("latin-1")
        exchange.response_headers = headers
        forwarded = response_headers(headers)
        parts = map(exchange.response_body.take, self.upstream.parts(response))
        body = b""
        if self.rewrite:
            links = LinkRewriter(upstream=self.upstream.origin, proxy=self.url)
            forwarded = tuple((name, links.header(name, value)) for name, value in forwarded)
            if exchange.method != "HEAD" and messages.may_have_links(headers):
                body, complete = messages.read_bounded(parts)
                if complete:
                    body = links.body(body, headers)
                    forwarded = messages.with_length(forwarded, len(body))
        respond(f"{exchange.status} {exchange.reason}", [*forwarded])
        yield body
        yield from parts


def _request_body(stream: InputStream, exchange: ProxiedExchange, began: float) -> Iterator[bytes]:
    """Yield the body of a request."""
    while part := stream.read(READ_SIZE):
        yield exchange.request_body.take(part)
    exchange.sending = time.perf_counter() - began


def _answer(respond: StartResponse, status: int, what: str, *, begun: bool = False) -> bytes:
    """Begin a response of the proxy itself, perhaps in place of another; return its body."""
    text = f"assay proxy: {what}\n".encode("utf-8", "replace")
    headers = [
        ("Content-Type", "text/plain; charset=utf-8"),
        ("Content-Length", str(len(text))),
    ]
    line = f"{status} {HTTPStatus(status).phrase}"
    if begun:
        respond(line, headers, sys.exc_info())
    else:
        respond(line, headers)
    return text


def _from_another_site(environ: WSGIEnvironment, own: str) -> bool:
    """Whether a page of another site made a request; to open a page of the bank by a link is none.

    Browsers name the site of the page, or (on http addresses of a network) its origin; other
    clients name neither.
    """
    reads = environ["REQUEST_METHOD"] in {"GET", "HEAD"}
    site = environ.get("HTTP_SEC_FETCH_SITE")
    if site is not None:
        opens = reads and environ.get("HTTP_SEC_FETCH_MODE") == "navigate"
        return site not in OWN_SITES and not opens
    referrer = "" if reads else environ.get("HTTP_REFERER", "")
    origin = environ.get("HTTP_ORIGIN") or "/".join(referrer.split("/")[:3])
    return origin.lower() not in {"", own}
