"""Server of the proxy: accepts clients and forwards each request to the one upstream.

It uses threads, because clients are few and each waits for its own response. Bodies are forwarded as
they come; only JSON that may have links is buffered, up to a bound, to rewrite them. It is no open
proxy: a request that is not HTTP, names another host, asks for a tunnel, or was made by a page of
another site in a browser is refused here and reaches neither the upstream nor the record.
"""

from __future__ import annotations

import socket
import socketserver
import time
from collections.abc import Generator, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from datetime import UTC, datetime
from ipaddress import ip_address
from threading import Condition, Thread
from typing import Any, Self
from urllib.parse import urlsplit

import h11
import httpx

from assay.traffic.proxy import messages
from assay.traffic.proxy.messages import LinkRewriter
from assay.traffic.proxy.recorder import HarRecorder, ProxiedExchange
from assay.traffic.proxy.upstream import MAX_EXCHANGES, Upstream, UpstreamError, response_headers

__all__ = ["MAX_CONNECTIONS", "ClientConnection", "ConnectionTable", "Proxy"]


# -- One connection of a client ------------------------------------------------------------------
#: How many bytes are read from a socket at once.
READ_SIZE = 64 * 1024
#: Hosts that name a proxy on this machine.
LOCAL_HOSTS = frozenset({"127.0.0.1", "localhost", "::1"})
#: What a browser says of requests that no page of another site made.
OWN_SITES = frozenset({b"same-origin", b"none"})


class _ClientGoneError(Exception):
    """The client went away, or sent something else than HTTP in the middle of a request."""


