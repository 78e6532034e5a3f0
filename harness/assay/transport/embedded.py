"""Transport to a bank in this process: a WSGI application, called directly.

The same interface as `http.HttpClient`, without a network: no connection, no timeout,
nothing hostile on the way. It does what a WSGI server does with a request, and no more.
"""

from __future__ import annotations

import io
import json
import sys
from collections.abc import Callable, Iterable, Mapping
from typing import Any, TypeAlias
from urllib.parse import unquote_to_bytes, urlsplit

from assay.binding.encode import HttpRequest
from assay.transport.protocol import (
    CONTROL_PATH,
    MAX_BODY,
    OTHER_HOST,
    Delivery,
    answered,
    unanswered,
)

#: A WSGI application (PEP 3333).
Application: TypeAlias = Callable[[dict[str, Any], Callable[..., Any]], Iterable[bytes]]

#: The part of the WSGI environment that all requests share.
COMMON: Mapping[str, Any] = {
    "SCRIPT_NAME": "",
    "SERVER_PROTOCOL": "HTTP/1.1",
    "REMOTE_ADDR": "127.0.0.1",
    "wsgi.version": (1, 0),
    "wsgi.errors": sys.stderr,
    "wsgi.multithread": False,
    "wsgi.multiprocess": False,
    "wsgi.run_once": False,
}


class Embedded:
    """Calls an application under its public base URL."""

    def __init__(self, app: Application, base_url: str, hosts: Iterable[str] = ()) -> None:
        self.app = app
        self.base_url = base_url
        self.reached = True
        parts = urlsplit(base_url)
        self._origins = {urlsplit(url)[:2] for url in (base_url, *hosts)}
        self._common = {
            **COMMON,
            "wsgi.url_scheme": parts.scheme,
            "SERVER_NAME": parts.hostname or "",
            "SERVER_PORT": str(parts.port or (443 if parts.scheme == "https" else 80)),
            "HTTP_HOST": parts.netloc,
        }

    def send(self, request: HttpRequest) -> Delivery:
        """Call the application with a request."""
        try:
            parts = urlsplit(request.url)
        except ValueError as error:
            return unanswered(request, f"not a valid URL: {error}")
        if parts[:2] not in self._origins:
            return unanswered(request, OTHER_HOST)
        headers = (*request.headers, ("Host", parts.netloc))
        status, headers, body = self._call(
            request.method, parts.path, parts.query, headers, request.body
        )
        return answered(request, status, headers, body[:MAX_BODY], truncated=len(body) > MAX_BODY)

    def control(self, method: str, path: str, body: Mapping[str, Any] | None) -> tuple[int, Any]:
        """Call the application's control API and return status and JSON answer."""
        content = b"" if body is None else json.dumps(body).encode()
        headers = (("Content-Type", "application/json"),)
        status, _, text = self._call(method, CONTROL_PATH + path, "", headers, content)
        return status, json.loads(text) if text else {}

    def _call(
        self,
        method: str,
        path: str,
        query: str,
        headers: Iterable[tuple[str, str]],
        body: bytes,
    ) -> tuple[int, tuple[tuple[str, str], ...], bytes]:
        environ = {
            **self._common,
            "REQUEST_METHOD": method,
            # Bytes as Latin-1 text, as PEP 3333 requires.
            "PATH_INFO": unquote_to_bytes(path).decode("latin-1"),
            "QUERY_STRING": query,
            # The target as it was sent, which servers need not pass on: this is what is
            # signed.
            "REQUEST_URI": f"{path}?{query}" if query else path,
            "CONTENT_LENGTH": str(len(body)),
            "wsgi.input": io.BytesIO(body),
        }
        for name, value in headers:
            key = name.upper().replace("-", "_")
            environ["CONTENT_TYPE" if key == "CONTENT_TYPE" else f"HTTP_{key}"] = value
        started: list[tuple[str, list[tuple[str, str]]]] = []

        def start(status: str, headers: list[tuple[str, str]], error: object = None) -> None:
            started.append((status, headers))

        parts = self.app(environ, start)
        content = b"".join(parts)
        close = getattr(parts, "close", None)
        if close is not None:
            close()
        status, response_headers = started[-1]
        lower_case = tuple((name.lower(), value) for name, value in response_headers)
        return int(status[:3]), lower_case, content

    def close(self) -> None:
        """Do nothing: there is no connection."""
