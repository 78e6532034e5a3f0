"""Check of the Host header: only under its own names is a local bank reached.

A page in a browser can give its own name the address of this machine (DNS rebinding), and would
then read and change worlds as if it were local. Its requests carry that name. An address in place
of a name cannot be given to another machine.
"""

from collections.abc import Iterable
from ipaddress import ip_address
from typing import TYPE_CHECKING
from urllib.parse import urlsplit

from assay.sandbox.messages import error, send

if TYPE_CHECKING:
    from _typeshed.wsgi import StartResponse, WSGIApplication, WSGIEnvironment

__all__ = ["is_local", "require_own_host"]

#: Names of this machine, and the domains of the bank's two forms of host. The top-level domain
#: `example` is reserved and never resolved.
_NAMES = frozenset({"localhost"})
_DOMAINS = (".localhost", ".sandbox.example", ".bank.example")


def is_local(host: str) -> bool:
    """Whether only this machine can reach a server that listens on this address."""
    try:
        return ip_address(host).is_loopback
    except ValueError:
        return host == "localhost"


def require_own_host(app: "WSGIApplication", listening: str) -> "WSGIApplication":
    """Refuse requests to other hosts where a server listens on this machine only."""
    if not is_local(listening):
        return app

    def checked(environ: "WSGIEnvironment", start_response: "StartResponse") -> Iterable[bytes]:
        host = environ.get("HTTP_HOST")
        if host and not _is_own(host):
            answer = error(421, f"this is the sandbox bank on {listening}, reached by its address")
            return send(answer, environ["REQUEST_METHOD"], start_response)
        return app(environ, start_response)

    return checked


def _is_own(host: str) -> bool:
    try:
        name = (urlsplit(f"//{host}").hostname or "").rstrip(".")
    except ValueError:
        return False
    try:
        ip_address(name)
    except ValueError:
        return name in _NAMES or name.endswith(_DOMAINS)
    return True
