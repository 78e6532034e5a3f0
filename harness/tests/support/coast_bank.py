"""The sandbox without cards, with screens on a port of their own, and more in what it answers.

It adds a parameter to the addresses to which customers return, and to each account the number of
the answer, which is never the same twice.
"""

import io
import json
from collections.abc import Callable, Iterable
from itertools import count
from typing import Any
from urllib.parse import urlsplit

from assay.sandbox.app import make_app

API = "www.30001.live.sandbox.example"
SCREENS = f"{API}:8443"


class Coast:
    """The bank; one instance is one run."""

    def __init__(self, base_url: str) -> None:
        self.app, self.answers = make_app(base_url=base_url), count()

    def __call__(self, environ: dict[str, Any], start: Callable[..., Any]) -> Iterable[bytes]:
        host, path = environ["HTTP_HOST"], environ["PATH_INFO"]
        screen = path.startswith(("/consent-approval/", "/signing/"))
        body = environ["wsgi.input"].read(int(environ.get("CONTENT_LENGTH") or 0))
        if screen and host == API:
            start("302 Found", [("Location", f"https://{SCREENS}{environ['REQUEST_URI']}")])
            return [b""]
        card = path.startswith("/assay-control/") and b'"card"' in body
        if card or (not screen and host == SCREENS):
            start("404 Not Found", [("Content-Type", "application/json")])
            return [b"{}"]
        lines: list[Any] = []
        called = {**environ, "HTTP_HOST": API, "wsgi.input": io.BytesIO(body)}
        answer = b"".join(self.app(called, lambda *given: lines.extend(given)))
        if environ["REQUEST_METHOD"] == "GET" and path.endswith("/accounts"):
            answer = self.numbered(answer)
        headers = [(name, self.returned(name, value)) for name, value in lines[1]]
        start(lines[0], [each for each in headers if each[0] != "Content-Length"])
        return [answer]

    def numbered(self, answer: bytes) -> bytes:
        """Return a list with the number of the answer in each of its items."""
        shown = json.loads(answer)
        for item in shown.get("accounts", ()):
            item["shown"] = next(self.answers)
        return json.dumps(shown).encode()

    def returned(self, name: str, value: str) -> str:
        """Return a header; an address of the TPP with what the bank adds."""
        if name.lower() != "location" or urlsplit(value).hostname != "tpp.example":
            return value
        return f"{value}{'&' if '?' in value else '?'}paymentId=P1"
