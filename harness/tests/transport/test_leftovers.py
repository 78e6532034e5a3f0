"""Bytes on a connection that belong to no request are never taken for an answer."""

from __future__ import annotations

import socket
import threading
from collections.abc import Iterator
from contextlib import suppress

import pytest

from assay.binding.encode import HttpRequest
from assay.traffic.proxy.upstream import Upstream, UpstreamError
from assay.transport.http import HttpClient


def answer(text: bytes) -> bytes:
    return b"HTTP/1.1 200 OK\r\nContent-Length: %d\r\n\r\n%b" % (len(text), text)


class Twice:
    """A server that answers each request with its number, and then with something else at once."""

    def __init__(self, leftover: bytes) -> None:
        self.leftover, self.number, self.connections = leftover, 0, 0
        self.socket = socket.create_server(("127.0.0.1", 0))
        self.url = f"http://127.0.0.1:{self.socket.getsockname()[1]}"
        threading.Thread(target=self.run, daemon=True).start()

    def run(self) -> None:
        while True:
            try:
                connection, _ = self.socket.accept()
            except OSError:
                return
            self.connections += 1
            threading.Thread(target=self.serve, args=(connection,), daemon=True).start()

    def serve(self, connection: socket.socket) -> None:
        with connection:
            while b"\r\n\r\n" in connection.recv(65536):
                self.number += 1
                connection.sendall(answer(b"%d" % self.number) + self.leftover)


@pytest.fixture(params=[answer(b"late"), b"HTTP/1.1", b"\n"], ids=["answer", "part", "line"])
def server(request: pytest.FixtureRequest) -> Iterator[Twice]:
    twice = Twice(request.param)
    yield twice
    twice.socket.close()


def test_two_answers_to_one_request(server: Twice) -> None:
    """Every request gets its own answer, on a new connection."""
    client = HttpClient(base_url=server.url)
    request = HttpRequest(method="GET", url=f"{server.url}/accounts")
    assert [b"1", b"2", b"3"] == [client.send(request).wire.body for _ in range(3)]
    assert 3 == server.connections
    client.close()


def test_two_answers_through_the_proxy(server: Twice) -> None:
    """The proxy gives no client the second answer to another request."""
    upstream = Upstream(origin=server.url, timeout=5)
    bodies = []
    for _ in range(3):
        response = upstream.send("GET", b"/accounts", (), None)
        bodies.append(b"".join(upstream.parts(response)))
        response.close()
    upstream.close()
    assert [b"1", b"2", b"3"] == bodies


def test_a_connection_is_kept(server: Twice) -> None:
    """A connection without leftovers is used again."""
    server.leftover = b""
    client = HttpClient(base_url=server.url)
    request = HttpRequest(method="GET", url=f"{server.url}/accounts")
    assert [b"1", b"2", b"3"] == [client.send(request).wire.body for _ in range(3)]
    assert 1 == server.connections
    client.close()


class Drip(Twice):
    """A server that sends the head of its answer byte by byte, or its body slowly."""

    def serve(self, connection: socket.socket) -> None:
        over = threading.Event()
        with connection, suppress(OSError):
            while b"\r\n\r\n" in connection.recv(65536):
                connection.sendall(self.leftover)
                for _ in range(6):
                    over.wait(0.1)
                    connection.sendall(b"x")


def drip(before: bytes, timeout: float) -> bytes:
    """Ask such a server through the proxy's upstream, and return the body."""
    server = Drip(before)
    upstream = Upstream(origin=server.url, timeout=timeout)
    try:
        response = upstream.send("GET", b"/", (), None)
        return b"".join(upstream.parts(response))
    finally:
        upstream.close()
        server.socket.close()


def test_a_head_without_end_through_the_proxy() -> None:
    """A head that is not complete in time is no response, though bytes come all the time."""
    with pytest.raises(UpstreamError, match="sent no complete response for 0.3 s"):
        drip(b"HTTP/1.1 200 OK\r\nx-a: ", 0.3)


def test_a_slow_body_through_the_proxy() -> None:
    """A body may take longer in all, as long as its parts come in time."""
    head = b"HTTP/1.1 200 OK\r\nContent-Length: 6\r\n\r\n"
    assert b"xxxxxx" == drip(head, 0.4)
