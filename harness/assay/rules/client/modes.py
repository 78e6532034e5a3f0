"""`modes`, the provider's side: requests are made only in modes that are served.

Whoever does not spell a mode in the target file does not offer it: a word that is not
spelt, and that the bank refuses, is such a mode. One that the bank takes is the file's
omission.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from assay.history import Exchange, History, Lacking
from assay.judging.verdict import Agreement, Evidence
from assay.rules.client.evidence import BROKEN, KEPT, OPEN, say
from assay.rules.kinds.modes import Params
from assay.rules.lifecycle.request_queries import said_no
from assay.rules.rule import BindingRequirement, Duty

ID = "served-modes-only"
#: The mode of a request that names one which the target file does not spell.
UNKNOWN: Final = "a mode that is not spelt"


def check(p: Params, history: History) -> Iterator[Evidence]:
    """Judge every request that is made in a mode."""
    lacking: set[str] = set()
    for event in history.events:
        if isinstance(event, Lacking):
            lacking.add(event.mode)
        if not isinstance(event, Exchange) or event.call.operation != p.lifecycle.create.id:
            continue
        mode = event.call.mode
        judged = None if mode is None else _judge(p, mode, event, lacking)
        if judged is not None and not event.call.malformed:
            yield say(ID, judged, event, "a mode that is served", f"it is {mode}")


def _judge(p: Params, mode: str, exchange: Exchange, lacking: set[str]) -> Agreement | None:
    """Judge a mode; None where the clause does not speak of it."""
    served = {*p.served, *p.offered}
    if mode in p.refused or (mode in p.offered and mode in lacking):
        return BROKEN
    if mode == UNKNOWN:
        return None if not served else BROKEN if said_no(exchange) else OPEN
    return KEPT if mode in served or not served else None


DUTY = Duty(
    kind="modes",
    id=ID,
    description=lambda p: "requests are made only in modes that are served",
    check=check,
    requires=lambda p: tuple(
        BindingRequirement(operation=p.lifecycle.create.id, feature="mode", name=one)
        for one in (*p.served, *p.refused)
    ),
)
