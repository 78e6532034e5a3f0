"""Calls by a proxy of the environment, as in a bank's own network."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import pytest
from rows import for_each

from assay.binding.wire.encode import HttpRequest
from assay.transport.http import HttpClient
from assay.transport.proxies import proxy_for


class Proxy(ThreadingHTTPServer):
    """Answers in the place of whatever it is asked for, and keeps what that was."""

    def __init__(self) -> None:
        super().__init__(("127.0.0.1", 0), Handler)
        self.asked: list[tuple[str, str]] = []


class Handler(BaseHTTPRequestHandler):
    """Answers every GET."""

    protocol_version = "HTTP/1.1"

    def do_GET(self) -> None:
        assert isinstance(self.server, Proxy)
        self.server.asked.append((self.path, self.headers.get("Proxy-Authorization", "")))
        self.send_response(200)
        self.send_header("Content-Length", "2")
        self.end_headers()
        self.wfile.write(b"{}")

    def log_message(self, *_: object) -> None:
        """Say nothing."""


@pytest.fixture
def proxy(monkeypatch: pytest.MonkeyPatch) -> Iterator[Proxy]:
    for name in ("http_proxy", "https_proxy", "all_proxy", "no_proxy"):
        monkeypatch.delenv(name, raising=False)
        monkeypatch.delenv(name.upper(), raising=False)
    with Proxy() as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        yield server
        server.shutdown()


def test_a_call_goes_by_the_proxy(proxy: Proxy, monkeypatch: pytest.MonkeyPatch) -> None:
    """With its credentials, over one connection; a target on this machine needs none."""
    monkeypatch.setenv("HTTP_PROXY", f"http://user:word@127.0.0.1:{proxy.server_port}")
    client = HttpClient(base_url="http://bank.invalid/v1")
    for _ in range(2):
        delivery = client.send(HttpRequest(method="GET", url="http://bank.invalid/v1/accounts"))
        assert 200 == delivery.wire.status
    client.close()
    assert [("http://bank.invalid/v1/accounts", "Basic dXNlcjp3b3Jk")] * 2 == proxy.asked
    near = HttpClient(base_url=f"http://127.0.0.1:{proxy.server_port}")
    near.send(HttpRequest(method="GET", url=f"http://127.0.0.1:{proxy.server_port}/x"))
    near.close()
    assert ("/x", "") == proxy.asked[-1]


@for_each(
    ("url", "settings", "expected"),
    [
        ("https://bank.example", {}, ""),
        ("https://bank.example", {"HTTPS_PROXY": "http://p:3128"}, "http://p:3128"),
        ("https://bank.example", {"HTTPS_PROXY": "p:3128"}, "http://p:3128"),
        ("https://bank.example", {"HTTP_PROXY": "http://p:3128"}, ""),
        ("https://bank.example", {"ALL_PROXY": "http://p:3128"}, "http://p:3128"),
        ("https://a.bank.example", {"HTTPS_PROXY": "http://p", "NO_PROXY": ".bank.example"}, ""),
        ("https://bank.example", {"HTTPS_PROXY": "http://p", "NO_PROXY": "other"}, "http://p"),
        ("http://localhost:8080", {"HTTP_PROXY": "http://p"}, ""),
        ("http://127.0.0.2", {"HTTP_PROXY": "http://p"}, ""),
        ("http://[::1]:8080", {"HTTP_PROXY": "http://p"}, ""),
    ],
)
def test_which_proxy(
    url: str,
    settings: dict[str, str],
    expected: str,
    proxy: Proxy,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """That of the scheme, unless the host is exempt, or this machine."""
    with monkeypatch.context() as patched:
        for name, value in settings.items():
            patched.setenv(name, value)
        assert expected == proxy_for(url)
