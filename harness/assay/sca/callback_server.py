"""Where the browser of a person who signs comes back to: an address on this machine.

Every request has an address of its own, which nobody can guess: so what resumes a
signature is the browser that was sent to sign this very request, and neither a page that
is loaded again nor anybody else. Not for what a person is asked: see `manual`.
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

#: Only this machine can come here.
LOOPBACK = "127.0.0.1"
#: The seconds between two looks at the clock.
TICK = 1.0
#: For how many seconds a connection may say nothing.
SILENCE = 10

THANKS = "Thank you. You can close this window."
NOT_AWAITED = "Nothing is waited for here, or not any more. You can close this window."
PAGE = '<!DOCTYPE html><html lang="en"><meta charset="utf-8"><title>Assay</title><p>{}</p></html>\n'

#: What is put after an address by who could not do as asked.
CANNOT = "/cannot"


class Arrival(Enum):
    """Who came, of those who may."""

    BACK = "the browser that was sent to sign"
    UNABLE = "somebody who could not do as asked"
    NOBODY = "nobody"


#: Lets time pass until something happens, for so many seconds at most.
Pause = Callable[[Event, float], object]


@dataclass(slots=True, kw_only=True)
class CallbackServer:
    """Whom a run waits for, and what it has learnt of them.

    `signatures` may be asked for in a run, `asked` were so far. `seen` says that
    somebody ever came, `absent` that nobody is waited for any more.
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
        """Listen.

        Raises:
            OSError: the port is taken.

        """
        port = urlsplit(self.callback).port or 0
        self._server = ThreadingHTTPServer((LOOPBACK, port), _guest(self.come))
        self._server.daemon_threads = True
        serve = partial(self._server.serve_forever, poll_interval=0.1)
        Thread(target=serve, name="sca-callback", daemon=True).start()

    def address(self) -> str:
        """Make up an address to come back to."""
        return f"{self.callback}/{token_urlsafe(24)}"

    def come(self, path: str) -> bool:
        """Let in who comes to the address that is waited at, and nobody else."""
        awaited = urlsplit(self._awaited).path
        if not awaited or path.removesuffix(CANNOT) != awaited:
            return False
        self._came = Arrival.BACK if path == awaited else Arrival.UNABLE
        self._arrived.set()
        return True

    def expect(self, address: str, person: Prompt) -> Arrival:
        """Wait at an address, and tell who came."""
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
        """Listen no longer."""
        if self._server is not None:
            self._server.shutdown()
            self._server.server_close()
            self._server = None


def opened(target: Target) -> CallbackServer:
    """Listen at the callback of a profile.

    Raises:
        InputError: it is taken.

    """
    callback_server = CallbackServer(callback=target.sca.callback, wait=target.sca.wait)
    try:
        callback_server.open()
    except OSError as error:
        what = f"sca.callback: cannot listen at {target.sca.callback}: {error.strerror}"
        hint = "is another run waiting there? if not, choose another port"
        line = target.lines.get("sca", 0)
        raise InputError.one(target.path, what, line=line, hint=hint) from None
    return callback_server


def _guest(come: Callable[[str], bool]) -> type[BaseHTTPRequestHandler]:
    """Return what answers a browser: with one sentence, and no word on the terminal."""

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
