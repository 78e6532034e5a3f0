"""The way to a bank in this process does what HTTP would do."""

import json
from functools import partial
from threading import Barrier

import httpx
import pytest
from rows import for_each

from assay.binding.wire.encode import HttpRequest
from assay.transport.protocol import Embedded, at_one_moment

BASE = "https://bank.example"


def echo(environ, start_response):
    """Answer with what a WSGI application sees of a request."""
    names = ("REQUEST_METHOD", "PATH_INFO", "QUERY_STRING", "wsgi.url_scheme", "HTTP_HOST")
    seen = {name: environ[name] for name in names}
    seen["body"] = (
        environ["wsgi.input"].read(int(environ.get("CONTENT_LENGTH") or 0)).decode("latin-1")
    )
    seen |= {
        name: value
        for name, value in environ.items()
        if name in {"HTTP_AUTHORIZATION", "HTTP_PSU_IP_ADDRESS", "CONTENT_TYPE"}
    }
    start_response(
        "200 OK", [("Content-Type", "application/json"), ("X-Twice", "a"), ("X-Twice", "b")]
    )
    return [json.dumps(seen).encode()]


REQUESTS = (
    HttpRequest(method="GET", url=f"{BASE}/accounts"),
    HttpRequest(method="GET", url=f"{BASE}/accounts?page=2&iban=FR76%201"),
    HttpRequest(method="GET", url=f"{BASE}/accounts/FR76%2F..%00/transactions"),
    HttpRequest(method="GET", url=f"{BASE}/", headers=(("Authorization", "Bearer x"),)),
    HttpRequest(method="GET", url=f"{BASE}/balances?iban=" + "9" * 10_000),
    HttpRequest(
        method="PUT",
        url=f"{BASE}/consents",
        headers=(("Content-Type", "application/json"), ("PSU-IP-Address", "192.0.2.1")),
        body=b'{"accounts": ["\xff"]}',
    ),
)


@for_each("request_", REQUESTS)
def test_the_bank_sees_what_it_would_see_of_httpx(request_):
    """Method, path, query, headers and body reach the application as httpx brings them."""
    asked = httpx.Request(
        request_.method, request_.url, headers=list(request_.headers), content=request_.body
    )
    theirs = httpx.WSGITransport(app=echo).handle_request(asked)
    expected = json.loads(theirs.read())
    sent = Embedded(echo, BASE).send(request_)
    assert expected == json.loads(sent.wire.body)
    assert tuple(theirs.headers.multi_items()) == sent.wire.headers


@pytest.mark.parametrize(
    "url", ["http://bank.example/", "https://bank.example.evil/", "https://x@bank.example/", "//["]
)
def test_links_to_other_hosts_are_not_followed(url):
    """Another scheme, host or a user before the host is somewhere else."""
    sent = Embedded(echo, BASE).send(HttpRequest(method="GET", url=url))
    assert 0 == sent.wire.status
    assert sent.trouble


def test_a_large_answer_is_cut():
    """What is over the bound is cut, and said to be."""

    def flood(_, start_response):
        start_response("200 OK", [])
        return [b"x" * 1_000_000] * 5

    wire = Embedded(flood, BASE).send(HttpRequest(method="GET", url=f"{BASE}/")).wire
    assert (4 * 1024 * 1024, True) == (len(wire.body), wire.truncated)


def test_answers_are_closed():
    """An iterable with a `close` is closed, as PEP 3333 demands."""
    closed = []

    class Parts(list):
        def close(self):
            closed.append(True)

    def app(_, start_response):
        start_response("204 No Content", [])
        return Parts()

    assert 204 == Embedded(app, BASE).send(HttpRequest(method="GET", url=f"{BASE}/")).wire.status
    assert [True] == closed


def test_a_path_is_bytes_in_the_clothes_of_text():
    """Beyond ASCII it is PEP 3333 that counts, and not what httpx makes of it."""
    sent = Embedded(echo, BASE).send(HttpRequest(method="GET", url=f"{BASE}/%C3%A9"))
    assert "/é".encode().decode("latin-1") == json.loads(sent.wire.body)["PATH_INFO"]


def test_requests_at_one_moment_come_in_their_order():
    """Each after the one before, unless that waits for another: then both are answered."""
    seen, two = [], Barrier(2)

    def bank(environ, start_response):
        seen.append((environ["PATH_INFO"], environ["wsgi.multithread"]))
        if environ["QUERY_STRING"]:
            two.wait(timeout=10)
        return echo(environ, start_response)

    for query in ("", "?wait"):
        seen.clear()
        requests = [HttpRequest(method="GET", url=f"{BASE}/{n}{query}") for n in (1, 2)]
        target = Embedded(bank, BASE)
        sent = at_one_moment(target, [partial(target.send, each) for each in requests])
        assert [("/1", True), ("/2", True)] == seen
        assert [f"{BASE}/{n}{query}" for n in (1, 2)] == [each.wire.url for each, _ in sent]
    Embedded(bank, BASE).send(HttpRequest(method="GET", url=f"{BASE}/3"))
    assert ("/3", False) == seen[-1]
