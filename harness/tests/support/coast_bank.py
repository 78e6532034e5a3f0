"""The sandbox without cards, with screens on a port of their own, and more in what it answers.

It adds a parameter to the addresses to which customers return, and to each account the number of
the answer, which is never the same twice.
"""

import json
from itertools import count
from urllib.parse import urlsplit

from embedded import JSON, Gate

from assay.sandbox.app import make_app

API = "www.30001.live.sandbox.example"
SCREENS = f"{API}:8443"


class Coast(Gate):
    """The bank; one instance is one run."""

    def __init__(self, base_url):
        super().__init__(make_app(base_url=base_url))
        self.answers = count()

    def before(self, environ, body):
        """Show screens at their own port only, and make no cards."""
        host, path = environ["HTTP_HOST"], environ["PATH_INFO"]
        screen = path.startswith(("/consent-approval/", "/signing/"))
        if screen and host == API:
            place = f"https://{SCREENS}{environ['REQUEST_URI']}"
            return "302 Found", [("Location", place)], b""
        card = path.startswith("/assay-control/") and b'"card"' in body
        if card or (not screen and host == SCREENS):
            return "404 Not Found", JSON, b"{}"
        environ["HTTP_HOST"] = API
        return None

    def after(self, environ, status, headers, body):
        """Add to lists of accounts, and to the addresses of TPPs."""
        if environ["REQUEST_METHOD"] == "GET" and environ["PATH_INFO"].endswith("/accounts"):
            body = self.numbered(body)
        return status, [(name, self.returned(name, value)) for name, value in headers], body

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
