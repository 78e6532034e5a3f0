"""One deadline for a whole exchange: connecting, sending, and all that is received."""

from __future__ import annotations

import gzip
import socket
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import suppress

import httpcore
import pytest

from assay.binding.wire.encode import HttpRequest
from assay.errors import TargetError
from assay.transport.deadline import Deadline, _Backend, _Stream
from assay.transport.http import MAX_BODY, HttpClient

HEAD = b"HTTP/1.1 200 OK\r\n"
TIMEOUT = 0.2


class Server:
    """A server that treats each request as a function says."""

    def __init__(self) -> None:
        self.socket = socket.create_server(("127.0.0.1", 0))
        self.url = f"http://127.0.0.1:{self.socket.getsockname()[1]}"
        self.over = threading.Event()
        self.act: Callable[[socket.socket], None] = lambda _: None
        self.connections = 0
        threading.Thread(target=self.run, daemon=True).start()

    def run(self) -> None:
        while not self.over.is_set():
            try:
                connection, _ = self.socket.accept()
            except OSError:
                return
            self.connections += 1
            threading.Thread(target=self.serve, args=(connection,), daemon=True).start()

    def serve(self, connection: socket.socket) -> None:
        with connection, suppress(OSError):
            while connection.recv(65536):
                self.act(connection)

    def drip(self, connection: socket.socket, data: bytes) -> None:
        while not self.over.wait(0.01):
            connection.sendall(data)

    def flood(self, connection: socket.socket, data: bytes) -> None:
        while not self.over.is_set():
            connection.sendall(data)


@pytest.fixture
def server() -> Iterator[Server]:
    server = Server()
    yield server
    server.over.set()
    server.socket.close()


def send(server: Server, body: bytes = b"") -> tuple[str, bool, float]:
    """Send a request; return what went wrong, whether it was late, and the seconds it took."""
    client = HttpClient(base_url=server.url, timeout=TIMEOUT)
    began = time.monotonic()
    delivery = client.send(HttpRequest(method="POST", url=f"{server.url}/a", body=body))
    client.close()
    return delivery.trouble, delivery.timed_out, time.monotonic() - began


@pytest.mark.parametrize(
    ("before", "dripped"),
    [
        (b"HTTP/1.1 200 ", b"O"),
        (HEAD + b"x-a: ", b"a"),
        (HEAD, b"x-a: b\r\n"),
        (b"", b"HTTP/1.1 103 Hints\r\n\r\n"),
        (HEAD + b"transfer-encoding: chunked\r\n\r\n", b"0"),
        (HEAD + b"transfer-encoding: chunked\r\n\r\n0\r\nx-a: ", b"b"),
        (HEAD + b"content-length: 9999\r\n\r\n", b"x"),
        (HEAD + b"\r\n", b"x"),
    ],
)
def test_dripped_answers(server: Server, before: bytes, dripped: bytes) -> None:
    """Whatever part of an answer comes byte by byte, the exchange ends in time."""

    def act(connection: socket.socket) -> None:
        connection.sendall(before)
        server.drip(connection, dripped)

    server.act = act
    trouble, late, seconds = send(server)
    assert (f"no complete answer within {TIMEOUT} s", True) == (trouble, late)
    assert seconds < 5


def test_a_flood_of_interim_answers(server: Server) -> None:
    """Interim answers without end are no answer."""
    server.act = lambda connection: server.flood(connection, b"HTTP/1.1 103 Hints\r\n\r\n" * 1000)
    assert (f"no complete answer within {TIMEOUT} s", True) == send(server)[:2]


def test_a_request_that_is_not_read(server: Server) -> None:
    """A target that does not read what it is sent gets no more time for it."""
    server.act = lambda _: server.over.wait(10)
    trouble, late, seconds = send(server, b"x" * 30_000_000)
    assert (f"no complete answer within {TIMEOUT} s", True) == (trouble, late)
    assert seconds < 5


