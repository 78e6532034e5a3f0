"""Rewriting of the upstream's links, so that a client stays with the proxy.

A client that follows an absolute link would leave the proxy, and its later requests would not be in
the record. Only whole origins are replaced: scheme, host and port together.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from urllib.parse import SplitResult, urlsplit

from assay.errors import InputError

__all__ = ["Origins", "upstream"]

#: Headers of an answer in which links stand.
LINKS = frozenset({"location", "link", "content-location"})
_PORTS = {"http": 80, "https": 443}


@dataclass(frozen=True, slots=True, kw_only=True)
class Origins:
    """Two origins, such as `https://bank.example`: of the upstream, and of the proxy."""

    theirs: str
    ours: str

    def turn(self, content: bytes) -> bytes:
        """Replace the upstream's origin by the proxy's, also with slashes as JSON has them."""
        ours = self.ours.encode()

        def turned(found: re.Match[bytes]) -> bytes:
            return ours.replace(b"/", rb"\/") if b"\\" in found[0] else ours

        return self._pattern().sub(turned, content)

    def header(self, name: str, value: str) -> str:
        """Replace the origin in a header of an answer, if it is one with links."""
        if name.lower() not in LINKS:
            return value
        return self.turn(value.encode("latin-1", "replace")).decode("latin-1")

    def _pattern(self) -> re.Pattern[bytes]:
        url = urlsplit(self.theirs)
        port = url.port or _PORTS[url.scheme]
        # Without its port only if it is the usual one; never as the beginning of a longer name.
        named = rf":{port}" if url.port and url.port != _PORTS[url.scheme] else rf"(?::{port})?"
        host = url.netloc.rpartition(":")[0] if url.port else url.netloc
        pattern = rf"(?<![a-z0-9+.-]){url.scheme}:(?://|\\/\\/){re.escape(host)}{named}(?![\w.:@-])"
        return re.compile(pattern.encode(), re.IGNORECASE)


def _origin(url: SplitResult) -> str:
    """Return the origin of a URL, spelt in one way."""
    host = f"[{url.hostname}]" if ":" in (url.hostname or "") else url.hostname
    usual = url.port in {None, _PORTS[url.scheme]}
    return f"{url.scheme}://{host}" + ("" if usual else f":{url.port}")


def upstream(url: str) -> tuple[str, str]:
    """Return origin and path of the upstream that a user named.

    Raises:
        InputError: it is no http or https URL of a host.

    """
    hint = "for example https://sandbox.bank.example/v1"
    try:
        parts = urlsplit(url)
        port = parts.port
    except ValueError as error:
        raise InputError.one("--upstream", f"not a URL: {error}", hint=hint) from None
    if parts.scheme not in _PORTS or not parts.hostname or port == 0:
        raise InputError.one("--upstream", "not an http or https URL with a host", hint=hint)
    if parts.username or parts.password:
        what = "a URL with credentials in it is not taken"
        raise InputError.one("--upstream", what, hint="the client sends its own")
    return _origin(parts), parts.path.rstrip("/")
