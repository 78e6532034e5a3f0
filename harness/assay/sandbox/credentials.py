"""Whom a call speaks for.

A third party shows a token. Customers' own credentials are understood, so that a bank
which honours them can be told apart from one that does not, and by the sound bank are
never honoured (the document: no embedded process is allowed). No cryptography here.
"""

from base64 import b64decode

from assay.sandbox.policies import Approach
from assay.sandbox.reading import credentials_in
from assay.sandbox.wire import Request
from assay.sandbox.world import Registry, Session

__all__ = ["by_basic", "recognise"]


def recognise(request: Request, registry: Registry, honours: frozenset[Approach]) -> Session | None:
    """Find the session of a request, by the approaches that are honoured."""
    scheme, _, rest = request.authorization.partition(" ")
    match scheme.lower():
        case "bearer" if "token" in honours:
            return registry.by_token(rest.strip())
        case "basic" if "basic" in honours:
            return by_basic(rest, registry)
        case "" if "body" in honours:
            found = credentials_in(request.body)
            return registry.by_login(*found) if found else None
        case _:
            return None


def by_basic(encoded: str, registry: Registry) -> Session | None:
    """Find whom a login and password belong to, packed as HTTP does (RFC 7617)."""
    try:
        login, _, password = b64decode(encoded).decode().partition(":")
    except ValueError:
        return None
    return registry.by_login(login, password)
