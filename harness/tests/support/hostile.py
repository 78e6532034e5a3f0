"""A bank that misbehaves on the wire: raw sockets, one port for each behaviour.

In front of a sound sandbox bank. The request that a behaviour concerns gets bytes that no HTTP
library would send; every other request gets the bank's own answer. `hostile_behaviours` has the
behaviours, `hostile_table` the runs against them.
"""

from __future__ import annotations

import re
import socket
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import suppress
from dataclasses import dataclass, field
from itertools import count

from assay.binding.wire.encode import HttpRequest
from assay.sandbox.app import make_app
from assay.sandbox.guard import guarded
from assay.transport.protocol import Embedded

__all__ = ["Act", "Answer", "Behaviour", "Peer", "serve"]

#: For how many seconds a behaviour goes on at most.
LONGEST = 90.0
#: The pause between two bytes of a drip, in seconds.
PAUSE = 0.02

#: Which requests a behaviour concerns: method and path, and which of them (0: each).
PLACES: dict[str, tuple[re.Pattern[str], int]] = {
    "api": (re.compile(r"GET /(accounts/)?balances"), 0),
    "screen": (re.compile(r"GET /(consent-approval|signing)/"), 0),
    # The second of the customers, and of the tokens: others are served.
    "control": (re.compile(r"POST /assay-control/1/worlds/[^/]+/customers"), 2),
    "token": (re.compile(r"POST /oauth/token"), 2),
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Answer:
    """The answer of the sound bank."""

    status: int
    headers: tuple[tuple[str, str], ...]
    body: bytes

    def bytes(
        self, *lines: bytes, body: bytes | None = None, without: tuple[str, ...] = ()
    ) -> bytes:
        """Return the whole answer as bytes, with further header lines."""
        content = self.body if body is None else body
        kept = [
            f"{name}: {value}".encode("latin-1")
            for name, value in self.headers
            if name.lower() not in {"content-length", *without}
        ]
        if "content-length" not in without:
            kept.append(b"content-length: %d" % len(content))
        head = [b"HTTP/1.1 %d OK" % self.status, *kept, *lines]
        return b"\r\n".join(head) + b"\r\n\r\n" + content

    def chunked(self, *parts: bytes) -> bytes:
        """Return the head of a chunked answer, and these bytes as they are."""
        head = self.bytes(b"transfer-encoding: chunked", body=b"", without=("content-length",))
        return head + b"".join(parts)


@dataclass(slots=True, kw_only=True)
class Peer:
    """The connection of a client, as a behaviour uses it."""

    connection: socket.socket
    until: float = field(default_factory=lambda: time.monotonic() + LONGEST)

    def send(self, data: bytes) -> None:
        """Send all of it at once."""
        self.connection.sendall(data)

    def drip(self, data: bytes) -> None:
        """Send one byte after the other, until the client leaves."""
        for number in range(len(data)):
            self.send(data[number : number + 1])
            self.wait()

    def drip_forever(self, data: bytes) -> None:
        """Send the same again and again, slowly."""
        while time.monotonic() < self.until:
            self.send(data)
            self.wait()

    def flood(self, data: bytes) -> None:
        """Send the same again and again, as fast as it is taken."""
        while time.monotonic() < self.until:
            self.send(data)

    def wait(self) -> None:
        """Pause, but end when the client has left."""
        self.connection.settimeout(PAUSE)
        try:
            if not self.connection.recv(1):
                raise ConnectionResetError
        except TimeoutError:
            pass
        finally:
            self.connection.settimeout(LONGEST)

    def silence(self) -> None:
        """Send nothing until the client leaves."""
        while time.monotonic() < self.until:
            self.wait()

    def reset(self) -> None:
        """Reset the connection (RST)."""
        linger = b"\1\0\0\0\0\0\0\0"
        self.connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, linger)


@dataclass(frozen=True, slots=True)
class Act:
    """What happens to an answer; True from `perform` keeps the connection.

    `waits` says that the client has to end the exchange.
    """

    perform: Callable[[Peer, Answer], bool | None]
    waits: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Behaviour:
    """What happens to the answers of one place."""

    name: str
    place: str
    about: str
    act: Act
    #: Whether every obligation conforms all the same.
    harmless: bool = False


@dataclass(slots=True, kw_only=True)
class HostileBank:
    """One behaviour in front of one sound bank."""

    behaviour: Behaviour
    socket: socket.socket
    bank: Embedded = field(init=False)
    seen: Iterator[int] = field(default_factory=lambda: count(1))

    def __post_init__(self) -> None:
        url = f"http://127.0.0.1:{self.socket.getsockname()[1]}"
        app = make_app()
        self.bank = Embedded(
            guarded(app, oauth=True) if self.behaviour.place == "token" else app, url
        )

    def run(self) -> None:
        """Accept connections for ever."""
        while True:
            connection, _ = self.socket.accept()
            connection.settimeout(LONGEST)
            threading.Thread(target=self.serve, args=(connection,), daemon=True).start()

    def serve(self, connection: socket.socket) -> None:
        """Answer request after request."""
        with connection, suppress(OSError):
            connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
            while (request := self.request(connection)) and self.answer(connection, request):
                pass

    def request(self, connection: socket.socket) -> HttpRequest | None:
        """Read a request; None where there is no more."""
        data = b""
        while b"\r\n\r\n" not in data:
            part = connection.recv(65536)
            if not part:
                return None
            data += part
        head, _, body = data.partition(b"\r\n\r\n")
        line, *lines = head.split(b"\r\n")
        method, target, _ = line.decode("latin-1").split(" ", 2)
        pairs = (entry.decode("latin-1").partition(":") for entry in lines)
        headers = [(name, value.strip()) for name, _, value in pairs]
        length = next(
            (int(value) for name, value in headers if name.lower() == "content-length"), 0
        )
        while len(body) < length:
            body += connection.recv(65536)
        kept = tuple(pair for pair in headers if pair[0].lower() not in {"host", "content-length"})
        return HttpRequest(method=method, url=self.bank.base_url + target, headers=kept, body=body)

    def answer(self, connection: socket.socket, request: HttpRequest) -> bool:
        """Answer a request; return whether another may follow."""
        wire = self.bank.send(request).wire
        answer = Answer(status=wire.status, headers=wire.headers, body=wire.body)
        pattern, which = PLACES[self.behaviour.place]
        target = request.url.removeprefix(self.bank.base_url)
        concerned = pattern.match(f"{request.method} {target}")
        if concerned and which in {0, next(self.seen)}:
            return bool(self.behaviour.act.perform(Peer(connection=connection), answer))
        connection.sendall(answer.bytes())
        return True


def serve(behaviour: Behaviour, listening: socket.socket) -> None:
    """Serve a behaviour in a thread of its own."""
    bank = HostileBank(behaviour=behaviour, socket=listening)
    threading.Thread(target=bank.run, daemon=True).start()
