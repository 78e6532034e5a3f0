"""An HTTP transport with one deadline for a whole exchange, from connecting to the last byte.

The timeouts of httpx limit each wait by itself: a target that sends a byte now and then, in
a status line, a header or a trailer, or one interim answer (1xx) after the other, would
never reach them. So the network backend of httpcore is wrapped, and each operation gets the
time that is left. Only name resolution cannot be limited; the system's resolver does that.
"""

from __future__ import annotations

import socket
import ssl
import threading
import time
from collections.abc import Callable, Iterable
from typing import Any

import httpcore
import httpx

from assay.transport.proxies import Pools

__all__ = ["DeadlineTransport", "ThreadTransport"]

#: The options of `httpcore.NetworkBackend.connect_tcp`.
SocketOptions = Iterable[Any]
#: Connections that are kept, and for how many seconds.
LIMITS = httpx.Limits(max_keepalive_connections=20, keepalive_expiry=5.0)


class Deadline(threading.local):
    """The moment at which this thread's exchange ends; `clock` counts seconds of real time."""

    def __init__(self, clock: Callable[[], float]) -> None:
        self.clock = clock
        self.moment = 0.0

    def start(self, seconds: float) -> None:
        """Begin an exchange that may take this long."""
        self.moment = self.clock() + seconds

    def left(self, over: type[httpcore.TimeoutException]) -> float:
        """Return the seconds that are left; raise the exception if there are none."""
        seconds = self.moment - self.clock()
        if seconds <= 0:
            raise over("the time for the whole exchange is over")
        return seconds


class DeadlineTransport(httpx.HTTPTransport):
    """Ends an exchange when its read timeout has passed since its begin, whatever arrives.

    A thread performs one exchange at a time: the next begins when the last response is closed. Once
    a connection broke, `broken` is set, and each call gets a new one: a target that closes
    connections without saying so would lose every second call, and none is ever sent twice.
    """

    def __init__(
        self,
        tls: ssl.SSLContext | None = None,
        clock: Callable[[], float] = time.monotonic,
        limits: httpx.Limits = LIMITS,
        broken: threading.Event | None = None,
    ) -> None:
        self._broken = broken or threading.Event()
        context = tls or httpx.create_ssl_context(trust_env=False)
        super().__init__(verify=context, trust_env=False)
        self._deadline = Deadline(clock=clock)
        settings: dict[str, Any] = {
            "ssl_context": context,
            "max_connections": limits.max_connections,
            "max_keepalive_connections": limits.max_keepalive_connections,
            "keepalive_expiry": limits.keepalive_expiry,
            "network_backend": _Backend(httpcore.SyncBackend(), self._deadline),
        }
        self._pool: Any = Pools(settings)

    def handle_request(self, request: httpx.Request) -> httpx.Response:
        """Send a request; the time for its response begins now."""
        self.restart(request.extensions["timeout"]["read"])
        if self._broken.is_set():
            self.close_unclean(everything=True)
        try:
            return super().handle_request(request)
        except (httpx.RemoteProtocolError, httpx.ReadError, httpx.WriteError):
            self._broken.set()
            raise

    def restart(self, seconds: float) -> None:
        """Give this thread's exchange so much time from now on."""
        self._deadline.start(seconds)

    def close_unclean(self, *, everything: bool = False) -> None:
        """Close the idle connections on which more than one answer arrived, or all of them."""
        for connection in [*self._pool.connections]:
            protocol: Any = getattr(connection, "_connection")  # noqa: B009 -- None until connected
            # One more in between, where a proxy is used.
            protocol = getattr(protocol, "_connection", None) or protocol
            http: Any = protocol and protocol._h11_state  # noqa: SLF001 -- watched by a test
            unclean = everything or (http is not None and http.trailing_data[0])
            if connection.is_idle() and unclean:
                connection.close()


class ThreadTransport(httpx.BaseTransport):
    """Gives each thread a transport of its own.

    So no thread gets a connection that another one is about to close, because more than the
    answer arrived on it.
    """

    def __init__(self, make: Callable[[], httpx.BaseTransport]) -> None:
        self._make = make
        self._local = threading.local()
        self._opened: list[httpx.BaseTransport] = []

    @property
    def current(self) -> httpx.BaseTransport:
        """The transport of this thread."""
        transport: httpx.BaseTransport | None = getattr(self._local, "transport", None)
        if transport is None:
            transport = self._local.transport = self._make()
            self._opened.append(transport)
        return transport

    def handle_request(self, request: httpx.Request) -> httpx.Response:
        """Send a request on a connection of this thread."""
        return self.current.handle_request(request)

    def close(self) -> None:
        """Close the connections of all threads."""
        for transport in self._opened:
            transport.close()


class _Backend(httpcore.NetworkBackend):
    """Connects within the time that is left."""

    def __init__(self, inner: httpcore.NetworkBackend, deadline: Deadline) -> None:
        self._inner, self._deadline = inner, deadline

    def connect_tcp(
        self,
        host: str,
        port: int,
        timeout: float | None = None,
        local_address: str | None = None,
        socket_options: SocketOptions | None = None,
    ) -> httpcore.NetworkStream:
        """Connect to the first address of a host that accepts; each gets its share of the time."""
        addresses = _addresses(host, port)
        failure: Exception | None = None
        for tried, address in enumerate(addresses):
            try:
                share = self._deadline.left(httpcore.ConnectTimeout) / (len(addresses) - tried)
                stream = self._inner.connect_tcp(
                    address, port, share, local_address, socket_options
                )
            except (httpcore.ConnectError, httpcore.ConnectTimeout) as error:
                failure = error
            else:
                return _Stream(stream, self._deadline)
        raise failure or httpcore.ConnectError(f"no address for {host}")


class _Stream(httpcore.NetworkStream):
    """A connection whose every operation gets the time that is left."""

    def __init__(self, inner: httpcore.NetworkStream, deadline: Deadline) -> None:
        self._inner, self._deadline = inner, deadline

    def read(self, max_bytes: int, timeout: float | None = None) -> bytes:
        """Read what has arrived, or wait for it."""
        return self._inner.read(max_bytes, self._deadline.left(httpcore.ReadTimeout))

    def write(self, buffer: bytes, timeout: float | None = None) -> None:
        """Send everything; a target that reads slowly does not get more time."""
        connection: socket.socket = self.get_extra_info("socket")
        view = memoryview(buffer)
        try:
            while view:
                connection.settimeout(self._deadline.left(httpcore.WriteTimeout))
                view = view[connection.send(view) :]
        except TimeoutError as error:
            raise httpcore.WriteTimeout(error) from error
        except OSError as error:
            raise httpcore.WriteError(error) from error

    def start_tls(
        self,
        ssl_context: ssl.SSLContext,
        server_hostname: str | None = None,
        timeout: float | None = None,
    ) -> httpcore.NetworkStream:
        """Perform the handshake."""
        left = self._deadline.left(httpcore.ConnectTimeout)
        stream = self._inner.start_tls(ssl_context, server_hostname, left)
        return _Stream(stream, self._deadline)

    def get_extra_info(self, info: str) -> Any:
        """Return what is known of the connection."""
        return self._inner.get_extra_info(info)

    def close(self) -> None:
        """Close the connection."""
        self._inner.close()


def _addresses(host: str, port: int) -> list[str]:
    """Return the addresses of a host, in the order in which they are tried."""
    try:
        entries = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)
    except (OSError, UnicodeError) as error:
        raise httpcore.ConnectError(error) from error
    return list(dict.fromkeys(str(address[0]) for *_, address in entries))
