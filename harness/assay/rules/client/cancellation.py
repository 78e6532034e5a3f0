"""`cancellation`, the provider's side: what was carried out is not cancelled any more.

Until when a request can be cancelled, and of which mode, documents may leave open; that
one which the provider was shown as carried out cannot be is open nowhere.
"""

from __future__ import annotations

from collections.abc import Iterator

from assay.history import Exchange, History
from assay.judging.verdict import Evidence
from assay.rules.client.evidence import BROKEN, KEPT, OPEN, say
from assay.rules.kinds.cancellation import Params
from assay.rules.lifecycle.request_queries import ours
from assay.rules.lifecycle.tracker import Tracker
from assay.rules.rule import Duty

ID = "before-carried-out"
OWED = "that a request is cancelled before it is carried out"


def check(p: Params, history: History) -> Iterator[Evidence]:
    """Judge every cancellation of a request that was made in this history."""
    book, end = Tracker(lifecycle=p.lifecycle), p.lifecycle.end
    for event in history.events:
        if isinstance(event, Exchange) and end is not None and event.call.operation == end.id:
            found = book.known(str(event.call.arguments.get(end.about or "")))
            if found is not None and ours(found, event.call):
                told = found.made.n, found.told or found.made.n
                mode = f"it is {found.mode}"
                if found.done:
                    yield say(ID, BROKEN, event, OWED, "it was carried out", *told)
                elif found.mode == p.mode:
                    yield say(ID, KEPT, event, OWED, mode, *told)
                else:
                    yield say(ID, OPEN, event, OWED, f"{mode}: it is open whether it can", *told)
        book.note(event)


DUTY = Duty(
    kind="cancellation",
    id=ID,
    description=lambda p: "no request is cancelled that was carried out",
    check=check,
)
