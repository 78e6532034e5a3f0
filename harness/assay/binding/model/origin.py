"""Scheme, host and port of a URL: what makes two addresses the same host, or the same place on it."""

from __future__ import annotations

import re
import socket
from collections.abc import Mapping
from contextlib import suppress
from ipaddress import ip_address
from posixpath import normpath
from typing import Final, TypeAlias
from urllib.parse import unquote, urlsplit

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


def place_of(url: str) -> str:
    """Return the host and path of a URL in one spelling, which is the same for all that lead there.

    Names of this machine are one host, and so are HTTP and HTTPS at their own ports.
    """
    try:
        parts = urlsplit(url)
        host, port = unquote(parts.hostname or ""), parts.port
    except ValueError:
        return url
    with suppress(UnicodeError):
        host = host.encode("idna").decode()
    host = host.lower().rstrip(".")
    with suppress(OSError, ValueError):
        # Addresses have other spellings, too: 127.1, 0x7f000001, ::ffff:127.0.0.1.
        bare = socket.inet_ntoa(socket.inet_aton(host)) if ":" not in host else host
        address = ip_address(bare)
        address = getattr(address, "ipv4_mapped", None) or address
        host = "localhost" if address.is_loopback else str(address)
    name = f"{host}:{port}" if port and port not in PORTS.values() else host
    path = re.sub(r";[^/]*|\s", "", unquote(parts.path))
    path = re.sub(r"\{[^/{}]*\}", "{}", path).lower()
    return f"{name}{normpath('/' + path.strip('/'))}".rstrip("/")
