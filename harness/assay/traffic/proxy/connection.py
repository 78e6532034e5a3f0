"""Connection of one client: HTTP/1.1 by h11, request after request.

A request that is not HTTP, names another host, asks for a tunnel, or was made by a page of another
site in a browser is refused here and reaches neither the upstream nor the record.
"""

from __future__ import annotations

import socket
import time
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass, field
from datetime import UTC, datetime
from ipaddress import ip_address
from typing import TYPE_CHECKING
from urllib.parse import urlsplit

import h11
import httpx

from assay.traffic.proxy import messages
from assay.traffic.proxy.recorder import ProxiedExchange
from assay.traffic.proxy.upstream import UpstreamError, response_headers

if TYPE_CHECKING:
    from assay.traffic.proxy.server import Proxy

__all__ = ["ClientConnection"]

#: How many bytes are read from a socket at once.
READ_SIZE = 64 * 1024
#: Hosts that name a proxy on this machine.
LOCAL_HOSTS = frozenset({"127.0.0.1", "localhost", "::1"})
#: What a browser says of requests that no page of another site made.
OWN_SITES = frozenset({b"same-origin", b"none"})


class _ClientGoneError(Exception):
    """The client went away, or sent something else than HTTP in the middle of a request."""


@dataclass(slots=True, kw_only=True)
class ClientConnection:
    """One connection, from the first request to the last."""

    connection: socket.socket
    proxy: Proxy
    _http: h11.Connection = field(default_factory=lambda: h11.Connection(h11.SERVER))

    def run(self) -> None:
        """Answer requests until the client or the proxy closes the connection."""
        with suppress(OSError, _ClientGoneError, h11.LocalProtocolError):
            while self._serve_request():
                self._http.start_next_cycle()

    def _serve_request(self) -> bool:
        """Answer a request; return whether another may follow."""
        try:
            request = self._next_event()
        except h11.RemoteProtocolError as error:
            self._respond(error.error_status_hint, f"this is not HTTP: {error}")
            return False
        if not isinstance(request, h11.Request):
            return False
        refusal = self._refusal(request)
        if refusal:
            self._respond(*refusal)
            return False
        with self.proxy.connections.exchange(self.connection):
            self._forward(request)
        return self._http.our_state is h11.DONE and self._http.their_state is h11.DONE

    def _next_event(self) -> h11.Event | None:
        """Return the next event, None if the client sends no more."""
        while True:
            event = self._http.next_event()
            if isinstance(event, h11.Event):
                return event
            if event is h11.PAUSED:
                return None
            if self._http.they_are_waiting_for_100_continue:
                self._send(h11.InformationalResponse(status_code=100, headers=[]))
            with self.proxy.connections.waiting(self.connection):
                data = self.connection.recv(READ_SIZE)
            self._http.receive_data(data)

    def _send(self, event: h11.Event) -> None:
        data = self._http.send(event)
        if data:
            with self.proxy.connections.waiting(self.connection):
                self.connection.sendall(data)

    def _refusal(self, request: h11.Request) -> tuple[int, str] | None:
        """Return status and reason if a request must not be forwarded."""
        if not request.target.startswith(b"/"):
            what = f"this proxy forwards to {self.proxy.upstream.origin} and nowhere else"
            return 421, f"{what}: request a path"
        headers = dict(request.headers)
        header = headers.get(b"host", b"").decode("latin-1")
        try:
            host = urlsplit(f"//{header}").hostname or ""
        except ValueError:
            return 400, "the Host header names no host"
        if header and not self._is_own(host):
            what = f"this proxy is {self.proxy.url}"
            return 421, f"{what}; set --listen to another address to use it under a name"
        if _from_another_site(
            request.method, headers, f"http://{header}".lower().encode("latin-1")
        ):
            what = "a page of another site made this request in a browser"
            return 403, f"{what}; only links to the bank's pages are forwarded from there"
        return None

    def _is_own(self, host: str) -> bool:
        """Whether a name is the proxy's: a page must not reach the bank by a name of its own.

        On an address of the network, names without a dot are the network's own.
        """
        if self.proxy.local:
            return host in LOCAL_HOSTS
        with suppress(ValueError):
            return bool(ip_address(host))
        return "." not in host or host in {self.proxy.host.lower(), socket.getfqdn().lower()}

    def _respond(self, status: int, what: str) -> None:
        """Send a response of the proxy itself, and end the connection."""
        if self._http.our_state not in {h11.IDLE, h11.SEND_RESPONSE}:
            return
        text = f"assay proxy: {what}\n".encode("utf-8", "replace")
        headers = [
            ("Content-Type", "text/plain; charset=utf-8"),
            ("Content-Length", str(len(text))),
            ("Connection", "close"),
        ]
        with suppress(OSError, h11.LocalProtocolError):
            self._send(h11.Response(status_code=status, headers=headers))
            self._send(h11.Data(data=text))
            self._send(h11.EndOfMessage())

    def _forward(self, request: h11.Request) -> None:
        """Forward a request, return the response, and record both, however it ends."""
        exchange = self._exchange(request)
        began = time.perf_counter()
        try:
            response = self._send_upstream(exchange, request.target, began)
            exchange.waiting = time.perf_counter() - began - exchange.sending
            try:
                self._return_response(exchange, response)
            finally:
                response.close()
                elapsed = time.perf_counter() - began
                exchange.receiving = elapsed - exchange.sending - exchange.waiting
        except UpstreamError as error:
            exchange.failure = str(error)
            self._respond(502, str(error))
        except (OSError, _ClientGoneError):
            exchange.failure = "the client went away"
            raise
        finally:
            self.proxy.record.add(exchange)

    def _exchange(self, request: h11.Request) -> ProxiedExchange:
        """Return a request for the record, as the client sent it, but to the upstream's host."""
        origin = self.proxy.upstream.origin
        headers = messages.decode_headers(request.headers.raw_items())
        kept = (header for header in headers if header[0].lower() != "host")
        return ProxiedExchange(
            started=datetime.now(UTC),
            method=request.method.decode("ascii"),
            url=origin + request.target.decode("latin-1"),
            version=f"HTTP/{request.http_version.decode('ascii')}",
            request_headers=(("Host", urlsplit(origin).netloc), *kept),
        )

    def _send_upstream(
        self, exchange: ProxiedExchange, target: bytes, began: float
    ) -> httpx.Response:
        upstream = self.proxy.upstream
        headers = upstream.request_headers(exchange.request_headers)
        body = self._request_body(exchange, began)
        if messages.has_body(exchange.request_headers):
            return upstream.send(exchange.method, target, headers, body)
        list(body)  # only the end of the message, which has to be read
        return upstream.send(exchange.method, target, headers, None)

    def _request_body(self, exchange: ProxiedExchange, began: float) -> Iterator[bytes]:
        """Yield the body of a request as it comes."""
        while True:
            try:
                event = self._next_event()
            except h11.RemoteProtocolError as error:
                raise _ClientGoneError from error
            if isinstance(event, h11.Data):
                yield exchange.request_body.take(bytes(event.data))
            elif isinstance(event, h11.EndOfMessage):
                exchange.sending = time.perf_counter() - began
                return
            else:
                raise _ClientGoneError

    def _return_response(self, exchange: ProxiedExchange, response: httpx.Response) -> None:
        """Send the response of the upstream to the client."""
        reason: bytes = response.extensions.get("reason_phrase", b"")
        headers = messages.decode_headers(response.headers.raw)
        exchange.status, exchange.reason = response.status_code, reason.decode("latin-1")
        exchange.response_headers = headers
        forwarded = response_headers(headers)
        links = self.proxy.links
        if links:
            forwarded = tuple((name, links.header(name, value)) for name, value in forwarded)
        parts = (exchange.response_body.take(part) for part in self.proxy.upstream.parts(response))
        body = b""
        if links and exchange.method != "HEAD" and messages.may_have_links(headers):
            body, complete = messages.read_bounded(parts)
            if complete:
                body = links.body(body, headers)
                forwarded = messages.with_length(forwarded, len(body))
        raw = messages.encode_headers(forwarded)
        self._send(h11.Response(status_code=exchange.status, headers=raw, reason=reason))
        if body:
            self._send(h11.Data(data=body))
        for part in parts:
            self._send(h11.Data(data=part))
        self._send(h11.EndOfMessage())


def _from_another_site(method: bytes, headers: dict[bytes, bytes], own: bytes) -> bool:
    """Whether a page of another site made a request; to open a page of the bank by a link is none.

    Browsers name the site of the page, or (on http addresses of a network) its origin; other
    clients name neither.
    """
    site = headers.get(b"sec-fetch-site")
    opens = headers.get(b"sec-fetch-mode") == b"navigate" and method in {b"GET", b"HEAD"}
    if site is not None:
        return site not in OWN_SITES and not opens
    referrer = b"" if method in {b"GET", b"HEAD"} else headers.get(b"referer", b"")
    origin = headers.get(b"origin") or b"/".join(referrer.split(b"/")[:3])
    return origin.lower() not in {b"", own}
