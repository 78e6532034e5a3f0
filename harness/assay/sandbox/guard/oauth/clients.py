"""Which third party asks for a token: by a secret, or by its certificate.

One way at a time (RFC 6749, 2.3). A certificate has been verified in the handshake; it
must be of the organization that all clients here belong to (RFC 8705, 2.1).
"""

from base64 import b64decode
from collections.abc import Mapping
from hmac import compare_digest
from typing import TYPE_CHECKING
from urllib.parse import unquote_plus

from assay.sandbox.guard.mutual import ORGANIZATION
from assay.sandbox.guard.oauth.office import Client, Office

if TYPE_CHECKING:
    from _typeshed.wsgi import WSGIEnvironment

__all__ = ["BadClient", "authenticate"]


class BadClient(Exception):  # noqa: N818 - it is the request that is at fault
    """Nobody, somebody unknown, or not who they say; two ways at once are `ambiguous`."""

    def __init__(self, *, ambiguous: bool = False) -> None:
        """Keep why."""
        super().__init__(ambiguous)
        self.ambiguous = ambiguous


def authenticate(environ: "WSGIEnvironment", given: Mapping[str, str], office: Office) -> Client:
    """Find who asks.

    Raises:
        BadClient: it cannot be told.

    """
    name, secret = given.get("client_id"), given.get("client_secret")
    scheme, _, rest = environ.get("HTTP_AUTHORIZATION", "").partition(" ")
    if scheme.lower() == "basic":
        named, basic = _basic(rest.strip())
        if secret is not None or name not in (None, named):
            raise BadClient(ambiguous=True)
        name, secret = named, basic
    client = office.clients.get(name or "")
    if client is None:
        raise BadClient
    if secret is None:
        proven = _certified(environ)
    else:
        proven = compare_digest(secret.encode(), client.secret.encode())
    if not proven:
        raise BadClient
    return client


def _basic(encoded: str) -> tuple[str, str]:
    """Read a name and a secret, each encoded like a form before they were joined."""
    try:
        name, _, secret = b64decode(encoded, validate=True).decode().partition(":")
    except ValueError:
        raise BadClient from None
    return unquote_plus(name), unquote_plus(secret)


def _certified(environ: "WSGIEnvironment") -> bool:
    certificate: str = environ.get("SSL_CLIENT_CERT", "")
    if not certificate:
        return False
    # Loaded with the first certificate: most banks here demand none.
    from assay.sandbox.guard.certificates import organization  # noqa: PLC0415

    return organization(certificate) == ORGANIZATION
