"""HTTPS server that can require client certificates.

One thread per connection, with the standard library's HTTP: waitress has no TLS, and
Werkzeug's server closes the connection after each call, so that every call would need a
handshake. Bodies are read completely before the application is called, so that
connections stay usable. Where there are too many connections, the one that has waited longest
for its client is closed. Not for the internet.
"""

import re
import ssl
import sys
from dataclasses import dataclass
from http.server import BaseHTTPRequestHandler
from io import BytesIO
from pathlib import Path
from socket import AF_INET6, SHUT_RDWR, SHUT_WR, socket
from socketserver import TCPServer, ThreadingMixIn
from threading import Lock
from time import monotonic
from typing import TYPE_CHECKING, Any, Literal, TypeAlias, cast
from urllib.parse import unquote_to_bytes

from assay.sandbox.guard import require_certificate

if TYPE_CHECKING:
    from _typeshed.wsgi import WSGIApplication

__all__ = ["Demand", "Tls", "TlsServer"]

#: Without a client certificate, the handshake fails or the answer is 401. With an invalid
#: one, the handshake always fails.
Demand: TypeAlias = Literal["handshake", "answer"]

#: Timeout of a handshake, and between two bytes of a request, in seconds.
_PATIENCE = 30
#: Time for the client to read an alert before the connection closes, in seconds.
_FAREWELL = 2
#: Most connections at a time.
_MOST_CONNECTIONS = 256
#: Longest body of a request, in bytes.
_BODY_LIMIT = 8 * 1024 * 1024
#: Statuses without a body: a client would take one for the next answer.
_BODILESS = frozenset({204, 304})
_LENGTH = re.compile(r"[0-9]{1,18}")
_CHUNK = re.compile(rb"[0-9A-Fa-f]{1,16}")


@dataclass(frozen=True, slots=True, kw_only=True)
class Tls:
    """The bank's certificate, and the authority of the required client certificates."""

    certificate: Path
    key: Path
    #: Authority of the required client certificates; None requires none.
    clients: Path | None = None
    demand: Demand = "handshake"

    def context(self) -> ssl.SSLContext:
        """Load the certificates.

        Raises:
            OSError: a file cannot be read, is no certificate, or does not match its key.

        """
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        context.minimum_version = ssl.TLSVersion.TLSv1_2
        context.load_cert_chain(self.certificate, self.key)
        if self.clients is not None:
            context.load_verify_locations(self.clients)
            needed = self.demand == "handshake"
            context.verify_mode = ssl.CERT_REQUIRED if needed else ssl.CERT_OPTIONAL
        return context


class TlsServer(ThreadingMixIn, TCPServer):
    """Serves an application; call `run` in one thread, and `close` in any."""

    allow_reuse_address = True
    request_queue_size = 128

    def __init__(self, host: str, port: int, app: "WSGIApplication", tls: Tls) -> None:
        if ":" in host:
            self.address_family = AF_INET6
        answers = tls.clients is not None and tls.demand == "answer"
        self.app = require_certificate(app) if answers else app
        self._context = tls.context()
        self._lock = Lock()
        #: Since when each connection waits for its client.
        self._open: dict[socket, float] = {}
        super().__init__((host, port), _Handler)
        #: Host and port.
        self.listens = (host, self.effective_port)

    @property
    def effective_port(self) -> int:
        """The port of the server."""
        return self.server_address[1]

    def run(self) -> None:
        """Serve until interrupted, or until another thread calls `shutdown`."""
        try:
            self.serve_forever(poll_interval=0.05)
        except KeyboardInterrupt:
            return

    def close(self) -> None:
        """End all connections, and wait for their threads."""
        with self._lock:
            for connection in self._open:
                _end(connection, SHUT_RDWR)
        self.server_close()

    def get_request(self) -> tuple[socket, Any]:
        """Accept a connection; its own thread performs the handshake."""
        plain, address = self.socket.accept()
        wrapped = self._context.wrap_socket(plain, server_side=True, do_handshake_on_connect=False)
        with self._lock:
            if len(self._open) >= _MOST_CONNECTIONS:
                longest = min(self._open, key=self._open.__getitem__)
                del self._open[longest]
                _end(longest, SHUT_RDWR)
            self._open[wrapped] = monotonic()
        return wrapped, address

    def waits(self, connection: socket) -> None:
        """Note that a connection has answered a request, and waits for the next one."""
        with self._lock:
            if connection in self._open:
                self._open[connection] = monotonic()

    def shutdown_request(self, request: Any) -> None:
        """Close a connection; unregister it first, so that it is ended only once."""
        with self._lock:
            self._open.pop(request, None)
        super().shutdown_request(request)

    def handle_error(self, request: Any, client_address: Any) -> None:
        """Ignore broken connections; report any other error."""
        if not isinstance(sys.exception(), OSError):
            super().handle_error(request, client_address)


