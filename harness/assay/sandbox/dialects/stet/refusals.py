"""Refusals in the shape that STET gives them, with the four letters of its codes.

The reason is read off the status and the half of the bank, since nothing else in the
bank's refusals is meant for programs. There is no `timestamp`, which is optional: the
bank's clock is not told in its answers, and another clock's time would be wrong.
"""

from collections.abc import Mapping
from http import HTTPStatus

from assay.sandbox.dialects.stet.shown import others
from assay.sandbox.dialects.stet.trees import Content

__all__ = ["refusal", "status_of"]

_LONGEST = 140
_BOTH: Mapping[int, str] = {
    400: "FF01",
    422: "FF01",
    405: "NIMP",
    500: "INTE",
    501: "NIMP",
}
_INFORMATION: Mapping[int, str] = {**_BOTH, 403: "NGAC", 404: "NAAC"}
_PAYMENTS: Mapping[int, str] = {**_BOTH, 403: "AG01"}


def status_of(status: int, *, offered: bool) -> int:
    """Give the status that a refusal has in the dialect.

    A quota that is used up is forbidden, and what is not offered is not implemented.
    """
    if status == HTTPStatus.TOO_MANY_REQUESTS:
        return HTTPStatus.FORBIDDEN
    if status == HTTPStatus.METHOD_NOT_ALLOWED and not offered:
        return HTTPStatus.NOT_IMPLEMENTED
    return status


def refusal(content: Content, said: int, status: int, path: str, *, payments: bool) -> Content:
    """Write a refusal; `said` is the bank's own status, and its message becomes `error`."""
    codes = _PAYMENTS if payments else _INFORMATION
    code = "TMRQ" if said == HTTPStatus.TOO_MANY_REQUESTS else codes.get(status)
    error = content.get("message")
    return {
        "status": status,
        **({"error": error[:_LONGEST]} if isinstance(error, str) else {}),
        "message": code or _phrase(status),
        "path": path[:_LONGEST],
        **others(content, ("status", "message")),
    }


def _phrase(status: int) -> str:
    try:
        return HTTPStatus(status).phrase
    except ValueError:
        return "Refused"
