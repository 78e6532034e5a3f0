"""Signer that asks a person to sign in their own browser, and the server it returns to.

Without a signature, the obligations that need the signature stay unverified, and the run
does not wait for a person again. Every request has a return address that cannot be
guessed, so only the browser that was sent to sign this very request resumes the run: not
a reloaded page, and no other visitor.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from enum import Enum
from functools import partial
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from secrets import token_urlsafe
from threading import Event, Thread
from typing import ClassVar
from urllib.parse import urlsplit

from assay.binding.model.target import Target
from assay.binding.wire.encode import Access
from assay.errors import CannotArrange, InputError
from assay.history import Authorise, Decision, Ending, Wire
from assay.sca.protocol import NOW, Prompt, ScreenFlowResult, Wait, legible, require_plain

#: Instruction for each decision.
INSTRUCTIONS: Mapping[Decision, str] = {
    Decision.CONFIRM: "confirm the request",
    Decision.REFUSE: "refuse the request, or leave before you confirm if no screen lets you refuse",
}
#: The server accepts connections from this machine only.
LOOPBACK = "127.0.0.1"
#: Seconds between two checks of the clock.
TICK = 1.0
#: Read timeout of a connection, in seconds.
READ_TIMEOUT = 10

RETURNED = "Thank you. You can close this window."
NOT_EXPECTED = "The run is not waiting for this page. You can close this window."
PAGE = '<!DOCTYPE html><html lang="en"><meta charset="utf-8"><title>Assay</title><p>{}</p></html>\n'

#: Appended to a return address to report that the signature was not possible.
NOT_POSSIBLE = "/cannot"


class Arrival(Enum):
    """The possible ends of a wait."""

    RETURNED = "the browser returned from signing"
    UNABLE = "the tester reported that signing is not possible"
    TIMED_OUT = "the customer did not return in time"


#: Waits for an event, for this many seconds at most.
Pause = Callable[[Event, float], object]


@dataclass(slots=True, kw_only=True)
class CallbackServer:
    """The server of one run, and what is known of the person so far.

    The run asks for at most `signatures`, and has asked for `asked`. `seen` says that
    the person returned at least once, `absent` that the run no longer waits.
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
    _arrival: Arrival = Arrival.TIMED_OUT
    _event: Event = field(default_factory=Event)

    def open(self) -> None:
        """Start listening.

        Raises:
            OSError: the port is in use.

        """
        port = urlsplit(self.callback).port or 0
        self._server = ThreadingHTTPServer((LOOPBACK, port), _handler(self.arrive))
        self._server.daemon_threads = True
        serve = partial(self._server.serve_forever, poll_interval=0.1)
        Thread(target=serve, name="sca-callback", daemon=True).start()

    def address(self) -> str:
        """Return a new return address."""
        return f"{self.callback}/{token_urlsafe(24)}"

    def arrive(self, path: str) -> bool:
        """Accept a visitor at the address that the run waits for; return False for any other."""
        awaited = urlsplit(self._awaited).path
        if not awaited or path.removesuffix(NOT_POSSIBLE) != awaited:
            return False
        self._arrival = Arrival.RETURNED if path == awaited else Arrival.UNABLE
        self._event.set()
        return True

    def expect(self, address: str, prompt: Prompt) -> Arrival:
        """Wait for a visitor at an address, and return how the wait ended."""
        self._event.clear()
        self._arrival, self._awaited, remaining = Arrival.TIMED_OUT, address, self.wait
        try:
            while remaining > 0 and not self._event.is_set():
                prompt.countdown(remaining)
                self.pause(self._event, min(TICK, remaining))
                remaining -= TICK
        finally:
            self._awaited = ""
            prompt.countdown(0)
        self.seen = self.seen or self._arrival is not Arrival.TIMED_OUT
        return self._arrival

    def close(self) -> None:
        """Stop listening."""
        if self._server is not None:
            self._server.shutdown()
            self._server.server_close()
            self._server = None


def open_callback_server(target: Target) -> CallbackServer:
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


