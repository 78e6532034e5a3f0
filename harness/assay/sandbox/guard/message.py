"""A request as signatures see it: what was sent, before anything was decoded.

Servers tell the target of a request as it was sent in ``REQUEST_URI``. Where there is
none, as in calls within a process, it is made again from the decoded path: the usual
form, so that a client which escapes more than it has to, or writes ``%2F``, signed
something else. Nothing is verified here.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from io import BytesIO
from typing import TYPE_CHECKING
from urllib.parse import quote

from assay.sandbox.wire import own_base, read_body

if TYPE_CHECKING:
    from _typeshed.wsgi import WSGIEnvironment

__all__ = ["BODY_LIMIT", "Message", "read_message"]

#: Longest body that is verified, in bytes.
BODY_LIMIT = 4 * 1024 * 1024
#: What needs no escaping in a path (RFC 3986).
_PLAIN = "/:@!$&'()*+,;=~-._"


@dataclass(frozen=True, slots=True, kw_only=True)
class Message:
    """One request."""

    method: str
    #: Scheme and host, as they were called.
    base: str
    #: Path and query, as they were sent.
    target: str
    #: By names in small letters; several of one name are joined by commas.
    headers: Mapping[str, str]
    body: bytes

    @property
    def path(self) -> str:
        """The path alone."""
        return self.target.partition("?")[0]

    @property
    def query(self) -> str:
        """The query with its question mark, which stands alone where there is no query."""
        return "?" + self.target.partition("?")[2]


def read_message(environ: "WSGIEnvironment") -> Message | None:
    """Read a request, and leave its body to be read once more; None when it is too long."""
    body = read_body(environ, BODY_LIMIT)
    if len(body) > BODY_LIMIT:
        return None
    environ["wsgi.input"] = BytesIO(body)
    environ["CONTENT_LENGTH"] = str(len(body))
    environ.pop("HTTP_TRANSFER_ENCODING", None)
    return Message(
        method=environ["REQUEST_METHOD"],
        base=own_base(environ),
        target=_target(environ),
        headers=_headers(environ),
        body=body,
    )


def _target(environ: "WSGIEnvironment") -> str:
    sent: str = environ.get("REQUEST_URI") or environ.get("RAW_URI") or ""
    if not sent:
        path: str = environ.get("PATH_INFO", "")
        query: str = environ.get("QUERY_STRING", "")
        quoted = quote(path.encode("latin-1", "replace"), safe=_PLAIN) or "/"
        return f"{quoted}?{query}" if query else quoted
    scheme, found, rest = sent.partition("://")
    if found and scheme.lower() in ("http", "https"):
        # Proxies are sent the whole URL.
        _, slash, rest = rest.partition("/")
        return slash + rest or "/"
    return sent


def _headers(environ: "WSGIEnvironment") -> dict[str, str]:
    headers = {
        name[5:].replace("_", "-").lower(): value.strip()
        for name, value in environ.items()
        if name.startswith("HTTP_")
    }
    for name in ("CONTENT_TYPE", "CONTENT_LENGTH"):
        if environ.get(name):
            headers[name.replace("_", "-").lower()] = str(environ[name]).strip()
    return headers
