"""Security required of TPPs: client certificates, HTTP signatures and OAuth2.

Each is WSGI middleware, so it works with every dialect and every mutant. :func:`guarded`
combines them for calls within a process, which have no TLS;
:class:`assay.sandbox.guard.server.Tls` adds TLS for calls over a network. Nothing here
shares code with the harness's side: both are written from the RFCs.
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
    """Require the given security of TPPs.

    Signatures are verified with `keys`, by key identifier. With OAuth2, customers may be
    sent back to `redirects` (whole URIs) in addition to the registered ones. Only what is
    required gets imported.
    """
    if oauth:
        from assay.sandbox.guard.oauth import require_token  # noqa: PLC0415

        app = require_token(app, redirects)
    if signatures is not None:
        from assay.sandbox.guard.middleware import require_signature  # noqa: PLC0415

        app = require_signature(app, signatures, keys or {})
    return app
