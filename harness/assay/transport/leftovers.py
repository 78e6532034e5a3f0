"""Idle connections with bytes that nobody asked for.

A server that sends two answers to one request has its second answer read along with the first. The
library would take it for the answer to the next request on that connection, whoever sends it. So a
connection is closed if anything is left in it. No public interface of the library shows these bytes;
a test with such a server shows that they are still found.
"""

from __future__ import annotations

from typing import Any

import httpx

__all__ = ["close_connections_with_leftovers"]


def close_connections_with_leftovers(transport: httpx.BaseTransport) -> None:
    """Close the idle connections of a transport that have received more than one answer."""
    pool: Any = getattr(transport, "_pool", None)
    for connection in [*getattr(pool, "connections", ())]:
        if connection.is_idle() and _leftovers(connection):
            connection.close()


def _leftovers(connection: Any) -> bytes:
    """Return the bytes that came after the last answer on a connection of HTTP/1.1."""
    http = getattr(getattr(connection, "_connection", None), "_h11_state", None)
    data: bytes = http.trailing_data[0] if http is not None else b""
    return data
