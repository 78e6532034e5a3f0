"""`unavailable`, the provider's side: a method that is not offered is not called.

A call of the clause's control shows that the client works with the interface, and could
have called the method in its place.
"""

from __future__ import annotations

from collections.abc import Iterator

from assay.history import History
from assay.judging.verdict import Evidence
from assay.rules.client.evidence import BROKEN, KEPT, say
from assay.rules.kinds.unavailable import Params
from assay.rules.rule import Duty

ID = "never-called"


def check(p: Params, history: History) -> Iterator[Evidence]:
    """Judge every call of the method, and of the one that is there."""
    owed = f"that {p.operation.id} is not called: it is not available"
    for one in history.exchanges:
        if one.call.operation == p.operation.id:
            yield say(ID, BROKEN, one, owed, "it was called")
        elif one.call.operation == p.control.id:
            yield say(ID, KEPT, one, owed, f"{p.control.id} was called")


DUTY = Duty(
    kind="unavailable",
    id=ID,
    description=lambda p: f"{p.operation.id} is not called",
    check=check,
)
