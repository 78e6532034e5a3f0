"""`duplicate`, the provider's side: what was carried out is not asked for again that day.

A request is compared when it is made, with those that the provider knew by then to be
carried out. One that differs in the address to return to alone may be meant or not: that
address is no parameter that the clause names.
"""

from __future__ import annotations

from collections.abc import Iterator

from assay.history import History
from assay.judging.verdict import Agreement, Evidence
from assay.rules.client.evidence import BROKEN, KEPT, OPEN, say
from assay.rules.kinds.duplicate import Params
from assay.rules.lifecycle import comparison
from assay.rules.lifecycle.comparison import Likeness, later_day, same_day
from assay.rules.lifecycle.tracker import Instance, Tracker
from assay.rules.rule import Duty

ID = "not-repeated"
OWED = "that nothing is asked for that was carried out on that day"


def check(p: Params, history: History) -> Iterator[Evidence]:
    """Judge every request that is made when another one was carried out."""
    book = Tracker(lifecycle=p.lifecycle)
    done: dict[Likeness, Instance] = {}
    last: Instance | None = None
    returns = (p.lifecycle.create.returns,)
    for event in history.events:
        found = book.note(event)
        if found is None:
            continue
        if event is found.made and found.mode in p.modes and not p.lifecycle.due(found.mode):
            former = done.get(comparison.sent(found, but=returns))
            judged = _judge(p, found, former, last)
            if judged is not None and (beside := former or last):
                what = "the same was carried out" if former else "another one was carried out"
                yield say(ID, judged, found.made, OWED, what, *beside.numbers)
        elif found.done and comparison.unchanged(found):
            done[comparison.sent(found, but=returns)] = last = found


def _judge(
    p: Params, request: Instance, former: Instance | None, last: Instance | None
) -> Agreement | None:
    """Judge a request beside the same one, or else beside any that was carried out."""
    if former is None:
        return KEPT if last is not None else None
    if later_day(p.lifecycle, former, request):
        return KEPT
    exact = comparison.sent(former) == comparison.sent(request)
    return BROKEN if exact and same_day(p.lifecycle, former, request) else OPEN


DUTY = Duty(
    kind="duplicate",
    id=ID,
    description=lambda p: "no request is repeated that was carried out on that day",
    check=check,
)
