"""The bank as a WSGI application: third parties on one side, the controls on the other.

:func:`make_app` is the sandbox's public door. Every application has its own registry of
worlds, so two of them never meet. Not a server: see :mod:`assay.sandbox.serve`.
"""

from collections.abc import Iterable
from typing import TYPE_CHECKING

from assay.sandbox.control import PREFIX, answer_control
from assay.sandbox.edge import answer_third_party
from assay.sandbox.holdings import DEMO_PROVIDERS, DEMO_TOKENS, open_demo
from assay.sandbox.payments.formats import PAYMENT_PATHS
from assay.sandbox.policies import SOUND, Policies
from assay.sandbox.wire import send
from assay.sandbox.world import Registry

if TYPE_CHECKING:
    from _typeshed.wsgi import StartResponse, WSGIApplication, WSGIEnvironment

__all__ = ["DEMO_PROVIDERS", "DEMO_TOKENS", "make_app"]


def make_app(policies: Policies = SOUND, base_url: str | None = None) -> "WSGIApplication":
    """Open a bank.

    Links start with ``base_url`` (scheme and host); without it they stay on the host
    that a request came to. Those of payment initiation always do, since that half of
    the bank has two forms of host, and a flow keeps the one it began with.
    """
    registry = Registry()
    open_demo(registry, policies)
    base = base_url.rstrip("/") if base_url else None

    def app(environ: "WSGIEnvironment", start_response: "StartResponse") -> Iterable[bytes]:
        path: str = environ.get("PATH_INFO", "")
        if path.startswith(PREFIX):
            answer = answer_control(environ, policies, registry)
        elif path.startswith(PAYMENT_PATHS):
            # Loaded with the first payment: account information does without.
            from assay.sandbox.payments.edge import answer_payments  # noqa: PLC0415

            answer = answer_payments(environ, policies, registry)
        else:
            answer = answer_third_party(environ, policies, registry, base)
        return send(answer, environ["REQUEST_METHOD"], start_response)

    return app
