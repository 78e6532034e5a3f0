"""`history-depth`, the provider's side: nothing older is asked for than may be given.

A call that names a first day is judged, or one that names a last day which is too old by
itself. Whose day it is may be unknown, and whether the edge is in may be open: a call is
a breach only if it is so under every reading.
"""

from __future__ import annotations

from collections.abc import Iterator
from datetime import date, timedelta

from assay.contract.model import Json
from assay.history import Exchange, History
from assay.judging.verdict import Agreement, Evidence
from assay.rules.client.evidence import BROKEN, KEPT, OPEN, say
from assay.rules.kinds.history_depth import Params
from assay.rules.rule import BindingRequirement, Duty
from assay.rules.state.calendar import dates

ID = "nothing-older-asked"
DAY = timedelta(days=1)


def check(p: Params, history: History) -> Iterator[Evidence]:
    """Judge every question that names a day."""
    for one in history.exchanges:
        if one.call.operation != p.operation.id or one.call.follow is not None:
            continue
        since = _day(one.call.arguments.get(p.operation.since or ""))
        until = _day(one.call.arguments.get(p.operation.until or ""))
        day = since or (until if until and _judge(p, one, until) is BROKEN else None)
        if day is not None:
            owed = f"that no more than {p.days} days are asked for"
            word = "from" if since else "up to"
            yield say(ID, _judge(p, one, day), one, owed, f"{word} {day} was asked for")


def _day(value: Json) -> date | None:
    try:
        return date.fromisoformat(value[:10]) if isinstance(value, str) else None
    except ValueError:
        return None


def _judge(p: Params, exchange: Exchange, day: date) -> Agreement:
    """Judge a first day by the loosest and by the strictest reading of the limit."""
    today = dates(exchange.at, p.zone)
    first, last = (one - timedelta(days=p.days) for one in (today[0], today[-1]))
    if p.edge != "included":
        last += DAY
    if p.edge == "excluded":
        first += DAY
    return BROKEN if day < first else KEPT if day >= last else OPEN


DUTY = Duty(
    kind="history-depth",
    id=ID,
    description=lambda p: f"no more than {p.days} days are asked for",
    check=check,
    requires=lambda p: (
        BindingRequirement(
            operation=p.operation.id, feature="argument", name=p.operation.since or ""
        ),
    ),
)
