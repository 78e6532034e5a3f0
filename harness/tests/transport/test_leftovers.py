"""Bytes on a connection that belong to no request are never taken for an answer."""

from __future__ import annotations

import socket
import threading
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack, suppress

import pytest

from assay.binding.wire.encode import HttpRequest
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


class Closing(Twice):
    """A server that closes each connection after its answer, and does not say so."""

    def serve(self, connection: socket.socket) -> None:
        with connection:
            if b"\r\n\r\n" in connection.recv(65536):
                self.number += 1
                connection.sendall(answer(b"%d" % self.number))
                # The next request comes while the connection still looks open.
                connection.recv(1)


def test_a_server_that_closes_without_saying_so() -> None:
    """One call is lost, and sent no second time; from then on each has a connection of its own."""
    server = Closing(b"")
    client = HttpClient(base_url=server.url)
    request = HttpRequest(method="GET", url=f"{server.url}/accounts")
    deliveries = [client.send(request) for _ in range(20)]
    lost = [delivery for delivery in deliveries if delivery.trouble]
    assert [1, 19, 19] == [len(lost), server.number, server.connections]
    assert deliveries[1] is lost[0]
    client.close()
    server.socket.close()


@pytest.fixture(params=[answer(b"late"), b"HTTP/1.1", b"\n"], ids=["answer", "part", "line"])
def server(request: pytest.FixtureRequest) -> Iterator[Twice]:
    twice = Twice(request.param)
    yield twice
    twice.socket.close()


def test_no_thread_gets_an_answer_of_another(server: Twice) -> None:
    """Threads that call at the same time each get their own answers, never what was left over."""
    client = HttpClient(base_url=server.url)
    request = HttpRequest(method="GET", url=f"{server.url}/accounts")
    with ThreadPoolExecutor(4) as threads:
        deliveries = [*threads.map(lambda _: client.send(request), range(40))]
    assert [""] * 40 == [delivery.trouble for delivery in deliveries]
    assert all(delivery.wire.body.isdigit() for delivery in deliveries)
    assert 40 == server.connections
    client.close()


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
    """A server that sends the beginning of its answer, and then a byte whenever it may."""

    def __init__(self, beginning: bytes) -> None:
        self.may = threading.Semaphore(0)
        super().__init__(beginning)

    def serve(self, connection: socket.socket) -> None:
        with connection, suppress(OSError):
            while b"\r\n\r\n" in connection.recv(65536):
                connection.sendall(self.leftover)
                while self.may.acquire(timeout=5):
                    connection.sendall(b"x")


@pytest.fixture
def dripping() -> Iterator[Callable[[bytes, float], tuple[Drip, Upstream]]]:
    """Return a function that makes such a server, and the proxy's upstream for it."""
    with ExitStack() as stack:

        def make(beginning: bytes, timeout: float) -> tuple[Drip, Upstream]:
            server = Drip(beginning)
            stack.callback(server.socket.close)
            upstream = Upstream(origin=server.url, timeout=timeout)
            stack.callback(upstream.close)
            return server, upstream

        yield make


def test_a_head_without_end_through_the_proxy(dripping) -> None:
    """A head that is not complete in time is no response, though bytes come all the time."""
    server, upstream = dripping(b"HTTP/1.1 200 OK\r\nx-a: ", 0.2)
    over = threading.Event()

    def release() -> None:
        while not over.wait(0.02):
            server.may.release()

    threading.Thread(target=release).start()
    try:
        with pytest.raises(UpstreamError, match=r"sent no complete response for 0\.2 s"):
            upstream.send("GET", b"/", (), None)
    finally:
        over.set()


def test_a_slow_body_through_the_proxy(dripping) -> None:
    """A body may take longer than the timeout in all, as long as its parts come in time."""
    server, upstream = dripping(b"HTTP/1.1 200 OK\r\nContent-Length: 6\r\n\r\n", 60)
    now = [0.0]
    upstream._transport._deadline.clock = lambda: now[0]
    response = upstream.send("GET", b"/", (), None)
    server.may.release()
    body = b""
    for part in upstream.parts(response):
        body += part
        now[0] += 50
        server.may.release()
    assert (b"xxxxxx", 300.0) == (body, now[0])
