"""Server of the proxy: accepts clients and forwards each request to the one upstream.

It uses threads, because clients are few and each waits for its own response. Bodies are forwarded as
they come; only JSON that may have links is buffered, up to a bound, to rewrite them. It is no open
proxy: a request names a path, never another host.
"""

from __future__ import annotations

import socket
import socketserver
import time
from collections.abc import Generator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from ipaddress import ip_address
from threading import Condition, Thread
from typing import Any, Self

from assay.traffic.proxy.connection import ClientConnection
from assay.traffic.proxy.messages import LinkRewriter
from assay.traffic.proxy.recorder import HarRecorder
from assay.traffic.proxy.upstream import MAX_EXCHANGES, Upstream

__all__ = ["MAX_CONNECTIONS", "ConnectionTable", "Proxy"]

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