class _Handler(BaseHTTPRequestHandler):
    """One connection: its handshake, then its requests one after the other."""

    protocol_version = "HTTP/1.1"
    # Otherwise a malformed request line gets an answer without a status line (HTTP/0.9).
    default_request_version = "HTTP/1.0"
    server_version = "sandbox-bank"
    sys_version = ""
    timeout = _PATIENCE
    # Otherwise the body of an answer waits until its head is acknowledged.
    disable_nagle_algorithm = True

    def setup(self) -> None:
        """Perform the handshake in the connection's thread."""
        connection: ssl.SSLSocket = self.request
        connection.settimeout(_PATIENCE)
        try:
            connection.do_handshake()
        except OSError:
            # The alert says why; closing with unread bytes would discard it.
            _end(connection, SHUT_WR)
            connection.settimeout(_FAREWELL)
            while socket.recv(connection, 4096):
                pass
            raise
        super().setup()

    def __getattr__(self, name: str) -> Any:
        """Handle every HTTP method alike; the application decides which exist."""
        if name.startswith("do_"):
            return self._answer
        raise AttributeError(name)

    def log_message(self, format: str, *args: Any) -> None:
        """Log nothing, like the server without TLS."""

    def _answer(self) -> None:
        body = self._body()
        if body is None:
            return
        begun: list[tuple[str, list[tuple[str, str]]]] = []

        def start(status: str, headers: list[tuple[str, str]], _: object = None) -> Any:
            begun.append((status, headers))

        server = cast("TlsServer", self.server)
        content = b"".join(server.app(self._environ(body), start))
        status, headers = begun[-1]
        code, _, phrase = status.partition(" ")
        self.send_response(int(code), phrase)
        for name, value in headers:
            self.send_header(name, value)
        if not any(name.lower() == "content-length" for name, _ in headers):
            self.send_header("Content-Length", str(len(content)))
        self.end_headers()
        if self.command != "HEAD" and int(code) not in _BODILESS:
            self.wfile.write(content)
        server.waits(self.connection)

    def _body(self) -> bytes | None:
        """Read the body; None if it was refused already."""
        if "chunked" in self.headers.get("Transfer-Encoding", "").lower():
            body = self._chunks()
        else:
            text = self.headers.get("Content-Length", "0").strip()
            body = self._whole(int(text)) if _LENGTH.fullmatch(text) else None
        if body is None:
            # What follows cannot be distinguished from the rest of this body.
            self.close_connection = True
            self.send_error(400)
        return body

    def _whole(self, length: int) -> bytes | None:
        """Read a body of this length; None if it is too long or incomplete."""
        if length > _BODY_LIMIT:
            return None
        body = self.rfile.read(length)
        return body if len(body) == length else None

    def _chunks(self) -> bytes | None:
        """Read a chunked body; None if it is malformed or too long."""
        body = b""
        while True:
            text = self.rfile.readline(100).partition(b";")[0].strip()
            length = int(text, 16) if _CHUNK.fullmatch(text) else _BODY_LIMIT + 1
            if length > _BODY_LIMIT - len(body):
                return None
            body += self.rfile.read(length)
            if length == 0:
                # Ignore trailers.
                ended = any(not self.rfile.readline(8192).strip() for _ in range(100))
                return body if ended else None
            if self.rfile.readline(3).strip():
                return None

    def _environ(self, body: bytes) -> dict[str, Any]:
        host, port = cast("TlsServer", self.server).listens
        sent = self.requestline.split()[1]
        target = self.path
        if not target.startswith("/"):
            # Proxies receive the whole URL.
            target = "/" + target.partition("://")[2].partition("/")[2]
        path, _, query = target.partition("?")
        environ: dict[str, Any] = {
            "REQUEST_METHOD": self.command,
            "SCRIPT_NAME": "",
            "PATH_INFO": unquote_to_bytes(path.encode("latin-1")).decode("latin-1"),
            "QUERY_STRING": query,
            "REQUEST_URI": sent,
            "REMOTE_ADDR": self.client_address[0],
            "SERVER_NAME": str(host),
            "SERVER_PORT": str(port),
            "SERVER_PROTOCOL": self.request_version,
            "wsgi.version": (1, 0),
            "wsgi.url_scheme": "https",
            "wsgi.input": BytesIO(body),
            "wsgi.errors": sys.stderr,
            "wsgi.multithread": True,
            "wsgi.multiprocess": False,
            "wsgi.run_once": False,
        }
        for name, value in self.headers.items():
            key = name.upper().replace("-", "_")
            if "_" in name or key in ("CONTENT_LENGTH", "TRANSFER_ENCODING"):
                continue
            key = key if key == "CONTENT_TYPE" else f"HTTP_{key}"
            environ[key] = f"{environ[key]}, {value}" if key in environ else value
        environ["CONTENT_LENGTH"] = str(len(body))
        certificate = cast("ssl.SSLSocket", self.connection).getpeercert(binary_form=True)
        if certificate:
            # As nginx, Apache and Werkzeug name it.
            environ["SSL_CLIENT_CERT"] = ssl.DER_cert_to_PEM_cert(certificate)
        return environ


def _end(connection: socket, how: int) -> None:
    """Shut a connection down below TLS; ignored if it is closed already."""
    try:
        socket.shutdown(connection, how)
    except OSError:
        return
