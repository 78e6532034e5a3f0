"""Other dialects that the same bank can be spoken to in, each an edge around it.

A dialect is WSGI middleware: it turns a request of its own into one of the bank's, and
the bank's answer into its own. The bank stays as it is, so whatever is wrong with it, be
it one of :mod:`assay.sandbox.mutants`, is wrong in every dialect. The control API and the
customer's screens have no dialect. Not for what one standard allows and another does not:
a dialect decides nothing.
"""

from collections.abc import Callable, Mapping
from types import MappingProxyType
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from _typeshed.wsgi import WSGIApplication

__all__ = ["BASE_PATHS", "DIALECTS"]

#: What every path of a dialect begins with: the path of its base URL.
BASE_PATHS: Mapping[str, str] = MappingProxyType({"stet": "/stet/psd2/v1"})


def _stet(app: "WSGIApplication") -> "WSGIApplication":
    from assay.sandbox.dialects.stet import stet_middleware  # noqa: PLC0415 -- only where it is spoken

    return stet_middleware(app)


#: What puts a dialect around a bank.
DIALECTS: Mapping[str, Callable[["WSGIApplication"], "WSGIApplication"]] = MappingProxyType(
    {"stet": _stet}
)
