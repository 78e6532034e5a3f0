"""Connections of the proxy's clients, of which those that wait longest make room for others.

A client that sends nothing, sends slowly, or does not read its response costs a connection, and
perhaps an exchange. Neither is ever lacking because of such clients: where all are in use, the
connection that has waited longest for its client is closed.
"""

from __future__ import annotations

import socket
import time
from collections.abc import Generator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from threading import Condition

__all__ = ["MAX_CONNECTIONS", "ConnectionTable"]

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
