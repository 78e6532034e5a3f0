"""Parameters, from a query or a body: one value a name, as RFC 6749 wants them."""

from collections.abc import Mapping
from typing import TYPE_CHECKING
from urllib.parse import parse_qsl

from assay.sandbox.edge import read_body
from assay.sandbox.reading import BODY_LIMIT

if TYPE_CHECKING:
    from _typeshed.wsgi import WSGIEnvironment

__all__ = ["FORM", "posted", "read_parameters"]

#: The one media type of parameters in a body.
FORM = "application/x-www-form-urlencoded"


def read_parameters(text: str) -> Mapping[str, str] | None:
    """Read parameters; those without a value are none. None when a name comes twice."""
    try:
        pairs = parse_qsl(text, keep_blank_values=True, max_num_fields=50)
    except ValueError:
        return None
    found = dict(pairs)
    if len(found) < len(pairs):
        return None
    return {name: value for name, value in found.items() if value}


def posted(environ: "WSGIEnvironment") -> Mapping[str, str] | None:
    """Read parameters in a body; None when it is no form, too long, or names one twice."""
    media = str(environ.get("CONTENT_TYPE", "")).partition(";")[0].strip().lower()
    body = read_body(environ, BODY_LIMIT)
    if media != FORM or len(body) > BODY_LIMIT:
        return None
    return read_parameters(body.decode("utf-8", "replace"))