@dataclass(slots=True, kw_only=True)
class ClientConnection:
    """One connection, from the first request to the last."""

    connection: socket.socket
    proxy: Proxy
    _http: h11.Connection = field(default_factory=lambda: h11.Connection(h11.SERVER))

    def run(self) -> None:
        """Answer requests until the client or the proxy closes the connection."""
        with suppress(OSError, _ClientGoneError, h11.LocalProtocolError):
            while self._serve_request():
                self._http.start_next_cycle()

    def _serve_request(self) -> bool:
        """Answer a request; return whether another may follow."""
        try:
            request = self._next_event()
        except h11.RemoteProtocolError as error:
            self._respond(error.error_status_hint, f"this is not HTTP: {error}")
            return False
        if not isinstance(request, h11.Request):
            return False
        refusal = self._refusal(request)
        if refusal:
            self._respond(*refusal)
            return False
        with self.proxy.connections.exchange(self.connection):
            self._forward(request)
        return self._http.our_state is h11.DONE and self._http.their_state is h11.DONE

    def _next_event(self) -> h11.Event | None:
        """Return the next event, None if the client sends no more."""
        while True:
            event = self._http.next_event()
            if isinstance(event, h11.Event):
                return event
            if event is h11.PAUSED:
                return None
            if self._http.they_are_waiting_for_100_continue:
                self._send(h11.InformationalResponse(status_code=100, headers=[]))
            with self.proxy.connections.waiting(self.connection):
                data = self.connection.recv(READ_SIZE)
            self._http.receive_data(data)

    def _send(self, event: h11.Event) -> None:
        data = self._http.send(event)
        if data:
            with self.proxy.connections.waiting(self.connection):
                self.connection.sendall(data)

    def _refusal(self, request: h11.Request) -> tuple[int, str] | None:
        """Return status and reason if a request must not be forwarded."""
        if not request.target.startswith(b"/"):
            what = f"this proxy forwards to {self.proxy.upstream.origin} and nowhere else"
            return 421, f"{what}: request a path"
        headers = dict(request.headers)
        header = headers.get(b"host", b"").decode("latin-1")
        try:
            host = urlsplit(f"//{header}").hostname or ""
        except ValueError:
            return 400, "the Host header names no host"
        if header and not self._is_own(host):
            what = f"this proxy is {self.proxy.url}"
            return 421, f"{what}; set --listen to another address to use it under a name"
        if _from_another_site(
            request.method, headers, f"http://{header}".lower().encode("latin-1")
        ):
            what = "a page of another site made this request in a browser"
            return 403, f"{what}; only links to the bank's pages are forwarded from there"
        return None

    def _is_own(self, host: str) -> bool:
        """Whether a name is the proxy's: a page must not reach the bank by a name of its own.

        On an address of the network, names without a dot are the network's own.
        """
        if self.proxy.local:
            return host in LOCAL_HOSTS
        with suppress(ValueError):
            return bool(ip_address(host))
        return "." not in host or host in {self.proxy.host.lower(), socket.getfqdn().lower()}

    def _respond(self, status: int, what: str) -> None:
        """Send a response of the proxy itself, and end the connection."""
        if self._http.our_state not in {h11.IDLE, h11.SEND_RESPONSE}:
            return
        text = f"assay proxy: {what}\n".encode("utf-8", "replace")
        headers = [
            ("Content-Type", "text/plain; charset=utf-8"),
            ("Content-Length", str(len(text))),
            ("Connection", "close"),
        ]
        with suppress(OSError, h11.LocalProtocolError):
            self._send(h11.Response(status_code=status, headers=headers))
            self._send(h11.Data(data=text))
            self._send(h11.EndOfMessage())

    def _forward(self, request: h11.Request) -> None:
        """Forward a request, return the response, and record both, however it ends."""
        exchange = self._exchange(request)
        began = time.perf_counter()
        try:
            response = self._send_upstream(exchange, request.target, began)
            exchange.waiting = time.perf_counter() - began - exchange.sending
            try:
                self._return_response(exchange, response)
            finally:
                response.close()
                elapsed = time.perf_counter() - began
                exchange.receiving = elapsed - exchange.sending - exchange.waiting
        except UpstreamError as error:
            exchange.failure = str(error)
            self._respond(502, str(error))
        except (OSError, _ClientGoneError):
            exchange.failure = "the client went away"
            raise
        finally:
            self.proxy.record.add(exchange)

    def _exchange(self, request: h11.Request) -> ProxiedExchange:
        """Return a request for the record, as the client sent it, but to the upstream's host."""
        origin = self.proxy.upstream.origin
        headers = messages.decode_headers(request.headers.raw_items())
        kept = (header for header in headers if header[0].lower() != "host")
        return ProxiedExchange(
            started=datetime.now(UTC),
            method=request.method.decode("ascii"),
            url=origin + request.target.decode("latin-1"),
            version=f"HTTP/{request.http_version.decode('ascii')}",
            request_headers=(("Host", urlsplit(origin).netloc), *kept),
        )

    def _send_upstream(
        self, exchange: ProxiedExchange, target: bytes, began: float
    ) -> httpx.Response:
        upstream = self.proxy.upstream
        headers = upstream.request_headers(exchange.request_headers)
        body = self._request_body(exchange, began)
        if messages.has_body(exchange.request_headers):
            return upstream.send(exchange.method, target, headers, body)
        list(body)  # only the end of the message, which has to be read
        return upstream.send(exchange.method, target, headers, None)

    def _request_body(self, exchange: ProxiedExchange, began: float) -> Iterator[bytes]:
        """Yield the body of a request as it comes."""
        while True:
            try:
                event = self._next_event()
            except h11.RemoteProtocolError as error:
                raise _ClientGoneError from error
            if isinstance(event, h11.Data):
                yield exchange.request_body.take(bytes(event.data))
            elif isinstance(event, h11.EndOfMessage):
                exchange.sending = time.perf_counter() - began
                return
            else:
                raise _ClientGoneError

    def _return_response(self, exchange: ProxiedExchange, response: httpx.Response) -> None:
        """Send the response of the upstream to the client."""
        reason: bytes = response.extensions.get("reason_phrase", b"")
        headers = messages.decode_headers(response.headers.raw)
        exchange.status, exchange.reason = response.status_code, reason.decode("latin-1")
        exchange.response_headers = headers
        forwarded = response_headers(headers)
        links = self.proxy.links
        if links:
            forwarded = tuple((name, links.header(name, value)) for name, value in forwarded)
        parts = (exchange.response_body.take(part) for part in self.proxy.upstream.parts(response))
        body = b""
        if links and exchange.method != "HEAD" and messages.may_have_links(headers):
            body, complete = messages.read_bounded(parts)
            if complete:
                body = links.body(body, headers)
                forwarded = messages.with_length(forwarded, len(body))
        raw = messages.encode_headers(forwarded)
        self._send(h11.Response(status_code=exchange.status, headers=raw, reason=reason))
        if body:
            self._send(h11.Data(data=body))
        for part in parts:
            self._send(h11.Data(data=part))
        self._send(h11.EndOfMessage())


