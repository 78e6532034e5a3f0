"""Scripted banks behind the proxy, clients in front of it, and a browser."""

import json
import os
import socket
from collections.abc import Callable
from contextlib import ExitStack
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from importlib.util import find_spec
from pathlib import Path
from threading import Thread
from typing import Any

import httpx
import pytest

from assay.sandbox.app import make_app
from assay.sandbox.serve import serving
from assay.sca import browser as driver
from assay.traffic.proxy.recorder import HarRecorder
from assay.traffic.proxy.server import Proxy
from assay.traffic.proxy.upstream import Upstream, parse_upstream


def entries(path: Path) -> list[dict[str, Any]]:
    """Read the entries of a HAR file."""
    log = json.loads(path.read_text(encoding="utf-8"))["log"]
    assert "1.2" == log["version"]
    return log["entries"]


@dataclass(kw_only=True)
class Script:
    """The responses of a scripted bank, and the requests it received, byte for byte."""

    answer: Callable[[str], tuple[int, list[tuple[str, str]], bytes]]
    asked: list[tuple[str, list[tuple[str, str]], bytes]] = field(default_factory=list)
    url: str = ""


@pytest.fixture
def by_hand():
    """Return a function that serves a scripted bank."""
    with ExitStack() as stack:

        def serve(answer) -> Script:
            script = Script(answer=answer)

            class Bank(BaseHTTPRequestHandler):
                protocol_version = "HTTP/1.1"

                def do_GET(self) -> None:
                    body = self.rfile.read(int(self.headers.get("Content-Length", 0)))
                    if self.headers.get("Transfer-Encoding") == "chunked":
                        while size := int(self.rfile.readline(), 16):
                            body += self.rfile.read(size)
                            self.rfile.readline()
                        self.rfile.readline()
                    script.asked.append((self.requestline, self.headers.items(), body))
                    status, told, content = script.answer(self.path)
                    self.send_response_only(status)
                    for name, value in told:
                        self.send_header(name, value)
                    self.send_header("Content-Length", str(len(content)))
                    self.end_headers()
                    if self.command != "HEAD":
                        self.wfile.write(content)

                def __getattr__(self, name: str) -> Any:
                    if name.startswith("do_"):
                        return self.do_GET
                    raise AttributeError(name)

                def log_message(self, *_: object) -> None:
                    """Log nothing."""

            server = ThreadingHTTPServer(("127.0.0.1", 0), Bank)
            server.daemon_threads = True
            Thread(target=server.serve_forever, args=(0.05,), daemon=True).start()
            stack.callback(server.server_close)
            stack.callback(server.shutdown)
            script.url = f"http://127.0.0.1:{server.server_address[1]}"
            return script

        yield serve


@dataclass(kw_only=True)
class Tape:
    """A recording proxy with a client in front of it."""

    proxy: Proxy
    path: Path
    client: httpx.Client

    def end(self) -> list[dict[str, Any]]:
        """End the recording, and read it."""
        self.client.close()
        self.proxy.close()
        return entries(self.path)

    def raw(self, content: bytes) -> bytes:
        """Send bytes unchanged, and return everything received until the end."""
        with socket.create_connection(("127.0.0.1", self.proxy.port), timeout=10) as plain:
            plain.sendall(content)
            plain.shutdown(socket.SHUT_WR)
            return b"".join(iter(lambda: plain.recv(65536), b""))


@pytest.fixture
def tape(tmp_path):
    """Return a function that starts a recording proxy in front of a bank."""
    with ExitStack() as stack:

        def record(
            bank: str,
            name: str = "r.har",
            context: Any = None,
            *,
            keep_bodies: bool = False,
            **how: Any,
        ) -> Tape:
            path = tmp_path / name
            behind = Upstream(origin=parse_upstream(bank)[0], timeout=10, context=context)
            proxy = Proxy(upstream=behind, record=HarRecorder(path, keep_bodies=keep_bodies), **how)
            proxy.open()
            client = httpx.Client(base_url=proxy.url, trust_env=False)
            made = Tape(proxy=proxy, path=path, client=client)
            stack.callback(made.end)
            return made

        yield record


@pytest.fixture
def sandbox():
    """Serve the sandbox bank."""
    with serving(make_app()) as url:
        yield url


def browse(
    url: str,
    har: Path,
    script: str | Callable[[Any], Any],
    *,
    headers: dict[str, str] | None = None,
) -> Any:
    """Run a script in a Chromium page at a URL, record its requests as HAR, return its result.

    A function gets the page in place of a script. The page has the same origin as the URL, so the script can fetch anything from there.
    """
    from playwright.sync_api import sync_playwright  # noqa: PLC0415 -- an extra

    executable = next(filter(None, map(driver.which, driver.NAMES)))
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(
            executable_path=executable, args=["--no-sandbox", "--no-proxy-server"]
        )
        context = browser.new_context(record_har_path=har, extra_http_headers=headers or {})
        page = context.new_page()
        page.goto(url)
        result = script(page) if callable(script) else page.evaluate(script)
        context.close()
        browser.close()
    return result


@pytest.fixture(scope="session")
def browser():
    """Return a function that records in Chromium; skip without Chromium, fail if it is required."""
    lacking = [] if find_spec("playwright") else ["Playwright (pip install 'assay[browser]')"]
    if not any(map(driver.which, driver.NAMES)):
        lacking.append("Chromium (apt install chromium)")
    if lacking and os.environ.get("ASSAY_BROWSER") == "required":
        pytest.fail(f"ASSAY_BROWSER=required, and there is no {' and no '.join(lacking)}")
    if lacking:
        pytest.skip(f"there is no {' and no '.join(lacking)}")
    return browse
