"""The transport interface: send one request, return what came back.

`http` implements it over a network, `embedded` for a bank in this process.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Protocol

from assay.binding.encode import HttpRequest
from assay.history import Wire

#: The largest answer that is read, in bytes.
MAX_BODY = 4 * 1024 * 1024
#: The path of the control API below its base URL.
CONTROL_PATH = "/assay-control/1"
#: The reason given for a call to another host.
OTHER_HOST = "links to other hosts are not followed"


@dataclass(slots=True, kw_only=True)
class Delivery:
    """The result of sending a request: the wire data, or why there is none.

    `timed_out` says that the time limit was the reason.
    """

    wire: Wire
    trouble: str = ""
    timed_out: bool = False


class Transport(Protocol):
    """Sends requests to one target; `reached` says whether it ever answered one."""

    base_url: str
    reached: bool

    def send(self, request: HttpRequest) -> Delivery:
        """Send a request once; transport errors are returned, not raised."""
        ...

    def control(self, method: str, path: str, body: Mapping[str, Any] | None) -> tuple[int, Any]:
        """Call the target's control API and return status and JSON answer."""
        ...

    def close(self) -> None:
        """Close every connection."""
        ...


def unanswered(request: HttpRequest, trouble: str, *, timed_out: bool = False) -> Delivery:
    """Return the delivery of a request without an answer, and the reason."""
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
    """Return the delivery of a request that was answered; `body` is bounded already."""
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
    """Whether a header can carry this value; the error of a lower layer would quote it."""
    return value.isascii() and value.isprintable() and value == value.strip()
