"""The local HTTP server to which the browser of a signing person returns.

Every request has a return address that cannot be guessed, so only the browser that was
sent to sign this very request resumes the run: not a reloaded page, and no other
visitor. The dialogue with the person is in `manual`.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from enum import Enum
from functools import partial
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from secrets import token_urlsafe
from threading import Event, Thread
from urllib.parse import urlsplit

from assay.binding.target import Target
from assay.errors import InputError
from assay.sca.prompt import Prompt

#: The server accepts connections from this machine only.
LOOPBACK = "127.0.0.1"
#: Seconds between two checks of the clock.
TICK = 1.0
#: Read timeout of a connection, in seconds.
SILENCE = 10

THANKS = "Thank you. You can close this window."
NOT_AWAITED = "The run is not waiting for this page. You can close this window."
PAGE = '<!DOCTYPE html><html lang="en"><meta charset="utf-8"><title>Assay</title><p>{}</p></html>\n'

#: Appended to a return address to report that the signature was not possible.
CANNOT = "/cannot"


class Arrival(Enum):
    """The possible ends of a wait."""

    BACK = "the browser returned from signing"
    UNABLE = "the person reported that signing is not possible"
    NOBODY = "nobody"


#: Waits for an event, for this many seconds at most.
Pause = Callable[[Event, float], object]


@dataclass(slots=True, kw_only=True)
class CallbackServer:
    """The server of one run, and what is known of the person so far.

    `signatures` is the most that the run may ask for, `asked` how many it has. `seen`
    says that somebody has returned at least once, `absent` that the run no longer
    waits.
    """

    callback: str
    wait: float
    signatures: int = 0
    asked: int = 0
    seen: bool = False
    absent: bool = False
    pause: Pause = Event.wait
    _server: ThreadingHTTPServer | None = None
    _awaited: str = ""
    _came: Arrival = Arrival.NOBODY
    _arrived: Event = field(default_factory=Event)

    def open(self) -> None:
        """Start listening.

        Raises:
            OSError: the port is in use.

        """
        port = urlsplit(self.callback).port or 0
        self._server = ThreadingHTTPServer((LOOPBACK, port), _guest(self.come))
        self._server.daemon_threads = True
        serve = partial(self._server.serve_forever, poll_interval=0.1)
        Thread(target=serve, name="sca-callback", daemon=True).start()

    def address(self) -> str:
        """Return a new return address."""
        return f"{self.callback}/{token_urlsafe(24)}"

    def come(self, path: str) -> bool:
        """Accept a visitor at the address that the run waits for; return False for any other."""
        awaited = urlsplit(self._awaited).path
        if not awaited or path.removesuffix(CANNOT) != awaited:
            return False
        self._came = Arrival.BACK if path == awaited else Arrival.UNABLE
        self._arrived.set()
        return True

    def expect(self, address: str, person: Prompt) -> Arrival:
        """Wait for a visitor at an address, and return how the wait ended."""
        self._arrived.clear()
        self._came, self._awaited, left = Arrival.NOBODY, address, self.wait
        try:
            while left > 0 and not self._arrived.is_set():
                person.left(left)
                self.pause(self._arrived, min(TICK, left))
                left -= TICK
        finally:
            self._awaited = ""
            person.left(0)
        self.seen = self.seen or self._came is not Arrival.NOBODY
        return self._came

    def close(self) -> None:
        """Stop listening."""
        if self._server is not None:
            self._server.shutdown()
            self._server.server_close()
            self._server = None


def opened(target: Target) -> CallbackServer:
    """Start the server at the callback address of a target file.

    Raises:
        InputError: the address cannot be used.

    """
    callback_server = CallbackServer(callback=target.sca.callback, wait=target.sca.wait)
    try:
        callback_server.open()
    except OSError as error:
        what = f"sca.callback: cannot listen at {target.sca.callback}: {error.strerror}"
        hint = "another run may be using the port; stop it or choose another port"
        line = target.lines.get("sca", 0)
        raise InputError.one(target.path, what, line=line, hint=hint) from None
    return callback_server


def _guest(come: Callable[[str], bool]) -> type[BaseHTTPRequestHandler]:
    """Return a request handler that answers with one sentence and logs nothing."""

    class Guest(BaseHTTPRequestHandler):
        timeout = SILENCE

        def do_GET(self) -> None:
            expected = come(urlsplit(self.path).path)
            body = PAGE.format(THANKS if expected else NOT_AWAITED).encode()
            self.send_response(200 if expected else 404)
            self.send_header("Content-Type", "text/html; charset=utf-8")
            self.send_header("Content-Length", str(len(body)))
            self.send_header("Content-Security-Policy", "default-src 'none'")
            self.send_header("Cache-Control", "no-store")
            self.send_header("Referrer-Policy", "no-referrer")
            self.end_headers()
            self.wfile.write(body)

        do_POST = do_GET  # noqa: N815 -- a bank may send a form along

        def log_message(self, format: str, *args: object) -> None:  # noqa: A002
            pass

    return Guest
