"""Small things about messages that pass by: their headers, and what is done with a body."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from assay.recording.origins import Origins
from assay.recording.packing import MOST, READ, repacked, unpacked
from assay.recording.secrets import Headers

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
