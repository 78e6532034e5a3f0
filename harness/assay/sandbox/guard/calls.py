"""Calls that the guard of a bank tells apart, and what it requires of which."""

from typing import TYPE_CHECKING, Literal, TypeAlias

from assay.sandbox.control import PREFIX
from assay.sandbox.dialects import BASE_PATHS
from assay.sandbox.messages import decoded_path
from assay.sandbox.payments.terms import PAYMENT_PATHS

if TYPE_CHECKING:
    from _typeshed.wsgi import WSGIEnvironment


#: Organization identifier of the TPP's certificates (ETSI TS 119 495).
ORGANIZATION = "PSDFR-ACPR-12345"
#: OAuth2 scopes of account information and of payment initiation.
ApiScope: TypeAlias = Literal["aisp", "pisp"]

#: Path prefix of the authorization server.
OAUTH = "/oauth/"
AUTHORIZE = f"{OAUTH}authorize"
TOKEN = f"{OAUTH}token"
SCREENS = f"{OAUTH}screens/"

#: Prefixes of payment paths; the bank's own dialect is at the root.
_PAYMENTS = tuple(root + PAYMENT_PATHS[0] for root in ("", *BASE_PATHS.values()))
_EXEMPT = (OAUTH, *PAYMENT_PATHS[1:])


def is_control(environ: "WSGIEnvironment") -> bool:
    """Return whether a request is for the control API."""
    path: str = environ.get("PATH_INFO", "")
    return path.startswith(PREFIX)


def is_third_party_call(environ: "WSGIEnvironment") -> bool:
    """Return whether a request is a TPP's call of the bank's interface."""
    path: str = environ.get("PATH_INFO", "")
    return not is_control(environ) and not path.startswith(_EXEMPT)


def required_scope(environ: "WSGIEnvironment") -> ApiScope:
    """Return the OAuth2 scope that a TPP's call requires."""
    return "pisp" if decoded_path(environ).startswith(_PAYMENTS) else "aisp"
