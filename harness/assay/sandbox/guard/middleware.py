"""The bank demands a certificate of third parties, and says so in an answer.

For banks that leave the decision to the application: the connection is made without a
certificate too, and a call is then refused with 401. The other way, with no connection
at all, is the server's: :mod:`assay.sandbox.guard.server`. No certificate is verified
here; one that is there has been, in the handshake.

The bank demands that third parties sign their calls.

Of one kind, as banks do. A call that is not well signed is refused with 401 before the
bank sees it, and the message names what is wrong. Not on the control API nor on
anybody's screens: nobody could sign there.

Whose paths are whose: a third party's calls, and everything that is none.

A guard stands in front of third parties only. The customer's screens, those of the
authorization server and the control API have nobody who could present a certificate or
sign. Not a routing table: what a path means is for the bank to say.
"""

from collections.abc import Callable, Iterable, Mapping
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Literal, TypeAlias

from assay.sandbox.control import PREFIX
from assay.sandbox.dialects import BASE_PATHS
from assay.sandbox.guard.cavage import check_cavage
from assay.sandbox.guard.rfc9421 import check_rfc9421
from assay.sandbox.guard.signatures import (
    BODY_LIMIT,
    Message,
    PublicKey,
    SignatureError,
    read_message,
)
from assay.sandbox.messages import decoded_path, error, send
from assay.sandbox.payments.terms import PAYMENT_PATHS

if TYPE_CHECKING:
    from _typeshed.wsgi import StartResponse, WSGIApplication, WSGIEnvironment


#: Whom the third party's certificates are for, as national authorities number them.
ORGANIZATION = "PSDFR-ACPR-12345"


def require_certificate(app: "WSGIApplication") -> "WSGIApplication":
    """Let through to an application what came over a connection with a certificate."""

    def guarded(environ: "WSGIEnvironment", start_response: "StartResponse") -> Iterable[bytes]:
        demanded = is_third_party_call(environ) or environ.get("PATH_INFO") == TOKEN
        if demanded and not environ.get("SSL_CLIENT_CERT"):
            answer = error(401, "client certificate missing", ("WWW-Authenticate", "Mutual"))
            return send(answer, environ["REQUEST_METHOD"], start_response)
        return app(environ, start_response)

    return guarded


#: As draft-cavage-http-signatures-12 has them, or as RFC 9421 has.
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
    """Let through to an application what is signed with one of these keys.

    The keys are those of third parties, by what they call them; the clock is real unless
    another is given, for a signature has no part in any world's time.
    """
    check, clock = _CHECKS[kind], clock or _clock

    def guarded(environ: "WSGIEnvironment", start_response: "StartResponse") -> Iterable[bytes]:
        if not is_third_party_call(environ):
            return app(environ, start_response)
        message = read_message(environ)
        if message is None:
            answer = error(413, f"a body to be verified has at most {BODY_LIMIT} bytes")
            return send(answer, environ["REQUEST_METHOD"], start_response)
        try:
            check(message, keys, clock())
        except SignatureError as exc:
            answer = error(401, str(exc), ("WWW-Authenticate", "Signature"))
            return send(answer, message.method, start_response)
        return app(environ, start_response)

    return guarded


#: The two halves of the bank, named by the scope of OAuth2 that opens them.
ApiScope: TypeAlias = Literal["aisp", "pisp"]

#: Below this, the authorization server answers.
OAUTH = "/oauth/"
AUTHORIZE = f"{OAUTH}authorize"
TOKEN = f"{OAUTH}token"
SCREENS = f"{OAUTH}screens/"

#: The bank's own paths are at the root.
_PAYMENTS = tuple(root + PAYMENT_PATHS[0] for root in ("", *BASE_PATHS.values()))
_EXEMPT = (OAUTH, *PAYMENT_PATHS[1:])


def is_control(environ: "WSGIEnvironment") -> bool:
    """Whether this is for the control API."""
    path: str = environ.get("PATH_INFO", "")
    return path.startswith(PREFIX)


def is_third_party_call(environ: "WSGIEnvironment") -> bool:
    """Whether a third party calls the bank's interface."""
    path: str = environ.get("PATH_INFO", "")
    return not is_control(environ) and not path.startswith(_EXEMPT)


def required_scope(environ: "WSGIEnvironment") -> ApiScope:
    """Tell which half of the bank a third party's call is for."""
    return "pisp" if decoded_path(environ).startswith(_PAYMENTS) else "aisp"
