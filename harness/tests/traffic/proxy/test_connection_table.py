"""Clients that are idle or slow cost the others nothing."""

from __future__ import annotations

import socket
from contextlib import ExitStack

import pytest

from assay.traffic.proxy.server import ConnectionTable

JSON = [("Content-Type", "application/json")]
UPLOAD = b"POST /slow HTTP/1.1\r\nHost: localhost\r\nContent-Length: 9\r\n\r\nx"


def plain(_path):
    """Answer with an empty object."""
    return 200, JSON, b"{}"


def connect(proxy, sent):
    """Open a connection, and send the beginning of something."""
    client = socket.create_connection(("127.0.0.1", proxy.port), timeout=10)
    client.sendall(sent)
    return client


@pytest.mark.parametrize("sent", [b"", b"GET /acc", UPLOAD])
def test_idle_clients_block_nobody(by_hand, tape, sent):
    """Three hundred connections that wait leave room for a client that does not."""
    tape = tape(by_hand(plain).url)
    tape.proxy.connections.patience = 0.05
    with ExitStack() as idle:
        for _ in range(300):
            idle.enter_context(connect(tape.proxy, sent))
        assert 200 == tape.client.get("/accounts").status_code


def test_slow_readers_block_nobody(by_hand, tape):
    """Clients that do not read a long response give their exchange to those that do."""
    content = b"x" * 8_000_000
    bank = by_hand(lambda path: (200, [], content if path == "/long" else b"{}"))
    tape = tape(bank.url)
    tape.proxy.connections.max_exchanges, tape.proxy.connections.patience = 2, 0.05
    with ExitStack() as idle:
        for _ in range(3):
            idle.enter_context(
                connect(tape.proxy, b"GET /long HTTP/1.1\r\nHost: localhost\r\n\r\n")
            )
        assert 200 == tape.client.get("/accounts").status_code


def pair():
    """Return the two ends of a connection."""
    return socket.socketpair()


def ended(client):
    """Whether the other end of a connection was closed."""
    client.setblocking(False)
    try:
        return client.recv(1) == b""
    except BlockingIOError:
        return False


def test_the_longest_wait_ends():
    """Of the connections that wait for their client, the first makes room; a busy one never."""
    connections = ConnectionTable(max_exchanges=2, max_connections=3)
    ends = [pair() for _ in range(4)]
    for _, served in ends[:3]:
        assert connections.add(served)
    with connections.exchange(ends[0][1]):
        assert connections.add(ends[3][1])
        assert [False, True, False, False] == [ended(client) for client, _ in ends]
    for both in ends:
        for end in both:
            end.close()


def test_where_all_are_busy_a_further_client_is_refused():
    """Where no connection waits for its client, none is closed for another."""
    connections = ConnectionTable(max_exchanges=2, max_connections=1)
    (client, served), (other, further) = pair(), pair()
    connections.add(served)
    with connections.exchange(served):
        assert not connections.add(further)
    assert connections.add(further)
    assert [True, False] == [ended(client), ended(other)]
    for end in (client, served, other, further):
        end.close()


def test_the_waits_of_an_exchange_are_added_up():
    """A client that sends a byte now and then waits as long as one that sends nothing."""
    connections = ConnectionTable(max_exchanges=1, patience=0.05)
    (client, served), (other, further) = pair(), pair()
    connections.add(served)
    connections.add(further)
    with connections.exchange(served):
        for _ in range(3):
            with connections.waiting(served):
                client.settimeout(0.02)
                with pytest.raises(TimeoutError):
                    client.recv(1)
        assert connections._all[served].waited >= 0.06
        # Nothing is closed while the upstream is waited for.
        assert not connections._close_longest(patience=0.05, exchanging=True)
        with connections.waiting(served):
            assert connections._close_longest(patience=0.05, exchanging=True)
    assert [True, False] == [ended(client), ended(other)]
    for end in (client, served, other, further):
        end.close()
