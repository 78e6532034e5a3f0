"""Scheme, host and port of a URL: what makes two addresses the same host."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final, TypeAlias
from urllib.parse import urlsplit

#: Scheme, host and port; two URLs of one origin are the same host.
Origin: TypeAlias = tuple[str, str, int]

#: The ports of schemes, where a URL names none.
PORTS: Final[Mapping[str, int]] = {"http": 80, "https": 443}


def origin(url: str) -> Origin:
    """Return the origin of a URL; an empty one if it is not an HTTP URL."""
    try:
        parts = urlsplit(url)
        return parts.scheme, parts.hostname or "", parts.port or PORTS.get(parts.scheme, 0)
    except ValueError:
        return "", "", 0
