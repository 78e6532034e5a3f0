"""What carries requests to a target, whatever lies between: the bargain.

`client` keeps it over HTTP, `embedded` within this process.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Protocol

from assay.binding.encode import HttpRequest
from assay.history import Wire

#: The largest answer that is read, in bytes.
MOST = 4 * 1024 * 1024
#: Where the control API stands below its URL.
PREFIX = "/assay-control/1"
#: What is said of a call to anywhere else.
ELSEWHERE = "a link to another host is not followed"


@dataclass(slots=True, kw_only=True)
class Delivery:
    """What came of sending a request: the wire, or why there is none.

    `timed_out` says that the trouble was the time limit.
    """

    wire: Wire
    trouble: str = ""
    timed_out: bool = False


class Transport(Protocol):
    """Sends requests to one host; `reached` tells if it ever did what it was asked."""

    base_url: str
    reached: bool

    def send(self, request: HttpRequest) -> Delivery:
        """Send a request once; trouble on the way is told, not raised."""
        ...

    def control(self, method: str, path: str, body: Mapping[str, Any] | None) -> tuple[int, Any]:
        """Call the target's control API and return status and JSON answer."""
        ...

    def close(self) -> None:
        """Close every connection."""
        ...


def nothing(request: HttpRequest, trouble: str, *, timed_out: bool = False) -> Delivery:
    """Return what is known of a request that got no answer, and why it got none."""
    wire = Wire(
        method=request.method,
        url=request.url,
        request_headers=request.headers,
        request_body=request.body,
    )
    return Delivery(wire=wire, trouble=trouble, timed_out=timed_out)


def answered(
    request: HttpRequest,
    status: int,
    headers: tuple[tuple[str, str], ...],
    body: bytes,
    *,
    truncated: bool,
) -> Delivery:
    """Return what went both ways when an answer came; `body` is bounded already."""
    wire = Wire(
        method=request.method,
        url=request.url,
        request_headers=request.headers,
        request_body=request.body,
        status=status,
        headers=headers,
        body=body,
        truncated=truncated,
    )
    return Delivery(wire=wire)


def sendable(value: str) -> bool:
    """Whether a header can hold this; an error from below would quote it."""
    return value.isascii() and value.isprintable() and value == value.strip()
