"""Packed bodies, undone within bounds, and packed again."""

from __future__ import annotations

import gzip
import zlib

__all__ = ["MOST", "READ", "readable", "repacked", "unpacked"]

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
