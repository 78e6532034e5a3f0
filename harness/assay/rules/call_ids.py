"""Values that identify a call, made by a probe: another one in each trial and for each call."""

from __future__ import annotations

from datetime import datetime
from uuid import NAMESPACE_URL, uuid5

from assay.history import Call


def fresh_id(call: Call, now: datetime, *parts: str) -> str:
    """Return a UUID that no target has seen before: the moment and the call are in it."""
    asked = call.subject, call.operation, sorted(map(repr, call.arguments.items()))
    return str(uuid5(NAMESPACE_URL, repr((now.isoformat(), asked, parts))))
