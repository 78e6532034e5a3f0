"""HTTP server of the sandbox bank, for curl and for runs over a real network.

Runs within one process need none of this. The control API has no access control, with or
without TLS: never serve it to the internet. Clients that send nothing, or slowly, cannot block
it: where there are too many connections, those that waited longest for their client are closed.
"""

from __future__ import annotations

import time
from collections.abc import Generator, Iterable
from contextlib import contextmanager
from ipaddress import ip_address
from threading import Event, Thread
from typing import TYPE_CHECKING, Any, cast
from urllib.parse import urlsplit

from waitress import wasyncore
from waitress.channel import HTTPChannel
from waitress.server import TcpWSGIServer

from assay.sandbox.messages import error, send

if TYPE_CHECKING:
    from _typeshed.wsgi import StartResponse, WSGIApplication, WSGIEnvironment

    from assay.sandbox.guard.server import Tls


#: Seconds between two checks for the end of serving.
_LOOK = 0.05
#: Connections of which some are closed before another is accepted, and how many.
_MOST_CONNECTIONS, _CLOSED = 256, 32
#: Seconds in which a request must have arrived, counted from the answer before it.
_PATIENCE = 60
#: Largest header section and largest body of a request, in bytes.
_HEADER_LIMIT, _BODY_LIMIT = 64 * 1024, 8 * 1024 * 1024


class _Channel(HTTPChannel):
    """A connection that knows since when it waits for its client."""

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        self.waits_since = time.monotonic()
        super().__init__(*args, **kwargs)

    def service(self) -> None:
        """Answer a request."""
        super().service()
        self.waits_since = time.monotonic()


class _Server(TcpWSGIServer):
    """A server that closes connections instead of refusing further ones."""

    channel_class = _Channel

    def bind_server_socket(self) -> None:
        """Bind, or leave nothing open: a server that was never made cannot be closed."""
        try:
            super().bind_server_socket()
        except OSError:
            self.task_dispatcher.shutdown()
            wasyncore.close_all(cast("Any", self)._map, ignore_all=True)  # noqa: SLF001 -- see below
            raise

    def readable(self) -> bool:
        """Accept a connection, always."""
        if len(self._channels()) >= _MOST_CONNECTIONS:
            for channel in self._waiting()[:_CLOSED]:
                channel.will_close = True
        return bool(super().readable())

    def maintenance(self, now: float) -> None:
        """Close connections whose request has not arrived in time, even if a part of it has."""
        for channel in self._waiting():
            if channel.waits_since < time.monotonic() - _PATIENCE:
                channel.will_close = True

    def _channels(self) -> list[_Channel]:
        """Return all connections; the type that waitress declares is another."""
        return [*cast("dict[int, _Channel]", self.active_channels).values()]

    def _waiting(self) -> list[_Channel]:
        """Return the connections without a complete request; those that wait longest first."""
        waiting = [channel for channel in self._channels() if not channel.requests]
        return sorted(waiting, key=lambda channel: channel.waits_since)


def listen(host: str, port: int, app: WSGIApplication, tls: Tls | None = None) -> Any:
    """Listen on a port (0: any free one); `run()` serves until it is interrupted.

    Raises:
        OSError: the address is unavailable, or a certificate cannot be loaded.

    """
    app = require_own_host(app, host)
    if tls is not None:
        from assay.sandbox.guard.server import TlsServer  # noqa: PLC0415 -- rarely used

        return TlsServer(host, port, app, tls)
    return _Server(
        app,
        host=host,
        port=port,
        threads=8,
        ident="sandbox bank",
        # Above the number at which connections are closed, so that it is not reached.
        connection_limit=2 * _MOST_CONNECTIONS,
        backlog=_MOST_CONNECTIONS,
        cleanup_interval=5,
        asyncore_use_poll=True,
        max_request_header_size=_HEADER_LIMIT,
        max_request_body_size=_BODY_LIMIT,
    )


@contextmanager
def serving(app: WSGIApplication, tls: Tls | None = None) -> Generator[str, None, None]:
    """Serve on a free local port in a thread while the context is active; yields the URL.

    Every connection is closed by the thread that uses it: a descriptor closed by another
    thread might be reused before it is polled again.
    """
    server = listen("127.0.0.1", 0, app, tls)
    over = Event()
    target, args = (_serve, (server, over)) if tls is None else (server.run, ())
    thread = Thread(target=target, args=args, daemon=True)
    thread.start()
    try:
        yield f"{'http' if tls is None else 'https'}://127.0.0.1:{server.effective_port}"
    finally:
        over.set()
        if tls is not None:
            server.shutdown()
        thread.join(10)
        if tls is None:
            server.task_dispatcher.shutdown()
        else:
            server.close()


def _serve(server: Any, over: Event) -> None:
    """Serve until the event is set, then close all connections."""
    connections = server._map  # noqa: SLF001 -- waitress has no other way
    while not over.is_set():
        wasyncore.loop(timeout=_LOOK, map=connections, use_poll=True, count=1)
    wasyncore.close_all(connections, ignore_all=True)


# -- Check of the Host header: only under its own names is a local bank reached ------------------
# A page in a browser can give its own name the address of this machine (DNS rebinding), and would
# then read and change worlds as if it were local. Its requests carry that name. An address in place
# of a name cannot be given to another machine.
#: Names of this machine, and the domains of the bank's two forms of host. The top-level domain
#: `example` is reserved and never resolved.
_NAMES = frozenset({"localhost"})
_DOMAINS = (".localhost", ".sandbox.example", ".bank.example")


def is_local(host: str) -> bool:
    """Whether only this machine can reach a server that listens on this address."""
    try:
        return ip_address(host).is_loopback
    except ValueError:
        return host == "localhost"


def require_own_host(app: WSGIApplication, listening: str) -> WSGIApplication:
    """Refuse requests to other hosts where a server listens on this machine only."""
    if not is_local(listening):
        return app

    def checked(environ: WSGIEnvironment, start_response: StartResponse) -> Iterable[bytes]:
        host = environ.get("HTTP_HOST")
        if host and not _is_own(host):
            answer = error(421, f"this is the sandbox bank on {listening}, reached by its address")
            return send(answer, environ["REQUEST_METHOD"], start_response)
        return app(environ, start_response)

    return checked


def _is_own(host: str) -> bool:
    try:
        name = (urlsplit(f"//{host}").hostname or "").rstrip(".")
    except ValueError:
        return False
    try:
        ip_address(name)
    except ValueError:
        return name in _NAMES or name.endswith(_DOMAINS)
    return True
