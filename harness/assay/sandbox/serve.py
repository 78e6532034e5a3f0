"""Serving the bank on a port, for curl and for runs over a real network.

In-process runs need none of this. Not for the open internet: the control API is
protected by nothing.
"""

from typing import TYPE_CHECKING

from waitress.server import create_server  # type: ignore[import-untyped]

if TYPE_CHECKING:
    from _typeshed.wsgi import WSGIApplication

__all__ = ["serve"]


def serve(host: str, port: int, app: "WSGIApplication") -> None:
    """Serve until interrupted."""
    server = create_server(app, host=host, port=port, threads=8, ident="sandbox bank")
    try:
        server.run()
    finally:
        server.close()