def test_bytes_after_compressed_content(server: Server) -> None:
    """What follows compressed content is neither kept nor read for ever."""

    def act(connection: socket.socket) -> None:
        connection.sendall(HEAD + b"content-encoding: gzip\r\n\r\n" + gzip.compress(b"{}"))
        server.flood(connection, b"x" * 65536)

    server.act = act
    client = HttpClient(base_url=server.url, timeout=20)
    wire = client.send(HttpRequest(method="GET", url=f"{server.url}/a")).wire
    client.close()
    assert (b"{}", True, True) == (wire.body, wire.truncated, len(wire.body) < MAX_BODY)


def test_each_exchange_has_its_own_time(server: Server) -> None:
    """Exchanges on one connection do not share their time."""
    server.act = lambda connection: (
        server.over.wait(0.15),
        connection.sendall(HEAD + b"content-length: 2\r\n\r\n{}"),
    )
    client = HttpClient(base_url=server.url, timeout=0.5)
    request = HttpRequest(method="GET", url=f"{server.url}/a")
    assert [b"{}"] * 4 == [client.send(request).wire.body for _ in range(4)]
    assert 1 == server.connections
    client.close()


@pytest.mark.parametrize("sent", [b"", b"\x16\x03\x03\x40\x00"])
def test_a_handshake_without_end(server: Server, sent: bytes) -> None:
    """A TLS handshake that is silent, or dripped, is no connection."""

    def act(connection: socket.socket) -> None:
        connection.sendall(sent)
        server.drip(connection, b"\0" if sent else b"")

    server.act = act
    url = server.url.replace("http:", "https:")
    client = HttpClient(base_url=url, timeout=TIMEOUT)
    began = time.monotonic()
    with pytest.raises(TargetError, match="cannot connect"):
        client.send(HttpRequest(method="GET", url=f"{url}/a"))
    client.close()
    assert time.monotonic() - began < 5


class Network(httpcore.NetworkBackend):
    """A network in which connecting takes some time and fails, but for the last address."""

    def __init__(self, seconds: float, good: str | None) -> None:
        self.now, self.seconds, self.good = 0.0, seconds, good
        self.tried: list[tuple[str, float]] = []

    def connect_tcp(self, host, port, timeout=None, local_address=None, socket_options=None):
        self.tried.append((host, timeout))
        if host == self.good:
            return httpcore.MockStream([])
        self.now += min(self.seconds, timeout)
        raise httpcore.ConnectTimeout if self.seconds >= timeout else httpcore.ConnectError


def connecting(monkeypatch, network: Network, *addresses: str) -> httpcore.NetworkStream:
    """Connect to a host with these addresses within ten seconds."""
    entries = [(0, 0, 0, "", (address, 443)) for address in addresses]
    monkeypatch.setattr(socket, "getaddrinfo", lambda *_, **__: [*entries, *entries])
    deadline = Deadline(clock=lambda: network.now)
    deadline.start(10)
    return _Backend(network, deadline).connect_tcp("bank.example", 443, 10)


def test_all_addresses_share_the_time(monkeypatch) -> None:
    """Each address gets its share; one that refuses leaves its share to the others."""
    network = Network(99, good="c")
    assert isinstance(connecting(monkeypatch, network, "a", "b", "c"), _Stream)
    assert [("a", 10 / 3), ("b", 10 / 3), ("c", 10 / 3)] == [
        (host, pytest.approx(timeout)) for host, timeout in network.tried
    ]
    network = Network(1, good="b")
    connecting(monkeypatch, network, "a", "b")
    assert [("a", 5.0), ("b", 9.0)] == network.tried


def test_no_address_accepts(monkeypatch) -> None:
    """Where no address accepts in time, the last failure is the reason."""
    network = Network(99, good=None)
    with pytest.raises(httpcore.ConnectTimeout):
        connecting(monkeypatch, network, "a", "b")
    assert 10 == pytest.approx(network.now)


@pytest.mark.parametrize("host", ["nowhere.invalid", "a" * 64 + ".example"])
def test_no_address(host: str) -> None:
    """A host without an address, or whose name can have none, cannot be connected to."""
    client = HttpClient(base_url=f"http://{host}", timeout=5)
    with pytest.raises(TargetError, match="cannot connect"):
        client.send(HttpRequest(method="GET", url=f"http://{host}/a"))
