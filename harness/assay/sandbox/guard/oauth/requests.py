"""Which third party asks for a token: by a secret, or by its certificate.

One way at a time (RFC 6749, 2.3). A certificate has been verified in the handshake; it
must be of the organization that all clients here belong to (RFC 8705, 2.1).

Parameters, from a query or a body: one value a name, as RFC 6749 wants them.

Where a customer may be sent back to.

To this machine, to the third party of the examples, or to what was registered whole.
Anywhere else would make the bank's address lead wherever somebody likes. The URI is
given back as it came, with what is to be said appended.
"""

from base64 import b64decode
from collections.abc import Collection, Mapping
from hmac import compare_digest
from typing import TYPE_CHECKING
from urllib.parse import parse_qsl, unquote_plus, urlencode, urlsplit

from assay.sandbox.guard.middleware import ORGANIZATION
from assay.sandbox.guard.oauth.state import Client, OAuthStore
from assay.sandbox.messages import BODY_LIMIT, read_body
from assay.sandbox.payments.terms import is_absolute_url

if TYPE_CHECKING:
    from _typeshed.wsgi import WSGIEnvironment


class BadClient(Exception):  # noqa: N818 - it is the request that is at fault
    """Nobody, somebody unknown, or not who they say; two ways at once are `ambiguous`."""

    def __init__(self, *, ambiguous: bool = False) -> None:
        """Keep why."""
        super().__init__(ambiguous)
        self.ambiguous = ambiguous


def authenticate(environ: "WSGIEnvironment", given: Mapping[str, str], store: OAuthStore) -> Client:
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
    client = store.clients.get(name or "")
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


#: The one media type of parameters in a body.
FORM = "application/x-www-form-urlencoded"


def read_parameters(text: str) -> Mapping[str, str] | None:
    """Read parameters; those without a value are none. None when a name comes twice."""
    try:
        pairs = parse_qsl(text, keep_blank_values=True, max_num_fields=50)
    except ValueError:
        return None
    found = dict(pairs)
    if len(found) < len(pairs):
        return None
    return {name: value for name, value in found.items() if value}


def read_form(environ: "WSGIEnvironment") -> Mapping[str, str] | None:
    """Read parameters in a body; None when it is no form, too long, or names one twice."""
    media = str(environ.get("CONTENT_TYPE", "")).partition(";")[0].strip().lower()
    body = read_body(environ, BODY_LIMIT)
    if media != FORM or len(body) > BODY_LIMIT:
        return None
    return read_parameters(body.decode("utf-8", "replace"))


#: Over http(s) at any port: nothing there can be anybody else's.
_LOOPBACK = frozenset({"127.0.0.1", "::1", "localhost"})
#: The third party of the examples; a name that nobody can have (RFC 2606).
_EXAMPLE = "tpp.example"


def is_allowed_redirect(uri: str, registered: Collection[str]) -> bool:
    """Whether a customer may be sent to this URI."""
    if not is_absolute_url(uri) or "#" in uri:
        return False
    if uri in registered:
        return True
    try:
        host = urlsplit(uri).hostname or ""
    except ValueError:
        return False
    return host in _LOOPBACK or host == _EXAMPLE


def with_parameters(uri: str, said: Mapping[str, str | None]) -> str:
    """Append what is to be said; what is None is left out."""
    query = urlencode({name: value for name, value in said.items() if value is not None})
    return f"{uri}{'&' if '?' in uri else '?'}{query}"
