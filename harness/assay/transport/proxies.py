"""Proxies of the environment (`HTTPS_PROXY`, `HTTP_PROXY`, `NO_PROXY`), and connections by them.

Each target is reached through the proxy that the environment names for it, if any; this machine
never is.
"""

from __future__ import annotations

from contextlib import suppress
from ipaddress import ip_address
from typing import Any
from urllib.parse import urlsplit
from urllib.request import getproxies, proxy_bypass

import httpcore
import httpx


def proxy_for(url: str) -> str:
    """Return the URL of the proxy by which a URL is reached; empty for none, as on this machine."""
    parts = urlsplit(url)
    host = parts.hostname or ""
    with suppress(ValueError):
        if ip_address(host).is_loopback:
            return ""
    if host == "localhost" or proxy_bypass(host):
        return ""
    proxies = getproxies()
    proxy = proxies.get(parts.scheme) or proxies.get("all") or ""
    return proxy if "://" in proxy or not proxy else f"http://{proxy}"


class Pools:
    """The connections of a transport: those to targets, and those to each proxy."""

    def __init__(self, settings: dict[str, Any]) -> None:
        self._settings = settings
        self._pools: dict[str, httpcore.ConnectionPool] = {"": httpcore.ConnectionPool(**settings)}
        self._proxies: dict[bytes, str] = {}

    @property
    def connections(self) -> list[httpcore.ConnectionInterface]:
        """All connections that are open."""
        return [each for pool in [*self._pools.values()] for each in pool.connections]

    def handle_request(self, request: httpcore.Request) -> httpcore.Response:
        """Send a request, by a proxy if there is one for its URL."""
        url = request.url
        there = url.scheme + b"://" + url.host
        if there not in self._proxies:
            self._proxies[there] = proxy_for(there.decode())
        proxy = self._proxies[there]
        if proxy not in self._pools:
            self._pools[proxy] = _by_proxy(proxy, self._settings)
        return self._pools[proxy].handle_request(request)

    def close(self) -> None:
        """Close all connections."""
        for pool in self._pools.values():
            pool.close()


def _by_proxy(proxy: str, settings: dict[str, Any]) -> httpcore.HTTPProxy:
    known = httpx.Proxy(proxy)
    return httpcore.HTTPProxy(proxy_url=str(known.url), proxy_auth=known.raw_auth, **settings)