def _handler(arrive: Callable[[str], bool]) -> type[BaseHTTPRequestHandler]:
    """Return a request handler that answers with one sentence and logs nothing."""

    class CallbackHandler(BaseHTTPRequestHandler):
        timeout = READ_TIMEOUT

        def do_GET(self) -> None:
            expected = arrive(urlsplit(self.path).path)
            body = PAGE.format(RETURNED if expected else NOT_EXPECTED).encode()
            self.send_response(200 if expected else 404)
            self.send_header("Content-Type", "text/html; charset=utf-8")
            self.send_header("Content-Length", str(len(body)))
            self.send_header("Content-Security-Policy", "default-src 'none'")
            self.send_header("Cache-Control", "no-store")
            self.send_header("Referrer-Policy", "no-referrer")
            self.end_headers()
            self.wfile.write(body)

        do_POST = do_GET  # noqa: N815 -- a bank may return the browser with a form

        def log_message(self, format: str, *args: object) -> None:  # noqa: A002
            pass

    return CallbackHandler


@dataclass(frozen=True, slots=True, kw_only=True)
class ManualSigner:
    """Asks a person during one trial; `addresses` are the return addresses of its requests."""

    callback_server: CallbackServer
    prompt: Prompt
    addresses: dict[str, str] = field(default_factory=dict[str, str])
    signs_together: ClassVar[bool] = False

    def return_address(self) -> str | None:
        """Return an address of the callback server."""
        return self.callback_server.address()

    def returns(self, request: str, address: str) -> None:
        """Remember the return address of this request."""
        self.addresses[request] = address

    def sign(self, step: Authorise, access: Access, wait: Wait) -> ScreenFlowResult:
        """Ask for a signature and wait until the browser returns."""
        require_plain(step)
        callback_server = self.callback_server
        if callback_server.absent:
            raise CannotArrange(
                f"a person who signs (no response within {callback_server.wait:g} s)"
            )
        link = step.approval or ""
        if not link.lower().startswith(("https://", "http://")):
            raise CannotArrange(
                f"a link to the screens for {step.request}, which no answer has (`approval`)"
            )
        confirms = step.decision is Decision.CONFIRM
        registered = self.addresses.get(step.request)
        address = registered or callback_server.address()
        returns = confirms and registered is not None
        self._ask(step, access, link, address, returns=returns)
        match callback_server.expect(address, self.prompt):
            case Arrival.UNABLE:
                raise CannotArrange("a person who can sign this way (reported as not possible)")
            case Arrival.TIMED_OUT:
                # After a refusal the browser may stay at the bank, although the person is
                # there.
                callback_server.absent = confirms or not callback_server.seen
                self.prompt.show(
                    "  no response; obligations that need this signature stay unverified"
                )
                raise CannotArrange(
                    f"a person who signs (no response within {callback_server.wait:g} s)"
                )
            case Arrival.RETURNED:
                return ScreenFlowResult(
                    ending=Ending.CONFIRMED if confirms else Ending.REFUSED,
                    wire=Wire(method="SIGN", url=link),
                    moments=[wait(NOW)],
                )

    def _ask(
        self, step: Authorise, access: Access, link: str, address: str, *, returns: bool
    ) -> None:
        callback_server = self.callback_server
        if not callback_server.asked:
            self.prompt.show(announcement(callback_server.signatures))
        callback_server.asked += 1
        how = "your browser returns automatically"
        if not returns:
            how = f"open {address} if your browser does not return automatically"
        lines = [
            f"signature {callback_server.asked}: open {legible(link)}",
            f"  log in as {_login(step, access)}",
            *_factor(step, access),
            f"  {INSTRUCTIONS[step.decision]}",
            f"  {how}; the run waits {callback_server.wait:g} s",
            f"  if signing is not possible, open {address}{NOT_POSSIBLE}",
        ]
        self.prompt.show("\n".join(lines))


def announcement(signatures: int) -> str:
    """Return the sentence that says how many signatures a run needs, at most."""
    count = "1 signature" if signatures == 1 else f"up to {signatures} signatures"
    return f"this run needs {count} by a person (about {signatures} min, one minute each)"


def _login(step: Authorise, access: Access) -> str:
    """Return the customer's login; fictitious customers are shown with their password."""
    login = access.login or access.id or step.by or step.subject
    return legible(f"{login}, password {access.password}" if access.password else login)


def _factor(step: Authorise, access: Access) -> Iterator[str]:
    codes = access.codes
    if step.factor is not None:
        code = codes.get(step.factor)
        yield legible(f"  choose {step.factor}" + (f", code {code}" if code else ""))
    elif codes:
        choices = ", ".join(f"{name} (code {code})" for name, code in codes.items())
        yield legible(f"  choose any factor: {choices}")
