"""Headers and bodies of messages that pass the proxy.

Compressed bodies are unpacked within bounds, and packed again.
"""

from __future__ import annotations

import gzip
import zlib
from collections.abc import Iterable, Iterator

from assay.traffic.proxy.masking import Headers
from assay.traffic.proxy.origins import Origins

#: Headers as they are on the wire.
Raw = list[tuple[bytes, bytes]]


def text(headers: Iterable[tuple[bytes, bytes]]) -> Headers:
    """Return headers as text, byte for character."""
    return tuple((name.decode("latin-1"), value.decode("latin-1")) for name, value in headers)


def raw(headers: Headers) -> Raw:
    """Return headers as bytes."""
    return [(name.encode("latin-1"), value.encode("latin-1")) for name, value in headers]


def first(headers: Headers, name: str) -> str:
    """Return the first value of a header, its name in small letters; empty without one."""
    return next((value for one, value in headers if one.lower() == name), "")


def has_body(headers: Headers) -> bool:
    """Whether a request comes with a body, if only an empty one that is announced."""
    return bool({name.lower() for name, _ in headers} & {"content-length", "transfer-encoding"})


def may_hold_links(headers: Headers) -> bool:
    """Whether an answer is JSON, packed at most in a way that can be undone."""
    media_type = first(headers, "content-type").partition(";")[0].strip().lower()
    coding = first(headers, "content-encoding").strip().lower()
    is_json = media_type == "application/json" or media_type.endswith("+json")
    return is_json and coding in READ | {"", "identity"}


def hold(parts: Iterator[bytes]) -> tuple[bytes, bool]:
    """Collect a body up to the bound; whether it is whole."""
    held = bytearray()
    for part in parts:
        held += part
        if len(held) > MOST:
            return bytes(held), False
    return bytes(held), True


def turned(body: bytes, headers: Headers, origins: Origins) -> bytes:
    """Return a body with its links turned; as it was, where there are none."""
    coding = first(headers, "content-encoding")
    plain, complaint = unpacked(body, coding, MOST)
    if complaint or len(plain) >= MOST:
        return body
    changed = origins.turn(plain)
    return body if changed == plain else repacked(changed, coding)


def sized(headers: Headers, size: int) -> Headers:
    """Return headers that tell the size of a body that was changed, in bytes."""
    others = tuple(one for one in headers if one[0].lower() != "content-length")
    return (*others, ("Content-Length", str(size)))


#: How much of a body is kept or held back, in bytes.
MOST = 4 * 1024 * 1024
#: Content codings that can be undone here.
READ = frozenset({"gzip", "x-gzip", "deflate"})
#: For zlib: either of its formats, with the largest window.
_EITHER = 32 + zlib.MAX_WBITS


def unpacked(data: bytes, coding: str, most: int) -> tuple[bytes, str]:
    """Undo a content coding up to so many bytes; return what came of it, and a complaint."""
    name = coding.strip().lower()
    if name in {"", "identity"}:
        return data, ""
    if name not in READ:
        return data, f"packed as {name[:40]}, which is not undone"
    try:
        return zlib.decompressobj(_EITHER).decompress(data, most), ""
    except zlib.error:
        return data, f"said to be packed as {name}, and is not"


def repacked(data: bytes, coding: str) -> bytes:
    """Pack what was unpacked in the same way."""
    match coding.strip().lower():
        case "gzip" | "x-gzip":
            return gzip.compress(data, mtime=0)
        case "deflate":
            return zlib.compress(data)
        case _:
            return data


def readable(accepted: str) -> str:
    """Return those of the accepted codings that can be read here, as a header's value."""
    codings = (one.strip() for one in accepted.split(","))
    known = READ | {"identity"}
    kept = [one for one in codings if one.partition(";")[0].strip().lower() in known]
    return ", ".join(kept) or "identity"
