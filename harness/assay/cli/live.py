"""The report of a run while it goes on, served to a browser on this machine (`assay run --live`).

It is the page that the run writes at its end, of the journal as far as it goes. Nothing else is served,
and only at an address that cannot be guessed: other users of the machine must not read it.
"""

from __future__ import annotations

from collections.abc import Generator
from contextlib import contextmanager
from functools import partial
from http import HTTPStatus
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from io import StringIO
from pathlib import Path
from secrets import token_urlsafe
from threading import Lock, Thread

from assay.errors import JournalError

_WAIT = "<!DOCTYPE html><meta http-equiv=refresh content=1><title>Assay</title>The run begins."


class LiveReport:
    """The page of a journal that is being written; it is rendered again when the journal grew."""

    def __init__(self, journal: Path) -> None:
        self.journal = journal
        self._lock = Lock()
        self._size = -1
        self._page = _WAIT

    @property
    def size(self) -> int:
        """The size of the journal so far, in bytes; 0 before it is there."""
        try:
            return self.journal.stat().st_size
        except OSError:
            return 0

    def page(self) -> str:
        """Return the page, which asks for the size and loads itself again when that changes."""
        with self._lock:
            size = self.size
            if size != self._size:
                self._page, self._size = self._rendered(size), size
            return self._page

    def _rendered(self, size: int) -> str:
        from assay.report import read_journal  # noqa: PLC0415 -- not before somebody looks
        from assay.report.formats.html import digest, page_text, render  # noqa: PLC0415

        out, script = StringIO(), page_text("html/live.js")
        try:
            render(read_journal(self.journal, partial=True), out)
        except JournalError:
            return _WAIT
        policy = f"connect-src 'self'; script-src {digest(script)} "
        before, _, after = out.getvalue().replace("script-src ", policy, 1).rpartition("</body>")
        mark = f'<meta name="assay-live" content="{size}">'
        return f"{before}{mark}<script>{script}</script></body>{after}"


class _Handler(BaseHTTPRequestHandler):
    """Answers with the page and the size, below a path that is a secret."""

    def __init__(self, *given: object, live: LiveReport, secret: str) -> None:
        self.live, self.secret = live, secret
        super().__init__(*given)  # type: ignore[arg-type]

    def do_GET(self) -> None:
        """Answer one request of a browser."""
        host = (self.headers.get("Host") or "").rpartition(":")[0]
        bodies = {f"/{self.secret}/": self.live.page, f"/{self.secret}/size": self._size}
        body = bodies.get(self.path) if host in {"127.0.0.1", "localhost"} else None
        if body is None:
            self.send_error(HTTPStatus.NOT_FOUND)
            return
        content = body().encode()
        self.send_response(HTTPStatus.OK)
        kind = "plain" if self.path.endswith("size") else "html"
        self.send_header("Content-Type", f"text/{kind}; charset=utf-8")
        self.send_header("Content-Length", str(len(content)))
        self.send_header("Cache-Control", "no-store")
        self.end_headers()
        self.wfile.write(content)

    def _size(self) -> str:
        return str(self.live.size)

    def log_message(self, format: str, *args: object) -> None:  # noqa: A002 -- the name of the base
        """Print nothing: the terminal shows the run."""


@contextmanager
def serving(journal: Path) -> Generator[str]:
    """Serve the report of a journal until the block ends; yield its URL."""
    secret = token_urlsafe(12)
    handler = partial(_Handler, live=LiveReport(journal), secret=secret)
    server = ThreadingHTTPServer(("127.0.0.1", 0), handler)
    thread = Thread(target=server.serve_forever, name="live", daemon=True)
    thread.start()
    try:
        yield f"http://127.0.0.1:{server.server_port}/{secret}/"
    finally:
        server.shutdown()
        server.server_close()
        thread.join()
