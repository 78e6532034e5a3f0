"""Comparison of URLs by RFC 3986.

Only what the RFC says of every URL: the case of scheme and host, default ports, escapes
of unreserved characters. Nothing is looked up, and nothing repaired.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Final
from urllib.parse import SplitResult, urlsplit

PORTS: Final[Mapping[str, int]] = {"http": 80, "https": 443}
ESCAPE = re.compile("%([0-9A-Fa-f]{2})")
UNRESERVED = frozenset("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-._~")


def same_url(one: str, other: str) -> bool:
    """Whether two addresses are one, by the rules of RFC 3986 that need no guessing."""
    if one == other:
        return True
    first, second = split_url(one), split_url(other)
    return first is not None and second is not None and _normal(first) == _normal(second)


def split_url(url: str) -> SplitResult | None:
    """Take an address apart; None where it is none."""
    try:
        parts = urlsplit(url)
        whole = bool(parts.scheme and parts.hostname) and parts.port != 0
    except ValueError:
        return None
    return parts if whole else None


def same_host(one: str, other: str) -> bool:
    """Whether two addresses are surely of one host."""
    first, second = split_url(one), split_url(other)
    return first is not None and second is not None and first.hostname == second.hostname


def _normal(parts: SplitResult) -> tuple[object, ...]:
    port = parts.port or PORTS.get(parts.scheme)
    user = parts.netloc.rpartition("@")[0]
    rest = (parts.path or "/", parts.query, parts.fragment)
    return parts.scheme, user, parts.hostname, port, *(ESCAPE.sub(_escape, one) for one in rest)


def _escape(found: re.Match[str]) -> str:
    """Write an escape in one way: as itself where it need not be one, else in capitals."""
    sign = chr(int(found[1], 16))
    return sign if sign in UNRESERVED else found[0].upper()
