"""Serving the bank on a port, for curl and for runs over a real network.

In-process runs need none of this. Not for the open internet: the control API is
protected by nothing, with TLS or without.

The demo world: two customers and two providers with fixed tokens, for curl.

Alice has one of every kind of eligibility, Bob has enough accounts for a second page.
Not for checks: those open worlds of their own.
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


#: How many seconds may pass until a server notices that it is over.
_LOOK = 0.05


def listen(host: str, port: int, app: "WSGIApplication", tls: "Tls | None" = None) -> Any:
    """Listen on a port (0: any free one); `run()` serves until it is interrupted.

    Raises:
        OSError: the address cannot be listened on, or a certificate not be loaded.

    """
    if tls is not None:
        from assay.sandbox.guard.server import TlsServer  # noqa: PLC0415 -- seldom asked for

        return TlsServer(host, port, app, tls)
    return create_server(app, host=host, port=port, threads=8, ident="sandbox bank")


@contextmanager
def serving(app: "WSGIApplication", tls: "Tls | None" = None) -> Generator[str, None, None]:
    """Serve on a free port of this machine, in a thread, for as long as the block lasts.

    Gives the URL. All connections are closed by the thread that uses them: closed by
    another, a descriptor might be somebody else's by the time that it is looked at.
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
    """Serve until it is over, and then close all; nothing has to wake this thread."""
    connections = server._map  # noqa: SLF001 -- waitress has no other way
    while not over.is_set():
        wasyncore.loop(timeout=_LOOK, map=connections, count=1)
    wasyncore.close_all(connections, ignore_all=True)