def _from_another_site(method: bytes, headers: dict[bytes, bytes], own: bytes) -> bool:
    """Whether a page of another site made a request; to open a page of the bank by a link is none.

    Browsers name the site of the page, or (on http addresses of a network) its origin; other
    clients name neither.
    """
    site = headers.get(b"sec-fetch-site")
    opens = headers.get(b"sec-fetch-mode") == b"navigate" and method in {b"GET", b"HEAD"}
    if site is not None:
        return site not in OWN_SITES and not opens
    referrer = b"" if method in {b"GET", b"HEAD"} else headers.get(b"referer", b"")
    origin = headers.get(b"origin") or b"/".join(referrer.split(b"/")[:3])
    return origin.lower() not in {b"", own}


# -- The server ----------------------------------------------------------------------------------
#: How many seconds running exchanges get to finish when the proxy is closed.
GRACE = 10.0
#: After how many seconds at most the proxy notices that it was closed.
POLL_INTERVAL = 0.05
#: For how many seconds a connection may be silent.
IDLE_TIMEOUT = 75.0


class _Server(socketserver.ThreadingTCPServer):
    """A server with a limited number of connections; the idle ones make room for further ones."""

    allow_reuse_address = True
    daemon_threads = True
    block_on_close = False
    request_queue_size = 256

    def __init__(self, host: str, port: int, proxy: Proxy) -> None:
        self.proxy = proxy
        self.address_family = socket.AF_INET6 if ":" in host else socket.AF_INET
        super().__init__((host, port), _Handler)

    def process_request(self, request: Any, client_address: Any) -> None:
        """Serve a connection in a thread of its own."""
        if self.proxy.connections.add(request):
            super().process_request(request, client_address)
        else:
            self.shutdown_request(request)

    def shutdown_request(self, request: Any) -> None:
        """End a connection."""
        self.proxy.connections.remove(request)
        super().shutdown_request(request)


class _Handler(socketserver.BaseRequestHandler):
    """One connection of a client."""

    def handle(self) -> None:
        """Answer request after request, until the client is done."""
        connection: socket.socket = self.request
        connection.settimeout(IDLE_TIMEOUT)
        # Head and body are sent apart; the body must not wait until the head is acknowledged.
        connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        server = self.server
        if isinstance(server, _Server):
            ClientConnection(connection=connection, proxy=server.proxy).run()


@dataclass(slots=True, kw_only=True)
class Proxy:
    """Forwards requests to one upstream, and records the exchanges; a context manager.

    `rewrite` rewrites the upstream's links in responses to the proxy.
    """

    upstream: Upstream
    record: HarRecorder
    host: str = "127.0.0.1"
    port: int = 0
    rewrite: bool = True
    connections: ConnectionTable = field(
        default_factory=lambda: ConnectionTable(max_exchanges=MAX_EXCHANGES)
    )
    _server: _Server | None = None

    def open(self) -> None:
        """Listen, and serve in a thread from now on.

        Raises:
            OSError: the address cannot be listened on.

        """
        self._server = _Server(self.host, self.port, self)
        self.port = int(self._server.server_address[1])
        Thread(target=self._server.serve_forever, args=(POLL_INTERVAL,), daemon=True).start()

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

    @property
    def links(self) -> LinkRewriter | None:
        """What rewrites links in responses, if anything does."""
        if not self.rewrite:
            return None
        return LinkRewriter(upstream=self.upstream.origin, proxy=self.url)

    def close(self) -> None:
        """Accept no more, let running exchanges finish within bounds, and end the record."""
        if self._server is not None:
            self._server.shutdown()
            self._server.server_close()
            self.connections.wait_until_idle(GRACE)
        self.record.close()
        self.upstream.close()

    def __enter__(self) -> Self:
        self.open()
        return self

    def __exit__(self, *_: object) -> None:
        self.close()


