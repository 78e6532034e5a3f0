"""OAuth2 request parsing: parameters, client authentication and redirect URIs.

A client authenticates in one way at a time (RFC 6749, 2.3): by a secret, or by its TLS
certificate, which must be of the organization of the demo TPP (RFC 8705, 2.1). Every
parameter may occur once. Customers may be redirected to this machine, to the TPP of the
examples, or to a registered URI; anything else would make the bank an open redirector.
"""

from base64 import b64decode
from collections.abc import Collection, Mapping
from hmac import compare_digest
from typing import TYPE_CHECKING
from urllib.parse import parse_qsl, unquote_plus, urlencode, urlsplit

from assay.sandbox.guard.calls import ORGANIZATION
from assay.sandbox.guard.oauth.state import Client, OAuthStore
from assay.sandbox.messages import BODY_LIMIT, read_body
from assay.sandbox.payments.terms import is_absolute_url

if TYPE_CHECKING:
    from _typeshed.wsgi import WSGIEnvironment


class BadClient(Exception):  # noqa: N818 - the request is at fault
    """The client cannot be authenticated; `ambiguous` if it used two ways at once."""

    def __init__(self, *, ambiguous: bool = False) -> None:
        """Store whether two ways were used."""
        super().__init__(ambiguous)
        self.ambiguous = ambiguous


def authenticate(
    environ: "WSGIEnvironment", parameters: Mapping[str, str], store: OAuthStore
) -> Client:
    """Return the authenticated client.

    Raises:
        BadClient: the client is unknown, or its authentication failed.

    """
    name, secret = parameters.get("client_id"), parameters.get("client_secret")
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
    """Parse a form-encoded name and secret of HTTP Basic."""
    try:
        name, _, secret = b64decode(encoded, validate=True).decode().partition(":")
    except ValueError:
        raise BadClient from None
    return unquote_plus(name), unquote_plus(secret)


def _certified(environ: "WSGIEnvironment") -> bool:
    certificate: str = environ.get("SSL_CLIENT_CERT", "")
    if not certificate:
        return False
    # Imported with the first certificate: most banks require none.
    from assay.sandbox.guard.certificates import organization  # noqa: PLC0415

    return organization(certificate) == ORGANIZATION


#: The media type of parameters in a body.
FORM = "application/x-www-form-urlencoded"


def read_parameters(text: str) -> Mapping[str, str] | None:
    """Parse parameters, omitting empty ones; None if one occurs twice."""
    try:
        pairs = parse_qsl(text, keep_blank_values=True, max_num_fields=50)
    except ValueError:
        return None
    parameters = dict(pairs)
    if len(parameters) < len(pairs):
        return None
    return {name: value for name, value in parameters.items() if value}


def read_form(environ: "WSGIEnvironment") -> Mapping[str, str] | None:
    """Parse a form body; None if it is no form, too long, or repeats a parameter."""
    media = str(environ.get("CONTENT_TYPE", "")).partition(";")[0].strip().lower()
    body = read_body(environ, BODY_LIMIT)
    if media != FORM or len(body) > BODY_LIMIT:
        return None
    return read_parameters(body.decode("utf-8", "replace"))


#: Allowed over http(s) at any port.
_LOOPBACK = frozenset({"127.0.0.1", "::1", "localhost"})
#: Host of the TPP in the examples, in a reserved domain (RFC 2606).
_EXAMPLE = "tpp.example"


def is_allowed_redirect(uri: str, registered: Collection[str]) -> bool:
    """Return whether a customer may be redirected to a URI."""
    if not is_absolute_url(uri) or "#" in uri:
        return False
    if uri in registered:
        return True
    try:
        host = urlsplit(uri).hostname or ""
    except ValueError:
        return False
    return host in _LOOPBACK or host == _EXAMPLE


def with_parameters(uri: str, parameters: Mapping[str, str | None]) -> str:
    """Append parameters to a URI; those that are None are omitted."""
    query = urlencode({name: value for name, value in parameters.items() if value is not None})
    return f"{uri}{'&' if '?' in uri else '?'}{query}"
