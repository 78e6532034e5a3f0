"""Whose paths are whose: a third party's calls, and everything that is none.

A guard stands in front of third parties only. The customer's screens, those of the
authorization server and the control API have nobody who could present a certificate or
sign. Not a routing table: what a path means is for the bank to say.
"""

from typing import TYPE_CHECKING, Literal, TypeAlias

from assay.sandbox.control import PREFIX
from assay.sandbox.dialects import BASE_PATHS
from assay.sandbox.edge import decoded_path
from assay.sandbox.payments.urls import PAYMENT_PATHS

if TYPE_CHECKING:
    from _typeshed.wsgi import WSGIEnvironment

__all__ = ["AUTHORIZE", "OAUTH", "SCREENS", "TOKEN", "Half", "half", "is_control", "third_party"]

#: The two halves of the bank, named by the scope of OAuth2 that opens them.
Half: TypeAlias = Literal["aisp", "pisp"]

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


def third_party(environ: "WSGIEnvironment") -> bool:
    """Whether a third party calls the bank's interface."""
    path: str = environ.get("PATH_INFO", "")
    return not is_control(environ) and not path.startswith(_EXEMPT)


def half(environ: "WSGIEnvironment") -> Half:
    """Tell which half of the bank a third party's call is for."""
    return "pisp" if decoded_path(environ).startswith(_PAYMENTS) else "aisp"
