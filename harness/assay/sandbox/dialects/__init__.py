"""Dialects: other interfaces in front of the same bank, as WSGI middleware.

A dialect translates its own requests into the bank's, and the bank's answers into its
own. The bank stays the same, so a mutant (:mod:`assay.sandbox.mutants`) has the same
fault in every dialect. The control API and the customer's screens are not translated. A
dialect does not validate anything.
"""

from collections.abc import Callable, Mapping
from types import MappingProxyType
from typing import TYPE_CHECKING

from assay.sandbox.dialects.base_paths import BASE_PATHS

if TYPE_CHECKING:
    from _typeshed.wsgi import WSGIApplication

__all__ = ["BASE_PATHS", "DIALECTS"]


def _stet(app: "WSGIApplication") -> "WSGIApplication":
    from assay.sandbox.dialects.stet import stet_middleware  # noqa: PLC0415 -- imported on use

    return stet_middleware(app)


#: Middleware of each dialect.
DIALECTS: Mapping[str, Callable[["WSGIApplication"], "WSGIApplication"]] = MappingProxyType(
    {"stet": _stet}
)
