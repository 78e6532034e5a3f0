"""`modification`, the provider's side: only what can be changed is asked to be changed.

That is a request of the right mode which is not known to be carried out. Of a request
that was made before the history began, and of one that has ended otherwise, nothing is
said.
"""

from __future__ import annotations

from collections.abc import Iterator

from assay.history import History
from assay.judging.verdict import Evidence
from assay.rules.client.evidence import BROKEN, KEPT, say
from assay.rules.kinds.modification import Params
from assay.rules.lifecycle.changes import Change, asked
from assay.rules.lifecycle.tracker import Tracker
from assay.rules.rule import Duty

ID = "changeable-only"


def check(p: Params, history: History) -> Iterator[Evidence]:
    """Judge every change of a request that was made in this history."""
    book = Tracker(lifecycle=p.lifecycle)
    for event in history.events:
        change = asked(p.lifecycle, book, event)
        if change is not None:
            yield from _judge(p, change)
        book.note(event)


def _judge(p: Params, change: Change) -> Iterator[Evidence]:
    request, exchange = change.request, change.exchange
    owed = f"that only {' and '.join(p.only)} requests are changed, before they are carried out"
    told = request.told or request.made.n
    if request.mode in p.never:
        yield say(ID, BROKEN, exchange, owed, f"it is {request.mode}", request.made.n)
    elif request.mode in p.only and request.done:
        yield say(ID, BROKEN, exchange, owed, "it was carried out", request.made.n, told)
    elif request.mode in p.only and change.untouched:
        yield say(ID, KEPT, exchange, owed, f"it is {request.mode}", request.made.n)


DUTY = Duty(
    kind="modification",
    id=ID,
    description=lambda p: (
        f"only {' and '.join(p.only)} requests are changed, before they are carried out"
    ),
    check=check,
)
