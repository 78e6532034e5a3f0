"""Security required of TPPs: client certificates, HTTP signatures and OAuth2.

Each is WSGI middleware, so it works with every dialect and every mutant. :func:`guarded`
combines them for calls within a process, which have no TLS;
:class:`assay.sandbox.guard.server.Tls` adds TLS for calls over a network, and can refuse
the connection instead. Nothing here shares code with the harness's side: both are written
from the RFCs.

Calls without a certificate, or without a valid signature, get 401 before the bank sees
them; the message says what is wrong. Certificates have been verified in the TLS
handshake already. The control API and all screens are exempt, since no TPP calls them.
"""

from collections.abc import Callable, Iterable, Mapping
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Literal, TypeAlias

from assay.sandbox.guard.calls import TOKEN, is_third_party_call
from assay.sandbox.guard.cavage import check_cavage
from assay.sandbox.guard.rfc9421 import check_rfc9421
from assay.sandbox.guard.signatures import (
    BODY_LIMIT,
    Message,
    PublicKey,
    SignatureError,
    read_message,
)
from assay.sandbox.messages import error, send

if TYPE_CHECKING:
    from _typeshed.wsgi import StartResponse, WSGIApplication, WSGIEnvironment


def require_certificate(app: "WSGIApplication") -> "WSGIApplication":
    """Refuse TPP calls over connections without a client certificate."""

    def guarded(environ: "WSGIEnvironment", start_response: "StartResponse") -> Iterable[bytes]:
        demanded = is_third_party_call(environ) or environ.get("PATH_INFO") == TOKEN
        if demanded and not environ.get("SSL_CLIENT_CERT"):
            answer = error(401, "client certificate missing", ("WWW-Authenticate", "Mutual"))
            return send(answer, environ["REQUEST_METHOD"], start_response)
        return app(environ, start_response)

    return guarded


#: By draft-cavage-http-signatures-12 or by RFC 9421.
SignatureKind: TypeAlias = Literal["cavage", "rfc9421"]

_CHECKS: Mapping[SignatureKind, Callable[[Message, Mapping[str, PublicKey], datetime], None]] = {
    "cavage": check_cavage,
    "rfc9421": check_rfc9421,
}


def _clock() -> datetime:
    return datetime.now(UTC)


def require_signature(
    app: "WSGIApplication",
    kind: SignatureKind,
    keys: Mapping[str, PublicKey],
    clock: Callable[[], datetime] | None = None,
) -> "WSGIApplication":
    """Refuse TPP calls that are not signed with one of the keys.

    The keys are those of TPPs, by key identifier. The clock is the real one unless another
    is given: signatures do not follow the clock of a world.
    """
    check, clock = _CHECKS[kind], clock or _clock

    def guarded(environ: "WSGIEnvironment", start_response: "StartResponse") -> Iterable[bytes]:
        if not is_third_party_call(environ):
            return app(environ, start_response)
        message = read_message(environ)
        if message is None:
            answer = error(413, f"a signed body can have at most {BODY_LIMIT} bytes")
            return send(answer, environ["REQUEST_METHOD"], start_response)
        try:
            check(message, keys, clock())
        except SignatureError as exc:
            answer = error(401, str(exc), ("WWW-Authenticate", "Signature"))
            return send(answer, message.method, start_response)
        return app(environ, start_response)

    return guarded


def guarded(
    app: "WSGIApplication",
    *,
    signatures: SignatureKind | None = None,
    keys: Mapping[str, PublicKey] | None = None,
    oauth: bool = False,
    redirects: Iterable[str] = (),
) -> "WSGIApplication":
    """Require the given security of TPPs.

    Signatures are verified with `keys`, by key identifier. With OAuth2, customers may be
    sent back to `redirects` (whole URIs) in addition to the registered ones.
    """
    if oauth:
        from assay.sandbox.guard.oauth import require_token  # noqa: PLC0415 -- seldom needed

        app = require_token(app, redirects)
    return require_signature(app, signatures, keys or {}) if signatures else app
