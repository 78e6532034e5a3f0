"""The sandbox bank behind a gate that counts amounts in whole cents.

Nothing here knows of Assay. An amount that is no whole number is none, in a request.
"""

import io
import json
from collections.abc import Callable, Iterable
from decimal import Decimal
from typing import Any

from assay.sandbox.app import make_app
from assay.sandbox.policies import SOUND, Policies


class CentsBank:
    """The bank; one instance is one run."""

    def __init__(self, policies: Policies = SOUND) -> None:
        self.app = make_app(policies)

    def __call__(self, environ: dict[str, Any], start: Callable[..., Any]) -> Iterable[bytes]:
        """Answer a request; the back office counts in euros."""
        if environ["PATH_INFO"].startswith("/assay-control/"):
            return self.app(environ, start)
        content = environ["wsgi.input"].read(int(environ.get("CONTENT_LENGTH") or 0))
        content = translated(content, in_euros)
        heads: list[Any] = []
        within = {**environ, "wsgi.input": io.BytesIO(content), "CONTENT_LENGTH": len(content)}
        body = translated(
            b"".join(self.app(within, lambda status, headers, *_: heads.append((status, headers)))),
            in_cents,
        )
        status, headers = heads[-1]
        kept = [pair for pair in headers if pair[0].lower() != "content-length"]
        start(status, [*kept, ("Content-Length", str(len(body)))])
        return [body]


def translated(content: bytes, change: Callable[[Any], Any]) -> bytes:
    """Return JSON with other amounts; anything else as it is."""
    try:
        value = json.loads(content)
    except (ValueError, RecursionError):
        return content
    if isinstance(value, dict) and "amount" in value:
        value["amount"] = change(value["amount"])
        return json.dumps(value).encode()
    return content


def in_euros(amount: Any) -> Any:
    """Return the text of an amount in cents; what is none is what it is, in a list."""
    is_whole = isinstance(amount, int) and not isinstance(amount, bool)
    return f"{Decimal(amount) / 100:.2f}" if is_whole else amount and [amount]


def in_cents(amount: Any) -> Any:
    """Return the cents of an amount."""
    return int(Decimal(amount) * 100) if isinstance(amount, str) else amount
