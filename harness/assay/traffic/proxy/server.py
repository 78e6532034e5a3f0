"""Server of the proxy: accepts clients and forwards each request to the one upstream.

It uses threads, because clients are few and each waits for its own response. Bodies are forwarded as
they come; only JSON that may have links is buffered, up to a bound, to rewrite them. It is no open
proxy: a request names a path, never another host.
"""

from __future__ import annotations

import socket
import socketserver
from dataclasses import dataclass, field
from ipaddress import ip_address
from threading import Thread
from typing import Any, Self

from assay.traffic.proxy.connection import ClientConnection
from assay.traffic.proxy.connection_table import ConnectionTable
from assay.traffic.proxy.messages import LinkRewriter
from assay.traffic.proxy.recorder import HarRecorder
from assay.traffic.proxy.upstream import MAX_EXCHANGES, Upstream

__all__ = ["Proxy"]

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
