"""Where a customer may be sent back to.

To this machine, to the third party of the examples, or to what was registered whole.
Anywhere else would make the bank's address lead wherever somebody likes. The URI is
given back as it came, with what is to be said appended.
"""

from collections.abc import Collection, Mapping
from urllib.parse import urlencode, urlsplit

from assay.sandbox.payments.urls import is_absolute_url

__all__ = ["extended", "may_return"]

#: Over http(s) at any port: nothing there can be anybody else's.
_LOOPBACK = frozenset({"127.0.0.1", "::1", "localhost"})
#: The third party of the examples; a name that nobody can have (RFC 2606).
_EXAMPLE = "tpp.example"


def may_return(uri: str, registered: Collection[str]) -> bool:
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


def extended(uri: str, said: Mapping[str, str | None]) -> str:
    """Append what is to be said; what is None is left out."""
    query = urlencode({name: value for name, value in said.items() if value is not None})
    return f"{uri}{'&' if '?' in uri else '?'}{query}"