# -- Connections of the proxy's clients, of which those that wait longest make room for others ---
# A client that sends nothing, sends slowly, or does not read its response costs a connection, and
# perhaps an exchange. Neither is ever lacking because of such clients: where all are in use, the
# connection that has waited longest for its client is closed.
#: The most connections at a time.
MAX_CONNECTIONS = 256
#: The seconds between two attempts to free an exchange.
RETRY_INTERVAL = 0.1


@dataclass(slots=True)
class _ConnectionState:
    """Since when a connection waits for its client (None: it does not), and how long it did.

    Between two requests, parts of a request do not count: it waits until all of it is there.
    """

    since: float | None
    waited: float = 0.0
    exchanging: bool = False


@dataclass(slots=True, kw_only=True)
class ConnectionTable:
    """All connections; `patience` is for how many seconds an exchange may wait for its client.

    A slower client keeps its exchange all the same while others are free.
    """

    max_exchanges: int
    max_connections: int = MAX_CONNECTIONS
    patience: float = 1.0
    _all: dict[socket.socket, _ConnectionState] = field(
        default_factory=dict[socket.socket, _ConnectionState]
    )
    _changed: Condition = field(default_factory=Condition)

    def add(self, connection: socket.socket) -> bool:
        """Register a connection, and close another if there are too many; False if none waits."""
        with self._changed:
            full = len(self._all) >= self.max_connections
            if full and not self._close_longest(patience=0.0):
                return False
            self._all[connection] = _ConnectionState(since=time.monotonic())
            return True

    def remove(self, connection: socket.socket) -> None:
        """Forget a connection that has ended."""
        with self._changed:
            self._all.pop(connection, None)
            self._changed.notify_all()

    @contextmanager
    def waiting(self, connection: socket.socket) -> Generator[None]:
        """Wait for a client: for what it sends, or until it has read."""
        client = self._all.get(connection)
        if client is None or not client.exchanging:
            yield
            return
        began = time.monotonic()
        client.since = began - client.waited
        try:
            yield
        finally:
            client.waited += time.monotonic() - began
            client.since = None

    @contextmanager
    def exchange(self, connection: socket.socket) -> Generator[None]:
        """Take an exchange as soon as there is one, and give it back."""
        with self._changed:
            client = self._all.get(connection) or _ConnectionState(since=None)
            client.since, client.waited = None, 0.0
            while self._exchanges() >= self.max_exchanges:
                self._close_longest(patience=self.patience, exchanging=True)
                self._changed.wait(RETRY_INTERVAL)
            client.exchanging = True
        try:
            yield
        finally:
            with self._changed:
                client.since, client.exchanging = time.monotonic(), False
                self._changed.notify_all()

    def wait_until_idle(self, seconds: float) -> None:
        """Wait until no exchange is running, at most for this long."""
        with self._changed:
            self._changed.wait_for(lambda: not self._exchanges(), seconds)

    def _exchanges(self) -> int:
        return sum(client.exchanging for client in self._all.values())

    def _close_longest(self, *, patience: float, exchanging: bool = False) -> bool:
        """Close the connection that has waited longest for its client, if that is long enough."""
        waiting = {
            connection: client.since
            for connection, client in self._all.items()
            if client.since is not None and client.exchanging >= exchanging
        }
        longest = min(waiting, key=waiting.__getitem__, default=None)
        if longest is None or waiting[longest] > time.monotonic() - patience:
            return False
        # Its own thread closes it, and gives back its exchange.
        with suppress(OSError):
            longest.shutdown(socket.SHUT_RDWR)
        self._all[longest].since = None
        return True
