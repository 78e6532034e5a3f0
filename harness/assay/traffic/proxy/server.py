"""Server of the proxy: accepts clients and passes each request to the one upstream.

It uses threads, for the clients are few and each waits for its own answer. Bodies are passed on as
they come; only JSON that may have links is held back, up to a bound, to rewrite them. It is no open
proxy: a request names a path, never another host.
"""

from __future__ import annotations

import socket
import socketserver
from dataclasses import dataclass, field
from ipaddress import ip_address
from threading import BoundedSemaphore, Condition, Thread
from typing import Any, Self

from assay.traffic.proxy.connection import ClientConnection
from assay.traffic.proxy.origins import Origins
from assay.traffic.proxy.recorder import HarRecorder
from assay.traffic.proxy.upstream import MOST_AT_ONCE, Upstream

__all__ = ["Proxy"]

#: For how many seconds what is under way may end when the proxy ends.
GRACE = 10.0
#: How many seconds may pass until the proxy notices that it is over.
LOOK = 0.05
#: For how many seconds a connection may say nothing.
SILENCE = 75.0


class _Server(socketserver.ThreadingTCPServer):
    """A server that takes so many connections at once, and makes others wait."""

    allow_reuse_address = True
    daemon_threads = True
    block_on_close = False
    request_queue_size = 64

    def __init__(self, host: str, port: int, proxy: Proxy) -> None:
        self.proxy = proxy
        self.over = False
        self.room = BoundedSemaphore(MOST_AT_ONCE)
        self.address_family = socket.AF_INET6 if ":" in host else socket.AF_INET
        super().__init__((host, port), _Handler)

    def process_request(self, request: Any, client_address: Any) -> None:
        """Begin with a connection as soon as there is room."""
        while not self.room.acquire(timeout=LOOK):
            if self.over:
                request.close()
                return
        super().process_request(request, client_address)

    def shutdown_request(self, request: Any) -> None:
        """End a connection, and make room for another."""
        try:
            super().shutdown_request(request)
        finally:
            self.room.release()


class _Handler(socketserver.BaseRequestHandler):
    """One connection of a client."""

    def handle(self) -> None:
        """Answer request after request, for as long as the client wishes."""
        connection: socket.socket = self.request
        connection.settimeout(SILENCE)
        # Head and body are sent apart, and the one must not wait for the other's receipt.
        connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        server = self.server
        if isinstance(server, _Server):
            ClientConnection(connection=connection, proxy=server.proxy).run()


@dataclass(slots=True, kw_only=True)
class Proxy:
    """Passes what it is asked on to one upstream, and records both sides.

    `rewrite` turns the upstream's links in answers to the proxy. Use it as a context.
    """

    upstream: Upstream
    record: HarRecorder
    host: str = "127.0.0.1"
    port: int = 0
    rewrite: bool = True
    _server: _Server | None = None
    _busy: int = 0
    _idle: Condition = field(default_factory=Condition)

    def open(self) -> None:
        """Listen, and serve in a thread from now on.

        Raises:
            OSError: the address cannot be listened on.

        """
        self._server = _Server(self.host, self.port, self)
        self.port = int(self._server.server_address[1])
        Thread(target=self._server.serve_forever, args=(LOOK,), daemon=True).start()

    @property
    def url(self) -> str:
        """The origin on which the proxy is found."""
        return f"http://{f'[{self.host}]' if ':' in self.host else self.host}:{self.port}"

    @property
    def local(self) -> bool:
        """Whether only this machine can come here."""
        try:
            return ip_address(self.host).is_loopback
        except ValueError:
            return self.host == "localhost"

    @property
    def origins(self) -> Origins | None:
        """Which links are turned, if any."""
        if not self.rewrite:
            return None
        return Origins(theirs=self.upstream.origin, ours=self.url)

    def begin(self) -> None:
        """Note that an exchange has begun."""
        with self._idle:
            self._busy += 1

    def end(self) -> None:
        """Note that an exchange is over."""
        with self._idle:
            self._busy -= 1
            self._idle.notify_all()

    def close(self) -> None:
        """Take no more, let what is under way end within bounds, and end the record."""
        if self._server is not None:
            self._server.over = True
            self._server.shutdown()
            self._server.server_close()
            with self._idle:
                self._idle.wait_for(lambda: not self._busy, GRACE)
        self.record.close()
        self.upstream.close()

    def __enter__(self) -> Self:
        self.open()
        return self

    def __exit__(self, *_: object) -> None:
        self.close()
