"""What `assay serve` bears: idle and slow clients, large requests, and other hosts."""

from __future__ import annotations

import gc
import json
import socket
import threading
import warnings
from collections.abc import Iterator
from contextlib import ExitStack, suppress
from urllib.parse import urlsplit

import pytest
from rows import for_each

from assay.sandbox.app import make_app
from assay.sandbox.serve import listen, require_own_host, serving

WORLDS = "/assay-control/1/worlds"
MANY = 300


@pytest.fixture(scope="module")
def port() -> Iterator[int]:
    """Serve the bank once."""
    with serving(make_app()) as url:
        yield int(url.rpartition(":")[2])


def connect(port: int) -> socket.socket:
    return socket.create_connection(("127.0.0.1", port), timeout=10)


def raw(port: int, content: bytes) -> bytes:
    """Send bytes, and return what is received until the end."""
    with connect(port) as client:
        client.sendall(content)
        client.shutdown(socket.SHUT_WR)
        return b"".join(iter(lambda: client.recv(65536), b""))


def status(port: int, *lines: str, method: str = "GET", path: str = "/", body: str = "") -> int:
    """Send a request with these header lines, and return the status of its answer."""
    length = [f"Content-Length: {len(body)}"] if body else []
    head = [f"{method} {path} HTTP/1.1", *lines, *length, "Connection: close"]
    answer = raw(port, "\r\n".join([*head, "", body]).encode("latin-1"))
    return int(answer.split(b" ")[1])


@pytest.mark.parametrize(
    "sent", [b"", b"GET /acc", b"POST / HTTP/1.1\r\nContent-Length: 9\r\n\r\nx"]
)
def test_idle_clients_block_nobody(port: int, sent: bytes) -> None:
    """However many clients send nothing, or the beginning of a request, others are served."""
    with ExitStack() as idle:
        for _ in range(MANY):
            idle.enter_context(connect(port)).sendall(sent)
        assert 404 == status(port, "Host: localhost", "Authorization: Bearer demo-alice")


@for_each(
    ("host", "expected"),
    [
        ("127.0.0.1:8080", 404),
        ("localhost", 404),
        ("bank.localhost:1", 404),
        ("[::1]:8080", 404),
        ("www.30001.live.sandbox.example", 404),
        ("www.30001.live.bank.example:443", 404),
        ("192.0.2.7", 404),
        ("evil.example", 421),
        ("evil.example:8080", 421),
        ("evilbank.example", 421),
        ("127.0.0.1.evil.example", 421),
        ("localhost.evil.example", 421),
        ("a, localhost", 421),
        ("[", 421),
    ],
)
def test_hosts(port: int, host: str, expected: int) -> None:
    """Only a request for the bank's own names, or for an address, is answered (DNS rebinding)."""
    own = ("Authorization: Bearer demo-alice",)
    assert expected == status(port, f"Host: {host}", *own)
    control = 201 if expected == 404 else expected
    assert control == status(port, f"Host: {host}", method="POST", path=WORLDS, body="{}")


def test_without_a_host(port: int) -> None:
    """HTTP/1.0 without a host, which no browser sends, is answered."""
    answer = raw(port, b"GET / HTTP/1.0\r\nAuthorization: Bearer demo-alice\r\n\r\n")
    assert 404 == int(answer.split(b" ")[1])


@pytest.mark.parametrize(
    "line",
    [
        *("Origin: http://evil.example", "Origin: http://localhost:8080", "Origin: null"),
        *("Sec-Fetch-Site: cross-site", "Sec-Fetch-Site: same-origin"),
    ],
)
def test_the_control_api_is_not_for_pages(port: int, line: str) -> None:
    """A request of a page in a browser, which has an origin or a site, changes no world."""
    lines = ("Host: localhost", line)
    assert 403 == status(port, *lines, method="POST", path=WORLDS, body="{}")
    # The screens are.
    assert 404 == status(port, *lines, "Authorization: Bearer demo-alice")


@for_each("listening", ["0.0.0.0", "192.0.2.1", "bank.internal", "::"])
def test_a_bank_for_others_has_any_name(listening: str) -> None:
    """Where other machines reach the bank, its names are theirs to choose."""
    app = make_app()
    assert require_own_host(app, listening) is app


def test_large_headers(port: int) -> None:
    """A header section over 64 KiB is refused: not all of it is read."""
    with suppress(OSError):  # what the bank did not read may reset the connection
        assert 431 == status(port, "Host: localhost", "X-A: " + "b" * 70_000)
    assert 404 == status(
        port, "Host: localhost", "Authorization: Bearer demo-alice", "X-A: " + "b" * 60_000
    )


@pytest.mark.parametrize("lines", [["Content-Length: 9000000"], ["Content-Length: 999999999999"]])
def test_large_bodies(port: int, lines: list[str]) -> None:
    """A body over 8 MiB is refused, when it is announced."""
    assert 413 == status(port, "Host: localhost", *lines, method="POST", path=WORLDS)


def test_worlds_are_made(port: int) -> None:
    """The control: a plain request makes a world."""
    with connect(port) as client:
        client.sendall(
            b"POST %b HTTP/1.1\r\nHost: localhost\r\nContent-Length: 2\r\nConnection: close\r\n\r\n{}"
            % WORLDS.encode()
        )
        answer = b"".join(iter(lambda: client.recv(65536), b""))
    assert json.loads(answer.partition(b"\r\n\r\n")[2])["world"]


def test_a_port_in_use_leaves_nothing_open() -> None:
    """Neither a socket nor a thread: a process that tries another port must not collect them."""
    with serving(make_app()) as url:
        port, before = urlsplit(url).port or 0, threading.active_count()
        gc.collect()
        with warnings.catch_warnings(record=True) as told:
            warnings.simplefilter("always")
            with pytest.raises(OSError, match="in use"):
                listen("127.0.0.1", port, make_app())
            gc.collect()
        assert threading.active_count() == before
    assert [each.message for each in told if each.category is ResourceWarning] == []
