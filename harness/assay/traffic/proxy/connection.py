"""Connection of one client: HTTP/1.1 by h11, request after request.

A request that is not HTTP, names another host, or asks for a tunnel is refused here and reaches
neither the upstream nor the record.
"""

from __future__ import annotations

import socket
import time
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import TYPE_CHECKING
from urllib.parse import urlsplit

import h11
import httpx

from assay.traffic.proxy import messages
from assay.traffic.proxy.recorder import PassedExchange
from assay.traffic.proxy.upstream import UpstreamFailed, passed_on

if TYPE_CHECKING:
    from assay.traffic.proxy.server import Proxy

__all__ = ["ClientConnection"]

READ_AT_ONCE = 64 * 1024
#: Hosts by which a proxy on this machine is meant.
LOCAL = frozenset({"127.0.0.1", "localhost", "::1"})


class _Gone(Exception):  # noqa: N818 -- it reads as the sentence it is
    """The client went away, or spoke no HTTP in the middle of a request."""


@dataclass(slots=True, kw_only=True)
class ClientConnection:
    """One connection, from the first request to the last."""

    connection: socket.socket
    proxy: Proxy
    _http: h11.Connection = field(default_factory=lambda: h11.Connection(h11.SERVER))

    def run(self) -> None:
        """Answer until the client or the proxy has had enough."""
        with suppress(OSError, _Gone, h11.LocalProtocolError):
            while self._one():
                self._http.start_next_cycle()

    def _one(self) -> bool:
        """Answer a request; whether another may follow."""
        try:
            request = self._next()
        except h11.RemoteProtocolError as error:
            self._say(error.error_status_hint, f"this is no HTTP: {error}")
            return False
        if not isinstance(request, h11.Request):
            return False
        refused = self._refused(request)
        if refused:
            self._say(*refused)
            return False
        self.proxy.begin()
        try:
            self._pass_on(request)
        finally:
            self.proxy.end()
        return self._http.our_state is h11.DONE and self._http.their_state is h11.DONE

    def _next(self) -> h11.Event | None:
        """Return what comes next; nothing where the client speaks no more."""
        while True:
            event = self._http.next_event()
            if isinstance(event, h11.Event):
                return event
            if event is h11.PAUSED:
                return None
            if self._http.they_are_waiting_for_100_continue:
                self._send(h11.InformationalResponse(status_code=100, headers=[]))
            self._http.receive_data(self.connection.recv(READ_AT_ONCE))

    def _send(self, event: h11.Event) -> None:
        data = self._http.send(event)
        if data:
            self.connection.sendall(data)

    def _refused(self, request: h11.Request) -> tuple[int, str] | None:
        """Return the status and the reason if a request is not for passing on."""
        if not request.target.startswith(b"/"):
            what = f"this proxy passes on to {self.proxy.upstream.origin} and nowhere else"
            return 421, f"{what}: ask for a path"
        asked = dict(request.headers).get(b"host", b"").decode("latin-1")
        try:
            host = urlsplit(f"//{asked}").hostname or ""
        except ValueError:
            return 400, "the Host header names no host"
        # A page in a browser must not reach the bank through a name of its own.
        if self.proxy.local and host not in LOCAL and asked:
            return 421, f"this proxy is {self.proxy.url}; listen elsewhere to be called by a name"
        return None

    def _say(self, status: int, what: str) -> None:
        """Answer in the proxy's own words, and end the connection."""
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

    def _pass_on(self, request: h11.Request) -> None:
        """Ask the upstream, answer, and record both, however it ends."""
        one = self._exchange(request)
        began = time.perf_counter()
        try:
            answer = self._ask(one, request.target, began)
            one.waiting = time.perf_counter() - began - one.sending
            try:
                self._answer(one, answer)
            finally:
                answer.close()
                one.receiving = time.perf_counter() - began - one.sending - one.waiting
        except UpstreamFailed as error:
            one.trouble = str(error)
            self._say(502, str(error))
        except (OSError, _Gone):
            one.trouble = "the client went away"
            raise
        finally:
            self.proxy.record.add(one)

    def _exchange(self, request: h11.Request) -> PassedExchange:
        """Return what was asked, as the client did, but of the host that was meant."""
        upstream, asked = self.proxy.upstream, messages.text(request.headers.raw_items())
        others = (one for one in asked if one[0].lower() != "host")
        return PassedExchange(
            started=datetime.now(UTC),
            method=request.method.decode("ascii"),
            url=upstream.origin + request.target.decode("latin-1"),
            version=f"HTTP/{request.http_version.decode('ascii')}",
            asked=(("Host", urlsplit(upstream.origin).netloc), *others),
        )

    def _ask(self, one: PassedExchange, target: bytes, began: float) -> httpx.Response:
        body = self._body(one, began)
        headers = self.proxy.upstream.headers(one.asked)
        if messages.has_body(one.asked):
            return self.proxy.upstream.ask(one.method, target, headers, body)
        list(body)  # there is only its end, which has to be seen
        return self.proxy.upstream.ask(one.method, target, headers, None)

    def _body(self, one: PassedExchange, began: float) -> Iterator[bytes]:
        """Yield the body of a request as it comes."""
        while True:
            try:
                event = self._next()
            except h11.RemoteProtocolError as error:
                raise _Gone from error
            if isinstance(event, h11.Data):
                yield one.sent.take(bytes(event.data))
            elif isinstance(event, h11.EndOfMessage):
                one.sending = time.perf_counter() - began
                return
            else:
                raise _Gone

    def _answer(self, one: PassedExchange, answer: httpx.Response) -> None:
        """Give the client what the upstream answers."""
        reason: bytes = answer.extensions.get("reason_phrase", b"")
        headers = messages.text(answer.headers.raw)
        one.status, one.reason = answer.status_code, reason.decode("latin-1")
        one.answered = headers
        passed = passed_on(headers)
        origins = self.proxy.origins
        if origins:
            passed = tuple((name, origins.header(name, value)) for name, value in passed)
        parts = (one.received.take(part) for part in self.proxy.upstream.parts(answer))
        held = b""
        if origins and one.method != "HEAD" and messages.may_hold_links(headers):
            held, whole = messages.hold(parts)
            if whole:
                held = messages.turned(held, headers, origins)
                passed = messages.sized(passed, len(held))
        raw = messages.raw(passed)
        self._send(h11.Response(status_code=one.status, headers=raw, reason=reason))
        if held:
            self._send(h11.Data(data=held))
        for part in parts:
            self._send(h11.Data(data=part))
        self._send(h11.EndOfMessage())
