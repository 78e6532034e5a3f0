"""What a bank demands before it listens: certificates, signatures, and OAuth2.

Each is a WSGI application around another, so any dialect and any mutant can be behind
them. :func:`guarded` puts them together for calls within a process, which have no TLS;
:class:`assay.sandbox.guard.server.Tls` is for those over a network. Nothing here knows
how the harness makes what is demanded: both are written from the RFCs.
"""

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from _typeshed.wsgi import WSGIApplication

    from assay.sandbox.guard.middleware import SignatureKind
    from assay.sandbox.guard.signatures import PublicKey

__all__ = ["guarded"]


def guarded(
    app: "WSGIApplication",
    *,
    signatures: "SignatureKind | None" = None,
    keys: "Mapping[str, PublicKey] | None" = None,
    oauth: bool = False,
    redirects: "Iterable[str]" = (),
) -> "WSGIApplication":
    """Demand of third parties what is named.

    Signatures are verified with `keys`, by their key identifiers. With OAuth2, customers
    are sent back to `redirects` (whole URIs), beside those that are always registered.
    Loads what is demanded only.
    """
    if oauth:
        from assay.sandbox.guard.oauth import require_token  # noqa: PLC0415

        app = require_token(app, redirects)
    if signatures is not None:
        from assay.sandbox.guard.middleware import require_signature  # noqa: PLC0415

        app = require_signature(app, signatures, keys or {})
    return app
