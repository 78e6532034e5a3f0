"""The bank demands that third parties sign their calls.

Of one kind, as banks do. A call that is not well signed is refused with 401 before the
bank sees it, and the message names what is wrong. Not on the control API nor on
anybody's screens: nobody could sign there.
"""

from collections.abc import Callable, Iterable, Mapping
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Literal, TypeAlias

from assay.sandbox.edge import send
from assay.sandbox.guard.cavage import check_cavage
from assay.sandbox.guard.keys import PublicKey, Unproven
from assay.sandbox.guard.message import BODY_LIMIT, Message, read_message
from assay.sandbox.guard.paths import third_party
from assay.sandbox.guard.rfc9421 import check_rfc9421
from assay.sandbox.wire import error

if TYPE_CHECKING:
    from _typeshed.wsgi import StartResponse, WSGIApplication, WSGIEnvironment

__all__ = ["Kind", "signed"]

#: As draft-cavage-http-signatures-12 has them, or as RFC 9421 has.
Kind: TypeAlias = Literal["cavage", "rfc9421"]

_CHECKS: Mapping[Kind, Callable[[Message, Mapping[str, PublicKey], datetime], None]] = {
    "cavage": check_cavage,
    "rfc9421": check_rfc9421,
}


def _clock() -> datetime:
    return datetime.now(UTC)


def signed(
    app: "WSGIApplication",
    kind: Kind,
    keys: Mapping[str, PublicKey],
    clock: Callable[[], datetime] | None = None,
) -> "WSGIApplication":
    """Let through to an application what is signed with one of these keys.

    The keys are those of third parties, by what they call them; the clock is real unless
    another is given, for a signature has no part in any world's time.
    """
    check, clock = _CHECKS[kind], clock or _clock

    def guarded(environ: "WSGIEnvironment", start_response: "StartResponse") -> Iterable[bytes]:
        if not third_party(environ):
            return app(environ, start_response)
        message = read_message(environ)
        if message is None:
            answer = error(413, f"a body to be verified has at most {BODY_LIMIT} bytes")
            return send(answer, environ["REQUEST_METHOD"], start_response)
        try:
            check(message, keys, clock())
        except Unproven as no:
            answer = error(401, str(no), ("WWW-Authenticate", "Signature"))
            return send(answer, message.method, start_response)
        return app(environ, start_response)

    return guarded
