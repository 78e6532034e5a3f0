"""HTTP server of the sandbox bank, for curl and for runs over a real network.

Runs within one process need none of this. The control API has no access control, with or
without TLS: never serve it to the internet.
"""

from collections.abc import Generator
from contextlib import contextmanager
from threading import Event, Thread
from typing import TYPE_CHECKING, Any

from waitress import wasyncore
from waitress.server import create_server

if TYPE_CHECKING:
    from _typeshed.wsgi import WSGIApplication

    from assay.sandbox.guard.server import Tls


#: Seconds between two checks for the end of serving.
_LOOK = 0.05


def listen(host: str, port: int, app: "WSGIApplication", tls: "Tls | None" = None) -> Any:
    """Listen on a port (0: any free one); `run()` serves until it is interrupted.

    Raises:
        OSError: the address is unavailable, or a certificate cannot be loaded.

    """
    if tls is not None:
        from assay.sandbox.guard.server import TlsServer  # noqa: PLC0415 -- rarely used

        return TlsServer(host, port, app, tls)
    return create_server(app, host=host, port=port, threads=8, ident="sandbox bank")


@contextmanager
def serving(app: "WSGIApplication", tls: "Tls | None" = None) -> Generator[str, None, None]:
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
        wasyncore.loop(timeout=_LOOK, map=connections, count=1)
    wasyncore.close_all(connections, ignore_all=True)
