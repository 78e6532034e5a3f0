"""Limit on the total size of the answers in one trial.

A trial keeps all of its exchanges until it is judged. Each answer is limited by the transport;
many of them together, such as pages without end, are limited here.
"""

from __future__ import annotations

from dataclasses import dataclass

from assay.history import Accepted, Cause, Indeterminate, Outcome, Rejected, Unavailable, Wire

__all__ = ["MOST_BYTES", "MOST_ITEMS", "ResponseLimit"]

#: The most bytes in the bodies of a trial's answers, and the most items in them.
MOST_BYTES, MOST_ITEMS = 32 * 1024 * 1024, 25_000


@dataclass(slots=True)
class ResponseLimit:
    """The bytes and items that a trial has received so far."""

    bytes: int = 0
    items: int = 0

    def limited(self, wire: Wire, outcome: Outcome) -> tuple[Wire, Outcome]:
        """Return an answer as it is, or without its content where that would be too much."""
        self.bytes += len(wire.body)
        self.items += _items(outcome)
        if self.bytes <= MOST_BYTES and self.items <= MOST_ITEMS:
            return wire, outcome
        self.bytes -= len(wire.body)
        self.items -= _items(outcome)
        most = f"{MOST_ITEMS} items or {MOST_BYTES // 1024**2} MiB"
        why = f"the answers of this trial have more than {most} in total"
        bare = Wire(
            method=wire.method,
            url=wire.url,
            request_headers=wire.request_headers,
            request_body=wire.request_body,
            status=wire.status,
            headers=wire.headers,
            truncated=True,
        )
        return bare, Indeterminate(cause=Cause.TRANSPORT, why=why)


def _items(outcome: Outcome) -> int:
    match outcome:
        case Accepted(items=items):
            return len(items or ())
        case Rejected(leaked=items) | Unavailable(leaked=items):
            return len(items)
        case _:
            return 0
