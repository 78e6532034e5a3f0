"""The bank demands a certificate of third parties, and says so in an answer.

For banks that leave the decision to the application: the connection is made without a
certificate too, and a call is then refused with 401. The other way, with no connection
at all, is the server's: :mod:`assay.sandbox.guard.server`. No certificate is verified
here; one that is there has been, in the handshake.
"""

from collections.abc import Iterable
from typing import TYPE_CHECKING

from assay.sandbox.edge import send
from assay.sandbox.guard.paths import TOKEN, third_party
from assay.sandbox.wire import error

if TYPE_CHECKING:
    from _typeshed.wsgi import StartResponse, WSGIApplication, WSGIEnvironment

__all__ = ["ORGANIZATION", "certified"]

#: Whom the third party's certificates are for, as national authorities number them.
ORGANIZATION = "PSDFR-ACPR-12345"


def certified(app: "WSGIApplication") -> "WSGIApplication":
    """Let through to an application what came over a connection with a certificate."""

    def guarded(environ: "WSGIEnvironment", start_response: "StartResponse") -> Iterable[bytes]:
        demanded = third_party(environ) or environ.get("PATH_INFO") == TOKEN
        if demanded and not environ.get("SSL_CLIENT_CERT"):
            answer = error(401, "client certificate missing", ("WWW-Authenticate", "Mutual"))
            return send(answer, environ["REQUEST_METHOD"], start_response)
        return app(environ, start_response)

    return guarded
