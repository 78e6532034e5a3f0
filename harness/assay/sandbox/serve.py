"""Serving the bank on a port, for curl and for runs over a real network.

In-process runs need none of this. Not for the open internet: the control API is
protected by nothing.
"""

from typing import TYPE_CHECKING, Any

from waitress.server import create_server

if TYPE_CHECKING:
    from _typeshed.wsgi import WSGIApplication

__all__ = ["listen"]


def listen(host: str, port: int, app: "WSGIApplication") -> Any:
    """Listen on a port (0: any free one); `run()` serves, `close()` ends it.

    Raises:
        OSError: the address cannot be listened on.

    """
    return create_server(app, host=host, port=port, threads=8, ident="sandbox bank")
