"""Headers, bodies and links of the messages that pass through the proxy.

A client that follows an absolute link of the upstream would leave the proxy, and its later
requests would be missing from the record. So links are rewritten, but only whole origins:
scheme, host and port together. Compressed bodies are decompressed within bounds for this,
and compressed again.
"""

from __future__ import annotations

import gzip
import re
import zlib
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import TypeAlias
from urllib.parse import urlsplit

from assay.binding.model.origin import PORTS
from assay.transport.http import CODINGS, Decompressor, coding_of

__all__ = ["Headers", "LinkRewriter"]

#: Headers in their order, as text.
Headers: TypeAlias = tuple[tuple[str, str], ...]
#: Headers in their order, as they are on the wire.
RawHeaders: TypeAlias = list[tuple[bytes, bytes]]

#: Headers of a response that contain links.
LINK_HEADERS = frozenset({"location", "link", "content-location"})
#: How much of a body is recorded, or held back to rewrite its links, in bytes.
MAX_BODY = 4 * 1024 * 1024


def decode_headers(headers: Iterable[tuple[bytes, bytes]]) -> Headers:
    """Return headers as text, one character per byte."""
    return tuple((name.decode("latin-1"), value.decode("latin-1")) for name, value in headers)


def encode_headers(headers: Headers) -> RawHeaders:
    """Return headers as bytes."""
    return [(name.encode("latin-1"), value.encode("latin-1")) for name, value in headers]


def first_header(headers: Headers, name: str) -> str:
    """Return the first value of a header, named in lower case; empty without one."""
    return next((value for header, value in headers if header.lower() == name), "")


def may_have_links(headers: Headers) -> bool:
    """Whether a response is JSON, and not compressed in a way that cannot be read here."""
    media_type = first_header(headers, "content-type").partition(";")[0].strip().lower()
    coding = first_header(headers, "content-encoding").strip().lower()
    is_json = media_type == "application/json" or media_type.endswith("+json")
    return is_json and coding in CODINGS | {"", "identity"}


def read_bounded(parts: Iterator[bytes]) -> tuple[bytes, bool]:
    """Collect a body up to the bound; return it, and whether it is complete."""
    body = bytearray()
    for part in parts:
        body += part
        if len(body) > MAX_BODY:
            return bytes(body), False
    return bytes(body), True


def with_length(headers: Headers, length: int) -> Headers:
    """Return headers with the length of a body that was changed, in bytes."""
    kept = tuple(header for header in headers if header[0].lower() != "content-length")
    return (*kept, ("Content-Length", str(length)))


def readable_codings(accepted: str) -> str:
    """Return those of the accepted codings that can be read here, as the value of a header."""
    codings = (coding.strip() for coding in accepted.split(","))
    known = CODINGS | {"identity"}
    kept = [coding for coding in codings if coding.partition(";")[0].strip().lower() in known]
    return ", ".join(kept) or "identity"


def decompress(data: bytes, coding: str) -> tuple[bytes, str]:
    """Undo a content coding, up to the bound; return the data, and why they stay coded if so."""
    name = coding_of(coding)
    if not name:
        return data, ""
    if name not in CODINGS:
        return data, f"compressed with {name[:40]}, which cannot be read here"
    try:
        return Decompressor(coding=name).feed(data, MAX_BODY), ""
    except zlib.error:
        return data, f"declared as {name}, but not compressed with it"


def compress(data: bytes, coding: str) -> bytes:
    """Apply a content coding that `decompress` has undone."""
    match coding_of(coding):
        case "gzip" | "x-gzip":
            return gzip.compress(data, mtime=0)
        case "deflate":
            return zlib.compress(data)
        case _:
            return data


@dataclass(frozen=True, slots=True, kw_only=True)
class LinkRewriter:
    """Replaces one origin, such as `https://bank.example`, by another.

    `upstream` is the origin of the bank, `proxy` that of the proxy.
    """

    upstream: str
    proxy: str

    def text(self, content: bytes) -> bytes:
        """Replace the origin, also where JSON escapes its slashes."""
        proxy = self.proxy.encode()

        def replacement(match: re.Match[bytes]) -> bytes:
            return proxy.replace(b"/", rb"\/") if b"\\" in match[0] else proxy

        return self._pattern().sub(replacement, content)

    def header(self, name: str, value: str) -> str:
        """Replace the origin in a header of a response, if that header contains links."""
        if name.lower() not in LINK_HEADERS:
            return value
        return self.text(value.encode("latin-1", "replace")).decode("latin-1")

    def body(self, body: bytes, headers: Headers) -> bytes:
        """Replace the origin in a body, compressed or not; without links it stays as it is."""
        coding = first_header(headers, "content-encoding")
        content, failure = decompress(body, coding)
        if failure or len(content) >= MAX_BODY:
            return body
        changed = self.text(content)
        return body if changed == content else compress(changed, coding)

    def _pattern(self) -> re.Pattern[bytes]:
        url = urlsplit(self.upstream)
        default = PORTS[url.scheme]
        port = url.port or default
        # Without its port only if it is the default; never as the beginning of a longer name.
        suffix = rf":{port}" if port != default else rf"(?::{port})?"
        host = url.netloc.rpartition(":")[0] if url.port else url.netloc
        pattern = (
            rf"(?<![a-z0-9+.-]){url.scheme}:(?://|\\/\\/){re.escape(host)}{suffix}(?![\w.:@-])"
        )
        return re.compile(pattern.encode(), re.IGNORECASE)
